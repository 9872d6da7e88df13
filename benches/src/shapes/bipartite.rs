//! Complete bipartite graphs: far more references than objects.

use barrow_writer::{Snapshot, Writer, WriterError};

use super::Shape;
use super::announcer::Announcer;

/// Groups of objects, left and right: each left one refers to all right ones of its group, each right
/// one to all left ones. Object 0, the root, refers to the first left one of every group.
///
/// Sides of 1000 make 1000 references an object: a million objects are a billion references.
#[derive(Debug, Clone, Copy)]
pub struct Bipartite {
    /// How many objects at least; groups are whole.
    pub objects: u64,
    /// Objects on each side of a group.
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
