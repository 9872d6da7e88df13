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
use std::fs::File;
use std::time::Instant;

use barrow_statistics::Random;
use barrow_writer::{Word, Writer};

use crate::counts::Counts;
use crate::destination::Destination;
use crate::ended::Failure;
use crate::error::TrialError;
use crate::events;
use crate::files::ValueFiles;
use crate::input;
use crate::layout::LayoutKind;
use crate::ledger::Ledger;
use crate::observer::Observer;
use crate::plan::Plan;
use crate::reported::ReportFile;
use crate::run::{Prepared, Runner};
use crate::surroundings::{self, missing_knobs, without_shim};
use crate::system;
use crate::uncounted::Uncounted;

/// A program that fails so often without ever succeeding is not run again.
const MOST_FAILURES: u64 = 3;

/// The result of a trial.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Runs, without warm-ups.
    pub runs: u64,
    /// The number of runs that failed.
    pub failed: u64,
    /// Programs of which a run succeeded.
    pub succeeded_programs: usize,
    /// The first that failed.
    pub first_failure: Option<Failure>,
    /// Whether values are known as precisely as was asked for, if that was asked for.
    pub reached: Option<bool>,
    /// The precision of the values, if one was asked for and there are enough runs to tell.
    pub precision: Option<f64>,
    /// Values depend on the order of runs, so there is no precision.
    pub depends: bool,
    /// The observer or SIGTERM stopped it.
    pub cancelled: bool,
    /// There is a recording, which a trial that is stopped during its first run has not begun.
    pub recorded: bool,
}

/// Runs what a plan says, and records it at the destination that `create` makes once all programs were found. The recording
/// is begun when the first run or warm-up has ended, and is finished in any case, with all values so far.
///
/// # Errors
/// Why nothing, or no more, could be measured.
pub fn record<D: Destination>(
    plan: &Plan,
    create: impl FnOnce() -> Result<D, TrialError>,
    observer: &dyn Observer,
) -> Result<Outcome, TrialError> {
    let is_stopped = || observer.is_cancelled() || system::is_terminated();
    let Some(input) = input::open(plan.input.as_deref(), &is_stopped)? else {
        return Ok(Outcome { cancelled: true, ..Outcome::default() });
    };
    let mut trial = Trial::new(plan, input, create, observer)?;
    let ran = trial.run();
    let mut outcome = trial.outcome.clone();
    trial.tell_differences();
    outcome.recorded = trial.is_recorded();
    let finished = trial.finish();
    ran?;
    finished?;
    Ok(outcome)
}

/// A program that is measured, with what is known of its runs.
pub(crate) struct Variant<'p> {
    pub(crate) name: &'p str,
    pub(crate) prepared: Prepared,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    /// Values by metric, in groups by run.
    pub(crate) values: HashMap<String, Vec<Vec<f64>>>,
    /// Exact counts, under a fixed layout.
    pub(crate) counts: Counts,
    /// It was told that the system randomises addresses after all.
    pub(crate) has_told_addresses: bool,
}

impl Variant<'_> {
    /// It failed so often, and never succeeded, that it is not run again.
    pub(crate) fn is_given_up(&self) -> bool {
        self.succeeded == 0 && self.failed >= MOST_FAILURES
    }
}

/// Begins the recording.
type Begin<'p> = Box<dyn FnOnce() -> Result<Writer, TrialError> + 'p>;

/// A trial while it runs; `measure` makes one run, `enough` says when to stop.
pub(crate) struct Trial<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) observer: &'p dyn Observer,
    pub(crate) runner: Runner,
    /// The recording, and how it is begun until there is one.
    ledger: Option<Ledger>,
    begin: Option<Begin<'p>>,
    /// The time at which the trial began, on the clock of runs.
    began_ns: i64,
    pub(crate) reports: ReportFile,
    pub(crate) files: ValueFiles<'p>,
    pub(crate) variants: Vec<Variant<'p>>,
    pub(crate) outcome: Outcome,
    pub(crate) began: Instant,
    pub(crate) precision: Option<f64>,
    /// The number of blocks of runs after which the precision is computed again.
    pub(crate) next_look: u64,
    pub(crate) uncounted: Uncounted,
}

