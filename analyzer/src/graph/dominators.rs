//! Dominators: which object keeps which others alive alone, and how much that is.
//!
//! ```text
//!   rows ──▶ number_depth_first ──▶ late references, turned around ──▶ semidominators
//!                                                                          │
//!   Dominators ◀── sizes, summed ◀── preorder of the tree ◀── immediate dominators
//!
//!   position   0      1        2 … 7          8          9 …
//!   vertex     —      group    objects it …   group      objects …
//!                     └ extent 7 ──────┘                            a subtree is a range
//!   before     bytes of all positions before this one               a retained size is a difference
//! ```
//!
//! An object *dominates* another if every way from the roots to the other leads through it. What it
//! dominates is freed with it: its *retained set*. Roots are held by their groups, groups by one place.

mod below;
mod canopy;
mod depth_first;
mod groups;
mod hubs;
mod largest;
mod semi_nca;
mod tree;

use std::ops::Range;
use std::sync::atomic::Ordering;

use barrow_format::block::Wanted;
use barrow_format::{ObjectId, SnapshotId, StringId};
use rayon::prelude::*;

use crate::columns::atomic::atomics;
use crate::columns::lookup::Lookup;
use crate::columns::memory::Column;
use crate::columns::prefetch::prefetch;
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{map_blocks, places};
use crate::file::recording::Recording;
use crate::graph::adjacency::Adjacency;
use crate::graph::ephemerons::Ephemeron;
use crate::graph::object_set::{BITS, ObjectSet, bits};
use crate::graph::partial_set::PartialSet;
use crate::graph::roots::Roots;
use crate::graph::transposed::Transposed;
use crate::progress::{Progress, check};
use crate::run::Run;

pub use self::below::{Below, Rank, WantedBelow};
pub use self::canopy::{Canopy, Tree};
pub use self::groups::GroupRetained;
pub use self::largest::Largest;

use self::depth_first::{DepthFirst, number_depth_first};
use self::semi_nca::{LateReferences, immediate_dominators, semidominators};
use self::tree::Preorder;

/// Objects that one thread looks at, at a time.
pub(crate) const PIECE: usize = 1 << 16;
/// Objects before its turn that the place of an object is asked for.
const AHEAD: usize = 16;

/// Who holds an object alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// An object.
    Object(ObjectId),
    /// The roots of one group, together.
    Roots(StringId),
    /// Several groups of roots: nobody alone.
    Everything,
}

impl Holder {
    /// The object, if it is one.
    #[must_use]
    pub fn object(self) -> Option<ObjectId> {
        match self {
            Holder::Object(object) => Some(object),
            Holder::Roots(_) | Holder::Everything => None,
        }
    }
}

/// The dominator tree of one snapshot, with the retained size of every object.
#[derive(Debug)]
pub struct Dominators {
    objects: u32,
    groups: Vec<StringId>,
    columns: DominatorColumns,
}

/// The columns of a dominator tree: all of them but the names of groups follow from its recording, and an index file
/// keeps them.
#[derive(Debug)]
pub(crate) struct Columns<Groups, Numbers, Bytes> {
    /// By object: its position in the tree; 0 for an unreachable one.
    pub(crate) position: Numbers,
    /// By group of roots: its position.
    pub(crate) group_position: Groups,
    /// By position: the object; from the number of objects on, the group of roots.
    pub(crate) vertex: Numbers,
    /// By position: the number of positions in its subtree, itself included.
    pub(crate) extent: Numbers,
    /// By position: the position of its immediate dominator.
    pub(crate) idom: Numbers,
    /// By position, and one more: shallow and unmanaged bytes of all positions before it.
    pub(crate) before: Bytes,
    /// Number of ephemerons that keep their values alive.
    pub(crate) live_ephemerons: u64,
}

/// Columns that a tree owns.
pub(crate) type DominatorColumns = Columns<Vec<u32>, Lookup<u32>, Lookup<u64>>;
/// Columns that are whole, as slices.
pub(crate) type DominatorSlices<'d> = Columns<&'d [u32], &'d [u32], &'d [u64]>;

/// What a phase of dominators needs resident, in bytes a vertex.
const RESIDENT_BYTES: u64 = 8;

/// The bytes that must be resident to find the dominators of so many objects.
pub(crate) fn resident_bytes(objects: u64) -> u64 {
    RESIDENT_BYTES * (objects + 1)
}

