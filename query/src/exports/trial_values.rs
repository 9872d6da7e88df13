//! Trials for other programs: a table of what was measured, or every value, as `import` reads it.

use std::io::{self, Write};

use barrow_trials::{Better, Series, Trials};

use crate::answer::measured::measured;
use crate::answer::{Answer, Audience, Check, Column, Table, Unit, Value, csv, json};
use crate::flags::ExportFormat;
use crate::session::PIECE_ROWS;
use crate::tables::trials::{metric_of, overview, variant_of};

use super::markdown;

/// Writes the trials. Markdown and JSON have a row for each metric of each program, CSV one for each value.
///
/// # Errors
/// Those of `out` and of `check`.
pub(crate) fn write(
    trials: &Trials,
    format: ExportFormat,
    source: json::Source<'_>,
    check: &(dyn Fn() -> io::Result<()> + Sync),
    out: &mut dyn Write,
) -> io::Result<()> {
    let metrics: Vec<_> = trials.metric_ids().collect();
    match format {
        ExportFormat::Csv => values(trials, check, out),
        ExportFormat::Markdown => {
            markdown::write(&with_relative(trials, overview::table(trials, &metrics, check)?), out)
        }
        _ => json::draw(&Answer::default().table(overview::table(trials, &metrics, check)?).exact(), source, out),
    }
}

/// A row for each value that counts, some at a time.
fn values(trials: &Trials, check: Check<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["metric", "unit", "direction", "variant", "run", "iteration", "seed", "value"];
    let columns = columns.map(|key| Column::new(key, key, Unit::Text)).to_vec();
    let table = |rows| {
        Answer::default().table(Table { key: "rows", audience: Audience::Everyone, columns: columns.clone(), rows })
    };
    csv::begin(&table(Vec::new()), check, out)?;
    for id in trials.metric_ids() {
        let metric = metric_of(trials, id);
        let direction = match metric.better {
            Better::Unknown => Value::None,
            Better::Lower => "lower".into(),
            Better::Higher => "higher".into(),
        };
        for series in Series::of_metric(trials, id) {
            let variant = variant_of(trials, series.variant()).name.as_str();
            let row = |value: barrow_trials::Value| {
                let seed = value.seed.or_else(|| trials.runs().get(value.run.index()).and_then(|run| run.seed));
                vec![
                    metric.name.as_str().into(),
                    metric.unit.as_str().into(),
                    direction.clone(),
                    variant.into(),
                    value.run.0.into(),
                    value.iteration.into(),
                    seed.into(),
                    measured(value.value, ""),
                ]
            };
            for places in series.places().chunks(PIECE_ROWS) {
                let values = places.iter().filter_map(|place| trials.values(id).get(*place));
                csv::go_on(&table(values.map(row).collect()), check, out)?;
            }
        }
    }
    Ok(())
}

/// The same with the median relative to the smallest one of the metric, where there are several programs.
fn with_relative(trials: &Trials, mut table: Table) -> Table {
    let place = |key: &str| table.columns.iter().position(|column| column.key == key);
    let (Some(metric), Some(median), true) = (place("metric"), place("median"), trials.variants().len() > 1) else {
        return table;
    };
    let number = |row: &[Value]| match row[median] {
        Value::Measured { value, .. } => Some(value),
        _ => None,
    };
    let smallest = |name: &Value| {
        let same = table.rows.iter().filter(|row| row[metric] == *name);
        same.filter_map(|row| number(row)).fold(f64::INFINITY, f64::min)
    };
    let relative = |row: &Vec<Value>| {
        let ratio = number(row).map(|value| value / smallest(&row[metric])).filter(|ratio| ratio.is_finite());
        ratio.map(|ratio| Value::text(format!("{ratio:.3}"))).into()
    };
    let cells: Vec<Value> = table.rows.iter().map(relative).collect();
    table.columns.push(Column::new("relative", "relative", Unit::Number));
    table.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    table
}
