//! What grows over a series of snapshots, by path of types from the roots.
//!
//! ```text
//!   dominator tree of one snapshot         merged by type                folded into one tree, a column
//!                                                                        for each snapshot
//!   roots ─┬─ Cache ─┬─ Entry ─ Entry      roots: 900  ┐                 roots     850  880  900
//!          │         └─ Entry              └ Cache: 800├─ and dropped ─▶ └ Cache   700  760  800
//!          └─ Cache ─── Entry                └ Entry: 6┘                   └ Entry ...
//! ```
//!
//! A node is a path of types down the dominator tree, below a group of roots. Its retained size is that of
//! the objects at the top of it, summed: each byte once. An object right below one of its own type is of the
//! same node, so that a list of any length is one. Types are the same if [`TypeIdentity`] is.
//!
//! One snapshot is a graph at a time. What is small in all snapshots has no node, so the tree stays small:
//! time O(objects) and 4 bytes an object of the largest snapshot besides its dominators and types.

mod fold;
mod moving;

use std::collections::HashMap;
use std::sync::Arc;

use barrow_format::SnapshotId;
use barrow_statistics::{Judgement, judge_paths};

use crate::columns::index_file::IndexPlace;
use crate::columns::memory::Memory;
use crate::error::Result;
use crate::file::recording::Recording;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::series::diff::TypeIdentity;

/// What a node must reach is so many times what a path needs to get a node: so that a node that grew has its
/// early numbers too.
const FINER: f64 = 16.0;

/// A path whose bytes change by less than this part of what it must hold is left out of lists.
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
    /// What a path needed to get a node, by column.
    least_bytes: Vec<u64>,
    is_exact: bool,
}

/// A path of types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrowthNode<'a> {
    /// The node above; `None` for that of everything.
    pub parent: Option<usize>,
    /// How many nodes are above it.
    pub depth: u32,
    /// The end of the path.
    pub part: GrowthPart<'a>,
    /// What its objects retain, in bytes, by column. `None` where the path had no node and less than
    /// [`Growth::least_bytes`].
    pub retained_bytes: Vec<Option<u64>>,
    /// How many objects it has, by column; for everything and for a group of roots how many are held.
    pub objects: Vec<Option<u64>>,
}

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GrowthPart<'a> {
    /// All that is reachable. Right below it are groups of roots, and objects that several of them hold.
    Everything,
    /// The roots of one group.
    Roots(&'a str),
    /// Objects of a type.
    Type(TypeIdentity<'a>),
    /// Above a type whose objects are on another path in each snapshot, see [`Growth::gather_moving`].
    AnyPath,
}

/// How a node grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthRow {
    /// Its number.
    pub node: usize,
    /// What is said of its retained bytes, without parts below it that are known not to grow.
    pub judgement: Judgement,
    /// Whether nodes below it have nearly all of its growth, so that the paths to them say more.
    pub is_carried: bool,
}

/// Growth over snapshots of a recording, from the last to the first: what has grown has a node from the
/// beginning. Paths that never retain `least_share` of the largest heap are left out.
///
/// What an index file keeps is used; nothing is added to it.
///
/// # Errors
/// As for [`Heap::dominators`].
pub fn growth<'a>(
    recording: &'a Arc<Recording>,
    snapshots: &[SnapshotId],
    least_share: f64,
    place: &IndexPlace,
    memory: &Memory,
    progress: &dyn Progress,
) -> Result<Growth<'a>> {
    let mut growth = Growth::new(snapshots.len(), least_share);
    for (column, &snapshot) in snapshots.iter().enumerate().rev() {
        let heap = Heap::new(Arc::clone(recording), snapshot, place, memory.clone())?.only_reading_the_index();
        growth.fold(column, recording, &heap, progress)?;
    }
    growth.gather_moving();
    Ok(growth)
}

