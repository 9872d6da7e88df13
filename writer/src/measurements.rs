//! Measurements: metrics, the variants of a program, their runs, and the values measured in them.
//!
//! Rows wait until enough of them are there, until [`Writer::flush`], or until the next commit. They need no snapshot.

use std::sync::atomic::{AtomicU32, Ordering};

use barrow_format::rows::{Better, Failure, MeasurementRow};
use barrow_format::{MetricId, RunId, StringId, VariantId};

use crate::error::{Result, WriterError};
use crate::tables::{Counts, Tables};
use crate::writer::Writer;

/// Describes a metric.
#[derive(Debug, Clone, Copy, Default)]
pub struct MetricDescription<'a> {
    /// Its name, such as `wall`.
    pub name: &'a str,
    /// Its unit: `ns`, `bytes`, any other text, or nothing for counts.
    pub unit: &'a str,
    /// The direction of better values.
    pub better: Better,
    /// The same program under the same layout has the same value, like bytes and unlike times.
    pub exact: bool,
}

/// Describes a measured program.
#[derive(Debug, Clone, Copy, Default)]
pub struct VariantDescription<'a> {
    /// Its name.
    pub name: &'a str,
    /// The command, word by word; empty if unknown.
    pub command: &'a [&'a str],
    /// The working directory.
    pub directory: Option<&'a str>,
    /// Other facts about it: keys and values.
    pub attributes: &'a [(&'a str, &'a str)],
}

/// Describes a run that begins. Times are in nanoseconds since the recording began.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunDescription {
    /// The program.
    pub variant: VariantId,
    /// Time of the start.
    pub time_ns: i64,
    /// The seed of its layout.
    pub seed: Option<u64>,
    /// The run prepares the measurement: its values do not count.
    pub warmup: bool,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunEnd<'a> {
    /// Time of the end.
    pub time_ns: i64,
    /// Its exit status, unless a signal ended it.
    pub exit_status: Option<u64>,
    /// The signal that ended it.
    pub signal: Option<u64>,
    /// It counts as failed: its values are not those of the program.
    pub failed: bool,
    /// It ran longer than permitted and was killed. Such a run has failed.
    pub timed_out: bool,
    /// The end of the output of a failed run.
    pub output: Option<&'a str>,
}

/// Describes a measured value.
#[derive(Debug, Clone, Copy, Default)]
pub struct ValueDescription {
    /// The metric.
    pub metric: MetricId,
    /// The run.
    pub run: RunId,
    /// The iteration of the run, from 0; `None` for the run as a whole.
    pub iteration: Option<u64>,
    /// The seed of the iteration's layout, if it has one of its own.
    pub seed: Option<u64>,
    /// Time of the measurement, in nanoseconds since the recording began.
    pub time_ns: Option<i64>,
    /// The value.
    pub value: f64,
}

