//! The input of a replay: nodes, their needs, and their memory.

use std::ops::Range;

use super::curves::Curves;
use super::node::{Need, Node};

/// The facts of a tree that a replay needs.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    pub(super) nodes: Vec<Node>,
    /// Sorted by `node`: the needs that are met as it progresses.
    pub(super) needs: Vec<Need>,
    /// The end of the range of each node in `needs`.
    need_ends: Vec<usize>,
    /// The children of all starters, and the end of the range of each node.
    children: Vec<u32>,
    child_ends: Vec<usize>,
    pub(super) curves: Curves,
    /// Maximum over jobs of the second largest sample.
    pub(super) again_bytes: f64,
}

impl Schedule {
    pub(super) fn new(nodes: Vec<Node>, mut needs: Vec<Need>, (curves, again_bytes): (Curves, f64)) -> Self {
        needs.sort_unstable_by_key(|need| (need.node, need.of));
        needs.dedup_by_key(|need| (need.node, need.of));
        let need_ends = ends(nodes.len(), needs.iter().map(|need| need.node));
        let child_ends = ends(nodes.len(), nodes.iter().filter_map(|node| node.starter));
        let mut children: Vec<u32> =
            (0..nodes.len() as u32).filter(|&node| nodes[node as usize].starter.is_some()).collect();
        children.sort_by_key(|&node| nodes[node as usize].starter);
        Schedule { nodes, needs, need_ends, children, child_ends, curves, again_bytes }
    }

    /// The positions of the needs on a node.
    pub(super) fn needs_on(&self, node: u32) -> Range<usize> {
        range(&self.need_ends, node)
    }

    /// The children of a node.
    pub(super) fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        self.children[range(&self.child_ends, node)].iter().copied()
    }
}

/// The end of the range of each of `count` nodes if the items are sorted by node.
fn ends(count: usize, nodes: impl Iterator<Item = u32>) -> Vec<usize> {
    let mut ends = vec![0; count];
    nodes.for_each(|node| ends[node as usize] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    ends
}

fn range(ends: &[usize], node: u32) -> Range<usize> {
    let node = node as usize;
    node.checked_sub(1).map_or(0, |before| ends[before])..ends[node]
}
