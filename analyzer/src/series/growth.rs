//! Growth over a series of snapshots, by path of types from the roots.
//!
//! ```text
//!   dominator tree of one snapshot         merged by type                folded into one tree, a column
//!                                                                        for each snapshot
//!   roots ─┬─ Cache ─┬─ Entry ─ Entry      roots: 900  ┐                 roots     850  880  900
//!          │         └─ Entry              └ Cache: 800├─ and dropped ─▶ └ Cache   700  760  800
//!          └─ Cache ─── Entry                └ Entry: 6┘                   └ Entry ...
//! ```
//!
//! A node is a path of types down the dominator tree, below a root category. Its retained size is the sum of the
//! retained sizes of its topmost objects, so each byte counts once. An object directly below one of the same type
//! belongs to the same node, so a list of any length is one node. Types are the same if their [`TypeIdentity`] is.
//!
//! Only one snapshot is in memory as a graph. Paths that are small in all snapshots get no node, so the tree stays
//! small. Time is O(objects); memory is 4 bytes for each object of the largest snapshot besides its dominators and
//! types.

mod cycles;
mod fold;
mod moving;
mod path_tree;
mod trees;

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_format::{ObjectId, SnapshotId, TypeId};
use barrow_statistics::{Judgement, PathJudgement, judge_parts, own_parts};
use foldhash::{HashMap, HashMapExt};

use crate::error::Result;
use crate::file::recording::Recording;
use crate::file::type_identity::TypeIdentity;
use crate::progress::{Progress, check};
use crate::questions::summary::type_totals;
use crate::series::kept::SeriesOptions;

use self::path_tree::MAX_DEPTH;
use self::trees::trees_of;

/// A path gets a node from 1/16 of the size that it needs to be listed, so that its early values exist when it has grown.
const FINER: f64 = 16.0;

/// Lists exclude paths whose bytes change by less than this fraction of the size needed to be listed: such changes are not
/// worth reporting, even if they are sure.
const LEAST_CHANGE: f64 = 0.2;

/// Retained sizes and counts by path of types, with a column for each snapshot.
#[derive(Debug)]
pub struct Growth<'a> {
    columns: usize,
    least_share: f64,
    nodes: Vec<GrowthNode<'a>>,
    places: HashMap<(usize, GrowthPart<'a>), usize>,
    /// Reachable bytes, by column.
    heap_bytes: Vec<u64>,
    /// The size that a path needed to get a node, by column.
    least_bytes: Vec<u64>,
    is_exact: bool,
}

/// A path of types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrowthNode<'a> {
    /// The parent node; `None` for the node of everything.
    pub parent: Option<usize>,
    /// The number of nodes above it.
    pub depth: u32,
    /// The last step of the path.
    pub part: GrowthPart<'a>,
    /// The number of nodes directly below it.
    children: usize,
    /// The bytes that its objects retain, by column. `None` where the path retained less than [`Growth::least_bytes`]
    /// and had no node yet.
    pub retained_bytes: Vec<Option<u64>>,
    /// The number of its objects, by column. For everything and for a root category it is the number of objects held.
    pub objects: Vec<Option<u64>>,
    /// The one of its topmost objects in the last column that retains most. `None` for everything and for a root category,
    /// and where the last column has none.
    pub largest: Option<ObjectId>,
}

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GrowthPart<'a> {
    /// All reachable objects. Directly below it are root categories, and objects that several of them hold.
    Everything,
    /// The roots of one category.
    Roots(&'a str),
    /// Objects of a type.
    Type(TypeIdentity<'a>),
    /// The parent of types whose objects move between paths, see [`Growth::gather_moving`].
    AnyPath,
}

/// The growth of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthRow {
    /// The index of the node. Of a cycle of types, such as a list of two types in turn, it is the first step.
    pub node: usize,
    /// The deepest step of its cycle; else the node.
    pub deepest: usize,
    /// The judgement of its retained bytes, without parts below it that do not grow.
    pub judgement: Judgement,
    /// Nodes below it explain nearly all of its growth, so that their paths say more.
    pub is_carried: bool,
}

