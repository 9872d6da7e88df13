//! Trials for other programs: a table of what was measured, or every value, as `import` reads it.

use std::io::{self, Write};

use barrow_trials::{Better, Series, Trials};

use crate::answer::measured::measured;
use crate::answer::{Answer, Audience, Check, Column, Table, Value, csv, json};
use crate::ask::PIECE_ROWS;
use crate::flags::ExportFormat;
use crate::tables::trials::presentation::{Presentation, parameter_column, parameter_names, parameters};
use crate::tables::trials::{metric_of, overview, variant_of};

use super::{asciidoc, hyperfine, markdown, orgmode};

/// Writes the trials. Tables and JSON have a row for each metric of each program, CSV one for each value.
///
/// # Errors
/// Those of `out` and of `check`.
pub(crate) fn write(
    (trials, presentation): (&Trials, &Presentation<'_>),
    format: ExportFormat,
    source: json::Source<'_>,
    check: &(dyn Fn() -> io::Result<()> + Sync),
    out: &mut dyn Write,
) -> io::Result<()> {
    let metrics: Vec<_> = trials.metric_ids().collect();
    if format == ExportFormat::Csv {
        return values(trials, check, out);
    }
    let table = presentation.overview(overview::table(trials, &metrics, check)?);
    match format {
        ExportFormat::Markdown => markdown::write(&presentation.with_relative(table), out),
        ExportFormat::Asciidoc => asciidoc::write(&presentation.with_relative(table), out),
        ExportFormat::Orgmode => orgmode::write(&presentation.with_relative(table), out),
        _ => {
            // First, as in hyperfine's own files: so imports recognise it.
            write!(out, "{{")?;
            hyperfine::write(trials, check, out)?;
            let mut rest = Vec::new();
            json::draw(&Answer::default().table(table).exact(), source, &mut rest)?;
            write!(out, ",")?;
            out.write_all(&rest[1..])
        }
    }
}

/// A row for each value that counts, some at a time.
fn values(trials: &Trials, check: Check<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["metric", "unit", "direction", "variant", "run", "iteration", "seed", "value"];
    let mut columns = columns.map(|key| Column::text(key)).to_vec();
    let names = parameter_names(trials);
    columns.extend(names.iter().map(|name| parameter_column(name)));
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
            let of = variant_of(trials, series.variant());
            let variant = of.name.as_str();
            let parameter = |name: &&str| parameters(of).find(|(known, _)| known == name);
            let made_with: Vec<Value> =
                names.iter().map(|name| parameter(name).map(|(_, value)| Value::text(value)).into()).collect();
            let row = |value: barrow_trials::Value| {
                let seed = value.seed.or_else(|| trials.runs().get(value.run.index()).and_then(|run| run.seed));
                let mut cells = vec![
                    metric.name.as_str().into(),
                    metric.unit.as_str().into(),
                    direction.clone(),
                    variant.into(),
                    value.run.0.into(),
                    value.iteration.into(),
                    seed.into(),
                    measured(value.value, ""),
                ];
                cells.extend(made_with.iter().cloned());
                cells
            };
            for places in series.places().chunks(PIECE_ROWS) {
                let values = places.iter().filter_map(|place| trials.values(id).get(*place));
                csv::go_on(&table(values.map(row).collect()), check, out)?;
            }
        }
    }
    Ok(())
}
