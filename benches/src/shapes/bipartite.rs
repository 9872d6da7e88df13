//! Complete bipartite graphs: far more references than objects.

use barrow_writer::{Snapshot, Writer, WriterError};

use super::Shape;
use super::announcer::Announcer;

/// Bipartite components. Each left object of a component refers to all its right objects, and each right object to all
/// its left objects. Object 0, the root, refers to the first left object of every component.
///
/// Sides of 1000 objects give 1000 references for each object: a billion references for a million objects.
#[derive(Debug, Clone, Copy)]
pub struct Bipartite {
    /// The minimum number of objects; components are complete.
    pub objects: u64,
    /// The number of objects on each side of a component.
    pub side: u64,
}

impl Shape for Bipartite {
    fn announce(&self, writer: &Writer, snapshot: &Snapshot<'_>) -> Result<(), WriterError> {
        let side = self.side.max(1);
        let groups = self.objects.saturating_sub(1).div_ceil(2 * side);
        let left = |group: u64| 1 + group * 2 * side;
        let mut announcer = Announcer::begin(writer, snapshot, [])?;
        announcer.root(0)?;
        announcer.array(groups, (0..groups).map(left))?;
        for group in 0..groups {
            let (left, right) = (left(group), left(group) + side);
            for _ in 0..side {
                announcer.array(side, right..)?;
            }
            for _ in 0..side {
                announcer.array(side, left..)?;
            }
        }
        announcer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::tests::written;

    #[test]
    fn each_side_refers_to_the_other() {
        let parts = written(&Bipartite { objects: 1000, side: 50 });
        assert_eq!((parts.totals.objects, parts.totals.references), (1001, 10 + 1000 * 50));
        assert_eq!(parts.roots, [0]);
        assert_eq!(parts.targets(0), (0..10).map(|group| 1 + 100 * group).collect::<Vec<u32>>());
        for object in 1..1001 {
            let (group, is_left) = ((object - 1) / 100, (object - 1) % 100 < 50);
            let other_side = 1 + 100 * group + if is_left { 50 } else { 0 };
            assert_eq!(parts.targets(object), (other_side..other_side + 50).collect::<Vec<u32>>());
        }
    }
}
