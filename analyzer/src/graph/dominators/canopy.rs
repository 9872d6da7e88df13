//! The canopy: the places of the dominator tree that retain most, few enough to be kept separately.
//!
//! ```text
//!   all roots ─┬─ roots: threads ── Session ── Cache …      places that retain most, in preorder
//!              └─ Config ── …
//!      └ 1,551,446 children that retain 756 MiB together: totals, from which those of children outside the canopy follow
//! ```

use barrow_format::{ObjectId, StringId};

use super::below::{Below, WantedBelow};
use super::chain::{Chain, LEAST_OBJECTS};
use super::{Dominators, Holder, Largest, TreePlace};

/// A dominator tree that can be walked from the top down.
pub trait Tree {
    /// A place in it.
    type Place: Copy;

    /// The top of the tree, which dominates everything.
    fn top(&self) -> Self::Place;

    /// The object or group at a place.
    fn holder(&self, place: Self::Place) -> Holder;

    /// The number of objects and bytes in the subtree of a place.
    fn retained(&self, place: Self::Place) -> (u64, u64);

    /// The children of a place that `wanted` selects, in descending order of retained bytes, and the totals of all
    /// children.
    fn below(&self, place: Self::Place, wanted: &WantedBelow) -> Below<Self::Place>;

    /// Returns whether a chain can begin at a place.
    fn may_begin_chain(&self, _place: Self::Place) -> bool {
        true
    }

    /// The chain that a place is; `None` if it is a single object or a group.
    fn chain(&self, _place: Self::Place) -> Option<Chain> {
        None
    }
}

impl Tree for Dominators {
    type Place = TreePlace;

    fn top(&self) -> TreePlace {
        Dominators::top(self)
    }

    fn holder(&self, place: TreePlace) -> Holder {
        self.at(place)
    }

    fn retained(&self, place: TreePlace) -> (u64, u64) {
        (self.count_at(place), self.bytes_at(place))
    }

    /// Time: linear in the number of children, whatever part of them is wanted.
    fn below(&self, place: TreePlace, wanted: &WantedBelow) -> Below<TreePlace> {
        Below::of(self.children(place).map(|child| (self.bytes_at(child), child)), |child| self.at(child), wanted)
    }
}

/// The places of the dominator tree that retain most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canopy {
    /// In preorder: the top first, and every place after its parent.
    places: Vec<CanopyPlace>,
    /// For each place, its children in the canopy.
    below: Vec<Vec<u32>>,
    /// Every place that retains more than this is in the canopy; `None` if all places are.
    floor: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CanopyPlace {
    holder: Holder,
    /// The parent; the top is its own parent.
    above: u32,
    retained: (u64, u64),
    /// The number of all children, and the bytes they retain.
    all_below: (u64, u64),
    /// A chain may begin here: at least as many objects as a chain has follow each other, and each retains at least half of the
    /// one before.
    is_deep: bool,
}

impl Canopy {
    /// Time: linear in the number of children of these places.
    pub(crate) fn of(dominators: &Dominators, largest: &Largest) -> Self {
        let objects = largest.objects().iter().filter_map(|&(object, _)| dominators.place(object));
        let groups = dominators.columns.group_position.iter().map(|&position| TreePlace(position));
        let mut tree: Vec<TreePlace> = objects.chain(groups).collect();
        tree.sort_unstable();
        let mut kept = vec![dominators.top()];
        let (top, heavy) = CanopyPlace::of(dominators, dominators.top(), 0);
        let (mut places, mut heavy) = (vec![top], vec![heavy]);
        for place in tree {
            // The parent may be missing only if it retains as little as the smallest of these places.
            if let Ok(above) = kept.binary_search(&TreePlace(dominators.columns.idom.at(place.0 as usize))) {
                let (in_canopy, child) = CanopyPlace::of(dominators, place, above as u32);
                kept.push(place);
                places.push(in_canopy);
                heavy.push(child);
            }
        }
        // The number of objects from each place down of which each retains at least half of the one before. Numbers beyond the
        // least length of a chain are not counted further.
        let mut depths = vec![1; places.len()];
        for number in (0..places.len()).rev() {
            let mut next = heavy[number];
            while let Some(child) = next.filter(|_| depths[number] < LEAST_OBJECTS) {
                match kept.binary_search(&child) {
                    Ok(known) => {
                        depths[number] += depths[known];
                        break;
                    }
                    Err(_) => {
                        depths[number] += 1;
                        next = dominators.below(child, &WantedBelow::half_of(dominators.bytes_at(child))).places.pop();
                    }
                }
            }
            places[number].is_deep = depths[number] >= LEAST_OBJECTS;
        }
        let floor = largest.objects().last().map(|&(_, bytes)| bytes).filter(|_| largest.has_more());
        Self::with(places, floor)
    }

