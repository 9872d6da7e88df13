//! The values of a series in ranges of equal width.

use barrow_statistics::{Modes, bins};
use barrow_trials::Series;

use crate::answer::measured::measured;
use crate::answer::{Audience, Column, Table, Unit, Value};

/// Characters of the longest bar.
const BAR: usize = 40;

/// A row for each range, also for empty ones, so that bars can be compared directly.
pub(crate) fn table(series: &Series, modes: &Modes, unit: &str) -> Table {
    let bins = bins(&series.sample(), modes);
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let columns = vec![
        Column::number("from"),
        Column::number("to"),
        Column::count("values"),
        Column::number("mode"),
        Column::shown("", Unit::Text),
    ];
    let rows = bins.iter().map(|bin| {
        // The longest bar may stand for many values, but no value has no bar.
        let length = if most <= BAR { bin.count } else { (bin.count * BAR).div_ceil(most) };
        vec![
            measured(bin.from, unit),
            measured(bin.to, unit),
            bin.count.into(),
            bin.mode.map(|mode| mode + 1).into(),
            Value::text("@".repeat(length)),
        ]
    });
    Table { key: "rows", audience: Audience::Everyone, rows: rows.collect(), columns }
}
