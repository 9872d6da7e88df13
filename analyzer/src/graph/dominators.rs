//! Dominators: which objects each object keeps alive alone, and how many bytes these take.
//!
//! ```text
//!   adjacency ──▶ number_depth_first ──▶ late references, transposed ──▶ semidominators
//!                                                                            │
//!   Dominators ◀── prefix sums of sizes ◀── preorder of the tree ◀── immediate dominators
//!
//!   position   0      1        2 … 7          8          9 …
//!   vertex     —      group    objects it …   group      objects …
//!                     └ extent 7 ──────┘                            a subtree is a range
//!   before     bytes of all positions before this one               a retained size is a difference
//! ```
//!
//! An object *dominates* another if every path from the roots to the other passes through it. The objects it dominates
//! are freed with it: they are its *retained set*. In the tree, roots are children of their groups, and groups are
//! children of the top.

mod below;
mod canopy;
mod chain;
mod depth_first;
mod folded;
mod groups;
mod hubs;
mod largest;
mod positions;
mod row_vertices;
mod semi_nca;
mod tree;

use std::ops::Range;
use std::sync::atomic::Ordering;

use barrow_format::block::ColumnSelection;
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
pub use self::canopy::{Canopy, Tree, UnderCanopy};
pub use self::chain::Chain;
pub use self::folded::Folded;
pub use self::groups::GroupRetained;
pub use self::largest::Largest;

use self::depth_first::{DepthFirst, number_depth_first};
use self::row_vertices::Numbers;
use self::semi_nca::{LateReferences, immediate_dominators, semidominators};
use self::tree::Preorder;

/// Objects that one thread processes at a time: a heap of millions has a hundred pieces, which threads share evenly.
/// This is a judgement.
pub(crate) const PIECE: usize = 1 << 16;
/// Prefetch distance in objects: so many hide the time that memory takes. This is a judgement.
const AHEAD: usize = 16;

/// The immediate dominator of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// An object.
    Object(ObjectId),
    /// A group of roots.
    Roots(StringId),
    /// The top of the tree: the object is reachable from several groups of roots.
    Everything,
}

impl Holder {
    /// The object; `None` if the holder is not an object.
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

/// The columns of a dominator tree, as an index file keeps them.
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
/// Columns that were checked as a whole, as slices.
pub(crate) type DominatorSlices<'d> = Columns<&'d [u32], &'d [u32], &'d [u64]>;

/// Bytes per vertex that must be resident in each phase.
const RESIDENT_BYTES: u64 = 8;

/// Bytes that must be resident to compute the dominators of `objects` objects.
pub(crate) fn resident_bytes(objects: u64) -> u64 {
    RESIDENT_BYTES * (objects + 1)
}

impl Dominators {
    /// Computes the dominators of the objects that roots reach. `ephemerons` are those whose source and key are reachable.
    ///
    /// Time: O(m log n) in the worst case. The adjacency is consumed and freed early, because it takes most of the
    /// memory.
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
        let DepthFirst { object_number, mut group_number, row_number, parent: mut idom, .. } = found;
        let DepthFirst { early: semi, late: log, hubs, mut last, .. } = found;
        let mut object_number = memory.make_room(object_number, reserved_bytes)?;
        let mut semi = memory.make_room(semi, reserved_bytes)?;
        progress.begin("turning references around", last.into(), "objects");
        let late = Transposed::of(&log, last as usize + 1, reserved_bytes, run)?;
        drop(log);
        semidominators(&idom, &mut semi, LateReferences { by_target: &late, hubs: &hubs }, last, run)?;
        drop((late, hubs));
        immediate_dominators(&mut idom, &semi, last, run)?;
        let mut numbers = Numbers { objects: &mut object_number, groups: &mut group_number, rows: &row_number };
        last = numbers.without_rows(&mut idom, semi, last, progress)?;
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
    /// extents stay in it, and immediate dominators come before the positions they dominate. So every walk ends. Their
    /// checksums ensure that they describe the right tree.
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

    /// Returns whether damaged values were read. If so, the answer is invalid.
    pub(crate) fn are_damaged(&self) -> bool {
        let columns = [&self.columns.position, &self.columns.vertex, &self.columns.extent, &self.columns.idom];
        columns.iter().any(|column| column.is_damaged()) || self.columns.before.is_damaged()
    }

    /// Returns whether retained sizes are exact. If ephemerons keep values alive, retained sizes are lower bounds: a
    /// value is freed with its key *or* with its source, and the tree represents only the key.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.columns.live_ephemerons == 0
    }

    /// The number of positions in the tree.
    pub(crate) fn position_count(&self) -> u64 {
        self.columns.vertex.len() as u64
    }

    /// The number of objects, including unreachable ones.
    pub(crate) fn object_count(&self) -> u64 {
        self.objects.into()
    }

    /// The number of reachable objects.
    #[must_use]
    pub fn reachable_count(&self) -> u64 {
        self.columns.vertex.len() as u64 - 1 - self.groups.len() as u64
    }