    fn with(places: Vec<CanopyPlace>, floor: Option<u64>) -> Self {
        let mut below = vec![Vec::new(); places.len()];
        for (number, place) in (0..).zip(&places).skip(1) {
            below[place.above as usize].push(number);
        }
        Canopy { places, below, floor }
    }

    /// All places that retain more than this number of bytes are in it.
    #[must_use]
    pub fn floor(&self) -> u64 {
        self.floor.unwrap_or(0)
    }

    /// Returns whether the canopy contains all places that retain at least `least` bytes.
    #[must_use]
    pub fn covers(&self, least: u64) -> bool {
        self.floor.is_none_or(|floor| least > floor)
    }

    /// The column that an index file keeps.
    pub(crate) fn to_column(&self) -> Vec<u64> {
        let mut column = vec![self.floor.is_some().into(), self.floor.unwrap_or_default()];
        for &CanopyPlace { holder, above, retained, all_below, is_deep } in &self.places {
            let (kind, number) = match holder {
                Holder::Everything => (0, 0),
                Holder::Roots(name) => (1, name.0),
                Holder::Object(object) => (2, object.0),
            };
            let holder = kind << 32 | u64::from(number);
            column.extend([holder, above.into(), retained.0, retained.1, all_below.0, all_below.1, is_deep.into()]);
        }
        column
    }

    /// From a column of an index file, if its values are possible.
    pub(crate) fn from_column(column: &[u64], objects: u64, groups: &[StringId]) -> Option<Self> {
        let (&[has_floor, floor], rest) = column.split_first_chunk::<2>()?;
        let (rows, []) = rest.as_chunks::<7>() else { return None };
        let places = rows.iter().enumerate().map(|(number, row)| {
            let id = row[0] as u32;
            let holder = match row[0] >> 32 {
                0 if number == 0 => Holder::Everything,
                1 => Holder::Roots(groups.iter().copied().find(|group| group.0 == id)?),
                2 if u64::from(id) < objects => Holder::Object(ObjectId(id)),
                _ => return None,
            };
            let above = u32::try_from(row[1]).ok().filter(|&above| (above as usize) < number.max(1))?;
            let (retained, all_below) = ((row[2], row[3]), (row[4], row[5]));
            Some(CanopyPlace { holder, above, retained, all_below, is_deep: row[6] != 0 })
        });
        let places = places.collect::<Option<Vec<_>>>()?;
        (!places.is_empty()).then(|| Self::with(places, Some(floor).filter(|_| has_floor != 0)))
    }
}

impl CanopyPlace {
    /// A place, and its child that retains at least half of it.
    fn of(dominators: &Dominators, place: TreePlace, above: u32) -> (Self, Option<TreePlace>) {
        let retained = dominators.retained(place);
        let mut below = dominators.below(place, &WantedBelow::half_of(retained.1));
        let holder = dominators.at(place);
        (CanopyPlace { holder, above, retained, all_below: below.all, is_deep: false }, below.places.pop())
    }
}

impl Tree for Canopy {
    type Place = u32;

    fn top(&self) -> u32 {
        0
    }

    fn holder(&self, place: u32) -> Holder {
        self.places[place as usize].holder
    }

    fn retained(&self, place: u32) -> (u64, u64) {
        self.places[place as usize].retained
    }

    fn below(&self, place: u32, wanted: &WantedBelow) -> Below<u32> {
        let children = self.below[place as usize].iter().map(|&child| (self.retained(child).1, child));
        let all = self.places[place as usize].all_below;
        Below { all, ..Below::of(children, |child| self.holder(child), wanted) }
    }
}

/// The whole tree, of which a canopy answers what it knows. So a walk through large places reads few columns of the rest.
pub struct UnderCanopy<'t> {
    canopy: &'t Canopy,
    dominators: &'t Dominators,
}

/// A place in it.
#[derive(Debug, Clone, Copy)]
pub enum CoveredPlace {
    /// One of the canopy.
    Canopy(u32),
    /// Any other, and one that was found below a place that the canopy does not cover.
    Below(TreePlace),
}

