//! Checks the ids in rows of measurements: strings, metrics, variants and runs must exist.

use barrow_format::rows::MeasurementRow;
use barrow_format::{FormatError, MetricId, RunId, StringId};

use crate::file::tables::below;

/// Checks the ids of rows in the order of the table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IdChecker {
    /// Rows of the string table.
    strings: u32,
    /// Metrics so far.
    metrics: u32,
    /// Variants so far.
    variants: u32,
    /// Runs that began so far.
    pub(crate) runs: u32,
}

impl IdChecker {
    /// The check of a table from its beginning.
    pub(crate) fn new(strings: u32) -> Self {
        IdChecker { strings, ..IdChecker::default() }
    }

    /// The same after the string table has grown.
    pub(crate) fn with_strings(self, strings: u32) -> Self {
        IdChecker { strings, ..self }
    }

    /// Fails unless all ids in the row exist, and a new metric, variant or run has the next number.
    pub(crate) fn check(&mut self, row: &MeasurementRow) -> Result<(), FormatError> {
        match row {
            MeasurementRow::Metric { metric, name, unit, .. } => {
                number("number of a metric", metric.0, &mut self.metrics)?;
                [*name, *unit].into_iter().try_for_each(|text| self.string(text))
            }
            MeasurementRow::Variant { variant, name, directory, command, attributes } => {
                number("number of a variant", variant.0, &mut self.variants)?;
                let attributes = attributes.iter().flat_map(|&(key, value)| [key, value]);
                let texts = [*name].into_iter().chain(*directory).chain(command.iter().copied()).chain(attributes);
                texts.into_iter().try_for_each(|text| self.string(text))
            }
            MeasurementRow::Begin { run, variant, .. } => {
                below("variant", variant.0, self.variants)?;
                number("number of a run", run.0, &mut self.runs)
            }
            MeasurementRow::Knobs { run, knobs, .. } => {
                self.run(*run)?;
                knobs.iter().flat_map(|&(key, value)| [key, value]).try_for_each(|text| self.string(text))
            }
            MeasurementRow::Value { metric, run, .. } => {
                self.metric(*metric)?;
                self.run(*run)
            }
            MeasurementRow::End { run, failure, .. } => {
                self.run(*run)?;
                failure.and_then(|failure| failure.output).map_or(Ok(()), |output| self.string(output))
            }
            MeasurementRow::Unknown => Ok(()),
        }
    }

    fn metric(&self, metric: MetricId) -> Result<(), FormatError> {
        below("metric", metric.0, self.metrics)
    }

    fn run(&self, run: RunId) -> Result<(), FormatError> {
        below("run", run.0, self.runs)
    }

    fn string(&self, text: StringId) -> Result<(), FormatError> {
        below("string of a measurement", text.0, self.strings)
    }
}

/// Fails unless `id` is the next number, and counts it.
fn number(what: &'static str, id: u32, count: &mut u32) -> Result<(), FormatError> {
    if id != *count {
        return Err(FormatError::Mismatch { what, stored: id.into(), found: (*count).into() });
    }
    *count = count.saturating_add(1);
    Ok(())
}
