//! A long list whose end refers to objects that the root array refers to directly, which is hard for algorithms that
//! walk up chains.

use barrow_writer::{Snapshot, Writer, WriterError};

use super::Shape;
use super::announcer::Announcer;

/// A list whose last object refers to an array, and another array with the same elements that is a root.
///
/// ```text
///   root ─▶ 0 ─▶ 1 ─▶ … ─▶ n-1 ─▶ array n ────┐
///                                              ├──▶ n+2, n+3, …
///   root ─▶ array n+1 ─────────────────────────┘
/// ```
///
/// No object dominates an element. An algorithm that walks up from both arrays to the common dominator walks the whole
/// list for each element.
#[derive(Debug, Clone, Copy)]
pub struct ListHub {
    /// The number of objects, arrays included; at least three. Half of them are in the list.
    pub objects: u64,
}

impl Shape for ListHub {
    fn announce(&self, writer: &Writer, snapshot: &Snapshot<'_>) -> Result<(), WriterError> {
        let elements = self.objects.saturating_sub(2) / 2;
        let array = self.objects.saturating_sub(2 + elements).max(1);
        let root_array = array + 1;
        let mut announcer = Announcer::begin(writer, snapshot, ["next"])?;
        announcer.root(0)?;
        announcer.root(root_array)?;
        for object in 0..array {
            announcer.node([object + 1])?;
        }
        for _ in [array, root_array] {
            announcer.array(elements, root_array + 1..)?;
        }
        for _ in 0..elements {
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
    fn elements_are_reached_from_both_ends() {
        let shape = written(&ListHub { objects: 1001 });
        assert_eq!((shape.totals.objects, shape.totals.references), (1001, 500 + 2 * 499));
        assert_eq!(shape.roots, [0, 501]);
        assert!((0..500).all(|object| shape.targets(object) == [object + 1]));
        let elements: Vec<u32> = (502..1001).collect();
        assert_eq!(shape.targets(500), elements);
        assert_eq!(shape.targets(501), elements);
        assert!(elements.iter().all(|&element| shape.targets(element).is_empty()));
    }
}