impl Dominators {
    /// Finds the dominators of what the roots reach. `ephemerons` are those with reachable sources.
    ///
    /// Time: O(m log n) in the worst case. Rows are taken, since most of the memory is theirs.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub(crate) fn find(
        recording: &Recording,
        snapshot: SnapshotId,
        adjacency: Adjacency,
        roots: &Roots,
        ephemerons: &[Ephemeron],
        run: Run<'_>,
    ) -> Result<Self> {
        let Run { memory, progress } = run;
        let objects = adjacency.objects();
        let reserved_bytes = resident_bytes(objects as u64);
        let found = number_depth_first(adjacency, roots, ephemerons, run)?;
        let DepthFirst { object_number, group_number, parent: mut idom, early: semi, late: log, hubs, last } = found;
        let object_number = memory.make_room(object_number, reserved_bytes)?;
        let mut semi = memory.make_room(semi, reserved_bytes)?;
        progress.begin("turning references around", last.into(), "objects");
        let late = Transposed::of(&log, last as usize + 1, reserved_bytes, run)?;
        drop(log);
        semidominators(&idom, &mut semi, LateReferences { by_target: &late, hubs: &hubs }, last, run)?;
        drop((late, hubs));
        immediate_dominators(&mut idom, &semi, last, run)?;
        drop(semi);
        let tree = Preorder::of(object_number, group_number, idom, last, run)?;
        let Preorder { position, group_position, vertex, extent, idom } = tree;
        let before = bytes_before(recording, snapshot, &position, vertex.len(), run)?;
        let groups = roots.categories().iter().map(|group| group.name).collect();
        let objects = u32::try_from(objects).expect("ids of objects have 32 bits");
        let columns = DominatorColumns {
            position: Lookup::Whole(position.into()),
            group_position,
            vertex: Lookup::Whole(vertex.into()),
            extent: Lookup::Whole(extent.into()),
            idom: Lookup::Whole(idom.into()),
            before: Lookup::Whole(before.into()),
            live_ephemerons: ephemerons.len() as u64,
        };
        Ok(Dominators { objects, groups, columns })
    }

    /// The columns as slices. Those that are checked only where they are read are empty.
    pub(crate) fn columns(&self) -> DominatorSlices<'_> {
        let columns = &self.columns;
        Columns {
            position: columns.position.whole(),
            group_position: &columns.group_position,
            vertex: columns.vertex.whole(),
            extent: columns.extent.whole(),
            idom: columns.idom.whole(),
            before: columns.before.whole(),
            live_ephemerons: columns.live_ephemerons,
        }
    }

    /// From columns of an index file, if their lengths fit each other.
    ///
    /// Their values were checked when they were read, for `count` positions: positions and vertices are in range,
    /// extents stay in it, and immediate dominators come before what they dominate. So every walk ends. That they
    /// describe the right tree is what their checksums say.
    pub(crate) fn of_columns(objects: u64, count: usize, roots: &Roots, columns: DominatorColumns) -> Option<Self> {
        let groups: Vec<StringId> = roots.categories().iter().map(|group| group.name).collect();
        let objects = u32::try_from(objects).ok()?;
        let vertices = objects as usize + groups.len();
        let Columns { position, group_position, vertex, extent, idom, before, .. } = &columns;
        let lengths_fit = position.len() == objects as usize
            && group_position.len() == groups.len()
            && (groups.len() + 1..=vertices + 1).contains(&count)
            && [vertex.len(), extent.len(), idom.len(), before.len()] == [count, count, count, count + 1];
        if !lengths_fit || extent.at(0) as usize != count {
            return None;
        }
        Some(Dominators { objects, groups, columns })
    }

    /// Whether something damaged was looked at: then an answer is worth nothing.
    pub(crate) fn are_damaged(&self) -> bool {
        let columns = [&self.columns.position, &self.columns.vertex, &self.columns.extent, &self.columns.idom];
        columns.iter().any(|column| column.is_damaged()) || self.columns.before.is_damaged()
    }

    /// Whether retained sizes are exact. Where ephemerons keep values alive they are lower bounds: a value
    /// is freed with its key *or* with the source, and a tree has room for one of them, the key.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.columns.live_ephemerons == 0
    }

    /// How many positions the tree has.
    pub(crate) fn position_count(&self) -> u64 {
        self.columns.vertex.len() as u64
    }

    /// How many objects there are, reachable or not.
    pub(crate) fn object_count(&self) -> u64 {
        self.objects.into()
    }

    /// How many objects are reachable.
    #[must_use]
    pub fn reachable_count(&self) -> u64 {
        self.columns.vertex.len() as u64 - 1 - self.groups.len() as u64
    }

    /// Shallow and unmanaged bytes of everything that is reachable.
    #[must_use]
    pub fn reachable_bytes(&self) -> u64 {
        self.columns.before.at(self.columns.before.len() - 1)
    }

    /// Whether the roots reach an object.
    #[must_use]
    pub fn is_reachable(&self, object: ObjectId) -> bool {
        self.columns.position.at(object.index()) != 0
    }

    /// The objects that the roots reach, in parts, on all threads of the current pool.
    pub(crate) fn reachable_parts(&self) -> Vec<PartialSet> {
        let end = self.objects as usize;
        let firsts: Vec<usize> = (0..end).step_by(PIECE).collect();
        let reachable = |first: usize| {
            let (object, count) = (ObjectId(first as u32), PIECE.min(end - first));
            let places = self.places_in_a_row(object, count)?;
            Some(PartialSet::all(object, count).filter_by(places, |place| place != 0))
        };
        firsts.into_par_iter().filter_map(reachable).collect()
    }

    /// The place in the tree of each of `count` objects from `first` on, 0 for those that the roots do not reach; `None`, and
    /// damage, if one is damaged.
    pub(crate) fn places_in_a_row(&self, first: ObjectId, count: usize) -> Option<&[u32]> {
        self.columns.position.slice(first.index()..first.index() + count)
    }

    /// The bytes that are freed with an object: shallow and unmanaged sizes of all that it dominates,
    /// itself included. 0 for an unreachable one, which keeps nothing alive.
    #[must_use]
    pub fn retained_bytes(&self, object: ObjectId) -> u64 {
        match self.columns.position.at(object.index()) {
            0 => 0,
            position => self.bytes_below(position),
        }
    }

    /// What [`Dominators::retained_bytes`] says of some objects in a row, whose places are asked for ahead. The columns must
    /// be whole.
    pub(crate) fn retained_of(&self, objects: Range<usize>) -> impl Iterator<Item = u64> {
        let columns = self.columns();
        let positions = &columns.position[objects];
        positions.iter().enumerate().map(move |(row, &position)| {
            let coming = positions.get(row + AHEAD).map_or(0, |&position| position as usize);
            prefetch(columns.extent, coming);
            prefetch(columns.before, coming);
            if position == 0 { 0 } else { self.bytes_below(position) }
        })
    }

    /// How many objects an object dominates, itself included; 0 for an unreachable one.
    #[must_use]
    pub fn retained_count(&self, object: ObjectId) -> u64 {
        match self.columns.position.at(object.index()) {
            0 => 0,
            position => self.columns.extent.at(position as usize).into(),
        }
    }

    /// Who holds an object alone; `None` for an unreachable one.
    #[must_use]
    pub fn immediate_dominator(&self, object: ObjectId) -> Option<Holder> {
        match self.columns.position.at(object.index()) {
            0 => None,
            position => Some(self.holder(self.columns.idom.at(position as usize))),
        }
    }

    /// Its immediate dominator, that one's and so on, nearest first; the last is a group of roots or
    /// [`Holder::Everything`].
    pub fn holders(&self, object: ObjectId) -> impl Iterator<Item = Holder> {
        // By positions, which only descend: it ends whatever a kept index says.
        let above = |&position: &u32| (position != 0).then(|| self.columns.idom.at(position as usize));
        let mut is_held = true;
        std::iter::successors(above(&self.columns.position.at(object.index())), above)
            .map(|position| self.holder(position))
            .take_while(move |holder| std::mem::replace(&mut is_held, matches!(holder, Holder::Object(_))))
    }

    fn holder(&self, position: u32) -> Holder {
        if position == 0 {
            return Holder::Everything;
        }
        let vertex = self.columns.vertex.at(position as usize);
        match vertex.checked_sub(self.objects) {
            None => Holder::Object(ObjectId(vertex)),
            Some(group) => Holder::Roots(self.groups[group as usize]),
        }
    }

    /// The positions of those objects of a set that the roots reach, as a set of positions.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn positions_of(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut positions = ObjectSet::new(set.snapshot(), self.columns.vertex.len() as u64);
        let words = atomics(positions.words_mut());
        set.words().par_chunks(PIECE / BITS).enumerate().try_for_each(|(piece, objects)| {
            check(progress)?;
            for object in (piece * PIECE..)
                .step_by(BITS)
                .zip(objects)
                .flat_map(|(first, &word)| bits(word).map(move |bit| first + bit as usize))
            {
                let position = self.columns.position.at(object) as usize;
                if position != 0 {
                    words[position / BITS].fetch_or(1 << (position % BITS), Ordering::Relaxed);
                }
            }
            Ok::<_, AnalyzerError>(())
        })?;
        Ok(positions)
    }

    /// The subtrees of some positions, which ascend; those that lie in another one do not come.
    pub(crate) fn subtrees(&self, positions: impl Iterator<Item = ObjectId>) -> impl Iterator<Item = Range<u32>> {
        let mut end = 0;
        positions.filter_map(move |ObjectId(position)| {
            let subtree = (position >= end).then(|| self.subtree(position))?;
            end = subtree.end;
            Some(subtree)
        })
    }

    /// The objects at and below some positions.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn objects_below(&self, positions: &ObjectSet, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut objects = ObjectSet::new(positions.snapshot(), self.objects.into());
        for position in self.subtrees(positions.iter()).flatten() {
            if (position as usize).is_multiple_of(PIECE) {
                check(progress)?;
            }
            self.object_at(position).map(|object| objects.insert(object));
        }
        Ok(objects)
    }

    /// The positions at and below one.
    pub(crate) fn subtree(&self, position: u32) -> Range<u32> {
        position..position + self.columns.extent.at(position as usize)
    }

    /// Asks for the memory that tells a subtree.
    #[inline]
    pub(crate) fn prefetch_subtree(&self, position: u32) {
        self.columns.extent.prefetch(position as usize);
    }

    /// The object at a position, if it is one.
    pub(crate) fn object_at(&self, position: u32) -> Option<ObjectId> {
        self.holder(position).object()
    }

    fn bytes_below(&self, position: u32) -> u64 {
        let position = position as usize;
        self.columns
            .before
            .at(position + self.columns.extent.at(position) as usize)
            .wrapping_sub(self.columns.before.at(position))
    }
}

