//! Announces the events of a log to the writer.

use std::collections::HashSet;

use barrow_writer::{ProcessDescription, ProcessEnd, ProgramDescription, Usage, Word, signals};

use super::births::{Birth, Births};
use super::call::{Call, Program, answered_directory, may_bear, returned_task, succeeded};
use super::line::{LineEvent, LineReader, MESSAGE, Time};
use super::tasks::{Process, Tasks};
use crate::context::{Context, Outcome};
use crate::error::{Damage, ImportError, Stop};
use crate::processes::process_logs::{self, Clock, UnreadableParts, readable, shell_words};

/// The rest of a line into which strace wrote a message.
const REST: &[u8] = b"<unfinished ...>";

/// A frame of the stack of a call (`-k`).
const FRAME: &[u8] = b" > ";

/// Announces lines.
pub(super) struct Announcer<'c, 'w> {
    context: &'c Context<'w>,
    clock: Clock,
    births: Births,
    reader: LineReader,
    tasks: Tasks,
    /// Tasks that acted before the line that names their parent.
    early: HashSet<u64>,
    processes: u64,
    /// Number of programs of which strace cut arguments.
    cut_programs: u64,
    /// The arguments of the first program.
    command: Option<Vec<String>>,
    /// The last time of the log.
    last_ns: i64,
    /// The process of lines without a number ended in the previous line.
    has_ended: bool,
    /// Some time is finer than seconds.
    has_fractions: bool,
    /// All times have a date.
    has_dates: bool,
    pub(super) left_out: UnreadableParts,
}

impl<'c, 'w> Announcer<'c, 'w> {
    pub(super) fn new(context: &'c Context<'w>, births: Births) -> Result<Self, ImportError> {
        context.writer.own_fact(Word::of_settings("recorded by"), "strace")?;
        Ok(Announcer {
            context,
            clock: Clock::new(context.writer.created_ns()),
            births,
            reader: LineReader::default(),
            tasks: Tasks::default(),
            early: HashSet::new(),
            processes: 0,
            cut_programs: 0,
            command: None,
            last_ns: i64::MIN,
            has_ended: false,
            has_fractions: false,
            has_dates: true,
            left_out: UnreadableParts::new("line"),
        })
    }

    /// Announces the event of a line.
    pub(super) fn announce(&mut self, line: &process_logs::Line<'_>) -> Result<(), Stop> {
        let text = line.text;
        let Some((parsed, at_ns)) = self.reader.read(text) else {
            let is_of_strace = text.starts_with(MESSAGE) || text.starts_with(FRAME) || text.trim_ascii() == REST;
            if !text.trim_ascii().is_empty() && !is_of_strace {
                self.left_out.add(line.offset, text.len(), || format!("{} is no line of strace", readable(text)));
            }
            return Ok(());
        };
        let task = self.task(parsed.task);
        let time_ns = match parsed.time {
            Time::Wall(_) => self.clock.since_created_ns(at_ns),
            Time::Day(_) | Time::Since(_) => process_logs::saturated(at_ns),
        };
        self.has_dates &= matches!(parsed.time, Time::Wall(_));
        if std::mem::take(&mut self.has_ended) && parsed.task.is_none() && self.reader.went_back() {
            let damage = Damage::Unexpected {
                found: "the end of a process, then an earlier time,".to_owned(),
                offset: line.offset as u64,
                expected: "the log of one process; `barrow import LOG.*` reads several of `strace -ff`",
            };
            return Err(damage.into());
        }
        self.last_ns = self.last_ns.max(time_ns);
        let (Time::Wall(said_ns) | Time::Day(said_ns) | Time::Since(said_ns)) = parsed.time;
        self.has_fractions |= said_ns % 1_000_000_000 != 0;
        if !self.tasks.is_known(task)
            && let Some(birth) = self.births.next(task)
        {
            self.early.insert(task);
            self.born(task, birth, time_ns)?;
        }
        match parsed.what {
            LineEvent::Call { name, arguments, result } => match Call::of(name, arguments) {
                Some(call) => self.returned(task, call, arguments, result, time_ns),
                None => {
                    self.ensure(task, time_ns)?;
                    self.exits(task, name, arguments, time_ns);
                    Ok(())
                }
            },
            LineEvent::Unfinished { name, arguments } => {
                if let Some(call) = Call::of(name, arguments) {
                    self.tasks.suspend(task, call);
                }
                self.exits(task, name, arguments, time_ns);
                Ok(())
            }
            LineEvent::Resumed { arguments, result, .. } => match self.tasks.resume(task) {
                // Births are found by the names of calls: this is another call, or its line is damaged.
                Some(Call::Birth { .. }) if !may_bear(&parsed.what) => self.ensure(task, time_ns),
                Some(call) => self.returned(task, call, arguments, result, time_ns),
                None => self.ensure(task, time_ns),
            },
            LineEvent::Event(event) => {
                self.event(task, event, time_ns)?;
                self.has_ended = parsed.task.is_none() && !self.tasks.is_known(task);
                Ok(())
            }
            LineEvent::Signal | LineEvent::Other => self.ensure(task, time_ns),
        }
    }

