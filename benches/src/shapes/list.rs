//! A linked list, which is the deepest possible graph.

use barrow_statistics::Random;
use barrow_writer::{Snapshot, Writer, WriterError};

use super::Shape;
use super::announcer::Announcer;
use super::permutation::Permutation;

/// A singly linked list. Object 0 is its head, and the root.
#[derive(Debug, Clone, Copy)]
pub struct List {
    /// The number of objects.
    pub objects: u64,
    /// The seed for shuffled ids along the list; without it they ascend.
    pub scattered: Option<u64>,
}

impl Shape for List {
    fn announce(&self, writer: &Writer, snapshot: &Snapshot<'_>) -> Result<(), WriterError> {
        let permutation = self.scattered.map(|seed| Permutation::new(self.objects, &mut Random::new(seed)));
        let mut announcer = Announcer::begin(writer, snapshot, ["next"])?;
        announcer.root(0)?;
        for object in 0..self.objects {
            let after = |place: u64| (place + 1) % self.objects;
            let next = match &permutation {
                None => after(object),
                Some(permutation) => permutation.number(after(permutation.place(object))),
            };
            // The ids form a ring, which is cut before object 0.
            announcer.node((next != 0).then_some(next))?;
        }
        announcer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::tests::{Written, written};

    /// The ids along the list.
    fn followed(list: &Written) -> Vec<u32> {
        let next = |&object: &u32| list.targets(object).first().copied();
        std::iter::successors(Some(0), next).take(2000).collect()
    }

    #[test]
    fn numbers_ascend_along_the_list() {
        let list = written(&List { objects: 1000, scattered: None });
        assert_eq!((list.totals.objects, list.totals.references), (1000, 999));
        assert_eq!(list.roots, [0]);
        assert_eq!(followed(&list), (0..1000).collect::<Vec<u32>>());
    }

    #[test]
    fn a_scattered_list_has_all_objects_in_disorder() {
        let list = written(&List { objects: 1000, scattered: Some(1) });
        assert_eq!((list.totals.objects, list.totals.references), (1000, 999));
        assert_eq!(list.roots, [0]);
        let mut numbers = followed(&list);
        let ascents = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((400..600).contains(&ascents), "{ascents}");
        numbers.sort_unstable();
        assert_eq!(numbers, (0..1000).collect::<Vec<u32>>());
    }
}
