//! Forecasts the memory that a question needs from the memory that it held so far.

use std::sync::atomic::{AtomicU64, Ordering};

use barrow_analyzer::Memory;
use parking_lot::Mutex;

/// Parts of a phase. The memory that the process holds is sampled after each: enough samples to see how it grows. This
/// is a judgement.
const PARTS: u64 = 16;
/// The fewest samples that allow a forecast, the last of them when the work is given up: fewer cannot tell buffers, which
/// have one size whatever the number of steps, from what grows. With three, an import of 100 MiB was said to need 206.
const FEWEST_SAMPLES: usize = 5;

/// Progress of the current phase of a question, and the memory that the process held after each part of it.
#[derive(Default)]
pub(crate) struct Forecast {
    /// Steps of the phase; 0 if their number is unknown, or nothing is forecast.
    steps: AtomicU64,
    /// Those that are done.
    done: AtomicU64,
    /// The number of steps after which the next sample is taken.
    next: AtomicU64,
    samples: Mutex<Vec<Sample>>,
}

/// The memory that was held after some steps.
#[derive(Debug, Clone, Copy)]
struct Sample {
    done: u64,
    held_bytes: u64,
}

impl Forecast {
    /// A phase of so many steps begins; 0 if their number is unknown.
    pub(crate) fn begin(&self, steps: u64) {
        // Relaxed, here and below: the numbers order no other memory, and a sample too many or too few does no harm.
        self.steps.store(steps, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.next.store((steps / PARTS).max(1), Ordering::Relaxed);
        self.samples.lock().clear();
    }

    /// Steps of the phase are done.
    pub(crate) fn advance(&self, steps: u64) {
        let all = self.steps.load(Ordering::Relaxed);
        let done = self.done.fetch_add(steps, Ordering::Relaxed).saturating_add(steps);
        let next = self.next.load(Ordering::Relaxed);
        let part = (all / PARTS).max(1);
        let after = done.saturating_sub(done % part).saturating_add(part);
        if done > all
            || done < next
            || self.next.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return;
        }
        self.samples.lock().extend(Memory::held_bytes().map(|held_bytes| Sample { done, held_bytes }));
    }

    /// No phase runs.
    pub(crate) fn end(&self) {
        self.begin(0);
    }

    /// The memory that the process will hold at the end of the phase, if it goes on as it did until it held `held_bytes`.
    pub(crate) fn needed_bytes(&self, held_bytes: u64) -> Option<u64> {
        let (steps, done) = (self.steps.load(Ordering::Relaxed), self.done.load(Ordering::Relaxed));
        let mut samples = self.samples.lock().clone();
        samples.push(Sample { done, held_bytes });
        if done >= steps || samples.len() < FEWEST_SAMPLES {
            return None;
        }
        let slope = slope(&samples)?;
        Some(held_bytes.saturating_add((slope * (steps - done) as f64) as u64))
    }
}

/// Bytes that a step adds, by least squares; `None` if it adds none.
fn slope(samples: &[Sample]) -> Option<f64> {
    let count = samples.len() as f64;
    let mean = |of: fn(&Sample) -> u64| samples.iter().map(|sample| of(sample) as f64).sum::<f64>() / count;
    let (done, held) = (mean(|sample| sample.done), mean(|sample| sample.held_bytes));
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        samples.iter().map(|sample| of(sample.done as f64 - done, sample.held_bytes as f64 - held)).sum::<f64>()
    };
    let slope = sum(&|steps, bytes| steps * bytes) / sum(&|steps, _| steps * steps);
    (slope.is_finite() && slope > 0.0).then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(steps: u64, samples: &[(u64, u64)]) -> Forecast {
        let forecast = Forecast::default();
        forecast.begin(steps);
        forecast.done.store(samples.last().map_or(0, |sample| sample.0), Ordering::Relaxed);
        *forecast.samples.lock() = samples.iter().map(|&(done, held_bytes)| Sample { done, held_bytes }).collect();
        forecast
    }

    #[test]
    fn what_grows_with_each_step_grows_to_the_last_one() {
        // 500 bytes at the beginning, and two more for each step.
        let forecast = after(1000, &[(100, 700), (200, 900), (300, 1100), (400, 1300)]);
        assert_eq!(forecast.needed_bytes(1300), Some(2500));
        // Looks that are off by as much in both directions.
        let forecast = after(1000, &[(100, 710), (200, 890), (300, 1090), (400, 1310)]);
        assert_eq!(forecast.needed_bytes(1300), Some(2500));
    }

    #[test]
    fn a_phase_is_looked_at_after_each_part() {
        let memory = Memory::held_bytes();
        for (steps, advances, samples) in [(1600, 1600, 16), (1600, 400, 4), (8, 8, 8), (0, 100, 0)] {
            let forecast = Forecast::default();
            forecast.begin(steps);
            (0..advances).for_each(|_| forecast.advance(1));
            assert_eq!(
                forecast.samples.lock().len(),
                if memory.is_some() { samples } else { 0 },
                "{advances} of {steps}"
            );
        }
        let forecast = Forecast::default();
        forecast.begin(1600);
        forecast.advance(u64::MAX);
        forecast.advance(u64::MAX);
        assert!(forecast.needed_bytes(u64::MAX).is_none(), "all steps are done");
    }

    #[test]
    fn few_looks_and_less_memory_allow_no_forecast() {
        assert_eq!(after(1000, &[(100, 700), (200, 900), (300, 1100)]).needed_bytes(1100), None);
        assert_eq!(after(1000, &[(100, 700), (200, 600), (300, 500), (400, 400)]).needed_bytes(300), None);
        assert_eq!(after(1000, &[(100, 700), (100, 800), (100, 900), (100, 950)]).needed_bytes(990), None);
        let forecast = after(1000, &[(100, 700), (200, 900), (300, 1100), (400, 1300)]);
        forecast.end();
        assert_eq!(forecast.needed_bytes(1200), None);
    }
}
