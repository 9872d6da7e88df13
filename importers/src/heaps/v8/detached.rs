//! Nodes that are no longer part of a document.
//!
//! Chrome records for some native nodes whether they are attached. The nodes that those lead to have the same state,
//! by DevTools' rules (`propagateDOMState` in its `HeapSnapshot.ts`): first everything native that attached nodes
//! lead to is attached, then everything that detached nodes lead to is detached.

use parking_lot::Mutex;

use super::layout::Layout;
use super::nodes::{Edges, NodeEdges};
use super::parallel::for_each_unit;
use crate::context::Context;
use crate::error::Stop;

/// The states in the dump; 0 is "unknown".
const ATTACHED: u8 = 1;
const DETACHED: u8 = 2;
/// The number of native nodes that are processed at a time.
const UNIT_NATIVES: usize = 1 << 14;

/// The detached nodes: a bit for each node, or nothing.
#[derive(Default)]
pub(crate) struct Detached {
    bits: Vec<u64>,
}

impl Detached {
    /// Finds them among the native nodes. Takes, temporarily, a byte for each node and 8 bytes for each edge of a
    /// native one.
    pub(crate) fn find(layout: &Layout<'_>, natives: &[NodeEdges], context: &Context<'_>) -> Result<Detached, Stop> {
        if natives.is_empty() {
            return Ok(Detached::default());
        }
        let units: Vec<&[NodeEdges]> = natives.chunks(UNIT_NATIVES).collect();
        let found = Mutex::new(Vec::new());
        for_each_unit(
            context,
            units.len(),
            || Ok(Vec::new()),
            |edges, unit| edges_of(units[unit], layout, edges),
            |edges| {
                found.lock().extend(edges);
                Ok(())
            },
        )?;
        let mut edges = found.into_inner();
        edges.sort_unstable();
        Ok(Detached::propagate(natives, &edges, layout.node_count()))
    }

    /// Returns whether a node is detached.
    #[inline]
    pub(crate) fn contains(&self, row: u64) -> bool {
        self.bits.get((row / 64) as usize).is_some_and(|word| word >> (row % 64) & 1 != 0)
    }

    /// Propagates the states along the edges, which are pairs of rows in ascending order.
    fn propagate(natives: &[NodeEdges], edges: &[(u32, u32)], node_count: u64) -> Detached {
        let count = usize::try_from(node_count).unwrap_or(usize::MAX);
        // The state of a node can still be determined.
        let mut is_open = vec![false; count];
        let mut detached = Detached { bits: vec![0; count.div_ceil(64)] };
        let mut known = [Vec::new(), Vec::new()];
        for native in natives {
            match native.detachedness {
                ATTACHED => known[0].push(native.row),
                DETACHED => known[1].push(native.row),
                state => is_open[native.row as usize] = state == 0,
            }
        }
        for (mut rows, state) in known.into_iter().zip([ATTACHED, DETACHED]) {
            while let Some(row) = rows.pop() {
                if state == DETACHED {
                    detached.bits[row as usize / 64] |= 1 << (row % 64);
                }
                let first = edges.partition_point(|&(from, _)| from < row);
                for &(_, target) in edges[first..].iter().take_while(|&&(from, _)| from == row) {
                    if is_open.get_mut(target as usize).is_some_and(std::mem::take) {
                        rows.push(target);
                    }
                }
            }
        }
        detached
    }
}

/// The edges of native nodes, as pairs of rows.
fn edges_of(natives: &[NodeEdges], layout: &Layout<'_>, found: &mut Vec<(u32, u32)>) -> Result<(), Stop> {
    let Layout { meta, .. } = layout;
    let leads: Vec<bool> =
        meta.edges.types.iter().map(|name| !matches!(&**name, "hidden" | "invisible" | "weak")).collect();
    let Some(first) = natives.first() else { return Ok(()) };
    let mut edges = Edges::new(&layout.edges, &meta.edges, first.first_edge);
    for native in natives {
        edges.go_to(&layout.edges, native.first_edge);
        for _ in 0..native.edge_count {
            let edge = edges.next()?;
            if usize::try_from(edge.type_).ok().and_then(|type_| leads.get(type_)) == Some(&true) {
                let target = edge.to_node / meta.nodes.count as u64;
                found.push((native.row, u32::try_from(target).unwrap_or(u32::MAX)));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attached_nodes_come_first() {
        let native = |(row, detachedness)| NodeEdges { row, edge_count: 0, first_edge: 0, detachedness };
        let natives = [(0, 1), (1, 2), (2, 0), (3, 0), (4, 0), (5, 2), (7, 0)].map(native);
        // 6 is not native; 5 is known to be detached, though an attached node leads to it.
        let edges = [(0, 2), (0, 5), (1, 2), (1, 3), (1, 6), (3, 4), (4, 3), (6, 7)];
        let detached = Detached::propagate(&natives, &edges, 8);
        assert_eq!((0..70).filter(|&row| detached.contains(row)).collect::<Vec<_>>(), [1, 3, 4, 5]);
    }
}
