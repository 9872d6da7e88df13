//! The decision that a trial has made enough runs.

use barrow_statistics::{Sample, dependence, precision};

use crate::plan::Stop;
use crate::trial::Trial;

impl Trial<'_> {
    /// Whether `blocks` blocks of runs suffice.
    pub(crate) fn is_enough(&mut self, blocks: u64) -> bool {
        match self.plan.stop {
            Stop::Runs(runs) => blocks >= runs,
            Stop::Until { precision, at_least, at_most, within } => {
                // Computing the precision takes time, so it happens less often as values accumulate.
                let is_time_to_look = blocks >= at_least.max(self.next_look);
                if is_time_to_look {
                    self.look();
                    self.next_look = blocks + (blocks / 10).max(1);
                }
                let is_reached = is_time_to_look && self.precision.is_some_and(|known| known <= precision);
                let is_over = blocks >= at_most || self.began.elapsed() >= within;
                if is_over && !is_time_to_look && blocks > 0 {
                    self.look();
                }
                self.outcome.reached = Some(self.precision.is_some_and(|known| known <= precision));
                is_reached || is_over
            }
        }
    }

    /// Computes the precision of the least precise value.
    fn look(&mut self) {
        let samples = self.deciding();
        let depends = samples.iter().any(|sample| dependence(&[sample]).is_some());
        let least_precise = |samples: &[Sample]| {
            let known = samples.iter().map(precision);
            known.reduce(|one, other| one.zip(other).map(|(one, other)| one.max(other))).flatten()
        };
        self.precision = if depends { None } else { least_precise(&samples) };
        self.outcome.depends = depends;
    }

    /// The values that must be known: those that the programs report, otherwise wall times.
    fn deciding(&self) -> Vec<Sample> {
        let variants = self.variants.iter().filter(|variant| !variant.is_given_up());
        let groups = variants.flat_map(|variant| {
            let reports = variant.values.len() > 1;
            variant.values.iter().filter(move |(name, _)| !reports || *name != "wall").map(|(_, groups)| groups)
        });
        groups.map(|groups| Sample::new(groups.clone())).collect()
    }
}