impl Writer {
    /// Announces a metric.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn metric(&self, described: &MetricDescription<'_>) -> Result<MetricId> {
        self.shared.declare(|tables, counts| {
            let (name, unit) = (tables.string(described.name, counts)?, tables.string(described.unit, counts)?);
            let MetricDescription { better, exact: is_exact, .. } = *described;
            number(tables, &counts.metrics, |metric| {
                let metric = MetricId(metric);
                MeasurementRow::Metric { metric, name, unit, better, is_exact }
            })
            .map(MetricId)
        })
    }

    /// Announces a program to be measured.
    ///
    /// # Errors
    /// As for [`Writer::metric`].
    pub fn variant(&self, described: &VariantDescription<'_>) -> Result<VariantId> {
        self.shared.declare(|tables, counts| {
            let name = tables.string(described.name, counts)?;
            let directory = described.directory.map(|directory| tables.string(directory, counts)).transpose()?;
            let command = described.command.iter().map(|word| tables.string(word, counts)).collect::<Result<_>>()?;
            let attributes = pairs(tables, counts, described.attributes)?;
            number(tables, &counts.variants, |variant| {
                let variant = VariantId(variant);
                MeasurementRow::Variant { variant, name, directory, command, attributes }
            })
            .map(VariantId)
        })
    }

    /// Announces that a run began. Returns the number by which later rows refer to it.
    ///
    /// # Errors
    /// [`WriterError::Undeclared`] for an unknown variant; otherwise as for [`Writer::metric`].
    pub fn begin_run(&self, begun: &RunDescription) -> Result<RunId> {
        Counts::check("variant", begun.variant.0, &self.shared.counts.variants)?;
        let RunDescription { variant, time_ns, seed, warmup: is_warmup } = *begun;
        self.shared.declare(|tables, counts| {
            number(tables, &counts.runs, |run| {
                let run = RunId(run);
                MeasurementRow::Begin { run, variant, time_ns, seed, is_warmup }
            })
            .map(RunId)
        })
    }

    /// Announces the layout of a run, or of one of its iterations: names and values of the knobs that were applied.
    ///
    /// # Errors
    /// [`WriterError::Undeclared`] for an unknown run; otherwise as for [`Writer::metric`].
    pub fn run_knobs(&self, run: RunId, iteration: Option<u64>, knobs: &[(&str, &str)]) -> Result<()> {
        self.check_run(run)?;
        self.shared.declare(|tables, counts| {
            let knobs = pairs(tables, counts, knobs)?;
            tables.measurement(&MeasurementRow::Knobs { run, iteration, knobs })
        })
    }

    /// Announces that a run ended.
    ///
    /// # Errors
    /// As for [`Writer::run_knobs`].
    pub fn end_run(&self, run: RunId, end: &RunEnd<'_>) -> Result<()> {
        self.check_run(run)?;
        let RunEnd { time_ns, exit_status, signal, failed, timed_out, output } = *end;
        self.shared.declare(|tables, counts| {
            let output = output.map(|output| tables.string(output, counts)).transpose()?;
            let failure = (failed || timed_out).then_some(Failure { timed_out, output });
            tables.measurement(&MeasurementRow::End { run, time_ns, exit_status, signal, failure })
        })
    }

    /// Announces a measured value.
    ///
    /// # Errors
    /// [`WriterError::NotFinite`]; [`WriterError::Undeclared`] for an unknown run or metric; otherwise as for
    /// [`Writer::metric`].
    pub fn value(&self, measured: &ValueDescription) -> Result<()> {
        let ValueDescription { metric, run, iteration, seed, time_ns, value } = *measured;
        Counts::check("metric", metric.0, &self.shared.counts.metrics)?;
        self.check_run(run)?;
        if !value.is_finite() {
            return Err(WriterError::NotFinite { value });
        }
        let row = MeasurementRow::Value { metric, run, iteration, seed, time_ns, value };
        self.shared.declare(|tables, _| tables.measurement(&row))
    }

    fn check_run(&self, run: RunId) -> Result<()> {
        Counts::check("run", run.0, &self.shared.counts.runs)
    }
}

/// Appends a row that is numbered by a count of its own.
fn number(tables: &mut Tables, count: &AtomicU32, row: impl FnOnce(u32) -> MeasurementRow) -> Result<u32> {
    // Relaxed: only the owner of the tables' lock changes it. Rows are fewer than 2^32, and so are the numbers.
    let id = count.load(Ordering::Relaxed);
    tables.measurement(&row(id))?;
    count.store(id + 1, Ordering::Release);
    Ok(id)
}

pub(crate) fn pairs(tables: &mut Tables, counts: &Counts, pairs: &[(&str, &str)]) -> Result<Vec<(StringId, StringId)>> {
    pairs.iter().map(|(key, value)| Ok((tables.string(key, counts)?, tables.string(value, counts)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    #[test]
    fn what_was_not_announced_is_refused() {
        let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).unwrap();
        let unknown = writer.begin_run(&RunDescription::default()).unwrap_err();
        assert_eq!(unknown.to_string(), "variant 0 was never declared (0 were)");
        let variant = writer.variant(&VariantDescription::default()).unwrap();
        let run = writer.begin_run(&RunDescription { variant, ..RunDescription::default() }).unwrap();
        let value = ValueDescription { run, ..ValueDescription::default() };
        assert_eq!(writer.value(&value).unwrap_err().to_string(), "metric 0 was never declared (0 were)");
        let metric = writer.metric(&MetricDescription::default()).unwrap();
        writer.value(&ValueDescription { metric, ..value }).unwrap();
        let missing = RunId(1);
        let refused = [
            writer.value(&ValueDescription { run: missing, ..value }),
            writer.run_knobs(missing, None, &[]),
            writer.end_run(missing, &RunEnd::default()),
        ];
        for refused in refused {
            assert_eq!(refused.unwrap_err().to_string(), "run 1 was never declared (1 were)");
        }
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let refused = writer.value(&ValueDescription { value: number, ..value }).unwrap_err();
            assert!(matches!(refused, WriterError::NotFinite { .. }), "{refused}");
        }
        writer.finish().unwrap();
    }
}
