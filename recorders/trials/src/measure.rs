//! One run of a program: what is around it, and what is recorded of it.

use std::collections::HashMap;
use std::ffi::OsString;

use crate::ended::{Ended, Failure};
use crate::error::TrialError;
use crate::heap::{Heap, Unknown};
use crate::how::How;
use crate::layout::{Knobs, Layout, LayoutKind};
use crate::observer::Progress;
use crate::output::{Printed, Route};
use crate::plan::{OutputTo, Stop, filled, line_words};
use crate::reported::Reported;
use crate::round::Round;
use crate::run::Measured;
use crate::starter::PEAK_STEP;
use crate::system;
use crate::trial::Trial;

/// The numbers that each pattern found, or why it found none.
type Found = Vec<Result<Vec<f64>, String>>;

/// The output and the values of a run.
struct Told {
    /// The part of its output that is kept.
    printed: Printed,
    /// Matches of patterns in its output, and in the output of the command after it.
    found: Found,
    /// Values of files, or what was wrong with them.
    written: Result<Vec<Reported>, String>,
}

/// The command for a variant: one command is for all of them.
fn of_variant(commands: &[String], at: usize) -> Option<&String> {
    match commands {
        [one] => Some(one),
        several => several.get(at),
    }
}

impl<'p> Trial<'p> {
    /// Runs a program once, with what is around it.
    pub(crate) fn one(&mut self, at: usize, seed: u64, warmup: bool) -> Result<(), TrialError> {
        if let Some(command) = of_variant(&self.plan.prepare, at) {
            self.around(at, command)?;
        }
        let prepared = &self.variants[at].prepared;
        let round = Round::of(self.plan.layout, seed).limited(prepared.missing);
        let round = if prepared.program.has_own_addresses { round.with_own_addresses() } else { round };
        self.files.begin();
        let Some(measured) = self.measured(at, seed, round)? else {
            self.outcome.cancelled = true;
            return Ok(());
        };
        // Written when it is known how it ended: one that is stopped is not recorded.
        let is_unmoved = matches!(&measured.heap, Heap::Unknown(unknown) if unknown.is_unmoved);
        let round = round.limited(if is_unmoved { Knobs::HEAP } else { Knobs::NONE });
        let round = if measured.used.has_own_addresses { self.with_own_addresses(at, round) } else { round };
        let is_first = !self.is_recorded();
        let run = self.ledger()?.begin(at, seed, warmup, &round)?;
        let mut found = self.runner.output.found();
        let printed = self.runner.output.printed(self.route());
        let written = self.files.take(&self.runner.output);
        if let Some(command) = of_variant(&self.plan.conclude, at) {
            self.around(at, command)?;
            if self.outcome.cancelled {
                return Ok(());
            }
            // It may tell what it finds out about the run.
            let more = self.runner.output.found();
            found = found.into_iter().zip(more).map(|(found, more)| Ok([found?, more?].concat())).collect();
        }
        self.take(at, run.0, warmup, &measured, Told { printed, found, written })?;
        if is_first {
            // In place of what the file held before.
            self.ledger()?.flush()?;
        }
        self.tell_progress(at, warmup, &measured);
        Ok(())
    }

    /// The layout of a run whose program became one with other rights, which is told once.
    fn with_own_addresses(&mut self, at: usize, round: Round) -> Round {
        let variant = &mut self.variants[at];
        if !std::mem::replace(&mut variant.has_told_addresses, true) {
            let name = variant.name;
            self.observer.note(&format!(
                "`{name}` becomes a program with other rights, whose addresses the system randomises: its runs say aslr=on"
            ));
        }
        round.with_own_addresses()
    }

    /// Runs a program once. `None` if the trial is to stop.
    fn measured(&mut self, at: usize, seed: u64, round: Round) -> Result<Option<Measured>, TrialError> {
        let how = How {
            layout: self.plan.layout,
            round,
            seed,
            values: Some(self.reports.path()),
            counts_heap: self.plan.count_heap,
            output: self.route(),
            shows_errors: self.plan.show_output,
            patterns: &self.plan.values,
            keeps_all: self.files.reads_output(),
            time_limit: self.plan.time_limit,
            has_terminal: false,
        };
        let observer = self.observer;
        let is_stopped = || observer.is_cancelled() || system::is_terminated();
        self.runner.run(&self.variants[at].prepared, how, &is_stopped)
    }

    /// The destination of the standard output of programs.
    fn route(&self) -> Route {
        match &self.plan.output {
            _ if self.plan.show_output => Route::Inherit,
            OutputTo::Null => Route::Null,
            OutputTo::Pipe => Route::Pipe,
            OutputTo::File(_) => Route::File,
            OutputTo::Inherit => Route::Inherit,
        }
    }

    fn tell_progress(&self, at: usize, warmup: bool, measured: &Measured) {
        let planned = match self.plan.stop {
            Stop::Runs(runs) => {
                let variants = self.variants.iter();
                Some(variants.map(|variant| if variant.is_given_up() { variant.failed } else { runs }).sum())
            }
            Stop::Until { .. } => None,
        };
        self.observer.run_ended(&Progress {
            variant: self.variants[at].name,
            done: self.outcome.runs,
            planned,
            failed: self.outcome.failed,
            wall_ns: u64::try_from(measured.used.wall_ns).unwrap_or_default(),
            precision: self.precision,
            elapsed: self.began.elapsed(),
            warmup,
        });
    }