    /// Shallow and unmanaged bytes of all reachable objects.
    #[must_use]
    pub fn reachable_bytes(&self) -> u64 {
        self.columns.before.at(self.columns.before.len() - 1)
    }

    /// Returns whether an object is reachable from the roots.
    #[must_use]
    pub fn is_reachable(&self, object: ObjectId) -> bool {
        self.columns.position.at(object.index()) != 0
    }

    /// The reachable objects in parts, computed in parallel on the current pool.
    pub(crate) fn reachable_parts(&self) -> Vec<PartialSet> {
        let end = self.objects as usize;
        let firsts: Vec<usize> = (0..end).step_by(PIECE).collect();
        let parts = firsts
            .into_par_iter()
            .filter_map(|first| self.reachable_part(ObjectId(first as u32), PIECE.min(end - first)));
        parts.collect()
    }

    /// The reachable ones of `count` consecutive objects from `first` on. `None` if one of their positions is damaged.
    pub(crate) fn reachable_part(&self, first: ObjectId, count: usize) -> Option<PartialSet> {
        let positions = self.columns.position.slice(first.index()..first.index() + count)?;
        Some(PartialSet::all(first, count).filter_by(positions, |position| position != 0))
    }

    /// The bytes freed if this object were collected: shallow and unmanaged sizes of all objects it dominates, itself
    /// included. 0 for an unreachable object.
    #[must_use]
    pub fn retained_bytes(&self, object: ObjectId) -> u64 {
        match self.columns.position.at(object.index()) {
            0 => 0,
            position => self.bytes_below(position),
        }
    }

    /// The retained sizes of consecutive objects, with prefetching. All columns must be whole.
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

    /// The number of objects that an object dominates, itself included; 0 for an unreachable one.
    #[must_use]
    pub fn retained_count(&self, object: ObjectId) -> u64 {
        match self.columns.position.at(object.index()) {
            0 => 0,
            position => self.columns.extent.at(position as usize).into(),
        }
    }

    /// The immediate dominator of an object; `None` if the object is unreachable.
    #[must_use]
    pub fn immediate_dominator(&self, object: ObjectId) -> Option<Holder> {
        match self.columns.position.at(object.index()) {
            0 => None,
            position => Some(self.holder(self.columns.idom.at(position as usize))),
        }
    }

    /// The dominators of an object, nearest first. The last one is a group of roots or [`Holder::Everything`].
    pub fn holders(&self, object: ObjectId) -> impl Iterator<Item = Holder> {
        self.up_to_roots(self.positions_above(self.columns.position.at(object.index())))
    }

    /// The dominators that all reachable objects of a set have in common, nearest first: objects are no dominators of
    /// themselves. The last one is a group of roots or [`Holder::Everything`]; none if no object is reachable.
    pub fn common_holders(&self, set: &ObjectSet) -> impl Iterator<Item = Holder> {
        let positions = set.iter().map(|object| self.columns.position.at(object.index()));
        let ends = positions.filter(|&position| position != 0).fold(None, |ends, position| {
            let (first, last) = ends.unwrap_or((position, position));
            Some((position.min(first), position.max(last)))
        });
        let (first, last) = ends.unwrap_or_default();
        // A subtree is a range of positions: with the first and the last object it has all of them.
        let above = self.positions_above(first).skip_while(move |&position| !self.subtree(position).contains(&last));
        self.up_to_roots(above)
    }

    /// The positions of the dominators of a position, nearest first, up to the top.
    pub(crate) fn positions_above(&self, position: u32) -> impl Iterator<Item = u32> {
        // Positions decrease at every step, so the walk ends even in a wrong index file.
        let above = |&position: &u32| (position != 0).then(|| self.columns.idom.at(position as usize));
        std::iter::successors(above(&position), above)
    }

