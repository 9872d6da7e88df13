//! Trials for other programs: a table of what was measured, or every value, as `import` reads it.

use std::io::{self, Write};

use barrow_trials::{Better, Series, Trials};

use crate::answer::measured::measured;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value, csv, json};
use crate::flags::ExportFormat;
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
        ExportFormat::Csv => csv::begin(&Answer::default().table(values(trials)), check, out),
        ExportFormat::Markdown => {
            markdown::write(&with_relative(trials, overview::table(trials, &metrics, check)?), out)
        }
        _ => json::draw(&Answer::default().table(overview::table(trials, &metrics, check)?).exact(), source, out),
    }
}

/// A row for each value that counts.
fn values(trials: &Trials) -> Table {
    let columns = ["metric", "unit", "direction", "variant", "run", "iteration", "seed", "value"];
    let columns = columns.map(|key| Column::new(key, key, Unit::Text)).to_vec();
    let mut rows = Vec::new();
    for id in trials.metric_ids() {
        let metric = metric_of(trials, id);
        let direction = match metric.better {
            Better::Unknown => Value::None,
            Better::Lower => "lower".into(),
            Better::Higher => "higher".into(),
        };
        for series in Series::of_metric(trials, id) {
            let variant = variant_of(trials, series.variant()).name.as_str();
            rows.extend(series.values().iter().map(|value| {
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
            }));
        }
    }
    Table { key: "rows", audience: Audience::Everyone, columns, rows }
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
