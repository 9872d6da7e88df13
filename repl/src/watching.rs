//! `barrow watch FILE`: a row, lines and assertions for each snapshot as soon as it is committed.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use barrow_analyzer::{AnalyzerError, Growing, Look, LostSnapshot, Recording, SnapshotId, Totals};
use barrow_query::answer::{Answer, Column, Value, units};
use barrow_query::commands::Command;
use barrow_query::error::code;
use barrow_query::flags::Until;
use barrow_query::{Flags, Format, Guard, QueryError, Question};

use crate::asking::Terminal;
use crate::complaint::complain;
use crate::error::ReplError;
use crate::interrupt;
use crate::lines::{lines_of, run_lines};
use crate::output::{self, Context};

/// The default time between two looks. This is a judgement: phases of a second are seen, and each look takes a small
/// part of it.
const INTERVAL: Duration = Duration::from_millis(250);
/// Ctrl-C is noticed within this time, which people do not notice.
const NAP: Duration = Duration::from_millis(50);

/// Follows the file that `words` name. Returns the exit code.
///
/// # Errors
/// A usage error, a file that is no recording, those of questions.
pub(crate) fn run(flags: &Flags, command: &'static Command, words: &[String]) -> Result<u8, ReplError> {
    let Some((name, rest)) = words.split_first() else {
        return Err(ReplError::usage(format!("which file? `barrow {} FILE`", command.name)));
    };
    if let Some(word) = rest.first() {
        return Err(command.refuses(word).into());
    }
    Question::of_words(command, rest, false, flags).check()?;
    let mut terminal = Terminal::new(flags)?;
    // An index file belongs to the last commit: the next one makes it useless.
    terminal.session.settings_mut().no_index = true;
    let guard = Guard::new(&terminal.session, &flags.question)?;
    let lines = lines_of(flags)?;
    let until = match flags.question.until {
        None => None,
        Some(Until::Snapshot(snapshot)) => Some(snapshot),
        Some(Until::Precision(_)) => return Err(ReplError::usage("`watch` ends with a snapshot: `--until 12`")),
    };
    // A line that cannot be understood is reported before the first snapshot is there.
    lines.iter().try_for_each(|line| Question::of_line(line)?.map_or(Ok(()), |question| question.check()))?;
    interrupt::listen();
    let (name, quiet) = (name.clone(), flags.session.quiet);
    let mut watch = Watch { name, terminal, quiet, guard, lines, until, before: None, rows: 0, failure: 0 };
    watch.follow(flags.question.interval.unwrap_or(INTERVAL))
}

/// A recording that is followed.
struct Watch {
    /// The file, as it was named.
    name: String,
    terminal: Terminal,
    quiet: bool,
    guard: Guard,
    lines: Vec<String>,
    until: Option<u32>,
    /// The last snapshot that was shown, and its totals.
    before: Option<(SnapshotId, Totals)>,
    /// Number of snapshots that were shown.
    rows: u64,
    /// The exit code of the first line that failed.
    failure: u8,
}

impl Watch {
    /// Looks again and again. Returns the exit code.
    fn follow(&mut self, interval: Duration) -> Result<u8, ReplError> {
        let mut growing = Growing::new(Path::new(&self.name));
        let mut is_waiting = false;
        loop {
            match self.look(&mut growing)? {
                Look::Nothing if !is_waiting => {
                    is_waiting = true;
                    self.tell(&format!("waiting for {}", self.name));
                }
                Look::Nothing | Look::Same => {}
                Look::Grown { recording, finished, replaced } => {
                    is_waiting = true;
                    if replaced {
                        self.begin_again();
                    }
                    if let Some(code) = self.show_new(&recording)? {
                        return Ok(code);
                    }
                    if finished {
                        return self.end(&recording);
                    }
                }
            }
            if !rest(interval) {
                return Ok(code::STOPPED);
            }
        }
    }

    fn look(&self, growing: &mut Growing) -> Result<Look, ReplError> {
        growing.look().map_err(|error| match error {
            AnalyzerError::Unreadable(cause) => {
                QueryError::Unreadable { path: self.name.clone(), cause: cause.to_string() }.into()
            }
            error => QueryError::from(error).into(),
        })
    }

    fn tell(&self, sentence: &str) {
        if !self.quiet {
            complain(sentence);
        }
    }

    fn begin_again(&mut self) {
        self.tell(&format!("{} is another recording now", self.name));
        self.before = None;
        self.guard.forget();
        self.terminal.session.forget_objects();
    }

    /// Shows every snapshot that is new. Returns an exit code if that is the end.
    fn show_new(&mut self, recording: &Arc<Recording>) -> Result<Option<u8>, ReplError> {
        let last = self.before.map(|(snapshot, _)| snapshot);
        let new: Vec<SnapshotId> = recording.snapshot_ids().filter(|&id| last.is_none_or(|last| id > last)).collect();
        for snapshot in new {
            self.tell_missing(snapshot);
            self.terminal.session.follow(&self.name, Arc::clone(recording), snapshot);
            self.row(recording, snapshot)?;
            let code = run_lines(&mut self.terminal, self.lines.clone().into_iter());
            // Later snapshots may answer a question that this one cannot, such as one about an object that is not there
            // yet.
            if code == code::STOPPED || self.terminal.session.has_ended() {
                return Ok(Some(code));
            }
            self.failure = if self.failure == code::ANSWERED { code } else { self.failure };
            if let Some(answer) = self.guard.failure(&self.terminal.session)? {
                return self.terminal.print(answer).map(Some);
            }
            if self.until.is_some_and(|until| snapshot.0 >= until) {
                return self.end(recording).map(Some);
            }
        }
        Ok(None)
    }

