//! The least retained size of the largest places of a dominator tree, given their number: the cells of a map.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use barrow_analyzer::{Tree, WantedBelow};

/// The fewest bytes that make the places below `top`, with it, at most `cells`. No child retains more than its parent, so
/// these places are a tree. Only places of more than `floor` bytes are looked at; the answer is `floor` or less if these are
/// not more than the cells.
///
/// Time: linear in the children of these places, and n log n in their number n.
pub(crate) fn least_of<T: Tree>(tree: &T, top: T::Place, cells: usize, floor: u64) -> u64 {
    // The largest places seen so far, one more than there are cells.
    let mut largest = BinaryHeap::from([Reverse(tree.retained(top).1)]);
    let mut open = Opens(BinaryHeap::from([Open { bytes: tree.retained(top).1, number: 0 }]), vec![top]);
    while let Some((bytes, place)) = open.next() {
        let floor = first_beyond(&largest, cells).max(floor);
        if bytes <= floor {
            break;
        }
        let wanted = WantedBelow { least: floor.saturating_add(1), skip: 0, most: cells + 1, after: None };
        for child in tree.below(place, &wanted).places {
            let bytes = tree.retained(child).1;
            largest.push(Reverse(bytes));
            if largest.len() > cells + 1 {
                largest.pop();
            }
            open.add(bytes, child);
        }
    }
    first_beyond(&largest, cells).saturating_add(u64::from(largest.len() > cells))
}

/// The bytes that the first place beyond the cells retains; 0 if there is none.
fn first_beyond(largest: &BinaryHeap<Reverse<u64>>, cells: usize) -> u64 {
    largest.peek().filter(|_| largest.len() > cells).map_or(0, |&Reverse(bytes)| bytes)
}

/// Places whose children were not seen, the largest first.
struct Opens<P>(BinaryHeap<Open>, Vec<P>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    bytes: u64,
    number: usize,
}

impl<P: Copy> Opens<P> {
    fn add(&mut self, bytes: u64, place: P) {
        self.0.push(Open { bytes, number: self.1.len() });
        self.1.push(place);
    }

    fn next(&mut self) -> Option<(u64, P)> {
        let Open { bytes, number } = self.0.pop()?;
        Some((bytes, self.1[number]))
    }
}
