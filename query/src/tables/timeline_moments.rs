//! The timeline of a process tree as moments: what runs, each process in its column, and what happens to one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::Tables;
use barrow_processes::{Bar, Event, Happening};
use unicode_width::UnicodeWidthStr;

use super::process_text::signal;
use crate::answer::timeline::{Moment, MomentEvent, MomentTime, Running};
use crate::answer::units;
use crate::tables::date;

/// Less room than this is too little for what is told at the end of a process.
const LEAST_ROOM: usize = 7;
/// Columns in which the name of a process is written.
const NEAR: u32 = 8;

/// Turns events into moments, each a line.
#[derive(Clone)]
pub(crate) struct Moments {
    width: usize,
    /// The processes that run, by column.
    blocks: BTreeMap<u32, Block>,
    /// Whether processes ran on several hosts, whose names are shown.
    has_several_hosts: bool,
    clock: Option<Clock>,
    /// Processes that run and are not shown.
    hidden: u64,
    /// Processes that were not shown.
    left_out: u64,
}

/// A process that runs and has a column.
#[derive(Clone)]
struct Block {
    class: Option<Arc<str>>,
    is_class_shown: bool,
}

impl Moments {
    /// Moments for lines of `width` characters. `start_ns` is when the recording began, in nanoseconds since 1970, if it tells.
    pub(crate) fn new(width: usize, start_ns: Option<u64>, has_several_hosts: bool) -> Self {
        let clock = start_ns.map(Clock::new);
        Moments { width, blocks: BTreeMap::new(), has_several_hosts, clock, hidden: 0, left_out: 0 }
    }

    /// How many processes had no room so far.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds the moments of an event.
    pub(crate) fn add(&mut self, event: &Event, tables: &Tables, moments: &mut Vec<Moment>) {
        let is_hidden = event.block.column >= Moment::columns(self.width);
        if !is_hidden && event.what != Happening::Executes {
            let told = self.clock.as_mut().map_or_else(Vec::new, |clock| clock.changed(event.time_ns));
            moments.extend(told.into_iter().map(|text| self.moment(MomentTime::Calendar(text), MomentEvent::Nothing)));
        }
        match event.what {
            Happening::Begins | Happening::Runs if is_hidden => {
                self.hidden += 1;
                self.left_out += 1;
            }
            Happening::Ends { .. } | Happening::Interrupted if is_hidden => self.hidden = self.hidden.saturating_sub(1),
            Happening::Executes if is_hidden => {}
            Happening::Begins => self.begin(Some(event.time_ns), &event.block, tables, moments),
            Happening::Runs => self.begin(None, &event.block, tables, moments),
            Happening::Executes => self.execute(event, moments),
            Happening::Ends { .. } | Happening::Interrupted => self.end(event, moments),
        }
    }

    fn begin(&mut self, time_ns: Option<i64>, block: &Bar, tables: &Tables, moments: &mut Vec<Moment>) {
        let column = block.column;
        // The new block may cover the place of a name that was not shown yet.
        let covered = self.blocks.range(..column).next_back();
        if covered.is_some_and(|(&before, drawn)| !drawn.is_class_shown && before + NEAR > column) {
            moments.push(self.moment(MomentTime::Unchanged, MomentEvent::Nothing));
        }
        self.blocks.insert(column, Block { class: block.class.clone(), is_class_shown: block.class.is_none() });
        let host = block.host.filter(|_| self.has_several_hosts).map(|host| tables.string(host));
        let name = match host {
            Some(host) => format!("{}:{} {host}", block.pid, block.serial),
            None => format!("{}:{}", block.pid, block.serial),
        };
        let from = block.parent.map(|(_, _, column)| column);
        let time = time_ns.map_or(MomentTime::Unchanged, MomentTime::Since);
        moments.push(self.moment(time, MomentEvent::Begins { from, column, name }));
    }

    fn execute(&mut self, event: &Event, moments: &mut Vec<Moment>) {
        let (column, room) = (event.block.column, self.room_beside(event.block.column));
        let Some(drawn) = self.blocks.get_mut(&column) else { return };
        if drawn.class == event.block.class {
            return;
        }
        let was_shown = std::mem::replace(&mut drawn.is_class_shown, event.block.class.is_none());
        drawn.class.clone_from(&event.block.class);
        if was_shown && room >= LEAST_ROOM {
            moments.push(self.moment(MomentTime::Since(event.time_ns), MomentEvent::Nothing));
        }
    }

    fn end(&mut self, event: &Event, moments: &mut Vec<Moment>) {
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
            for text in texts {
                moments.push(self.moment(MomentTime::Unchanged, MomentEvent::Told { column, text }));
            }
            let ends = MomentEvent::Ends { column, text: mark, is_afar: false };
            moments.push(self.moment(MomentTime::Since(event.time_ns), ends));
        } else {
            texts.push(mark);
            let ends = MomentEvent::Ends { column, text: texts.join(", "), is_afar: true };
            moments.push(self.moment(MomentTime::Since(event.time_ns), ends));
        }
        self.blocks.remove(&column);
    }

    /// Characters between a process and the next one.
    fn room_beside(&self, column: u32) -> usize {
        let next = self.blocks.range(column.saturating_add(1)..).next();
        Moment::room(self.width, column, next.map(|(next, _)| *next))
    }

    /// What runs, and an event. The class of a process is shown where nothing covers its place.
    fn moment(&mut self, time: MomentTime, event: MomentEvent) -> Moment {
        let mut running = Vec::with_capacity(self.blocks.len());
        let mut blocks = self.blocks.iter_mut().peekable();
        while let Some((&column, block)) = blocks.next() {
            let room = Moment::room(self.width, column, blocks.peek().map(|(next, _)| **next));
            let is_covered = match &event {
                MomentEvent::Begins { from: Some(from), column: at, .. } => (*from..=*at).contains(&column),
                MomentEvent::Ends { column: at, is_afar: true, .. } => column >= *at,
                event => event.column() == Some(column),
            };
            block.is_class_shown |= !is_covered && room > 0 && block.class.is_some();
            running.push(Running { column, class: block.class.clone() });
        }
        Moment { time, running, hidden: self.hidden, event, width: self.width }
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
