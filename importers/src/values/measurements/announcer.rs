//! Announces measured values to the writer.

use barrow_writer::{MetricDescription, RunDescription, RunEnd, RunId, ValueDescription, Writer};

use super::values::{Metric, ParsedValues, ReadFile, Run, Values};
use crate::context::{Context, Outcome};
use crate::error::{ImportError, Stop};
use crate::processes::process_logs::LogProgress;

/// Number of values between two checks for cancellation: a cancelled import ends within milliseconds.
const STEP_VALUES: usize = 1 << 16;

/// Imports a file of measured values.
pub(crate) fn import(text: &[u8], context: &Context<'_>, read: ReadFile) -> Result<Outcome, ImportError> {
    import_reading(text, context, |_| read(text, context.source))
}

/// The same with a reader that reports its position and may be cancelled.
pub(crate) fn import_reading(
    text: &[u8],
    context: &Context<'_>,
    read: impl FnOnce(&mut LogProgress<'_, '_>) -> Result<ParsedValues, ImportError>,
) -> Result<Outcome, ImportError> {
    let mut reading = LogProgress::new(context)?;
    let mut read = read(&mut reading)?;
    let mut notes = read.values.take_notes();
    let mut unusable = read.values.take_unusable().into_iter();
    // The import ends with one error. Other omissions become notes.
    let is_told = read.values.rows.is_empty() || read.end.is_err();
    let first_unusable = if is_told { None } else { unusable.next() };
    notes.extend(unusable.map(|unusable| unusable.to_string()));
    if read.values.rows.is_empty() && read.end.is_ok() {
        return Err(no_values(&notes));
    }
    let (values, runs) = (read.values.rows.len() as u64, read.values.runs.len() as u64);
    let announced = if values > 0 { announce(read.values, context) } else { Ok(()) };
    reading.ended(text.len())?;
    let end = announced.and(read.end).and(first_unusable.map_or(Ok(()), |unusable| Err(unusable.into())));
    Ok(Outcome { values, runs, notes, end, ..Outcome::default() })
}

/// The error for a file without values, for the reasons in `notes`.
pub(crate) fn no_values(notes: &[String]) -> ImportError {
    let reason = if notes.is_empty() { "it lists none".to_owned() } else { notes.join("; ") };
    ImportError::NoValues { reason }
}

fn announce(mut values: Values, context: &Context<'_>) -> Result<(), Stop> {
    let (writer, vocabulary) = (context.writer, context.vocabulary);
    for &word in &values.words {
        writer.word(word)?;
    }
    for (key, value) in &values.facts {
        writer.fact(key, value)?;
    }
    let metrics = values.metrics.iter().map(|metric| {
        let &Metric { ref name, ref unit, better, exact } = metric;
        vocabulary.metric(&MetricDescription { name, unit, better, exact })
    });
    let metrics = metrics.collect::<Result<Vec<_>, _>>()?;
    let variants = values.variants.iter().map(|variant| {
        let attributes: Vec<(&str, &str)> = variant.attributes.iter().map(|(key, value)| (&**key, &**value)).collect();
        vocabulary.variant(&variant.name, &attributes)
    });
    let variants = variants.collect::<Result<Vec<_>, _>>()?;
    // The values of a run follow it. Runs are in the order of the file, and so are the values of each.
    values.rows.sort_by_key(|row| row.run);
    let mut rows = values.rows.iter().peekable();
    let mut announced = 0;
    for (number, run) in values.runs.iter().enumerate() {
        let id = writer.begin_run(&RunDescription {
            variant: variants[run.variant],
            seed: run.seed,
            ..RunDescription::default()
        })?;
        while let Some(row) = rows.next_if(|row| row.run == number) {
            let (metric, iteration, seed) = (metrics[row.metric], row.iteration, row.seed);
            writer.value(&ValueDescription { metric, run: id, iteration, seed, time_ns: None, value: row.value })?;
            announced += 1;
            if announced % STEP_VALUES == 0 {
                context.check_cancelled()?;
            }
        }
        end_run(id, run, writer)?;
    }
    Ok(())
}

fn end_run(id: RunId, run: &Run, writer: &Writer) -> Result<(), Stop> {
    let Some(end) = run.end else { return Ok(()) };
    Ok(writer.end_run(id, &RunEnd { exit_status: end.exit_status, failed: end.failed, ..RunEnd::default() })?)
}
