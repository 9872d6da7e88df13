//! Samples: the allocation times of objects, if the program tracked them.
//!
//! ```text
//!   "samples": [ timestamp_us, last_assigned_id, timestamp_us, last_assigned_id, … ]
//! ```
//!
//! V8 assigns ids in ascending order. An object was allocated between the last sample whose id is smaller than its
//! own and the next one. The first sample is taken soon after tracking begins: objects with ids up to its own may be
//! older.

use super::layout::Layout;
use crate::error::Damage;

/// Maximum number of samples read, 16 bytes each. V8 takes 20 a second.
const MAX_SAMPLES: u64 = 1 << 20;

/// Ids and times in µs since the first sample, both ascending.
#[derive(Debug, Default)]
pub(crate) struct Samples(Vec<(u64, u64)>);

impl Samples {
    /// Reads the samples; none if there are too many, or if they are not in order.
    pub(crate) fn read(layout: &Layout<'_>) -> Result<Samples, Damage> {
        let fields = &layout.meta.sample_fields;
        let [time, id] = ["timestamp_us", "last_assigned_id"].map(|name| fields.iter().position(|field| field == name));
        let (Some(numbers), Some(time), Some(id)) = (&layout.samples, time, id) else {
            return Ok(Samples::default());
        };
        numbers.check_whole()?;
        let count = numbers.len() / fields.len() as u64;
        if count > MAX_SAMPLES || fields.len() > super::meta::MAX_FIELDS {
            return Ok(Samples::default());
        }
        let (mut reader, mut record) = (numbers.from(0), vec![0; fields.len()]);
        let mut samples = Vec::new();
        for _ in 0..count {
            reader.record(&mut record)?;
            samples.push((record[id], record[time]));
        }
        let is_in_order = samples.is_sorted_by(|one, next| one.0 <= next.0 && one.1 <= next.1);
        Ok(Samples(if is_in_order { samples } else { Vec::new() }))
    }

    /// The time of the first sample after an object was allocated, in µs; `None` if it is unknown, as for objects
    /// allocated before the first sample. Objects of JavaScript have odd ids; others have ids in another order.
    #[inline]
    pub(crate) fn allocated_us(&self, id: u64) -> Option<u64> {
        if self.0.is_empty() || id.is_multiple_of(2) {
            return None;
        }
        let after = self.0.partition_point(|&(last, _)| last < id);
        self.0.get(after).filter(|_| after > 0).map(|&(_, time)| time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_was_allocated_before_the_first_sample_that_knows_its_id() {
        let samples = Samples(vec![(101, 0), (205, 50_000), (205, 100_000), (301, 150_000)]);
        let naive = |id: u64| samples.0.iter().position(|&(last, _)| last >= id).filter(|&at| at > 0);
        for id in (1..400).step_by(2) {
            assert_eq!(samples.allocated_us(id), naive(id).map(|at| samples.0[at].1), "{id}");
        }
        assert_eq!(
            [101, 103, 205, 207, 301, 303].map(|id| samples.allocated_us(id)),
            [None, Some(50_000), Some(50_000), Some(150_000), Some(150_000), None]
        );
        assert_eq!([104, 0].map(|id| samples.allocated_us(id)), [None, None]);
        assert_eq!(Samples::default().allocated_us(5), None);
    }
}
