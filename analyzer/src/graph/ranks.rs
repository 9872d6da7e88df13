//! Numbers the objects of a set from 0 upwards, in their order.
//!
//! ```text
//!   set     0 1 1 0 1 …      64 objects a word
//!   rank      0 1   2
//!   before  [ 0, 37, 60, …   for each word how many objects are in those before it
//! ```

use barrow_format::ObjectId;

use crate::graph::object_set::{BITS, ObjectSet};

/// A set whose objects are numbered. It takes half as much again as the set.
pub(crate) struct Ranks {
    set: ObjectSet,
    before: Vec<u32>,
    objects: usize,
}

impl Ranks {
    pub(crate) fn of(set: ObjectSet) -> Self {
        let mut objects = 0;
        let mut before = Vec::with_capacity(set.words().len());
        for word in set.words() {
            before.push(objects);
            objects += word.count_ones();
        }
        Ranks { set, before, objects: objects as usize }
    }

    /// The number of objects.
    pub(crate) fn len(&self) -> usize {
        self.objects
    }

    pub(crate) fn set(&self) -> &ObjectSet {
        &self.set
    }

    /// The rank of an object of the set.
    #[inline]
    pub(crate) fn of_object(&self, object: ObjectId) -> usize {
        let (word, bit) = (object.index() / BITS, object.index() % BITS);
        let lower = self.set.words()[word] & ((1 << bit) - 1);
        (self.before[word] + lower.count_ones()) as usize
    }
}

#[cfg(test)]
mod tests {
    use barrow_format::SnapshotId;
    use barrow_testdata::Random;

    use super::*;

    #[test]
    fn objects_are_numbered_in_their_order() {
        let mut random = Random::new(5);
        for share in 1..6 {
            let ids = (0..1000).map(ObjectId).filter(|_| random.below(share) == 0);
            let set = ObjectSet::from_sorted(SnapshotId(0), 1000, ids);
            let ranks = Ranks::of(set.clone());
            assert!(set.iter().map(|object| ranks.of_object(object)).eq(0..ranks.len()));
            assert_eq!(ranks.len() as u64, set.len());
        }
    }
}
