//! The trials of a recording, in memory.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use barrow_analyzer::{
    AnalyzerError, Better, MeasurementRow, MetricId, Progress, Recording, Silent, StringId, Tables, VariantId,
};

use crate::error::{Result, TrialsError};
use crate::values::{Value, Values};

/// The trials of a recording.
#[derive(Debug, Clone, Default)]
pub struct Trials {
    metrics: Vec<Metric>,
    variants: Vec<Variant>,
    runs: Vec<Run>,
    /// Values by metric, in the order in which they were recorded.
    values: Vec<Values>,
    /// The values of an unknown metric.
    none: Values,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name, such as `wall`.
    pub name: String,
    /// Its unit: `ns`, `bytes`, any other text, or nothing for counts.
    pub unit: String,
    /// The direction of better values.
    pub better: Better,
    /// The same program under the same layout has the same value.
    pub is_exact: bool,
}

/// A measured program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its name; unique in the recording.
    pub name: String,
    /// The command, word by word; empty if unknown.
    pub command: Vec<String>,
    /// The working directory.
    pub directory: Option<String>,
    /// Other facts about it: keys and values.
    pub attributes: Vec<(String, String)>,
}

/// A run of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The program.
    pub variant: VariantId,
    /// Start, in nanoseconds since the recording began.
    pub time_ns: i64,
    /// The seed of its layout.
    pub seed: Option<u64>,
    /// It prepared the measurement: its values do not count.
    pub is_warmup: bool,
    /// The layout of the run, then those of its iterations, in the order in which they were recorded.
    pub knobs: Vec<Knob>,
    /// Its end, if known.
    pub end: Option<RunEnd>,
}

/// A knob of a layout that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knob {
    /// The iteration that it was applied to; `None` for the run as a whole.
    pub iteration: Option<u64>,
    /// Its name, such as `heap_offset`.
    pub name: Arc<str>,
    /// Its value, mostly a number of bytes.
    pub value: Arc<str>,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// Time of the end, in nanoseconds since the recording began.
    pub time_ns: i64,
    /// Its exit status, unless a signal ended it.
    pub exit_status: Option<u64>,
    /// The signal that ended it.
    pub signal: Option<u64>,
    /// It counts as failed: its values are not those of the program.
    pub failed: bool,
    /// It was killed because it ran longer than permitted.
    pub timed_out: bool,
    /// The end of the output of a failed run.
    pub output: Option<String>,
}

impl Run {
    /// Returns whether its values count.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.is_warmup && !self.has_failed()
    }

    /// Returns whether it failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.failed)
    }
}

impl Trials {
    /// Reads the trials of a file.
    ///
    /// # Errors
    /// [`TrialsError::Analyzer`].
    pub fn open(path: &Path) -> Result<Self> {
        Self::of(&Recording::open(path)?, &Silent)
    }

    /// Reads the trials of a recording.
    ///
    /// # Errors
    /// [`TrialsError::Analyzer`] if they are damaged, or if `progress` cancels the reading.
    pub fn of(recording: &Recording, progress: &dyn Progress) -> Result<Self> {
        let mut reader = Reader { trials: Trials::default(), tables: recording.tables()?, texts: HashMap::new() };
        let mut rows = 0_u64;
        recording.measurement_rows(|row| {
            rows += 1;
            if rows.is_multiple_of(ROWS) && progress.cancelled() {
                return Err(AnalyzerError::Cancelled);
            }
            reader.take(row);
            Ok(())
        })?;
        let Reader { mut trials, .. } = reader;
        recording.check_strings()?;
        number_equal_names(&mut trials.variants, |variant| &mut variant.name);
        number_equal_names(&mut trials.metrics, |metric| &mut metric.name);
        Ok(trials)
    }

    /// All metrics.
    #[must_use]
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// All measured programs.
    #[must_use]
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// All runs, including failed ones and warm-ups.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// All values of a metric, including those of runs that do not count.
    #[must_use]
    pub fn values(&self, metric: MetricId) -> &Values {
        self.values.get(metric.index()).unwrap_or(&self.none)
    }

    /// The run with this number.
    ///
    /// # Errors
    /// [`TrialsError::NoRun`].
    pub fn run(&self, run: u32) -> Result<&Run> {
        self.runs.get(run as usize).ok_or(TrialsError::NoRun { run, count: self.runs.len() })
    }

    /// The ids of all metrics.
    pub fn metric_ids(&self) -> impl Iterator<Item = MetricId> + use<> {
        (0..u32::try_from(self.metrics.len()).unwrap_or(u32::MAX)).map(MetricId)
    }

    /// The ids of all variants.
    pub fn variant_ids(&self) -> impl Iterator<Item = VariantId> + use<> {
        (0..u32::try_from(self.variants.len()).unwrap_or(u32::MAX)).map(VariantId)
    }

    /// The metric with this name.
    ///
    /// # Errors
    /// [`TrialsError::NoMetric`].
    pub fn metric(&self, name: &str) -> Result<MetricId> {
        let exactly = self.metric_ids().find(|id| self.metrics[id.index()].name == name);
        let alike = self.metric_ids().find(|id| self.metrics[id.index()].name.eq_ignore_ascii_case(name));
        exactly.or(alike).ok_or_else(|| {
            let known = listed(self.metrics.iter().map(|metric| metric.name.as_str()), "no metrics");
            TrialsError::NoMetric { name: name.to_owned(), known }
        })
    }