    /// Tells that snapshots before this one were committed and cannot be read.
    fn tell_missing(&mut self, snapshot: SnapshotId) {
        let next = self.before.map_or(0, |(before, _)| before.0 + 1);
        if snapshot.0 > next {
            let missing = LostSnapshot::row(SnapshotId(next), SnapshotId(snapshot.0 - 1));
            complain(&format!("{missing}: the commit is damaged; `barrow repair {} -o DST` tells more", self.name));
            self.failure = if self.failure == code::ANSWERED { code::DAMAGED_INPUT } else { self.failure };
        }
    }

    /// The recording is finished, or the last snapshot of interest was there.
    fn end(&mut self, recording: &Recording) -> Result<u8, ReplError> {
        let undecided: Vec<String> = match recording.snapshot_count() {
            0 => Vec::new(),
            _ => self.guard.undecided(&self.terminal.session)?,
        };
        undecided.iter().for_each(|sentence| complain(sentence));
        let last = self.before.map(|(snapshot, _)| snapshot);
        if let Some(until) = self.until.filter(|&until| last.is_none_or(|last| last.0 < until)) {
            complain(&format!("the recording ended before snapshot {until}"));
            return Ok(code::USAGE);
        }
        if !undecided.is_empty() {
            return Ok(code::USAGE);
        }
        Ok(self.failure)
    }

    /// Prints what a snapshot holds and what changed.
    fn row(&mut self, recording: &Recording, snapshot: SnapshotId) -> Result<(), ReplError> {
        let info = recording.snapshot(snapshot).map_err(QueryError::from)?;
        let format = self.terminal.session.settings().format;
        let before = self.before.map(|(_, totals)| totals);
        let mut out = io::stdout().lock();
        if format == Format::Table {
            if self.rows == 0 {
                writeln!(out, "{}", aligned(HEADINGS.map(str::to_owned)))?;
            }
            writeln!(out, "{}", aligned(cells(snapshot, &info.totals, before.as_ref())))?;
        } else {
            let mut text = Vec::new();
            let answer = facts(snapshot, info.time_ns, &info.totals, before.as_ref());
            let context = Context { file: Some(&self.name), ..Context::default() };
            output::draw(&answer, format, context, &mut text)?;
            // The header of a CSV file is printed once.
            let is_again = format == Format::Csv && self.rows > 0;
            let header = text.iter().position(|&byte| byte == b'\n').filter(|_| is_again);
            out.write_all(&text[header.map_or(0, |end| end + 1)..])?;
        }
        out.flush()?;
        self.rows += 1;
        self.before = Some((snapshot, info.totals));
        Ok(())
    }
}

/// Waits. Returns false after Ctrl-C.
fn rest(interval: Duration) -> bool {
    let end = Instant::now() + interval;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if interrupt::requested() || left.is_zero() {
            return !interrupt::requested();
        }
        std::thread::sleep(left.min(NAP));
    }
}

const HEADINGS: [&str; 8] = ["snapshot", "objects", "change", "references", "shallow", "change", "unmanaged", "change"];

/// Rows come one by one, so the widths are fixed.
fn aligned(cells: [String; 8]) -> String {
    let [snapshot, rest @ ..] = cells;
    let line = rest.into_iter().fold(format!("{snapshot:>8}"), |line, cell| line + &format!("  {cell:>11}"));
    line.trim_end().to_owned()
}

fn cells(snapshot: SnapshotId, now: &Totals, before: Option<&Totals>) -> [String; 8] {
    [
        snapshot.to_string(),
        units::grouped(now.objects),
        change_text(before.map(|before| before.objects), now.objects, units::grouped),
        units::grouped(now.references),
        units::size(now.heap_bytes),
        change_text(before.map(|before| before.heap_bytes), now.heap_bytes, units::size),
        units::size(now.unmanaged_bytes),
        change_text(before.map(|before| before.unmanaged_bytes), now.unmanaged_bytes, units::size),
    ]
}

fn change_text(before: Option<u64>, now: u64, magnitude: fn(u64) -> String) -> String {
    match before.map(|before| Value::change(before, now)) {
        Some(Value::Change(difference)) => units::change(difference, magnitude),
        _ => String::new(),
    }
}

fn facts(snapshot: SnapshotId, time_ns: Option<u64>, now: &Totals, before: Option<&Totals>) -> Answer {
    let objects_change = before.map(|before| Value::change(before.objects, now.objects));
    let shallow_change = before.map(|before| Value::change(before.heap_bytes, now.heap_bytes));
    let unmanaged_change = before.map(|before| Value::change(before.unmanaged_bytes, now.unmanaged_bytes));
    Answer::default()
        .fact(Column::number("snapshot"), snapshot.0)
        .fact(Column::duration("time_ns"), time_ns)
        .fact(Column::count("objects"), now.objects)
        .fact(Column::count("objects_change"), objects_change)
        .fact(Column::count("references"), now.references)
        .fact(Column::bytes("shallow_bytes"), now.heap_bytes)
        .fact(Column::bytes("shallow_bytes_change"), shallow_change)
        .fact(Column::bytes("unmanaged_bytes"), now.unmanaged_bytes)
        .fact(Column::bytes("unmanaged_bytes_change"), unmanaged_change)
}