/// Growth over snapshots of a recording. Paths that never retain `least_share` of the largest heap are not listed. The
/// snapshots are merged from the last to the first, so that paths that grew have their node before the early snapshots.
/// The paths of each snapshot are kept in the index file; snapshots without kept paths are read, several at the same time.
/// Other columns of index files are read if they exist, but never written.
///
/// # Errors
/// As for [`Heap::dominators`](crate::Heap::dominators).
pub fn growth<'a>(
    recording: &'a Arc<Recording>,
    snapshots: &[SnapshotId],
    least_share: f64,
    options: &SeriesOptions,
    progress: &dyn Progress,
) -> Result<Growth<'a>> {
    let mut growth = Growth::new(snapshots.len(), least_share);
    let trees = trees_of(recording, snapshots, options, progress)?;
    let tables = recording.tables()?;
    for (column, tree) in trees.iter().enumerate().rev() {
        check(progress)?;
        growth.fold_paths(column, tables, tree);
    }
    growth.gather_moving();
    Ok(growth)
}

/// A last snapshot repeats the one before if no type differs by more than this part of the heap. This is a judgement.
const REPEATED: f64 = 0.001;

/// The snapshots by which growth is judged, and whether the last of these is left out because it repeats the one before:
/// neither the count nor the bytes of any type differ by more than 0.1 % of the heap. Recorders that write a snapshot at
/// the end of the program write such ones, and a leak would seem to end there.
///
/// # Errors
/// As for [`type_totals`].
pub fn without_repeated<'s>(recording: &Recording, snapshots: &'s [SnapshotId]) -> Result<(&'s [SnapshotId], bool)> {
    let &[.., before, last] = snapshots else { return Ok((snapshots, false)) };
    let mut changes: BTreeMap<TypeId, [i128; 2]> = BTreeMap::new();
    let mut most = [0_i128; 2];
    for (snapshot, sign) in [(before, -1), (last, 1)] {
        let mut whole = [0; 2];
        for row in type_totals(recording, snapshot)? {
            let amounts = [row.objects.into(), i128::from(row.heap_bytes) + i128::from(row.unmanaged_bytes)];
            let change = changes.entry(row.type_id).or_default();
            for ((change, whole), amount) in change.iter_mut().zip(&mut whole).zip(amounts) {
                *change += sign * amount;
                *whole += amount;
            }
        }
        most = [most[0].max(whole[0]), most[1].max(whole[1])];
    }
    let is_repeated = changes.values().all(|change| {
        change.iter().zip(most).all(|(change, whole)| change.unsigned_abs() as f64 <= REPEATED * whole as f64)
    });
    Ok((if is_repeated { &snapshots[..snapshots.len() - 1] } else { snapshots }, is_repeated))
}

impl<'a> Growth<'a> {
    /// An empty tree with this number of columns, one for each snapshot. Paths that never retain `least_share` of the
    /// largest heap are not listed in its rows.
    #[must_use]
    pub fn new(columns: usize, least_share: f64) -> Self {
        let everything = GrowthNode {
            parent: None,
            depth: 0,
            part: GrowthPart::Everything,
            children: 0,
            retained_bytes: vec![None; columns],
            objects: vec![None; columns],
            largest: None,
        };
        Growth {
            columns,
            least_share,
            nodes: vec![everything],
            places: HashMap::new(),
            heap_bytes: vec![0; columns],
            least_bytes: vec![0; columns],
            is_exact: true,
        }
    }

    /// All nodes, parents before children, including those too small for a row.
    #[must_use]
    pub fn nodes(&self) -> &[GrowthNode<'a>] {
        &self.nodes
    }

