//! The timeline of a process tree as text: time from top to bottom, a block for each process.
//!
//! ```text
//!        *2026*                  the date and the time of day, where they are known and each time they change
//!        Nov 27
//!    16:55:26Z
//!     0:00.000 >=100:0
//!     0:00.010 +-<=101:0         a line from the process that started it
//!              | | sh            the class, wherever there is room beside the block
//!     0:00.015 | +-<=102:0
//!              | | | compiler
//!              | | | 0.3000u 0.0100s
//!     0:00.345 | | \=0.33s
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::Tables;
use barrow_processes::{Bar, Event, Happening};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::process_text::signal;
use crate::answer::{units, visible};
use crate::tables::date;

/// Characters before the first column: a time.
const GUTTER: usize = 10;
/// Characters after the last one: how many more processes run.
const MORE: usize = 4;
/// Characters of a column.
const COLUMN: usize = 2;
/// Less room than this is too little for what is told at the end of a process.
const LEAST_ROOM: usize = 7;
/// Columns in which the name of a process is written.
const NEAR: u32 = 8;

/// Columns that have room in so many characters.
pub(crate) fn columns(width: usize) -> u32 {
    u32::try_from(width.saturating_sub(GUTTER + MORE) / COLUMN).unwrap_or(u32::MAX)
}

/// Draws events.
#[derive(Clone)]
pub(crate) struct Drawing {
    width: usize,
    /// The blocks of processes that run, by column.
    blocks: BTreeMap<u32, Drawn>,
    /// Whether processes ran on several hosts, whose names are shown.
    has_several_hosts: bool,
    clock: Option<Clock>,
    /// Processes that run and are not shown.
    hidden: u64,
    /// Processes that were not shown.
    left_out: u64,
}

/// A block that is drawn.
#[derive(Clone)]
struct Drawn {
    class: Option<Arc<str>>,
    is_class_shown: bool,
}

