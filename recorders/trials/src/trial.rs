//! All runs of a trial, in their order.
//!
//! ```text
//!   setup A, setup B │ warm-ups │ block 1: B A │ block 2: A B │ … until enough │ cleanup A, cleanup B
//!                                  └ prepare, run, conclude
//! ```
//!
//! Each block runs every program once, in random order, so that a machine that becomes slower meets all of them. The
//! programs of a block have the same layout.

use std::collections::HashMap;
use std::ffi::OsString;
use std::time::Instant;

use barrow_statistics::{Sample, precision};
use barrow_writer::{VariantId, Writer};

use crate::ended::Failure;
use crate::error::TrialError;
use crate::events;
use crate::files::ValueFiles;
use crate::heap::{Heap, Unknown};
use crate::layout::{Knobs, Layout, LayoutKind};
use crate::ledger::Ledger;
use crate::observer::{Observer, Progress};
use crate::plan::{Plan, Stop, VariantPlan, line_words};
use crate::reported::{ReportFile, Reported};
use crate::round::{Round, Seeds};
use crate::run::{How, Measured, Prepared, Runner};
use crate::starter::PEAK_STEP;
use crate::surroundings::{facts, missing_knobs, without_shim};
use crate::uncounted::Uncounted;

/// A program that fails so often without ever succeeding is not run again.
const MOST_FAILURES: u64 = 3;

/// What came of a trial.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Runs, without warm-ups.
    pub runs: u64,
    /// How many of them failed.
    pub failed: u64,
    /// Programs of which a run succeeded.
    pub succeeded_programs: usize,
    /// The first that failed.
    pub first_failure: Option<Failure>,
    /// Whether values are known as precisely as was asked for, if that was asked for.
    pub reached: Option<bool>,
    /// The observer stopped it.
    pub cancelled: bool,
}

/// Runs what a plan says, and records it in the recording that `create` makes once all programs were found. The recording
/// is finished in any case, with all values so far.
///
/// # Errors
/// Why nothing, or no more, could be measured.
pub fn record(
    plan: &Plan,
    create: impl FnOnce() -> Result<Writer, TrialError>,
    observer: &dyn Observer,
) -> Result<Outcome, TrialError> {
    let mut trial = Trial::new(plan, create, observer)?;
    let ran = trial.run();
    let outcome = trial.outcome.clone();
    if let (true, Some(text)) = (plan.count_heap, trial.uncounted.text()) {
        trial.ledger.fact("allocations not known", &text)?;
    }
    let finished = trial.ledger.finish();
    ran?;
    finished?;
    Ok(outcome)
}

/// A program that is measured, with what is known of its runs.
struct Variant<'p> {
    name: &'p str,
    id: VariantId,
    prepared: Prepared,
    succeeded: u64,
    failed: u64,
    /// Values by metric, in groups by run.
    values: HashMap<String, Vec<Vec<f64>>>,
}

impl Variant<'_> {
    /// It failed so often, and never succeeded, that it is not run again.
    fn is_given_up(&self) -> bool {
        self.succeeded == 0 && self.failed >= MOST_FAILURES
    }
}

/// What a run told.
struct Told {
    has_failed: bool,
    /// The end of what it printed, if it failed or patterns look at it.
    output: String,
    /// All that patterns look at.
    printed: String,
    /// Values of files.
    written: Vec<Reported>,
}

struct Trial<'p> {
    plan: &'p Plan,
    observer: &'p dyn Observer,
    runner: Runner,
    ledger: Ledger,
    reports: ReportFile,
    files: ValueFiles<'p>,
    variants: Vec<Variant<'p>>,
    outcome: Outcome,
    began: Instant,
    precision: Option<f64>,
    uncounted: Uncounted,
}

