//! Huge arrays: objects whose references fill whole blocks.

use barrow_statistics::Random;
use barrow_writer::{Snapshot, Writer, WriterError};

use super::Shape;
use super::announcer::Announcer;

/// Arrays over shared objects. Object 0, the root, refers to the arrays, which are the next objects.
///
/// The first arrays hold every object once, in order. The others hold random objects.
#[derive(Debug, Clone, Copy)]
pub struct Arrays {
    /// The number of objects, arrays included.
    pub objects: u64,
    /// The average number of references for each object, which determines the number of arrays (at least one).
    pub references: u64,
    /// References of each array.
    pub length: u64,
    /// The seed; the same seed gives the same graph.
    pub seed: u64,
}

impl Arrays {
    fn arrays(&self) -> u64 {
        (self.objects * self.references / self.length.max(1)).max(1)
    }
}

impl Shape for Arrays {
    fn announce(&self, writer: &Writer, snapshot: &Snapshot<'_>) -> Result<(), WriterError> {
        let mut random = Random::new(self.seed);
        let first = 1 + self.arrays();
        let shared = self.objects.saturating_sub(first).max(1);
        let mut announcer = Announcer::begin(writer, snapshot, [])?;
        announcer.root(0)?;
        announcer.array(self.arrays(), 1..first)?;
        for array in 0..self.arrays() {
            let start = array * self.length;
            if start < shared {
                announcer.array(self.length, (start..).map(|place| first + place % shared))?;
            } else {
                announcer.array(self.length, std::iter::repeat_with(|| first + random.below(shared)))?;
            }
        }
        for _ in 0..shared {
            announcer.node([])?;
        }
        announcer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::tests::written;

    #[test]
    fn arrays_share_their_objects() {
        let arrays = written(&Arrays { objects: 1000, references: 4, length: 100, seed: 1 });
        assert_eq!((arrays.totals.objects, arrays.totals.references), (1000, 40 + 40 * 100));
        assert_eq!(arrays.roots, [0]);
        assert_eq!(arrays.targets(0), (1..41).collect::<Vec<u32>>());
        let mut incoming = vec![0; 1000];
        for array in 1..41 {
            assert_eq!(arrays.targets(array).len(), 100);
            arrays.targets(array).iter().for_each(|&target| incoming[target as usize] += 1);
        }
        assert!(incoming[..41].iter().all(|&count| count == 0));
        assert!(incoming[41..].iter().all(|&count| count > 0), "all are reachable");
        assert!((41..1000).all(|object| arrays.targets(object).is_empty()));
    }

    #[test]
    fn an_array_longer_than_a_block_is_one_object() {
        let arrays = written(&Arrays { objects: 1000, references: 4, length: 1_000_000, seed: 1 });
        assert_eq!((arrays.totals.objects, arrays.totals.references), (1000, 1_000_001));
        assert_eq!(arrays.targets(1).len(), 1_000_000);
    }
}
