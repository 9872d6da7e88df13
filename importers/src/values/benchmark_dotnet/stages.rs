//! Selects the measurements of a benchmark that count: the results, or the actual measurements if there are no
//! results.
//!
//! A benchmark is measured in stages: without the workload to determine the overhead, to warm up, then actually. A
//! result is such a measurement with the overhead subtracted and without outliers, as configured by the user.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use crate::values::measurements::Number;

/// The measurements of a benchmark that can count.
#[derive(Debug, Default)]
pub(super) struct Measurements {
    results: Vec<Measurement>,
    actual: Vec<Measurement>,
}

/// A measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measurement {
    /// The number of the process, from 1.
    pub(super) launch: u64,
    /// The number of the iteration, from 1.
    pub(super) iteration: u64,
    /// The time of all operations.
    pub(super) nanoseconds: f64,
    pub(super) operations: f64,
}

impl Measurements {
    /// The measurements that count.
    pub(super) fn that_count(&self) -> &[Measurement] {
        if self.results.is_empty() { &self.actual } else { &self.results }
    }
}

/// A measurement of any stage.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct OfAnyStage {
    iteration_mode: String,
    iteration_stage: String,
    launch_index: u64,
    iteration_index: u64,
    operations: Number,
    nanoseconds: Number,
}

impl<'de> Deserialize<'de> for Measurements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ThatCanCount)
    }
}

/// Drops measurements that cannot count while they are read.
struct ThatCanCount;

impl<'de> Visitor<'de> for ThatCanCount {
    type Value = Measurements;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of measurements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Measurements, A::Error> {
        let mut measurements = Measurements::default();
        while let Some(of_stage) = list.next_element::<OfAnyStage>()? {
            let stage = match (&*of_stage.iteration_mode, &*of_stage.iteration_stage) {
                // Versions before 0.11 have no stages, and these names of modes.
                ("Workload", "Result") | ("Result", "") => &mut measurements.results,
                ("Workload", "Actual") | ("MainTarget", "") => &mut measurements.actual,
                _ => continue,
            };
            stage.push(Measurement {
                launch: of_stage.launch_index,
                iteration: of_stage.iteration_index,
                nanoseconds: of_stage.nanoseconds.0,
                operations: of_stage.operations.0,
            });
        }
        Ok(measurements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(stages: &[(&str, &str)]) -> Vec<f64> {
        let one = |(at, (mode, stage)): (usize, &(&str, &str))| {
            format!(
                r#"{{"IterationMode":"{mode}","IterationStage":"{stage}","LaunchIndex":1,"IterationIndex":1,"Operations":2,"Nanoseconds":{at}}}"#
            )
        };
        let text = format!("[{}]", stages.iter().enumerate().map(one).collect::<Vec<_>>().join(","));
        let measurements: Measurements = serde_json::from_str(&text).expect("measurements");
        measurements.that_count().iter().map(|measured| measured.nanoseconds / measured.operations).collect()
    }

    #[test]
    fn results_count_before_what_they_are_made_of() {
        let all = [("Overhead", "Actual"), ("Workload", "Warmup"), ("Workload", "Actual"), ("Workload", "Result")];
        assert_eq!(counting(&all), [1.5]);
        assert_eq!(counting(&all[..3]), [1.0]);
        assert_eq!(counting(&[("MainTarget", ""), ("Result", "")]), [0.5]);
        assert_eq!(counting(&all[..2]), [0.0; 0]);
    }
}