impl<'t> UnderCanopy<'t> {
    /// The tree under a canopy, which must be its own.
    #[must_use]
    pub fn of(canopy: &'t Canopy, dominators: &'t Dominators) -> Self {
        UnderCanopy { canopy, dominators }
    }

    fn tree_place(&self, place: CoveredPlace) -> TreePlace {
        let number = match place {
            CoveredPlace::Below(place) => return place,
            CoveredPlace::Canopy(number) => number,
        };
        let place = match self.canopy.holder(number) {
            Holder::Everything => None,
            Holder::Roots(name) => self.dominators.group(name),
            Holder::Object(object) => self.dominators.place(object),
        };
        place.unwrap_or_else(|| self.dominators.top())
    }
}

impl Tree for UnderCanopy<'_> {
    type Place = CoveredPlace;

    fn top(&self) -> CoveredPlace {
        CoveredPlace::Canopy(self.canopy.top())
    }

    fn holder(&self, place: CoveredPlace) -> Holder {
        match place {
            CoveredPlace::Canopy(number) => self.canopy.holder(number),
            CoveredPlace::Below(place) => self.dominators.at(place),
        }
    }

    fn retained(&self, place: CoveredPlace) -> (u64, u64) {
        match place {
            CoveredPlace::Canopy(number) => self.canopy.retained(number),
            CoveredPlace::Below(place) => self.dominators.retained(place),
        }
    }

    fn may_begin_chain(&self, place: CoveredPlace) -> bool {
        match place {
            CoveredPlace::Canopy(number) => self.canopy.places[number as usize].is_deep,
            CoveredPlace::Below(_) => true,
        }
    }

    fn below(&self, place: CoveredPlace, wanted: &WantedBelow) -> Below<CoveredPlace> {
        match place {
            CoveredPlace::Canopy(number) if self.canopy.covers(wanted.least) => {
                self.canopy.below(number, wanted).map(CoveredPlace::Canopy)
            }
            _ => self.dominators.below(self.tree_place(place), wanted).map(CoveredPlace::Below),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use barrow_format::SnapshotId;
    use barrow_testdata::{Graph, Random};

    use super::*;
    use crate::{Folded, Heap, IndexPlace, Memory, Recording, Silent};

    /// Everything that a tree shows, sorted.
    fn shown<T: Tree>(tree: &T, least: u64) -> Vec<String> {
        let (mut lines, mut open) = (Vec::new(), vec![tree.top()]);
        while let Some(place) = open.pop() {
            let below = tree.below(place, &WantedBelow { least, skip: 0, most: usize::MAX, after: None });
            let (holder, retained, chain) = (tree.holder(place), tree.retained(place), tree.chain(place));
            lines.push(format!("{holder:?} {retained:?} {chain:?} {:?} {:?}", below.all, below.large));
            open.extend(below.places);
        }
        lines.sort_unstable();
        lines
    }

    #[test]
    fn it_shows_what_the_whole_tree_shows() {
        let (mut random, mut covered) = (Random::new(11), 0);
        for _ in 0..300 {
            let bytes = Graph::bytes_of(&[&Graph::random(&mut random, 40, true)], None);
            let recording = Arc::new(Recording::from_bytes(bytes).expect("a recording"));
            let heap = Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited());
            let heap = heap.expect("a snapshot");
            let dominators = heap.dominators(&Silent).expect("dominators");
            let groups: Vec<StringId> = heap.roots().expect("roots").categories().iter().map(|one| one.name).collect();
            for most in [1, 2, 5, 40] {
                let canopy = Canopy::of(dominators, &Largest::with_room(dominators, most));
                let kept = Canopy::from_column(&canopy.to_column(), heap.object_count(), &groups);
                assert_eq!(kept.as_ref(), Some(&canopy));
                let whole = UnderCanopy::of(&canopy, dominators);
                let types = heap.types(&Silent).expect("types");
                let (folded, folded_whole) = (Folded::of(dominators, types), Folded::of(&whole, types));
                for least in 0..100 {
                    let expected = shown(dominators, least);
                    assert_eq!(shown(&whole, least), expected, "{most} places, {least} bytes");
                    assert_eq!(shown(&folded_whole, least), shown(&folded, least), "{most} places, {least} bytes");
                    if canopy.covers(least) {
                        covered += 1;
                        assert_eq!(shown(&canopy, least), expected, "{most} places, {least} bytes");
                    }
                }
            }
        }
        assert!(covered > 30_000, "{covered}");
    }
}