/// Sums the sizes of the objects in the order of their positions, of which there are `count`.
///
/// Time: linear; blocks are decoded on all threads, and each size goes right to its place.
fn bytes_before(
    recording: &Recording,
    snapshot: SnapshotId,
    position: &[u32],
    count: usize,
    run: Run<'_>,
) -> Result<Column<u64>> {
    let Run { memory, progress } = run;
    progress.begin("adding up sizes", position.len() as u64, "objects");
    let mut before: Column<u64> = memory.column(count + 1)?;
    let places = places(recording, &[snapshot])?;
    let sizes = atomics(&mut before[1..]);
    map_blocks(recording, &places, Wanted::Sizes, progress, |_, _, columns| {
        let first = columns.first_object as usize;
        let positions = &position[first..first + columns.shallow_bytes.len()];
        for (row, (&position, &shallow)) in positions.iter().zip(&columns.shallow_bytes).enumerate() {
            prefetch(sizes, positions.get(row + AHEAD).map_or(0, |&position| position as usize));
            let unmanaged = columns.unmanaged_bytes.get(row).copied().unwrap_or(0);
            // Each object has a place of its own, but the unreachable ones.
            sizes[position as usize].store(shallow.wrapping_add(unmanaged), Ordering::Relaxed);
        }
        Ok(())
    })?;
    // Those went to the place that all roots are held from, which has no size.
    before[1] = 0;
    let mut total = 0u64;
    for piece in before.chunks_mut(PIECE) {
        check(progress)?;
        for bytes in piece {
            // Sizes of a hostile file may add up to more than 64 bits.
            total = total.wrapping_add(*bytes);
            *bytes = total;
        }
    }
    Ok(before)
}