impl<'a> Growth<'a> {
    /// Nothing yet, with room for so many snapshots. Paths that never retain `least_share` of the largest heap
    /// will be left out of its rows.
    #[must_use]
    pub fn new(columns: usize, least_share: f64) -> Self {
        let everything = GrowthNode {
            parent: None,
            depth: 0,
            part: GrowthPart::Everything,
            retained_bytes: vec![None; columns],
            objects: vec![None; columns],
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

    /// All nodes, parents before children; also those too small for a row.
    #[must_use]
    pub fn nodes(&self) -> &[GrowthNode<'a>] {
        &self.nodes
    }

    /// The path of a node, from the top, without that of everything.
    #[must_use]
    pub fn path(&self, node: usize) -> Vec<GrowthPart<'a>> {
        let mut path: Vec<GrowthPart<'a>> = self.above(node).map(|node| self.nodes[node].part).collect();
        path.pop();
        path.reverse();
        path
    }

    /// A node, the one above it and so on.
    fn above(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node), |&node| self.nodes[node].parent)
    }

    /// Reachable bytes, by column.
    #[must_use]
    pub fn heap_bytes(&self) -> &[u64] {
        &self.heap_bytes
    }

    /// A path that has no number in a column retained less than this there, in bytes, by column.
    #[must_use]
    pub fn least_bytes(&self) -> &[u64] {
        &self.least_bytes
    }

    /// Whether retained sizes are exact; else lower bounds, see [`crate::Dominators::is_exact`].
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The nodes that are large enough at least once.
    pub fn large(&self) -> impl Iterator<Item = usize> {
        let whole = self.heap_bytes.iter().copied().max().unwrap_or(0);
        let least = ((whole as f64 * self.least_share) as u64).max(1);
        let most = |node: &GrowthNode<'_>| node.retained_bytes.iter().flatten().copied().max().unwrap_or(0);
        (0..self.nodes.len()).filter(move |&node| most(&self.nodes[node]) >= least)
    }

    /// Whether the bytes of a node change by a fifth of what makes it large, at least. What does not is no news,
    /// however sure it is.
    #[must_use]
    pub fn changes(&self, node: usize) -> bool {
        let values = self.nodes[node].retained_bytes.iter().map(|bytes| bytes.unwrap_or(0));
        let (least, most) = values.fold((u64::MAX, 0), |(least, most), value| (least.min(value), most.max(value)));
        let whole = self.heap_bytes.iter().copied().max().unwrap_or(0);
        most > least && (most - least) as f64 >= LEAST_CHANGE * self.least_share * whole as f64
    }

    /// Whether all large nodes have their numbers in a column. Folding the same snapshot into it once more
    /// gives it those of nodes that came later.
    #[must_use]
    pub fn is_complete(&self, column: usize) -> bool {
        self.large().all(|node| self.nodes[node].retained_bytes[column].is_some())
    }

    /// How the large nodes grow, in the order of [`Judgement::rank`]. Numbers that are not known, being small,
    /// count as 0.
    #[must_use]
    pub fn rows(&self) -> Vec<GrowthRow> {
        let large: Vec<usize> = self.large().collect();
        let places: HashMap<usize, usize> = large.iter().enumerate().map(|(place, &node)| (node, place)).collect();
        let parent = |&node: &usize| self.nodes[node].parent.and_then(|parent| places.get(&parent).copied());
        let parents: Vec<Option<usize>> = large.iter().map(parent).collect();
        let values = |&node: &usize| -> Vec<f64> {
            self.nodes[node].retained_bytes.iter().map(|bytes| bytes.unwrap_or(0) as f64).collect()
        };
        let judged = judge_paths(&parents, &large.iter().map(values).collect::<Vec<_>>());
        let mut rows: Vec<GrowthRow> = large
            .iter()
            .zip(judged)
            .map(|(&node, path)| GrowthRow { node, judgement: path.judgement, is_carried: path.is_carried })
            .collect();
        let rank = |row: &GrowthRow| (row.judgement.rank(), row.judgement.trend.slope);
        rows.sort_by(|one, other| {
            let (one, other) = (rank(one), rank(other));
            other.0.0.cmp(&one.0.0).then(other.0.1.total_cmp(&one.0.1)).then(other.1.total_cmp(&one.1))
        });
        rows
    }

    /// How many snapshots there is room for.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }
}