impl<'p> Trial<'p> {
    fn new<D: Destination + 'p>(
        plan: &'p Plan,
        input: File,
        create: impl FnOnce() -> Result<D, TrialError>,
        observer: &'p dyn Observer,
    ) -> Result<Self, TrialError> {
        let (found, why) = if plan.count_events { events::available() } else { (Vec::new(), None) };
        why.iter().for_each(|why| observer.note(why));
        let runner = Runner::new(input, &plan.output, found)?;
        let missing = missing_knobs(plan.layout, observer);
        let commands = plan.variants.iter().map(|variant| variant.command.words(&plan.shell));
        let prepared: Vec<Prepared> =
            commands.map(|words| runner.prepare(words?, missing)).collect::<Result<_, TrialError>>()?;
        let (destination, began_ns) = (create()?, system::now_ns());
        let mut variants: Vec<Variant<'p>> = Vec::new();
        for (variant, prepared) in plan.variants.iter().zip(prepared) {
            if let Some(reason) = prepared.program.kind.reason() {
                observer.note(&without_shim(plan, &variant.name, &prepared.program, reason));
            }
            variants.push(Variant {
                name: &variant.name,
                prepared,
                succeeded: 0,
                failed: 0,
                values: HashMap::new(),
                counts: Counts::default(),
                has_told_addresses: false,
            });
        }
        Ok(Trial {
            plan,
            observer,
            runner,
            ledger: None,
            begin: Some(Box::new(move || destination.begin())),
            began_ns,
            reports: ReportFile::new().map_err(TrialError::io("make a file for values"))?,
            files: ValueFiles::new(&plan.files),
            variants,
            outcome: Outcome::default(),
            began: Instant::now(),
            precision: None,
            next_look: 0,
            uncounted: Uncounted::default(),
        })
    }

    /// The recording, which is begun now if it was not.
    pub(crate) fn ledger(&mut self) -> Result<&mut Ledger, TrialError> {
        if let Some(begin) = self.begin.take() {
            let ledger = Ledger::new(begin()?, self.plan, self.began_ns)?;
            surroundings::facts(self.plan, &ledger)?;
            self.ledger = Some(ledger);
        }
        self.ledger.as_mut().ok_or_else(|| TrialError::Destination("the recording could not be begun".to_owned()))
    }

    /// Whether the recording was begun.
    pub(crate) fn is_recorded(&self) -> bool {
        self.ledger.is_some()
    }

    /// Ends the recording, if it was begun.
    fn finish(self) -> Result<(), TrialError> {
        let Some(ledger) = self.ledger else { return Ok(()) };
        if let (true, Some(text)) = (self.plan.count_heap, self.uncounted.text()) {
            ledger.fact(Word::new("allocations not known"), &text)?;
        }
        ledger.finish()
    }

    /// Whether nothing more is to run.
    pub(crate) fn is_stopped(&self) -> bool {
        self.observer.is_cancelled() || system::is_terminated()
    }

    /// Says which counts differ between runs of a fixed layout.
    fn tell_differences(&self) {
        if self.plan.layout.kind == LayoutKind::Fixed {
            let told = self.variants.iter().filter_map(|variant| Some((variant.name, variant.counts.differences()?)));
            told.for_each(|(name, differences)| self.observer.note(&format!("`{name}`: {differences}")));
        }
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
            if self.is_recorded() {
                self.ledger()?.flush()?;
            }
        }
        self.outcome.precision = self.precision;
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

    /// Runs every program once.
    fn block(&mut self, block: u64, warmup: bool) -> Result<(), TrialError> {
        let mut random = Random::new(self.plan.seed ^ Random::new(block).next());
        let seed = if self.plan.layout.kind == LayoutKind::Random { random.next() } else { self.plan.seed };
        let mut order: Vec<usize> = (0..self.variants.len()).collect();
        random.shuffle(&mut order);
        for at in order {
            if self.outcome.cancelled || self.is_stopped() {
                self.outcome.cancelled = true;
                return Ok(());
            }
            if !self.variants[at].is_given_up() {
                self.one(at, seed, warmup)?;
            }
        }
        Ok(())
    }
}