impl<'p> Trial<'p> {
    fn new(
        plan: &'p Plan,
        create: impl FnOnce() -> Result<Writer, TrialError>,
        observer: &'p dyn Observer,
    ) -> Result<Self, TrialError> {
        let (found, why) = if plan.count_events { events::available() } else { (Vec::new(), None) };
        why.iter().for_each(|why| observer.note(why));
        let runner = Runner::new(plan.input.as_deref(), found)?;
        let missing = missing_knobs(plan.layout, observer);
        let prepare = |variant: &VariantPlan| runner.prepare(variant.command.words(&plan.shell)?, missing);
        let prepared: Vec<Prepared> = plan.variants.iter().map(prepare).collect::<Result<_, _>>()?;
        let ledger = Ledger::new(create()?);
        facts(plan, &ledger)?;
        let mut variants: Vec<Variant<'p>> = Vec::new();
        for (variant, prepared) in plan.variants.iter().zip(prepared) {
            if let Some(reason) = prepared.program.kind.reason() {
                observer.note(&without_shim(plan, &variant.name, reason));
            }
            let id = ledger.variant(plan, variant)?;
            variants.push(Variant {
                name: &variant.name,
                id,
                prepared,
                succeeded: 0,
                failed: 0,
                values: HashMap::new(),
            });
        }
        Ok(Trial {
            plan,
            observer,
            runner,
            ledger,
            reports: ReportFile::new().map_err(TrialError::io("make a file for values"))?,
            files: ValueFiles::new(&plan.files),
            variants,
            outcome: Outcome::default(),
            began: Instant::now(),
            precision: None,
            uncounted: Uncounted::default(),
        })
    }

    fn run(&mut self) -> Result<(), TrialError> {
        if let Some(setup) = &self.plan.setup {
            (0..self.variants.len()).try_for_each(|at| self.around(at, setup))?;
        }
        let ran = self.run_all();
        if let Some(cleanup) = &self.plan.cleanup {
            let cleaned = (0..self.variants.len()).try_for_each(|at| self.around(at, cleanup));
            return ran.and(cleaned);
        }
        ran
    }

    fn run_all(&mut self) -> Result<(), TrialError> {
        for warmup in 0..self.plan.warmup {
            self.block(u64::MAX - warmup, true)?;
        }
        self.began = Instant::now();
        let mut block = 0;
        while !self.outcome.cancelled && !self.variants.iter().all(Variant::is_given_up) && !self.is_enough(block) {
            self.block(block, false)?;
            block += 1;
            self.ledger.flush()?;
        }
        self.outcome.succeeded_programs = self.variants.iter().filter(|variant| variant.succeeded > 0).count();
        match self.outcome.first_failure.take() {
            Some(failure) if self.variants.iter().all(|variant| variant.succeeded == 0) => {
                Err(TrialError::AllFailed { failed: self.outcome.failed, first: Box::new(failure) })
            }
            failure => {
                self.outcome.first_failure = failure;
                Ok(())
            }
        }
    }

    /// Whether so many blocks are enough.
    fn is_enough(&mut self, blocks: u64) -> bool {
        match self.plan.stop {
            Stop::Runs(runs) => blocks >= runs,
            Stop::Until { precision, at_least, at_most, within } => {
                // To look is work as well: less often where there is much to look at.
                let is_time_to_look = blocks >= at_least && (blocks - at_least).is_multiple_of((blocks / 10).max(1));
                if is_time_to_look {
                    self.precision = self.known();
                }
                let is_reached = is_time_to_look && self.precision.is_some_and(|known| known <= precision);
                let is_over = blocks >= at_most || self.began.elapsed() >= within;
                if is_over && !is_time_to_look && blocks > 0 {
                    self.precision = self.known();
                }
                self.outcome.reached = Some(self.precision.is_some_and(|known| known <= precision));
                is_reached || is_over
            }
        }
    }

    /// How precisely all values are known that decide: those that the program tells, otherwise the times.
    fn known(&self) -> Option<f64> {
        let mut widest = Some(0.0_f64);
        for variant in self.variants.iter().filter(|variant| !variant.is_given_up()) {
            let told = variant.values.iter().filter(|(name, _)| *name != "wall");
            let deciding: Vec<&Vec<Vec<f64>>> = match variant.values.len() {
                0 | 1 => variant.values.values().collect(),
                _ => told.map(|(_, groups)| groups).collect(),
            };
            if deciding.is_empty() {
                return None;
            }
            for groups in deciding {
                let known = precision(&Sample::new(groups.clone()));
                widest = widest.zip(known).map(|(widest, known)| widest.max(known));
            }
        }
        widest
    }