    /// The variant with this name, or the only one whose name begins with it.
    ///
    /// # Errors
    /// [`TrialsError::NoVariant`], [`TrialsError::SeveralVariants`].
    pub fn variant(&self, name: &str) -> Result<VariantId> {
        let named = |matches: &dyn Fn(&str) -> bool| -> Vec<VariantId> {
            self.variant_ids().filter(|id| matches(&self.variants[id.index()].name)).collect()
        };
        if let [only, ..] = named(&|known| known == name)[..] {
            return Ok(only);
        }
        match named(&|known| known.starts_with(name))[..] {
            [only] => Ok(only),
            [] => {
                let known = listed(self.variants.iter().map(|variant| variant.name.as_str()), "no variants");
                Err(TrialsError::NoVariant { name: name.to_owned(), known })
            }
            ref several => {
                let known = listed(several.iter().map(|id| self.variants[id.index()].name.as_str()), "");
                Err(TrialsError::SeveralVariants { name: name.to_owned(), known })
            }
        }
    }
}

/// Numbers items with equal names, so that each has a unique name.
fn number_equal_names<T>(named: &mut [T], name: impl Fn(&mut T) -> &mut String) {
    let mut taken = HashSet::new();
    for one in named {
        let name = name(one);
        if !taken.insert(name.clone()) {
            let free = (2_u64..).map(|number| format!("{name} #{number}")).find(|free| taken.insert(free.clone()));
            *name = free.unwrap_or_default();
        }
    }
}

/// Names as a list for an error.
fn listed<'a>(names: impl Iterator<Item = &'a str>, none: &str) -> String {
    const MOST: usize = 12;
    let mut names: Vec<&str> = names.collect();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    match (names.is_empty(), more) {
        (true, _) => none.to_owned(),
        (false, 0) => names.join(", "),
        (false, more) => format!("{}, and {more} more", names.join(", ")),
    }
}

/// Number of rows between two checks for cancellation: a cancelled question ends within milliseconds.
const ROWS: u64 = 1 << 12;

/// Reads row by row. The analyzer has checked all ids.
struct Reader<'r> {
    trials: Trials,
    tables: &'r Tables,
    /// Texts of knobs, each stored once: a layout repeats them in every run.
    texts: HashMap<StringId, Arc<str>>,
}

impl Reader<'_> {
    fn take(&mut self, row: MeasurementRow) {
        match row {
            MeasurementRow::Metric { name, unit, better, is_exact, .. } => {
                let metric = Metric { name: self.text(name), unit: self.text(unit), better, is_exact };
                self.trials.metrics.push(metric);
                self.trials.values.push(Values::default());
            }
            MeasurementRow::Variant { name, directory, command, attributes, .. } => {
                let variant = Variant {
                    name: self.text(name),
                    command: command.into_iter().map(|word| self.text(word)).collect(),
                    directory: directory.map(|directory| self.text(directory)),
                    attributes: attributes.into_iter().map(|(key, value)| (self.text(key), self.text(value))).collect(),
                };
                self.trials.variants.push(variant);
            }
            MeasurementRow::Begin { variant, time_ns, seed, is_warmup, .. } => {
                self.trials.runs.push(Run { variant, time_ns, seed, is_warmup, knobs: Vec::new(), end: None });
            }
            MeasurementRow::Knobs { run, iteration, knobs } => {
                let knobs: Vec<Knob> = knobs
                    .into_iter()
                    .map(|(name, value)| Knob { iteration, name: self.shared(name), value: self.shared(value) })
                    .collect();
                if let Some(run) = self.trials.runs.get_mut(run.index()) {
                    let of_run = run.knobs.partition_point(|knob| knob.iteration.is_none());
                    let at = if iteration.is_none() { of_run } else { run.knobs.len() };
                    run.knobs.splice(at..at, knobs);
                }
            }
            MeasurementRow::Value { metric, run, iteration, seed, time_ns, value } => {
                if let Some(values) = self.trials.values.get_mut(metric.index()) {
                    values.push(Value { run, iteration, seed, time_ns, value });
                }
            }
            MeasurementRow::End { run, time_ns, exit_status, signal, failure } => {
                let end = RunEnd {
                    time_ns,
                    exit_status,
                    signal,
                    failed: failure.is_some(),
                    timed_out: failure.is_some_and(|failure| failure.timed_out),
                    output: failure.and_then(|failure| failure.output).map(|output| self.text(output)),
                };
                if let Some(run) = self.trials.runs.get_mut(run.index()) {
                    run.end = Some(end);
                }
            }
            MeasurementRow::Unknown => {}
        }
    }

    fn text(&self, id: StringId) -> String {
        self.tables.string(id).to_owned()
    }

    fn shared(&mut self, id: StringId) -> Arc<str> {
        Arc::clone(self.texts.entry(id).or_insert_with(|| self.tables.string(id).into()))
    }
}
