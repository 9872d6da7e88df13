//! The values of a series in ranges of equal width.

use barrow_statistics::{Modes, bins};
use barrow_trials::Series;

use crate::answer::{Column, Table, Unit, Value, measured::measured, table};

/// A row for each range, also for empty ones, so that bars can be compared directly.
pub(crate) fn table(series: &Series, modes: &Modes, unit: &str) -> Table {
    let bins = bins(&series.sample(), modes);
    let longest = bins.iter().map(|bin| bin.count as u64).max().unwrap_or(0);
    table!("rows", bins, |bin| {
        Column::number("from") => measured(bin.from, unit),
        Column::number("to") => measured(bin.to, unit),
        Column::count("values") => bin.count,
        Column::number("mode") => bin.mode.map(|mode| mode + 1),
        Column::shown("", Unit::Picture) => Value::Bar { length: bin.count as u64, longest },
    })
}