/// A place in the dominator tree: an object, a group of roots, or the place all roots are held from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePlace(u32);

impl Dominators {
    /// The place that all roots are held from: it dominates everything.
    #[must_use]
    pub fn top(&self) -> TreePlace {
        TreePlace(0)
    }

    /// The place of an object; `None` for an unreachable one.
    #[must_use]
    pub fn place(&self, object: ObjectId) -> Option<TreePlace> {
        Some(self.columns.position.at(object.index())).filter(|&position| position != 0).map(TreePlace)
    }

    /// Who is at a place.
    #[must_use]
    pub fn at(&self, place: TreePlace) -> Holder {
        self.holder(place.0)
    }

    /// The bytes of everything at and below a place.
    #[must_use]
    pub fn bytes_at(&self, place: TreePlace) -> u64 {
        self.bytes_below(place.0)
    }

    /// The bytes that would be freed if all roots of a group were gone; 0 if there is no such group.
    #[must_use]
    pub fn group_bytes(&self, name: StringId) -> u64 {
        let group = self.groups.iter().position(|&group| group == name);
        group.map_or(0, |group| self.bytes_below(self.columns.group_position[group]))
    }

    /// What would be freed without the roots of a group: objects and bytes.
    pub(crate) fn group_retained(&self, name: StringId) -> GroupRetained {
        let Some(group) = self.groups.iter().position(|&group| group == name) else { return GroupRetained::default() };
        let place = TreePlace(self.columns.group_position[group]);
        GroupRetained { objects: self.count_at(place), bytes: self.bytes_at(place) }
    }

