//! Nodes of documents that hang in no document any more.
//!
//! Chrome tells of some native nodes whether they are attached. What those hold is as attached as they
//! are, by DevTools' rules (`propagateDOMState` in its `HeapSnapshot.ts`): first everything native that
//! attached nodes lead to is attached, then what detached nodes lead to is detached.

use std::sync::{Mutex, PoisonError};

use super::layout::Layout;
use super::nodes::{Edges, Nodes, Unit};
use super::parallel::for_each_unit;
use crate::context::Context;
use crate::error::Stop;

/// As the dump has it; 0 is "unknown".
const ATTACHED: u64 = 1;
const DETACHED: u64 = 2;

/// The detached nodes: a bit for each node, or nothing.
#[derive(Default)]
pub(crate) struct Detached {
    bits: Vec<u64>,
}

/// The native nodes of a dump, and where they lead.
#[derive(Default)]
struct Natives {
    /// Row and detachedness.
    nodes: Vec<(u32, u8)>,
    /// From and to: rows.
    edges: Vec<(u32, u32)>,
}

impl Detached {
    /// Finds them. Takes, for the time being, a byte for each node and 8 bytes for each edge of a native one.
    pub(crate) fn find(layout: &Layout<'_>, units: &[Unit], context: &Context<'_>) -> Result<Detached, Stop> {
        let found = Mutex::new(Natives::default());
        for_each_unit(
            context,
            units.len(),
            || Ok(Natives::default()),
            |natives, unit| natives.read(layout, &units[unit]),
            |natives| {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.nodes.extend(natives.nodes);
                found.edges.extend(natives.edges);
                Ok(())
            },
        )?;
        let mut natives = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        natives.edges.sort_unstable();
        Ok(natives.detached(layout.nodes.len() / layout.meta.nodes.count as u64))
    }

    /// Whether a node is detached.
    #[inline]
    pub(crate) fn contains(&self, row: u64) -> bool {
        self.bits.get((row / 64) as usize).is_some_and(|word| word >> (row % 64) & 1 != 0)
    }
}

impl Natives {
    fn read(&mut self, layout: &Layout<'_>, unit: &Unit) -> Result<(), Stop> {
        let Layout { meta, .. } = layout;
        let native = meta.nodes.types.iter().position(|name| name == "native");
        let leads: Vec<bool> =
            meta.edges.types.iter().map(|name| !matches!(&**name, "hidden" | "invisible" | "weak")).collect();
        let mut nodes = Nodes::new(&layout.nodes, &meta.nodes, unit.first_node);
        let mut edges = Edges::new(&layout.edges, &meta.edges, unit.first_edge);
        for row in unit.first_node..unit.first_node + unit.nodes {
            let node = nodes.next()?;
            let is_native = usize::try_from(node.type_).ok() == native;
            // A recording has no more rows; the writer will say so.
            let row = u32::try_from(row).unwrap_or(u32::MAX);
            if is_native {
                self.nodes.push((row, node.detachedness.min(3) as u8));
            }
            for _ in 0..node.edge_count {
                let edge = edges.next()?;
                let leads = usize::try_from(edge.type_).ok().and_then(|type_| leads.get(type_)) == Some(&true);
                if is_native && leads {
                    let target = edge.to_node / meta.nodes.count as u64;
                    self.edges.push((row, u32::try_from(target).unwrap_or(u32::MAX)));
                }
            }
        }
        Ok(())
    }

    fn detached(&self, node_count: u64) -> Detached {
        let count = usize::try_from(node_count).unwrap_or(usize::MAX);
        // Whether the state of a node can still be found out.
        let mut is_open = vec![false; count];
        let mut detached = Detached { bits: vec![0; count.div_ceil(64)] };
        let mut known = [Vec::new(), Vec::new()];
        for &(row, state) in &self.nodes {
            match u64::from(state) {
                ATTACHED => known[0].push(row),
                DETACHED => known[1].push(row),
                _ => is_open[row as usize] = state == 0,
            }
        }
        for (mut rows, state) in known.into_iter().zip([ATTACHED, DETACHED]) {
            while let Some(row) = rows.pop() {
                if state == DETACHED {
                    detached.bits[row as usize / 64] |= 1 << (row % 64);
                }
                let first = self.edges.partition_point(|&(from, _)| from < row);
                for &(_, target) in self.edges[first..].iter().take_while(|&&(from, _)| from == row) {
                    if is_open.get_mut(target as usize).is_some_and(std::mem::take) {
                        rows.push(target);
                    }
                }
            }
        }
        detached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attached_nodes_come_first() {
        let natives = Natives {
            nodes: vec![(0, 1), (1, 2), (2, 0), (3, 0), (4, 0), (5, 2), (7, 0)],
            // 6 is not native; 5 is known to be detached, though an attached node leads to it.
            edges: vec![(0, 2), (0, 5), (1, 2), (1, 3), (1, 6), (3, 4), (4, 3), (6, 7)],
        };
        let detached = natives.detached(8);
        assert_eq!((0..70).filter(|&row| detached.contains(row)).collect::<Vec<_>>(), [1, 3, 4, 5]);
    }
}