    /// Notes a call that may end its process and never returns: another process may run before strace sees the end.
    fn exits(&mut self, task: u64, name: &[u8], arguments: &[u8], time_ns: i64) {
        if name == b"exit_group"
            && let Some(process) = self.tasks.process(task)
        {
            let status: Option<i64> = process_logs::text(arguments.trim_ascii()).parse().ok();
            process.exits = Some((time_ns, status.map(|status| status as u64 & 0xff)));
        }
    }

    /// The process or thread of a line. Lines have no number while there is only one.
    fn task(&self, number: Option<u64>) -> u64 {
        number.or_else(|| self.tasks.only()).or(self.births.first).unwrap_or(0)
    }

    /// Begins a process that is older than the log: its parent and program are unknown.
    fn ensure(&mut self, task: u64, time_ns: i64) -> Result<(), Stop> {
        if self.tasks.is_known(task) {
            return Ok(());
        }
        self.begin(task, time_ns, None, ProgramDescription::default())
    }

    fn begin(
        &mut self,
        pid: u64,
        time_ns: i64,
        parent: Option<Process>,
        program: ProgramDescription<'_>,
    ) -> Result<(), Stop> {
        let by = parent.as_ref().map(|parent| parent.id);
        let begun = ProcessDescription { time_ns, pid, parent: by, host: None, program };
        let id = self.context.writer.begin_process(&begun)?;
        self.processes += 1;
        self.tasks.begin(pid, Process { id, directory: parent.and_then(|parent| parent.directory), exits: None });
        Ok(())
    }

    fn born(&mut self, task: u64, birth: Birth, time_ns: i64) -> Result<(), Stop> {
        let by = self.task(birth.by);
        self.ensure(by, time_ns)?;
        if birth.is_thread {
            self.tasks.begin_thread(task, by);
            return Ok(());
        }
        let parent = self.tasks.process(by).cloned();
        self.begin(task, time_ns, parent, ProgramDescription::default())
    }

    /// Handles a call that returned.
    fn returned(&mut self, task: u64, call: Call, arguments: &[u8], result: &[u8], time_ns: i64) -> Result<(), Stop> {
        match call {
            Call::Birth { is_thread } => {
                self.ensure(task, time_ns)?;
                let Some(child) = returned_task(result) else { return Ok(()) };
                if self.early.remove(&child) {
                    return Ok(());
                }
                self.births.next(child);
                self.born(child, Birth { by: Some(task), is_thread }, time_ns)
            }
            Call::Execute(program) if succeeded(result) => self.executed(task, program, time_ns),
            Call::ChangeDirectory(path) if succeeded(result) => {
                self.ensure(task, time_ns)?;
                if let Some(process) = self.tasks.process(task) {
                    process.directory = path.and_then(|path| joined(process.directory.as_deref(), &path));
                }
                Ok(())
            }
            Call::AskDirectory => {
                self.ensure(task, time_ns)?;
                if let (Some(process), Some(path)) = (self.tasks.process(task), answered_directory(arguments)) {
                    process.directory = Some(path);
                }
                Ok(())
            }
            Call::Execute(_) | Call::ChangeDirectory(_) => self.ensure(task, time_ns),
        }
    }

