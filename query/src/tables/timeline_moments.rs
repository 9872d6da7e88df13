//! The timeline of a process tree as moments: what runs, each process in its column, and what happens to one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::Tables;
use barrow_processes::{Bar, Event, Happening};

use super::process_text::signal;
use crate::answer::timeline::{Moment, MomentEvent, MomentTime, Running};
use crate::answer::units;
use crate::tables::date;

/// Turns events into moments.
#[derive(Clone)]
pub(crate) struct Moments {
    /// The classes of the processes that run, by column.
    running: BTreeMap<u32, Option<Arc<str>>>,
    /// Whether processes ran on several hosts, whose names are shown.
    has_several_hosts: bool,
    clock: Option<Clock>,
    /// Processes that run without a column.
    hidden: u64,
    /// The width that was asked for.
    width: Option<u16>,
}

impl Moments {
    /// Moments for lines of `width` characters, if the question says. `start_ns` is when the recording began, in
    /// nanoseconds since 1970, if it tells.
    pub(crate) fn new(width: Option<u16>, start_ns: Option<u64>, has_several_hosts: bool) -> Self {
        let clock = start_ns.map(Clock::new);
        Moments { running: BTreeMap::new(), has_several_hosts, clock, hidden: 0, width }
    }

    /// Adds the moments of an event.
    pub(crate) fn add(&mut self, event: &Event, tables: &Tables, moments: &mut Vec<Moment>) {
        let has_column = event.block.column < Moment::COLUMNS;
        if has_column && event.what != Happening::Executes {
            let told = self.clock.as_mut().map_or_else(Vec::new, |clock| clock.changed(event.time_ns));
            moments.extend(told.into_iter().map(|text| self.moment(MomentTime::Calendar(text), MomentEvent::Nothing)));
        }
        let column = event.block.column;
        match event.what {
            Happening::Begins | Happening::Runs => {
                match has_column {
                    true => drop(self.running.insert(column, event.block.class.clone())),
                    false => self.hidden += 1,
                }
                let is_new = event.what == Happening::Begins;
                let time = if is_new { MomentTime::Since(event.time_ns) } else { MomentTime::Unchanged };
                moments.push(self.moment(time, self.begins(&event.block, tables)));
            }
            Happening::Executes => {
                let Some(class) = self.running.get_mut(&column) else { return };
                if *class != event.block.class {
                    class.clone_from(&event.block.class);
                    moments.push(self.moment(MomentTime::Since(event.time_ns), MomentEvent::Executes { column }));
                }
            }
            Happening::Ends { .. } | Happening::Interrupted => {
                if self.running.contains_key(&column) {
                    moments.push(self.moment(MomentTime::Since(event.time_ns), ends(event)));
                    self.running.remove(&column);
                } else {
                    self.hidden = self.hidden.saturating_sub(1);
                }
            }
        }
    }

    fn begins(&self, block: &Bar, tables: &Tables) -> MomentEvent {
        let host = block.host.filter(|_| self.has_several_hosts).map(|host| tables.string(host));
        let name = match host {
            Some(host) => format!("{}:{} {host}", block.pid, block.serial),
            None => format!("{}:{}", block.pid, block.serial),
        };
        let from = block.parent.map(|(_, _, column)| column);
        MomentEvent::Begins { from, column: block.column, name }
    }

    /// What runs, and an event.
    fn moment(&self, time: MomentTime, event: MomentEvent) -> Moment {
        let running = self.running.iter().map(|(&column, class)| Running { column, class: class.clone() });
        Moment { time, running: running.collect(), hidden: self.hidden, event, width: self.width }
    }
}

/// The end of a process.
fn ends(event: &Event) -> MomentEvent {
    let column = event.block.column;
    let Happening::Ends { exit_status, signal: killed, user_ns, system_ns } = event.what else {
        return MomentEvent::Ends { column, used: Vec::new(), how: Vec::new(), mark: "interrupted!".to_owned() };
    };
    let used = [(user_ns, 'u'), (system_ns, 's')];
    let used = used.into_iter().filter_map(|(ns, mode)| Some(format!("{}{mode}", seconds(ns?))));
    let how = match (exit_status, killed) {
        (_, Some(number)) => vec!["interrupted!".to_owned(), format!("by {}", signal(number))],
        (Some(status), None) if status != 0 => vec![format!("exit {status}")],
        _ => Vec::new(),
    };
    MomentEvent::Ends { column, used: used.collect(), how, mark: short(event.wall_ns()) }
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
