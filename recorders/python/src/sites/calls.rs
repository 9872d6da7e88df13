//! The tree of all stacks that were met: a node is a place and the node of its caller.

use std::collections::hash_map::Entry;

use foldhash::HashMap;

use super::blocks::MOST_SITES;

/// Of deeper stacks the innermost places are kept.
const DEEPEST: usize = 128;

/// Nodes by number, from 1.
pub(crate) struct Calls {
    /// Caller, 0 for none, and place.
    nodes: Vec<(u32, u32)>,
    by_caller: HashMap<(u32, u32), u32>,
    /// The stack that is being looked at, and the one before: the innermost place first.
    stack: Vec<u32>,
    before: Vec<u32>,
    /// The nodes of `before`, the outermost first.
    path: Vec<u32>,
}

impl Calls {
    pub(crate) fn new() -> Self {
        Calls {
            nodes: vec![(0, 0)],
            by_caller: HashMap::default(),
            stack: Vec::with_capacity(DEEPEST),
            before: Vec::with_capacity(DEEPEST),
            path: Vec::with_capacity(DEEPEST),
        }
    }

    /// Begins a stack.
    pub(crate) fn begin(&mut self) {
        std::mem::swap(&mut self.stack, &mut self.before);
        self.stack.clear();
    }

    /// Adds the place that called the one before. Returns whether there is room for more.
    pub(crate) fn push(&mut self, place: u32) -> bool {
        if place != 0 {
            self.stack.push(place);
        }
        self.stack.len() < DEEPEST
    }

    /// The node of the stack; 0 if it is empty.
    pub(crate) fn node(&mut self) -> u32 {
        // Most of it is as it was the last time.
        let same =
            self.stack.iter().rev().zip(self.before.iter().rev()).take_while(|(one, other)| one == other).count();
        self.path.truncate(same);
        let mut node = self.path.last().copied().unwrap_or(0);
        for &place in self.stack.iter().rev().skip(same) {
            let next = u32::try_from(self.nodes.len()).ok().filter(|&next| next < MOST_SITES);
            node = match (self.by_caller.entry((node, place)), next) {
                (Entry::Occupied(known), _) => *known.get(),
                (Entry::Vacant(new), Some(next)) => {
                    self.nodes.push((node, place));
                    *new.insert(next)
                }
                (Entry::Vacant(_), None) => {
                    // The next stack is not compared with this one, which has no path.
                    self.stack.clear();
                    return 0;
                }
            };
            self.path.push(node);
        }
        node
    }

    /// The caller of a node, 0 for none, and its place.
    pub(crate) fn get(&self, node: u32) -> (u32, u32) {
        self.nodes[node as usize]
    }
}
