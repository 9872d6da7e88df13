//! The recording of runs.

use std::collections::HashMap;

use barrow_writer::{
    MetricDescription, MetricId, RunDescription, RunEnd, RunId, ValueDescription, VariantDescription, VariantId, Word,
    Writer,
};

use crate::ended::Ended;
use crate::error::TrialError;
use crate::heap::Heap;
use crate::metrics::{ALLOCATIONS, RESOURCES, metric};
use crate::plan::{Command, Plan, Shell, VariantPlan};
use crate::reported::Reported;
use crate::round::Round;
use crate::run::Measured;
use crate::system;

/// The recording while it is written.
pub(crate) struct Ledger {
    writer: Writer,
    metrics: HashMap<String, MetricId>,
    /// The variants, in the order of the plan.
    variants: Vec<VariantId>,
    began_ns: i64,
}

impl Ledger {
    /// Begins with what a plan says. `began_ns` is the time at which the trial began.
    pub(crate) fn new(writer: Writer, plan: &Plan, began_ns: i64) -> Result<Self, TrialError> {
        let mut ledger = Ledger { writer, metrics: HashMap::new(), variants: Vec::new(), began_ns };
        ledger.variants =
            plan.variants.iter().map(|variant| ledger.variant(plan, variant)).collect::<Result<_, TrialError>>()?;
        Ok(ledger)
    }

    /// Nanoseconds since the trial began.
    fn time(&self, clock_ns: i64) -> i64 {
        clock_ns - self.began_ns
    }

    /// Writes a fact about the recording as a whole.
    pub(crate) fn fact(&self, key: Word, value: &str) -> Result<(), TrialError> {
        Ok(self.writer.own_fact(key, value)?)
    }

    /// Writes a variant with all that is needed to repeat a run.
    fn variant(&self, plan: &Plan, variant: &VariantPlan) -> Result<VariantId, TrialError> {
        let words = variant.command.words(&plan.shell)?;
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let directory = std::env::current_dir().ok().map(|directory| directory.display().to_string());
        let shell = if let Command::Words(_) = variant.command { &Shell::None } else { &plan.shell };
        let own = [
            (Word::new("line"), Some(variant.command.text())),
            (Word::of_names("shell"), Some(shell.name())),
            (Word::of_settings("layout"), Some(plan.layout.text())),
            (Word::of_settings("counts heap"), Some(if plan.count_heap { "yes" } else { "no" }.to_owned())),
            (Word::of_names("input"), plan.input.as_ref().map(|input| input.display().to_string())),
        ];
        let mut attributes = Vec::new();
        for (key, value) in own {
            if let Some(value) = value {
                attributes.push((self.writer.marked(key)?.to_owned(), value));
            }
        }
        let of_parameter = self.writer.marked(Word::new("parameter ").before_names())?;
        attributes
            .extend(variant.parameters.iter().map(|(name, value)| (format!("{of_parameter}{name}"), value.clone())));
        let attributes: Vec<(&str, &str)> =
            attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let described = VariantDescription {
            name: &variant.name,
            command: &words,
            directory: directory.as_deref(),
            attributes: &attributes,
        };
        Ok(self.writer.variant(&described)?)
    }

    /// Writes the beginning of a run, with its layout. `at` is the place of its variant in the plan.
    pub(crate) fn begin(&self, at: usize, seed: u64, warmup: bool, round: &Round) -> Result<RunId, TrialError> {
        let (variant, time_ns) = (self.variants[at], self.time(system::now_ns()));
        let run = self.writer.begin_run(&RunDescription { variant, time_ns, seed: Some(seed), warmup })?;
        let pairs = round.pairs();
        for (name, _) in &pairs {
            self.writer.word(Word::of_settings(name))?;
        }
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        if !pairs.is_empty() {
            self.writer.run_knobs(run, None, &pairs)?;
        }
        Ok(run)
    }

    /// Writes the end of a run. `output` is the end of its output, if it failed.
    pub(crate) fn end(&self, run: RunId, ended: Ended, output: Option<&str>) -> Result<(), TrialError> {
        let end = RunEnd {
            time_ns: self.time(system::now_ns()),
            exit_status: ended.exit_status.map(|status| status.try_into().unwrap_or_default()),
            signal: ended.signal.map(|signal| signal.try_into().unwrap_or_default()),
            failed: output.is_some(),
            timed_out: ended.timed_out,
            output,
        };
        Ok(self.writer.end_run(run, &end)?)
    }

    /// Writes the counts of the system and of the shim.
    pub(crate) fn measured(&mut self, run: RunId, measured: &Measured) -> Result<(), TrialError> {
        let used = &measured.used;
        let time_ns = Some(self.time(used.began_ns));
        let counted = if let Heap::Counted(counted) = &measured.heap { Some(counted) } else { None };
        let events = measured.events.iter().map(|(name, count)| (metric(name, ""), *count as f64));
        let resources = RESOURCES.into_iter().map(|(metric, source)| (metric, source(used) as f64));
        let allocations = counted
            .into_iter()
            .flat_map(|counted| ALLOCATIONS.into_iter().map(move |(metric, number)| (metric, number(counted) as f64)));
        for (metric, value) in resources.chain(allocations).chain(events) {
            self.writer.word(metric.name)?;
            let metric = self.metric(&metric)?;
            self.writer.value(&ValueDescription { metric, run, time_ns, value, ..ValueDescription::default() })?;
        }
        Ok(())
    }

    /// Writes a value that a program printed or reported.
    pub(crate) fn reported(&mut self, run: RunId, reported: &Reported) -> Result<(), TrialError> {
        let Reported { metric, unit, better, iteration, seed, value, knobs } = reported;
        let described = MetricDescription { name: metric, unit, better: *better, exact: false };
        let metric = self.metric(&described)?;
        if !knobs.is_empty() {
            let knobs: Vec<(&str, &str)> = knobs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            self.writer.run_knobs(run, *iteration, &knobs)?;
        }
        let value = ValueDescription { metric, run, iteration: *iteration, seed: *seed, time_ns: None, value: *value };
        Ok(self.writer.value(&value)?)
    }

    fn metric(&mut self, described: &MetricDescription<'_>) -> Result<MetricId, TrialError> {
        if let Some(&metric) = self.metrics.get(described.name) {
            return Ok(metric);
        }
        let metric = self.writer.metric(described)?;
        self.metrics.insert(described.name.to_owned(), metric);
        Ok(metric)
    }

    /// Writes pending rows to the file, so that they survive if barrow is killed.
    pub(crate) fn flush(&self) -> Result<(), TrialError> {
        Ok(self.writer.flush()?)
    }

    /// Ends the recording.
    pub(crate) fn finish(self) -> Result<(), TrialError> {
        self.writer.finish().map(drop).map_err(TrialError::from)
    }
}