/// What a line shows besides the blocks.
#[derive(Clone, Copy)]
enum Mark<'t> {
    /// A block begins: the column from which a line leads to it, its own, its name.
    Begin(Option<u32>, u32, &'t str),
    /// A text beside a block, instead of its class.
    Text(u32, &'t str),
    /// A block ends, with a text.
    End(u32, &'t str),
    /// A block ends that has no room for its text: that is to the right of all others.
    EndAfar(u32, &'t str),
    /// Nothing.
    Nothing,
}

impl Mark<'_> {
    fn column(self) -> Option<u32> {
        match self {
            Mark::Begin(_, at, _) | Mark::Text(at, _) | Mark::End(at, _) | Mark::EndAfar(at, _) => Some(at),
            Mark::Nothing => None,
        }
    }
}

impl Drawing {
    /// Draws lines of so many characters. `start_ns` is when the recording began, in nanoseconds since 1970, if it tells.
    pub(crate) fn new(width: usize, start_ns: Option<u64>, has_several_hosts: bool) -> Self {
        let clock = start_ns.map(Clock::new);
        Drawing { width, blocks: BTreeMap::new(), has_several_hosts, clock, hidden: 0, left_out: 0 }
    }

    /// How many processes had no room so far.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds the lines of an event.
    pub(crate) fn draw(&mut self, event: &Event, tables: &Tables, lines: &mut Vec<String>) {
        let is_hidden = event.block.column >= columns(self.width);
        if !is_hidden && event.what != Happening::Executes {
            let told = self.clock.as_mut().map_or_else(Vec::new, |clock| clock.changed(event.time_ns));
            lines.extend(told.iter().map(|text| self.line_of(text, Mark::Nothing)));
        }
        match event.what {
            Happening::Begins | Happening::Runs if is_hidden => {
                self.hidden += 1;
                self.left_out += 1;
            }
            Happening::Ends { .. } | Happening::Interrupted if is_hidden => self.hidden = self.hidden.saturating_sub(1),
            Happening::Executes if is_hidden => {}
            Happening::Begins => self.begin(Some(event.time_ns), &event.block, tables, lines),
            Happening::Runs => self.begin(None, &event.block, tables, lines),
            Happening::Executes => self.execute(event, lines),
            Happening::Ends { .. } | Happening::Interrupted => self.end(event, lines),
        }
    }

    fn begin(&mut self, time_ns: Option<i64>, block: &Bar, tables: &Tables, lines: &mut Vec<String>) {
        let column = block.column;
        // The new block may cover the place of a name that was not shown yet.
        let covered = self.blocks.range(..column).next_back();
        if covered.is_some_and(|(&before, drawn)| !drawn.is_class_shown && before + NEAR > column) {
            lines.push(self.line(None, Mark::Nothing));
        }
        self.blocks.insert(column, Drawn { class: block.class.clone(), is_class_shown: block.class.is_none() });
        let host = block.host.filter(|_| self.has_several_hosts).map(|host| tables.string(host));
        let name = match host {
            Some(host) => format!("{}:{} {host}", block.pid, block.serial),
            None => format!("{}:{}", block.pid, block.serial),
        };
        let from = block.parent.map(|(_, _, column)| column);
        lines.push(self.line(time_ns, Mark::Begin(from, column, &name)));
    }

    fn execute(&mut self, event: &Event, lines: &mut Vec<String>) {
        let (column, room) = (event.block.column, self.room_beside(event.block.column));
        let Some(drawn) = self.blocks.get_mut(&column) else { return };
        if drawn.class == event.block.class {
            return;
        }
        let was_shown = std::mem::replace(&mut drawn.is_class_shown, event.block.class.is_none());
        drawn.class.clone_from(&event.block.class);
        if was_shown && room >= LEAST_ROOM {
            lines.push(self.line(Some(event.time_ns), Mark::Nothing));
        }
    }

    fn end(&mut self, event: &Event, lines: &mut Vec<String>) {
        let column = event.block.column;
        let has_room = self.room_beside(column) >= LEAST_ROOM;
        let Some(drawn) = self.blocks.get(&column) else { return };
        let mut texts = Vec::new();
        texts.extend(drawn.class.as_deref().filter(|_| !drawn.is_class_shown || !has_room).map(str::to_owned));
        texts.extend(ending(event, self.room_beside(column)));
        let mark = match event.what {
            Happening::Interrupted => "interrupted!".to_owned(),
            _ => short(event.wall_ns()),
        };
        if has_room {
            texts.iter().for_each(|text| lines.push(self.line(None, Mark::Text(column, text))));
            lines.push(self.line(Some(event.time_ns), Mark::End(column, &mark)));
        } else {
            texts.push(mark);
            lines.push(self.line(Some(event.time_ns), Mark::EndAfar(column, &texts.join(", "))));
        }
        self.blocks.remove(&column);
    }

    /// Characters between a block and the next one.
    fn room_beside(&self, column: u32) -> usize {
        let next = self.blocks.range(column.saturating_add(1)..).next();
        room(column, next.map(|(next, _)| *next), self.limit())
    }

    /// Characters of all columns.
    fn limit(&self) -> usize {
        self.width.saturating_sub(GUTTER + MORE)
    }

    /// A line: what runs, and a mark.
    fn line(&mut self, time_ns: Option<i64>, mark: Mark<'_>) -> String {
        self.line_of(&time_ns.map_or_else(String::new, time_text), mark)
    }

    /// A line with this text before the first column.
    fn line_of(&mut self, time: &str, mark: Mark<'_>) -> String {
        let limit = self.limit();
        let mut line = Line::new(time);
        let mut blocks = self.blocks.iter_mut().peekable();
        while let Some((&column, drawn)) = blocks.next() {
            let room = room(column, blocks.peek().map(|(next, _)| **next), limit);
            match mark {
                Mark::Begin(Some(from), at, _) if from == column => line.cross(column, '+', place(at)),
                Mark::Begin(Some(from), at, _) if (from..at).contains(&column) => {}
                Mark::EndAfar(at, _) if column > at => {}
                _ if mark.column() == Some(column) => line.mark(column, mark, room, limit),
                _ => {
                    line.put(place(column), "| ");
                    if let Some(class) = &drawn.class
                        && room > 0
                    {
                        drawn.is_class_shown = true;
                        line.put(place(column) + COLUMN, &cut(class, room));
                    }
                }
            }
        }
        if self.hidden > 0 {
            let more = if self.hidden < 100 { format!("+{}", self.hidden) } else { ">99".to_owned() };
            line.put(limit + 1, &more);
        }
        line.text.truncate(line.text.trim_end().len());
        line.text
    }
}

/// What is told of an end in blocks of so many characters, a line each.
fn ending(event: &Event, room: usize) -> Vec<String> {
    let Happening::Ends { exit_status, signal: killed, user_ns, system_ns } = event.what else { return Vec::new() };
    let used = [(user_ns, 'u'), (system_ns, 's')];
    let used: Vec<String> = used.into_iter().filter_map(|(ns, mode)| Some(format!("{}{mode}", seconds(ns?)))).collect();
    let both = used.join(" ");
    // Where there is no room at all, everything goes into one line.
    let mut texts = if both.width() <= room || room < LEAST_ROOM { vec![both] } else { used };
    texts.retain(|text| !text.is_empty());
    match (exit_status, killed) {
        (_, Some(number)) => texts.extend(["interrupted!".to_owned(), format!("by {}", signal(number))]),
        (Some(status), None) if status != 0 => texts.push(format!("exit {status}")),
        _ => {}
    }
    texts
}

/// Seconds of processor time: four digits after the point while there is room for them.
fn seconds(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    match ns {
        0..100_000_000_000 => format!("{seconds:.4}"),
        100_000_000_000..10_000_000_000_000 => format!("{seconds:.2}"),
        _ => format!("{seconds:.0}"),
    }
}

/// The time of day of a drawing. It is told where it begins, and with each new minute in which something happens.
#[derive(Clone)]
struct Clock {
    /// When the recording began, in nanoseconds since 1970.
    start_ns: u64,
    /// What was told last: date and time of day.
    told: Option<(String, String)>,
}

impl Clock {
    fn new(start_ns: u64) -> Self {
        Clock { start_ns, told: None }
    }

    /// Texts of what changed since the last one was told, a line each. All fit before the first column.
    fn changed(&mut self, time_ns: i64) -> Vec<String> {
        let Some(now_ns) = self.start_ns.checked_add_signed(time_ns) else { return Vec::new() };
        // `2026-11-21 03:29:30 UTC`
        let now = date::date(now_ns);
        let mut words = now.split(' ').map(str::to_owned);
        let (date, time) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (old_date, old_time) = self.told.clone().unwrap_or_default();
        let mut texts = Vec::new();
        let (year, day) = date.split_once('-').unwrap_or_default();
        let (old_year, _) = old_date.split_once('-').unwrap_or_default();
        if year != old_year {
            texts.push(format!("*{year}*"));
        }
        if date != old_date {
            texts.push(day_text(day));
        }
        let minute = |time: &str| time.get(..5).map(str::to_owned);
        if texts.is_empty() && minute(&time) == minute(&old_time) {
            return texts;
        }
        texts.push(format!("{time}Z"));
        self.told = Some((date, time));
        texts
    }
}

/// `11-27` as `Nov 27`.
fn day_text(day: &str) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (month, day) = day.split_once('-').unwrap_or_default();
    let month = month.parse::<usize>().ok().and_then(|month| MONTHS.get(month.checked_sub(1)?));
    format!("{} {day}", month.copied().unwrap_or_default())
}

/// A time in few characters.
fn short(ns: u64) -> String {
    units::duration(ns).replace(' ', "")
}

/// The first character of a column.
fn place(column: u32) -> usize {
    column as usize * COLUMN
}

/// Characters between a block and the next one, or the end of the columns.
fn room(column: u32, next: Option<u32>, limit: usize) -> usize {
    let from = place(column) + COLUMN;
    next.map_or(limit, |next| place(next).saturating_sub(1)).saturating_sub(from)
}

/// A line that grows to the right.
struct Line {
    text: String,
    /// Characters after the time.
    length: usize,
}

impl Line {
    fn new(time: &str) -> Self {
        Line { text: format!("{time:>width$} ", width = GUTTER - 1), length: 0 }
    }

    /// Adds a text at a place, after blanks.
    fn put(&mut self, at: usize, text: &str) {
        self.fill(at, ' ');
        self.text.push_str(text);
        self.length += text.width();
    }

    fn fill(&mut self, to: usize, with: char) {
        self.text.extend(std::iter::repeat_n(with, to.saturating_sub(self.length)));
        self.length = self.length.max(to);
    }

    /// A line from a column to a place.
    fn cross(&mut self, from: u32, first: char, to: usize) {
        self.put(place(from), first.encode_utf8(&mut [0; 4]));
        self.fill(to, '-');
    }

    fn mark(&mut self, column: u32, mark: Mark<'_>, room: usize, limit: usize) {
        let at = place(column);
        match mark {
            Mark::Begin(from, _, name) => {
                self.put(at, if from.is_some() { "<=" } else { ">=" });
                self.put(at + COLUMN, &cut(name, room));
            }
            Mark::Text(_, text) => {
                self.put(at, "| ");
                self.put(at + COLUMN, &cut(text, room));
            }
            Mark::End(_, text) => {
                self.put(at, "\\=");
                self.put(at + COLUMN, &cut(text, room));
            }
            Mark::EndAfar(_, text) => {
                let text = cut(text, limit.saturating_sub(at + COLUMN));
                self.cross(column, '\\', limit.saturating_sub(text.width() + 1));
                self.put(self.length, "=");
                self.put(self.length, &text);
            }
            Mark::Nothing => {}
        }
    }
}

/// Minutes and seconds, with as many digits of a second as have room.
fn time_text(time_ns: i64) -> String {
    let (sign, ms) = (if time_ns < 0 { "-" } else { "" }, time_ns.unsigned_abs() / 1_000_000);
    let (minutes, seconds, ms) = (ms / 60_000, ms / 1000 % 60, ms % 1000);
    match minutes {
        0..100 => format!("{sign}{minutes}:{seconds:02}.{ms:03}"),
        100..1000 => format!("{sign}{minutes}:{seconds:02}.{:02}", ms / 10),
        _ => format!("{sign}{minutes}:{seconds:02}"),
    }
}

/// The beginning of a text, with hidden characters written out.
fn cut(text: &str, room: usize) -> String {
    let shown = visible::cell(text);
    if shown.width() <= room {
        return shown.into_owned();
    }
    let mut used = 1;
    let fits = shown.chars().take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    let mut text: String = fits.collect();
    if room > 0 {
        text.push('…');
    }
    text
}
