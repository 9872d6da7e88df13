//! The slots of starters that were started in one, as GNU make's jobserver hands them on.
//!
//! ```text
//!   make -j2 ─┬─ make -C a ─┬─ cc 1.c    in the slot of `make -C a`
//!             │             ╰─ cc 2.c    in another one
//!             ╰─ make -C b               waits for a slot
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::node::Node;

/// The slots that starters hold, and who uses them.
pub(super) struct LentSlots {
    /// The nearest ancestor of each node that holds a slot.
    holders: Vec<Option<u32>>,
    /// Whether a node runs in the slot of its holder.
    is_lent: Vec<bool>,
    of_holders: Vec<OfHolder>,
    /// The place of each node in `of_holders`, if it holds a slot.
    places: Vec<Option<u32>>,
}

#[derive(Default)]
struct OfHolder {
    /// It runs, and none of its jobs has its slot.
    is_free: bool,
    /// Its jobs that could begin. Some may have begun in other slots.
    waiting: BinaryHeap<Reverse<u32>>,
    /// Its jobs that run in other slots.
    elsewhere: Vec<u32>,
}

/// The end of a job.
pub(super) enum Ended {
    /// It leaves a slot to all.
    Slot,
    /// Its slot goes to this job of the same holder.
    Next(u32),
    /// Its slot stays with its holder.
    Kept,
}

impl LentSlots {
    pub(super) fn new(nodes: &[Node]) -> Self {
        let mut holders: Vec<Option<u32>> = Vec::with_capacity(nodes.len());
        let (mut places, mut of_holders) = (Vec::with_capacity(nodes.len()), Vec::new());
        for node in nodes {
            // A starter has a smaller number than what it starts.
            let holder = node.starter.and_then(|starter| match nodes[starter as usize].holds_slot {
                true => Some(starter),
                false => holders[starter as usize],
            });
            holders.push(holder);
            places.push(node.holds_slot.then_some(of_holders.len() as u32));
            if node.holds_slot {
                of_holders.push(OfHolder::default());
            }
        }
        LentSlots { holders, is_lent: vec![false; nodes.len()], of_holders, places }
    }

    fn of(&mut self, holder: u32) -> Option<&mut OfHolder> {
        self.of_holders.get_mut(self.places[holder as usize]? as usize)
    }

    fn of_holder(&mut self, node: u32) -> Option<&mut OfHolder> {
        self.of(self.holders[node as usize]?)
    }

    /// A node could begin. Returns true if it has the slot of its holder, and waits otherwise.
    pub(super) fn ask(&mut self, node: u32) -> bool {
        let Some(holder) = self.of_holder(node) else { return false };
        let is_lent = std::mem::take(&mut holder.is_free);
        if !is_lent {
            holder.waiting.push(Reverse(node));
        }
        self.is_lent[node as usize] = is_lent;
        is_lent
    }

    /// A node begins in a slot of all.
    pub(super) fn begin_elsewhere(&mut self, node: u32) {
        if let Some(holder) = self.of_holder(node) {
            holder.elsewhere.push(node);
        }
    }

    /// A starter that holds a slot begins.
    pub(super) fn hold(&mut self, starter: u32) {
        if let Some(holder) = self.of(starter) {
            holder.is_free = true;
        }
    }

    /// A node that needed a slot ends. `may_begin` tells whether a node that waited may begin if it has its slot.
    pub(super) fn end(&mut self, node: u32, mut may_begin: impl FnMut(u32) -> bool) -> Ended {
        if let Some(held) = self.of(node) {
            held.is_free = false;
        }
        let is_lent = self.is_lent[node as usize];
        let Some(holder) = self.of_holder(node) else { return Ended::Slot };
        if !is_lent {
            holder.elsewhere.retain(|&other| other != node);
            return Ended::Slot;
        }
        while let Some(Reverse(next)) = holder.waiting.pop() {
            if may_begin(next) {
                self.is_lent[next as usize] = true;
                return Ended::Next(next);
            }
        }
        // A job in another slot takes this one over, so that the holder keeps one as long as it runs.
        let Some(other) = holder.elsewhere.pop() else {
            holder.is_free = true;
            return Ended::Kept;
        };
        self.is_lent[other as usize] = true;
        Ended::Slot
    }
}
