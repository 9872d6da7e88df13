//! The objects with the largest retained sizes, kept separately because they are requested most.

use barrow_format::ObjectId;

use super::Dominators;

/// Number of objects that are kept at least: further pages of a ranking are seldom asked for. This is a judgement.
const LEAST_KEPT: u64 = 10_000;
/// Number that is kept at most. The 5,000 cells of a map of javac's heap, with its lists as one cell each, are among 16,000
/// objects.
const MOST_KEPT: u64 = 1 << 15;
/// Between these, one object of so many is kept: their columns take 0.14 bytes for each object of the heap.
const ONE_OF: u64 = 512;

/// Number of objects that are kept of a heap.
fn kept(objects: u64) -> usize {
    // At most 32,768.
    (objects / ONE_OF).clamp(LEAST_KEPT, MOST_KEPT) as usize
}

/// The objects with the largest retained sizes, and the total that they are part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Largest {
    objects: Vec<(ObjectId, u64)>,
    has_more: bool,
    reachable_bytes: u64,
    is_exact: bool,
}

impl Largest {
    pub(crate) fn of(dominators: &Dominators) -> Self {
        Self::with_room(dominators, kept(dominators.object_count()))
    }

    /// The `most` largest objects.
    pub(super) fn with_room(dominators: &Dominators, most: usize) -> Self {
        let largest = dominators.largest(most, |_| true);
        Largest {
            has_more: largest.len() >= most,
            objects: largest.into_iter().map(|object| (object, dominators.retained_bytes(object))).collect(),
            reachable_bytes: dominators.reachable_bytes(),
            is_exact: dominators.is_exact(),
        }
    }

    /// The column that an index file keeps.
    pub(crate) fn to_column(&self) -> Vec<u64> {
        let head = [self.reachable_bytes, u64::from(self.is_exact)];
        head.into_iter().chain(self.objects.iter().flat_map(|&(object, bytes)| [object.0.into(), bytes])).collect()
    }

    /// From a column of an index file, if its values are possible.
    pub(crate) fn from_column(column: &[u64], objects: u64) -> Option<Self> {
        let (&[reachable_bytes, is_exact], rest) = column.split_first_chunk::<2>()?;
        let (rows, room) = (rest.as_chunks::<2>().0, kept(objects));
        let objects = rows.iter().map(|&[id, bytes]| {
            let id = u32::try_from(id).ok().filter(|&id| u64::from(id) < objects)?;
            Some((ObjectId(id), bytes))
        });
        let objects = objects.collect::<Option<Vec<_>>>()?;
        let has_more = rows.len() >= room;
        Some(Largest { objects, has_more, reachable_bytes, is_exact: is_exact == 1 })
    }

    /// The objects with their retained sizes, in descending order; ties are sorted by object number.
    #[must_use]
    pub fn objects(&self) -> &[(ObjectId, u64)] {
        &self.objects
    }

    /// Returns whether there may be more objects than these.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Shallow and unmanaged bytes of all reachable objects.
    #[must_use]
    pub fn reachable_bytes(&self) -> u64 {
        self.reachable_bytes
    }

    /// Returns whether retained sizes are exact, see [`Dominators::is_exact`].
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The objects that retain at least `bytes`, with their retained sizes, sorted by object number. `None` if there
    /// may be more than are kept.
    pub(crate) fn at_least(&self, bytes: u64) -> Option<Vec<(ObjectId, u64)>> {
        let count = self.objects.partition_point(|&(_, retained)| retained >= bytes);
        if count == self.objects.len() && self.has_more() {
            return None;
        }
        let mut found = self.objects[..count].to_vec();
        found.sort_unstable();
        Some(found)
    }
}