    /// The path of a node from the top, without the node of everything.
    #[must_use]
    pub fn path(&self, node: usize) -> Vec<GrowthPart<'a>> {
        let mut path: Vec<GrowthPart<'a>> = self.above(node).map(|node| self.nodes[node].part).collect();
        path.pop();
        path.reverse();
        path
    }

    /// Returns whether the path of a node is as long as paths are followed: what is deeper counts for its last step.
    #[must_use]
    pub fn is_cut(&self, node: usize) -> bool {
        self.nodes[node].depth as usize >= MAX_DEPTH
    }

    /// A node and its ancestors, upwards.
    fn above(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node), |&node| self.nodes[node].parent)
    }

    /// Reachable bytes, by column.
    #[must_use]
    pub fn heap_bytes(&self) -> &[u64] {
        &self.heap_bytes
    }

    /// The size below which a path may have no value, in bytes, by column.
    #[must_use]
    pub fn least_bytes(&self) -> &[u64] {
        &self.least_bytes
    }

    /// Returns whether retained sizes are exact; otherwise they are lower bounds, see [`crate::Dominators::is_exact`].
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The nodes that are large enough to be listed in at least one column.
    pub fn large(&self) -> impl Iterator<Item = usize> {
        let whole = self.heap_bytes.iter().copied().max().unwrap_or(0);
        let least = ((whole as f64 * self.least_share) as u64).max(1);
        let nodes = self.nodes.iter().enumerate();
        nodes
            .filter(move |(_, node)| node.retained_bytes.iter().flatten().any(|&bytes| bytes >= least))
            .map(|(at, _)| at)
    }

    /// Returns whether the bytes of a node change by at least a fifth of the size needed to be listed. Smaller changes
    /// are not worth reporting, even if they are sure.
    #[must_use]
    pub fn changes(&self, node: usize) -> bool {
        let values = self.nodes[node].retained_bytes.iter().map(|bytes| bytes.unwrap_or(0));
        let (least, most) = values.fold((u64::MAX, 0), |(least, most), value| (least.min(value), most.max(value)));
        let whole = self.heap_bytes.iter().copied().max().unwrap_or(0);
        most > least && (most - least) as f64 >= LEAST_CHANGE * self.least_share * whole as f64
    }

    /// Returns whether all large nodes have a value in this column. Folding the same snapshot again adds the values of
    /// nodes that were created since.
    #[must_use]
    pub fn is_complete(&self, column: usize) -> bool {
        self.large().all(|node| self.nodes[node].retained_bytes[column].is_some())
    }

    /// The growth of the large nodes, in the order of [`Judgement::rank`]. Values missing because they are small count as 0.
    /// All rounds of a cycle of types are one node, the first step.
    #[must_use]
    pub fn rows(&self) -> Vec<GrowthRow> {
        let large: Vec<usize> = self.large().collect();
        let places: HashMap<usize, usize> = large.iter().enumerate().map(|(place, &node)| (node, place)).collect();
        let (mut parents, mut values): (Vec<Option<usize>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        for node in large.iter().map(|&node| &self.nodes[node]) {
            parents.push(node.parent.and_then(|parent| places.get(&parent).copied()));
            values.push(node.retained_bytes.iter().map(|bytes| bytes.unwrap_or(0) as f64).collect());
        }
        let is_same = |one: usize, other: usize| self.nodes[large[one]].part == self.nodes[large[other]].part;
        let entries = cycles::entries(&parents, is_same);
        let mut own = own_parts(&parents, &values);
        let mut deepest: Vec<usize> = (0..large.len()).collect();
        for (place, &entry) in entries.iter().enumerate().filter(|&(place, &entry)| entry != place) {
            let part = std::mem::take(&mut own[place]);
            own[entry].iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
            if self.nodes[large[place]].depth > self.nodes[large[deepest[entry]]].depth {
                deepest[entry] = place;
            }
        }
        let is_entry = |place: &usize| entries[*place] == *place;
        let kept: Vec<usize> = (0..large.len()).filter(is_entry).collect();
        let parent = |place: usize| parents[place].and_then(|parent| kept.binary_search(&entries[parent]).ok());
        let kept_parents: Vec<Option<usize>> = kept.iter().map(|&place| parent(place)).collect();
        let kept_values: Vec<Vec<f64>> = kept.iter().map(|&place| std::mem::take(&mut values[place])).collect();
        let kept_own: Vec<Vec<f64>> = kept.iter().map(|&place| std::mem::take(&mut own[place])).collect();
        let judged = judge_parts(&kept_parents, &kept_values, &kept_own);
        let row = |(&place, path): (&usize, PathJudgement)| GrowthRow {
            node: large[place],
            deepest: large[deepest[place]],
            judgement: path.judgement,
            is_carried: path.is_carried,
        };
        let mut rows: Vec<GrowthRow> = kept.iter().zip(judged).map(row).collect();
        rows.sort_by(|one, other| {
            let [one, other] = [one, other].map(|row| (row.judgement.rank(), row.judgement.trend.slope));
            other.0.0.cmp(&one.0.0).then(other.0.1.total_cmp(&one.0.1)).then(other.1.total_cmp(&one.1))
        });
        rows
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }
}
