//! The values of a series in ranges of equal width.

use barrow_statistics::{Modes, bins};
use barrow_trials::Series;

use crate::answer::{Column, Table, Unit, measured::measured, table};

/// Characters of the longest bar.
const BAR: usize = 40;

/// A row for each range, also for empty ones, so that bars can be compared directly.
pub(crate) fn table(series: &Series, modes: &Modes, unit: &str) -> Table {
    let bins = bins(&series.sample(), modes);
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    table!("rows", bins, |bin| {
        // The longest bar may stand for many values, but no value has no bar.
        let length = if most <= BAR { bin.count } else { (bin.count * BAR).div_ceil(most) };
        Column::number("from") => measured(bin.from, unit),
        Column::number("to") => measured(bin.to, unit),
        Column::count("values") => bin.count,
        Column::number("mode") => bin.mode.map(|mode| mode + 1),
        Column::shown("", Unit::Text) => "@".repeat(length),
    })
}
