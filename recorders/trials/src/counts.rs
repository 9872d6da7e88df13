//! Exact counts under a fixed layout, where all runs should be equal.

use std::collections::BTreeMap;

use crate::heap::Counted;
use crate::metrics::ALLOCATIONS;

/// Number of runs with each value, by metric.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    of: [BTreeMap<u64, u64>; ALLOCATIONS.len()],
}

impl Counts {
    /// Adds a run.
    pub(crate) fn add(&mut self, counted: &Counted) {
        for (of, (_, number)) in self.of.iter_mut().zip(&ALLOCATIONS) {
            *of.entry(number(counted)).or_default() += 1;
        }
    }

    /// A sentence that names the metrics that differ between runs; `None` if none does.
    pub(crate) fn differences(&self) -> Option<String> {
        let told: Vec<String> =
            ALLOCATIONS.iter().zip(&self.of).filter_map(|((metric, _), of)| difference(metric.name, of)).collect();
        let cause = "threads, times, random numbers or files may be why";
        (!told.is_empty())
            .then(|| format!("counts differ although the layout is fixed, and {cause}: {}", told.join("; ")))
    }
}

/// A clause that says how the values of a metric differ; `None` if they do not. `of` is the number of runs with each value.
fn difference(name: &str, of: &BTreeMap<u64, u64>) -> Option<String> {
    let (runs, most) = (of.values().sum::<u64>(), *of.values().max()?);
    let (least, largest) = (of.first_key_value()?.0, of.last_key_value()?.0);
    let others = runs - most;
    (others > 0).then(|| format!("{name} from {least} to {largest}, {others} of {runs} runs unlike the most"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_differ_are_told() {
        let mut counts = Counts::default();
        let counted = Counted { peak_bytes: 8, allocated_bytes: 10, blocks: 2, live_bytes: 5 };
        counts.add(&counted);
        counts.add(&counted);
        assert_eq!(counts.differences(), None);
        counts.add(&Counted { blocks: 3, ..counted });
        let told = counts.differences().unwrap();
        assert!(told.ends_with("why: blocks from 2 to 3, 1 of 3 runs unlike the most"), "{told}");
    }
}