    /// The holders at positions, up to the first that is no object.
    fn up_to_roots(&self, positions: impl Iterator<Item = u32>) -> impl Iterator<Item = Holder> {
        let mut is_held = true;
        positions
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

    /// The positions of the reachable objects of a set.
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

    /// The subtrees at some ascending positions. Subtrees inside another one are omitted.
    pub(crate) fn subtrees(&self, positions: impl Iterator<Item = ObjectId>) -> impl Iterator<Item = Range<u32>> {
        let mut end = 0;
        positions.filter_map(move |ObjectId(position)| {
            let subtree = (position >= end).then(|| self.subtree(position))?;
            end = subtree.end;
            Some(subtree)
        })
    }

    /// The objects in the subtrees at some positions.
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

    /// The positions of a subtree.
    pub(crate) fn subtree(&self, position: u32) -> Range<u32> {
        position..position + self.columns.extent.at(position as usize)
    }

    /// Prefetches the extent of a subtree.
    #[inline]
    pub(crate) fn prefetch_subtree(&self, position: u32) {
        self.columns.extent.prefetch(position as usize);
    }

    /// The object at a position; `None` for a group of roots and the top.
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

/// Computes the prefix sums of object sizes, in the order of the `count` positions.
///
/// Time: linear. Blocks are decoded in parallel, and each size is written directly to its position.
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
    map_blocks(recording, &places, ColumnSelection::Sizes, progress, |_, _, columns| {
        let first = columns.first_object as usize;
        let positions = &position[first..first + columns.shallow_bytes.len()];
        for (row, (&position, &shallow)) in positions.iter().zip(&columns.shallow_bytes).enumerate() {
            prefetch(sizes, positions.get(row + AHEAD).map_or(0, |&position| position as usize));
            let unmanaged = columns.unmanaged_bytes.get(row).copied().unwrap_or(0);
            // Each reachable object has its own position. Unreachable objects write to position 0.
            sizes[position as usize].store(shallow.wrapping_add(unmanaged), Ordering::Relaxed);
        }
        Ok(())
    })?;
    // Position 0 is the top, which has no size.
    before[1] = 0;
    let mut total = 0u64;
    for piece in before.chunks_mut(PIECE) {
        check(progress)?;
        for bytes in piece {
            // The sizes in a hostile file may add up to more than 64 bits.
            total = total.wrapping_add(*bytes);
            *bytes = total;
        }
    }
    Ok(before)
}

/// A position in the dominator tree: an object, a group of roots, or the top.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePlace(u32);

impl TreePlace {
    /// Its number in preorder.
    pub(crate) fn position(self) -> u32 {
        self.0
    }
}

impl Dominators {
    /// The top of the tree, which dominates everything.
    #[must_use]
    pub fn top(&self) -> TreePlace {
        TreePlace(0)
    }

    /// The position of an object; `None` for an unreachable one.
    #[must_use]
    pub fn place(&self, object: ObjectId) -> Option<TreePlace> {
        Some(self.columns.position.at(object.index())).filter(|&position| position != 0).map(TreePlace)
    }

    /// The object or group at a position.
    #[must_use]
    pub fn at(&self, place: TreePlace) -> Holder {
        self.holder(place.0)
    }

    /// The bytes of a subtree.
    #[must_use]
    pub fn bytes_at(&self, place: TreePlace) -> u64 {
        self.bytes_below(place.0)
    }

    /// The names of the groups of roots.
    #[must_use]
    pub fn groups(&self) -> &[StringId] {
        &self.groups
    }

    /// The position of a group of roots; `None` if there is no such group.
    #[must_use]
    pub fn group(&self, name: StringId) -> Option<TreePlace> {
        let group = self.groups.iter().position(|&group| group == name)?;
        Some(TreePlace(self.columns.group_position[group]))
    }

    /// The bytes that would be freed without the roots of a group; 0 if there is no such group.
    #[must_use]
    pub fn group_bytes(&self, name: StringId) -> u64 {
        self.group(name).map_or(0, |place| self.bytes_at(place))
    }

    /// For each group of roots the objects and bytes that would be freed without them.
    pub(crate) fn retained_by_groups(&self) -> impl Iterator<Item = (StringId, GroupRetained)> {
        self.groups.iter().zip(&self.columns.group_position).map(|(&group, &position)| {
            let place = TreePlace(position);
            (group, GroupRetained { objects: self.count_at(place), bytes: self.bytes_at(place) })
        })
    }

    /// The number of objects in a subtree.
    #[must_use]
    pub fn count_at(&self, place: TreePlace) -> u64 {
        let groups = match self.holder(place.0) {
            Holder::Object(_) => 0,
            Holder::Roots(_) => 1,
            Holder::Everything => self.groups.len() as u64 + 1,
        };
        u64::from(self.columns.extent.at(place.0 as usize)) - groups
    }

    /// The children of a position, in the order of the tree.
    pub fn children(&self, place: TreePlace) -> impl Iterator<Item = TreePlace> + '_ {
        let end = place.0 + self.columns.extent.at(place.0 as usize);
        let first = Some(place.0 + 1).filter(|&first| first < end);
        std::iter::successors(first, move |&child| {
            Some(child + self.columns.extent.at(child as usize)).filter(|&next| next < end)
        })
        // Holds for every correct index. In a wrong one, a child could have several parents, and walks could become
        // endless.
        .take_while(move |&child| self.columns.idom.at(child as usize) == place.0)
        .map(TreePlace)
    }

    /// The objects that an object dominates, beginning with itself.
    pub fn dominated(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        let start = self.columns.position.at(object.index());
        let end = if start == 0 { 0 } else { start + self.columns.extent.at(start as usize) };
        (start..end).filter_map(|position| self.holder(position).object())
    }

    /// The `count` wanted objects with the largest retained sizes, in descending order. Ties are sorted by object
    /// number.
    ///
    /// Time: skips subtrees smaller than the results so far.
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
                // An equal object with a lower number may still follow, so equal ones are visited.
                Some(&std::cmp::Reverse((least, _))) if best.len() == count => least,
                _ => 0,
            }
        });
        best.into_sorted_vec().into_iter().map(|std::cmp::Reverse((_, std::cmp::Reverse(object)))| object).collect()
    }

    /// Calls `visit` with objects and their retained sizes, dominators before the objects they dominate. `visit`
    /// returns a number of bytes; smaller subtrees are skipped.
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