    /// Runs every program once.
    fn block(&mut self, block: u64, warmup: bool) -> Result<(), TrialError> {
        let mut seeds = Seeds::new(self.plan.seed ^ Seeds::new(block).next());
        let seed = if self.plan.layout.kind == LayoutKind::Random { seeds.next() } else { self.plan.seed };
        let mut order: Vec<usize> = (0..self.variants.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, seeds.below(last as u64 + 1) as usize);
        }
        for at in order {
            if self.outcome.cancelled || self.observer.is_cancelled() {
                self.outcome.cancelled = true;
                return Ok(());
            }
            if !self.variants[at].is_given_up() {
                self.one(at, seed, warmup)?;
            }
        }
        Ok(())
    }

    /// Runs a program once, with what is around it.
    fn one(&mut self, at: usize, seed: u64, warmup: bool) -> Result<(), TrialError> {
        let for_variant = |commands: &'p [String]| match commands {
            [] => None,
            [one] => Some(one),
            several => several.get(at),
        };
        if let Some(command) = for_variant(&self.plan.prepare) {
            self.around(at, command)?;
        }
        let variant = &self.variants[at];
        let round = Round::of(self.plan.layout, seed).limited(variant.prepared.missing);
        let how = How {
            layout: self.plan.layout,
            round,
            seed,
            values: Some(self.reports.path()),
            counts_heap: self.plan.count_heap,
            shows_output: self.plan.show_output,
            time_limit: self.plan.time_limit,
            has_terminal: false,
        };
        let observer = self.observer;
        self.files.begin();
        let Some(measured) = self.runner.run(&variant.prepared, how, &|| observer.is_cancelled())? else {
            self.outcome.cancelled = true;
            return Ok(());
        };
        // Written when it is known how it ended: one that is stopped is not recorded.
        let is_unmoved = matches!(&measured.heap, Heap::Unknown(unknown) if unknown.is_unmoved);
        let round = round.limited(if is_unmoved { Knobs::HEAP } else { Knobs::NONE });
        let run = self.ledger.begin(variant.id, seed, warmup, &round)?;
        let mut printed = match self.plan.values.is_empty() {
            true => String::new(),
            false => self.runner.output.text().map_err(TrialError::io("read the output"))?,
        };
        let has_failed = measured.ended.timed_out || self.plan.ignore_failure.is_failure(measured.ended.exit_status);
        let output = match has_failed || !self.plan.values.is_empty() {
            true => self.runner.output.tail().map_err(TrialError::io("read the output"))?,
            false => String::new(),
        };
        let written = if has_failed { Vec::new() } else { self.files.take(run.0, &self.runner.output)? };
        if let Some(command) = for_variant(&self.plan.conclude) {
            self.around(at, command)?;
            if self.outcome.cancelled {
                return Ok(());
            }
            if !self.plan.values.is_empty() {
                // It may tell what it finds out about the run.
                printed += &self.runner.output.text().map_err(TrialError::io("read the output"))?;
            }
        }
        let told = Told { has_failed, output, printed, written };
        self.take(at, run.0, warmup, &measured, told)?;
        let planned = |runs: u64| {
            let of = |variant: &Variant<'_>| if variant.is_given_up() { variant.failed } else { runs };
            self.variants.iter().map(of).sum()
        };
        self.observer.run_ended(&Progress {
            variant: self.variants[at].name,
            done: self.outcome.runs,
            planned: if let Stop::Runs(runs) = self.plan.stop { Some(planned(runs)) } else { None },
            failed: self.outcome.failed,
            wall_ns: u64::try_from(measured.used.wall_ns).unwrap_or_default(),
            precision: self.precision,
            elapsed: self.began.elapsed(),
            warmup,
        });
        Ok(())
    }

    /// Records a run that ended.
    fn take(&mut self, at: usize, run: u32, warmup: bool, measured: &Measured, told: Told) -> Result<(), TrialError> {
        let id = barrow_writer::RunId(run);
        let (reported, others) = self.reports.take().map_err(TrialError::io("read reported values"))?;
        if others > 0 {
            self.observer.note(&format!("{others} lines that run {run} reported are no values"));
        }
        let name = self.variants[at].name;
        self.outcome.runs += u64::from(!warmup);
        let Told { has_failed, output, printed, written } = told;
        if has_failed {
            self.ledger.end(id, measured.ended, Some(&output))?;
            self.outcome.failed += u64::from(!warmup);
            let variant = &mut self.variants[at];
            variant.failed += 1;
            let failure = Failure { run, variant: name.to_owned(), ended: measured.ended, output };
            if variant.is_given_up() {
                let times = variant.failed;
                let told = format!("`{name}` failed {times} times and never succeeded: it is not run again");
                self.observer.note(&told);
            }
            self.outcome.first_failure.get_or_insert(failure);
            return Ok(());
        }
        if let Heap::Unknown(unknown) = &measured.heap {
            self.tell_unknown(name, unknown, run);
        }
        let mut printed = self.found(run, &printed, output)?;
        printed.extend(written);
        self.ledger.measured(id, measured)?;
        for value in printed.iter().chain(&reported) {
            self.ledger.reported(id, value)?;
        }
        self.ledger.end(id, measured.ended, None)?;
        let variant = &mut self.variants[at];
        variant.succeeded += 1;
        let least = self.runner.starter.peak_bytes() + PEAK_STEP;
        if measured.used.peak_bytes <= least && variant.succeeded == 1 {
            let least = least as f64 / f64::from(1 << 20);
            self.observer.note(&format!(
                "`{name}` may use less memory than peak_resident says: it cannot be below about {least:.1} MiB"
            ));
        }
        if !warmup {
            variant.values.entry("wall".to_owned()).or_default().push(vec![measured.used.wall_ns as f64]);
            let mut of_run: HashMap<&str, Vec<f64>> = HashMap::new();
            for value in printed.iter().chain(&reported) {
                of_run.entry(&value.metric).or_default().push(value.value);
            }
            for (metric, values) in of_run {
                variant.values.entry(metric.to_owned()).or_default().push(values);
            }
        }
        Ok(())
    }

    /// Tells why the allocations of a run are not known, and what the layout does not move.
    fn tell_unknown(&mut self, name: &str, unknown: &Unknown, run: u32) {
        let Unknown { why, is_unmoved } = unknown;
        let mut lacks = Vec::new();
        if self.plan.count_heap {
            lacks.push("its allocations are not known");
        }
        if *is_unmoved && self.plan.layout.kind == LayoutKind::Random && self.plan.layout.knobs.has(Knobs::HEAP) {
            lacks.push("the knob heap does nothing");
        }
        if !lacks.is_empty() && self.uncounted.add(name, why, run) {
            self.observer.note(&format!("`{name}`: {}: {why}", lacks.join(" and ")));
        }
    }

    /// The values that patterns find in what was printed; `output` is its end.
    fn found(&self, run: u32, text: &str, output: String) -> Result<Vec<Reported>, TrialError> {
        let mut printed = Vec::new();
        for pattern in &self.plan.values {
            let values = pattern.values(text)?;
            if values.is_empty() {
                return Err(TrialError::NoMatch { name: pattern.name.clone(), run, output });
            }
            let several = values.len() > 1;
            printed.extend(values.into_iter().enumerate().map(|(iteration, value)| Reported {
                metric: pattern.name.clone(),
                unit: pattern.unit.clone(),
                better: pattern.better,
                iteration: several.then_some(iteration as u64),
                seed: None,
                value,
                knobs: Vec::new(),
            }));
        }
        Ok(printed)
    }

    /// Runs a command that is not measured, with the parameters of a program.
    fn around(&mut self, at: usize, command: &str) -> Result<(), TrialError> {
        let mut line = command.to_owned();
        for (name, value) in &self.plan.variants[at].parameters {
            line = line.replace(&format!("{{{name}}}"), value);
        }
        let words: Vec<OsString> = line_words(&line, &self.plan.shell)?;
        let prepared = self.runner.prepare(words, Knobs::ALL)?;
        let how = How {
            layout: Layout::AS_IS,
            round: Round::default(),
            seed: self.plan.seed,
            values: None,
            counts_heap: false,
            shows_output: self.plan.show_output,
            time_limit: None,
            has_terminal: false,
        };
        let observer = self.observer;
        let Some(measured) = self.runner.run(&prepared, how, &|| observer.is_cancelled())? else {
            self.outcome.cancelled = true;
            return Ok(());
        };
        if measured.ended.exit_status == Some(0) {
            return Ok(());
        }
        let output = self.runner.output.tail().map_err(TrialError::io("read the output"))?;
        Err(TrialError::Around { command: line, ended: measured.ended.to_string(), output })
    }
}