    fn executed(&mut self, task: u64, program: Program, time_ns: i64) -> Result<(), Stop> {
        self.cut_programs += u64::from(program.is_cut);
        let arguments: Vec<&str> = program.arguments.iter().map(String::as_str).collect();
        let executable = program.executable.as_deref();
        if let Some(process) = self.tasks.process(task) {
            let directory = process.directory.as_deref();
            let executed = ProgramDescription { executable, directory, arguments: &arguments };
            self.context.writer.process_image(process.id, time_ns, &executed, Usage::default())?;
        } else {
            let executed = ProgramDescription { executable, directory: None, arguments: &arguments };
            self.begin(task, time_ns, None, executed)?;
        }
        self.command.get_or_insert(program.arguments);
        Ok(())
    }

    /// Handles an event of a process or thread.
    fn event(&mut self, task: u64, event: &[u8], time_ns: i64) -> Result<(), Stop> {
        let event = process_logs::text(event);
        if let Some(thread) = event.strip_prefix("superseded by execve in pid ") {
            if let Ok(thread) = thread.parse() {
                self.tasks.supersede(task, thread);
            }
            return Ok(());
        }
        let (exit_status, signal) = if let Some(status) = event.strip_prefix("exited with ") {
            (status.parse().ok(), None)
        } else if let Some(signal) = event.strip_prefix("killed by ") {
            (None, signals::number(signal.split(' ').next().unwrap_or_default()))
        } else {
            return Ok(());
        };
        self.ensure(task, time_ns)?;
        if let Some(process) = self.tasks.end(task) {
            let end = ProcessEnd { exit_status, signal, used: Usage::default() };
            self.context.writer.end_process(process.id, time_ns, &end)?;
        }
        Ok(())
    }

    /// The outcome of the import.
    pub(super) fn finish(mut self, end: Result<(), Stop>) -> Result<Outcome, ImportError> {
        let mut notes = Vec::new();
        let mut unended = 0;
        for process in self.tasks.take_processes() {
            let (time_ns, exit_status) = process.exits.unwrap_or((self.last_ns, None));
            unended += u64::from(process.exits.is_none());
            let end = ProcessEnd { exit_status, ..ProcessEnd::default() };
            self.context.writer.end_process(process.id, time_ns, &end)?;
        }
        if !self.has_fractions && self.processes > 0 {
            notes.push(
                "the log has times in whole seconds, and so have all times here; `strace -ttt` is exact".to_owned(),
            );
        }
        let steps = self.reader.steps_back();
        if steps > 0 {
            notes.push(format!(
                "times that the clock was set back during the log: {steps}; how long each took is unknown, and 0 here"
            ));
        }
        if unended > 0 {
            notes.push(format!(
                "processes whose end is not in the log: {unended}; they are shown until the log ends, with an unknown exit \
                 status"
            ));
        }
        if self.has_dates {
            self.context.writer.own_fact(Word::of_settings("time of day"), "known")?;
        }
        if let Some(command) = &self.command {
            self.context.writer.own_fact("command", &shell_words(command))?;
        }
        let note = format!(
            "programs of which strace cut arguments, which end with `…` here: {}; `strace -s 65535 -v` keeps them",
            self.cut_programs
        );
        notes.extend((self.cut_programs > 0).then_some(note));
        let end = end.and_then(|()| self.left_out.end());
        Ok(Outcome { processes: self.processes, notes, end, ..Outcome::default() })
    }
}

/// A path relative to a directory, if that is certain: `..` may lead elsewhere through a symbolic link.
fn joined(directory: Option<&str>, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return Some(path.to_owned());
    }
    let directory = directory?;
    let mut steps = path.split('/').filter(|step| !step.is_empty() && *step != ".").peekable();
    if steps.clone().any(|step| step == "..") {
        return None;
    }
    let mut joined = directory.trim_end_matches('/').to_owned();
    if joined.is_empty() && steps.peek().is_none() {
        return Some("/".to_owned());
    }
    steps.for_each(|step| joined = format!("{joined}/{step}"));
    Some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_where_that_is_certain() {
        let check = |directory, path, expected: Option<&str>| assert_eq!(joined(directory, path).as_deref(), expected);
        check(None, "/a/b", Some("/a/b"));
        check(None, "b", None);
        check(Some("/a"), "b/./c/", Some("/a/b/c"));
        check(Some("/"), "b", Some("/b"));
        check(Some("/"), ".", Some("/"));
        check(Some("/a"), ".", Some("/a"));
        check(Some("/a"), "../b", None);
    }
}
