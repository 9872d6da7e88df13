//! What changed from one recording of a build to another.

use barrow_processes::{SideUse, UseChange};

use crate::answer::{Audience, Column, Table, Value};

/// A change of less than this share is none that a word is worth.
const LITTLE: f64 = 0.05;
/// Nor is one of less time.
const LITTLE_NS: u64 = 10_000_000;

/// A row for each class or command.
pub(crate) fn table(heading: &'static str, key: &'static str, changes: &[UseChange]) -> Table {
    let columns = vec![
        Column::text("change").called(""),
        Column::count("processes_before").called("before").secondary(),
        Column::count("processes_after").called("after").secondary(),
        Column::duration("cpu_before_ns").called("cpu"),
        Column::duration("cpu_after_ns").called("→ cpu"),
        Column::duration("wall_before_ns").called("wall").secondary(),
        Column::duration("wall_after_ns").called("→ wall").secondary(),
        Column::bytes("peak_before_bytes").called("peak"),
        Column::bytes("peak_after_bytes").called("→ peak"),
        Column::text(key).called(heading),
    ];
    let rows = changes.iter().map(|change| {
        let of = |side: Option<SideUse>, of: fn(&SideUse) -> Option<u64>| -> Value {
            side.and_then(|side| of(&side)).into()
        };
        let pair = |part: fn(&SideUse) -> Option<u64>| [of(change.before, part), of(change.after, part)];
        let mut row = vec![word(change).into()];
        row.extend(pair(|side| Some(side.images)));
        row.extend(pair(SideUse::cpu_ns));
        row.extend(pair(|side| Some(side.wall_ns)));
        row.extend(pair(|side| side.peak_bytes));
        row.push(Value::text(change.name.chars().take(1000).collect::<String>()));
        row
    });
    Table { key: "rows", audience: Audience::Everyone, rows: rows.collect(), columns }
}

/// What happened, in a word.
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
