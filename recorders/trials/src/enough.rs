//! The decision that a trial has made enough runs.

use barrow_statistics::{Sample, precision};

use crate::plan::Stop;
use crate::trial::Trial;

impl Trial<'_> {
    /// Whether `blocks` blocks of runs suffice.
    pub(crate) fn is_enough(&mut self, blocks: u64) -> bool {
        match self.plan.stop {
            Stop::Runs(runs) => blocks >= runs,
            Stop::Until { precision, at_least, at_most, within } => {
                // Computing the precision takes time, so it happens less often as values accumulate.
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

    /// The precision of the least precise value: of those that the programs report, otherwise of wall times.
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
}
