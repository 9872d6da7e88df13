//! Changes of classes and commands from one recording of a build to another.

use barrow_processes::{SideUse, UseChange};

use crate::answer::{Column, Table, table};

/// A change of less than this share is none that a word is worth. This is a judgement.
const LITTLE: f64 = 0.05;
/// Nor is one of less time: 10 ms is the tick by which many systems count processor time.
const LITTLE_NS: u64 = 10_000_000;

/// Characters of a class or command that a table repeats: whole unless it is hostile.
const LONGEST_NAME: usize = 1000;

/// A row for each class or command.
pub(crate) fn table(heading: &'static str, key: &'static str, changes: &[UseChange]) -> Table {
    table!("rows", changes, |change| {
        let UseChange { before, after, .. } = change;
        Column::text("change").own_words().called("") => word(change),
        Column::count("processes_before").called("before").secondary() => before.map(|side| side.images),
        Column::count("processes_after").called("after").secondary() => after.map(|side| side.images),
        Column::duration("cpu_before_ns").called("cpu") => before.and_then(|side| side.cpu_ns()),
        Column::duration("cpu_after_ns").called("→ cpu") => after.and_then(|side| side.cpu_ns()),
        Column::duration("wall_before_ns").called("wall").secondary() => before.map(|side| side.wall_ns),
        Column::duration("wall_after_ns").called("→ wall").secondary() => after.map(|side| side.wall_ns),
        Column::bytes("peak_before_bytes").called("peak") => before.and_then(|side| side.peak_bytes),
        Column::bytes("peak_after_bytes").called("→ peak") => after.and_then(|side| side.peak_bytes),
        Column::text(key).called(heading) => change.name.chars().take(LONGEST_NAME).collect::<String>(),
    })
}

/// The change in a word.
fn word(change: &UseChange) -> Option<&'static str> {
    let (before, after) = match (change.before, change.after) {
        (Some(before), Some(after)) => (before, after),
        (None, _) => return Some("new"),
        (_, None) => return Some("gone"),
    };
    let cost = |side: &SideUse| side.cpu_ns().unwrap_or(side.wall_ns);
    let is_more = |less: u64, more: u64| more as f64 > less as f64 * (1.0 + LITTLE);
    let is_much = cost(&before).abs_diff(cost(&after)) >= LITTLE_NS;
    let (slower, faster) = (is_more(cost(&before), cost(&after)), is_more(cost(&after), cost(&before)));
    let memory = before.peak_bytes.zip(after.peak_bytes);
    match memory {
        _ if is_much && slower => Some("slower"),
        _ if is_much && faster => Some("faster"),
        Some((before, after)) if is_more(before, after) => Some("larger"),
        Some((before, after)) if is_more(after, before) => Some("smaller"),
        _ => None,
    }
}