    /// How many objects are at and below a place.
    #[must_use]
    pub fn count_at(&self, place: TreePlace) -> u64 {
        let groups = match self.holder(place.0) {
            Holder::Object(_) => 0,
            Holder::Roots(_) => 1,
            Holder::Everything => self.groups.len() as u64 + 1,
        };
        u64::from(self.columns.extent.at(place.0 as usize)) - groups
    }

    /// The places right below one, in the order of the tree.
    pub fn children(&self, place: TreePlace) -> impl Iterator<Item = TreePlace> + '_ {
        let end = place.0 + self.columns.extent.at(place.0 as usize);
        let first = Some(place.0 + 1).filter(|&first| first < end);
        std::iter::successors(first, move |&child| {
            Some(child + self.columns.extent.at(child as usize)).filter(|&next| next < end)
        })
        // Always so, but for a wrong index: there a place might come below many others, and walks be endless.
        .take_while(move |&child| self.columns.idom.at(child as usize) == place.0)
        .map(TreePlace)
    }

    /// The objects that an object dominates, itself first.
    pub fn dominated(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        let start = self.columns.position.at(object.index());
        let end = if start == 0 { 0 } else { start + self.columns.extent.at(start as usize) };
        (start..end).filter_map(|position| self.holder(position).object())
    }

    /// The `count` wanted objects that retain most, the largest first; equal ones by their number.
    ///
    /// Time: subtrees that are smaller than what was found are skipped as a whole.
    pub fn largest(&self, count: usize, wanted: impl Fn(ObjectId) -> bool) -> Vec<ObjectId> {
        let mut best = std::collections::BinaryHeap::new();
        self.each_above(|object, bytes| {
            if wanted(object) {
                best.push(std::cmp::Reverse((bytes, std::cmp::Reverse(object))));
            }
            if best.len() > count {
                best.pop();
            }
            match best.peek() {
                // An equal one of a lesser number may still come, so equals are looked at.
                Some(&std::cmp::Reverse((least, _))) if best.len() == count => least,
                _ => 0,
            }
        });
        best.into_sorted_vec().into_iter().map(|std::cmp::Reverse((_, std::cmp::Reverse(object)))| object).collect()
    }

    /// Calls `visit` with objects and their retained sizes, dominators before what they dominate. It
    /// returns a number of bytes: subtrees of less are skipped.
    pub(crate) fn each_above(&self, mut visit: impl FnMut(ObjectId, u64) -> u64) {
        let (mut position, mut least) = (1, 0);
        while position < self.columns.vertex.len() as u32 {
            let bytes = self.bytes_below(position);
            if bytes < least {
                position += self.columns.extent.at(position as usize);
                continue;
            }
            if let Holder::Object(object) = self.holder(position) {
                least = visit(object, bytes);
            }
            position += 1;
        }
    }
}
