//! Trials for other programs: a table of what was measured, or every value, as `import` reads it.

use std::io::{self, Write};

use barrow_trials::{Better, Metric, Series, Trials, Variant};

use crate::answer::measured::measured;
use crate::answer::{Answer, Check, Column, csv, json, table};
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
    let names = parameter_names(trials);
    csv::begin(&page(trials, &names, std::iter::empty()), check, out)?;
    for id in trials.metric_ids() {
        for series in Series::of_metric(trials, id) {
            let of = (metric_of(trials, id), variant_of(trials, series.variant()));
            for places in series.places().chunks(PIECE_ROWS) {
                let values = places.iter().filter_map(|place| trials.values(id).get(*place));
                csv::go_on(&page(trials, &names, values.map(|value| (of, value))), check, out)?;
            }
        }
    }
    Ok(())
}

/// A row for each of some values, with the parameters of these names.
fn page<'t>(
    trials: &Trials,
    names: &[&str],
    values: impl Iterator<Item = ((&'t Metric, &'t Variant), barrow_trials::Value)>,
) -> Answer {
    Answer::default().table(table!("rows", values, |((metric, variant), value)| {
        let direction = match metric.better {
            Better::Unknown => None,
            Better::Lower => Some("lower"),
            Better::Higher => Some("higher"),
        };
        let seed = value.seed.or_else(|| trials.runs().get(value.run.index()).and_then(|run| run.seed));
        let made_with = names.iter().map(|name| parameters(variant).find(|(known, _)| known == name));
        Column::text("metric") => metric.name.as_str(),
        Column::text("unit") => metric.unit.as_str(),
        Column::text("direction").own_words() => direction,
        Column::text("variant") => variant.name.as_str(),
        Column::text("run") => value.run.0,
        Column::text("iteration") => value.iteration,
        Column::text("seed") => seed,
        Column::text("value") => measured(value.value, ""),
        ..names.iter().map(|name| parameter_column(name)) => made_with.map(|found| found.map(|(_, value)| value)),
    }))
}