    /// Records a run that ended.
    fn take(&mut self, at: usize, run: u32, warmup: bool, measured: &Measured, told: Told) -> Result<(), TrialError> {
        let id = barrow_writer::RunId(run);
        let (reported, others) = self.reports.take().map_err(TrialError::io("read reported values"))?;
        if others > 0 {
            self.observer.note(&format!("{others} lines that run {run} reported are no values"));
        }
        self.outcome.runs += u64::from(!warmup);
        let values = match self.failure(measured.ended) {
            Some(why) => Err(why),
            None => self.values(told.found, told.written, told.printed.is_long),
        };
        let mut values = match values {
            Ok(values) => values,
            Err(why) => return self.take_failed(at, run, warmup, measured.ended, why, &told.printed),
        };
        values.extend(reported);
        if let Heap::Unknown(unknown) = &measured.heap {
            self.tell_unknown(self.variants[at].name, unknown, run);
        }
        self.ledger()?.measured(id, measured)?;
        for value in &values {
            self.ledger()?.reported(id, value)?;
        }
        self.ledger()?.end(id, measured.ended, None)?;
        let name = self.variants[at].name;
        let variant = &mut self.variants[at];
        variant.succeeded += 1;
        // A first run may fill caches.
        if let (Heap::Counted(counted), false) = (&measured.heap, warmup) {
            variant.counts.add(counted);
        }
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
            for value in &values {
                of_run.entry(&value.metric).or_default().push(value.value);
            }
            for (metric, values) in of_run {
                variant.values.entry(metric.to_owned()).or_default().push(values);
            }
        }
        Ok(())
    }

    /// Why a run that ended so has failed, as a clause.
    fn failure(&self, ended: Ended) -> Option<String> {
        let has_failed = ended.timed_out || self.plan.ignore_failure.is_failure(ended.exit_status);
        has_failed.then(|| ended.to_string())
    }

    /// Records a run that failed: its values do not count.
    fn take_failed(
        &mut self,
        at: usize,
        run: u32,
        warmup: bool,
        ended: Ended,
        why: String,
        printed: &Printed,
    ) -> Result<(), TrialError> {
        let text = printed.text();
        // The exit code or signal is recorded as numbers.
        let output = if why == ended.to_string() { text } else { format!("[barrow: it {why}]\n{text}") };
        self.ledger()?.end(barrow_writer::RunId(run), ended, Some(&output))?;
        self.outcome.failed += u64::from(!warmup);
        let name = self.variants[at].name;
        let variant = &mut self.variants[at];
        variant.failed += 1;
        if variant.is_given_up() {
            let times = variant.failed;
            self.observer.note(&format!("`{name}` failed {times} times and never succeeded: it is not run again"));
        }
        let said = printed.said();
        self.outcome.first_failure.get_or_insert(Failure { run, variant: name.to_owned(), ended, why, said });
        Ok(())
    }

    /// The values that patterns and files have of a run, or what it did not do, as a clause.
    fn values(
        &self,
        found: Found,
        written: Result<Vec<Reported>, String>,
        is_long: bool,
    ) -> Result<Vec<Reported>, String> {
        let mut all = Vec::new();
        for (pattern, found) in self.plan.values.iter().zip(found) {
            let values = found.map_err(|wrong| format!("printed, for `{}`, {wrong}", pattern.name))?;
            if values.is_empty() {
                let hint = self.hint_about_output(is_long);
                return Err(format!("printed nothing that the pattern of `{}` matches{hint}", pattern.name));
            }
            let several = values.len() > 1;
            all.extend(values.into_iter().enumerate().map(|(iteration, value)| Reported {
                iteration: several.then_some(iteration as u64),
                value,
                ..Reported::new(&pattern.name, &pattern.unit, pattern.better)
            }));
        }
        all.extend(written?);
        Ok(all)
    }

    /// Why a pattern may match nothing, as the end of a sentence. What was discarded is told of every run that fails.
    fn hint_about_output(&self, is_long: bool) -> &'static str {
        match self.route() {
            Route::File => "; its standard output went to a file and was not read, and `--output pipe` reads it",
            Route::Inherit => "; its standard output was shown and not read, and `--output pipe` reads it",
            Route::Pipe if is_long => "; it printed much, of which a match may be 32 KiB long at most",
            Route::Pipe | Route::Null => "",
        }
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

    /// Runs a command that is not measured, with the parameters of a program.
    pub(crate) fn around(&mut self, at: usize, command: &str) -> Result<(), TrialError> {
        let line = filled(command, &self.plan.variants[at].parameters);
        let words: Vec<OsString> = line_words(&line, &self.plan.shell)?;
        let prepared = self.runner.prepare(words, Knobs::ALL)?;
        let how = How {
            layout: Layout::AS_IS,
            round: Round::default(),
            seed: self.plan.seed,
            values: None,
            counts_heap: false,
            output: if self.plan.show_output { Route::Inherit } else { Route::Pipe },
            shows_errors: self.plan.show_output,
            patterns: &self.plan.values,
            keeps_all: false,
            time_limit: None,
            has_terminal: false,
        };
        let observer = self.observer;
        let is_stopped = || observer.is_cancelled() || system::is_terminated();
        let Some(measured) = self.runner.run(&prepared, how, &is_stopped)? else {
            self.outcome.cancelled = true;
            return Ok(());
        };
        if measured.ended.exit_status == Some(0) {
            return Ok(());
        }
        let said = self.runner.output.printed(how.output).said();
        Err(TrialError::Around { command: line, ended: measured.ended.to_string(), said })
    }
}
