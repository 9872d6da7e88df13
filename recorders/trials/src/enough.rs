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
                    self.precision = self.known();
                    self.next_look = blocks + (blocks / 10).max(1);
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

    /// The precision of the least precise value: of those that the programs report, otherwise of wall times.
    /// `None` if one has no interval, because there are too few values or because they depend on their order.
    fn known(&mut self) -> Option<f64> {
        self.outcome.depends = false;
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
                let sample = Sample::new(groups.clone());
                let depends = dependence(&[&sample]).is_some();
                self.outcome.depends |= depends;
                let known = if depends { None } else { precision(&sample) };
                widest = widest.zip(known).map(|(widest, known)| widest.max(known));
            }
        }
        widest
    }
}
