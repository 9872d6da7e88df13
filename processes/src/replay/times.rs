//! The node that each job waited for, and the time it then took to begin.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use barrow_analyzer::ProcessId;

use super::node::{Need, Node};
use super::starters::Starters;
use crate::tree::{ProcessTree, duration};

/// A slot that is free for longer had nothing to do: the next job waited for something else.
const SLOT_IS_FREE_NS: u64 = 20_000_000;

/// The state when a node begins.
struct StartState {
    /// The start of its starter, and that of the starter's first child.
    starter_ns: i64,
    first_ns: i64,
    /// The sibling that ended last, and its end.
    last_ended: Option<(u32, i64)>,
    /// The time since which a slot was free.
    free_since_ns: i64,
    /// The time since which no job ran, if none did.
    idle_since_ns: Option<i64>,
    /// Maximum number of jobs that ran at the same time.
    slots: u64,
    /// Time that the starter waited for a processor and that no earlier gap has used up, in nanoseconds.
    starter_waited_ns: u64,
}

impl StartState {
    /// Starts a child of a script after the sibling that ended last, and returns that sibling.
    fn in_turn(&self, node: &mut Node, began_ns: i64) -> Option<u32> {
        let from = self.last_ended.map_or(self.starter_ns, |(_, end)| end);
        node.lag_ns = duration(from, began_ns) as f64;
        self.last_ended.map(|(sibling, _)| sibling)
    }

    /// Starts a job of a scheduler when a slot is free. If one was free for long, the job waited for the sibling that
    /// ended last, which is returned. A scheduler that waited for a processor itself begins jobs late: that is not a
    /// need.
    fn scheduled(&mut self, node: &mut Node, began_ns: i64, has_needs: bool) -> Option<u32> {
        let Some((sibling, end)) = self.last_ended else {
            node.lag_ns = duration(self.starter_ns, self.first_ns.min(began_ns)) as f64;
            return None;
        };
        if !has_needs {
            node.lag_ns = duration(self.starter_ns, self.first_ns) as f64;
        }
        let since = if self.slots == 1 { self.idle_since_ns } else { Some(self.free_since_ns) };
        let mut free = since.map_or(0, |since| duration(since, began_ns));
        if free > SLOT_IS_FREE_NS && free - SLOT_IS_FREE_NS <= self.starter_waited_ns {
            self.starter_waited_ns -= free - SLOT_IS_FREE_NS;
            free = SLOT_IS_FREE_NS;
        }
        if self.slots > 1 && free > SLOT_IS_FREE_NS {
            node.lag_ns = duration(end, began_ns).min(free) as f64;
            return Some(sibling);
        }
        // The scheduler needs this time between two jobs of a slot.
        if node.takes_slot {
            let cpu = node.demand * node.work_ns;
            node.work_ns += free as f64;
            node.demand = if node.work_ns > 0.0 { cpu / node.work_ns } else { 0.0 };
        } else {
            node.lag_ns += free as f64;
        }
        None
    }
}

/// Adds the sibling that each node waited for to `needs`, and sets the time that it then took to begin.
pub(super) fn times(
    tree: &ProcessTree,
    nodes: &mut [Node],
    order: &[u32],
    slots: u64,
    starters: &Starters,
    needs: &mut Vec<Need>,
) {
    let mut has_needs = vec![false; nodes.len()];
    needs.iter().for_each(|need| has_needs[need.of as usize] = true);
    let mut last_ended: Vec<Option<(u32, i64)>> = vec![None; nodes.len() + 1];
    let mut first_begin: Vec<Option<i64>> = vec![None; nodes.len() + 1];
    let mut waited_ns: Vec<Option<u64>> = vec![None; nodes.len() + 1];
    let mut ends = BinaryHeap::new();
    let (mut running, mut free_since_ns, mut idle_since_ns) = (0u64, i64::MIN, None);
    for &at in order {
        let node = &nodes[at as usize];
        let process = tree.process(node.process);
        let began_ns = process.began_ns;
        while let Some(&Reverse((end, ended))) = ends.peek().filter(|Reverse((end, _))| *end <= began_ns) {
            ends.pop();
            let ended_node: &Node = &nodes[ended as usize];
            last_ended[place(ended_node.starter)] = Some((ended, end));
            if ended_node.takes_slot {
                free_since_ns = if running == slots { end } else { free_since_ns };
                running -= 1;
                idle_since_ns = Some(end);
            }
        }
        let place = place(node.starter);
        let first_ns = *first_begin[place].get_or_insert(began_ns);
        let starter = node.starter.map(|starter| nodes[starter as usize].process);
        let starter_waited_ns =
            waited_ns[place].get_or_insert_with(|| starter.map_or(0, |starter| waited(tree, starter)));
        let mut before = StartState {
            starter_ns: starter.map_or(tree.span_ns().0, |starter| tree.process(starter).began_ns),
            first_ns,
            last_ended: last_ended[place],
            free_since_ns,
            idle_since_ns: idle_since_ns.filter(|_| running == 0),
            slots,
            starter_waited_ns: *starter_waited_ns,
        };
        if tree.ended_ns(process) > began_ns {
            ends.push(Reverse((tree.ended_ns(process), at)));
            running += u64::from(node.takes_slot);
        }
        let node = &mut nodes[at as usize];
        let waited_for = if starters.are_slots_of(starter) {
            before.scheduled(node, began_ns, has_needs[at as usize])
        } else {
            before.in_turn(node, began_ns)
        };
        *starter_waited_ns = before.starter_waited_ns;
        needs.extend(waited_for.map(|sibling| Need { of: at, node: sibling, part: 1.0 }));
        if !node.is_job {
            let last = starters.last_child_ns[node.process.index()].unwrap_or(began_ns);
            node.work_ns = duration(last, tree.ended_ns(process)) as f64;
        }
    }
}

/// The position of the children of a node in tables that begin with those of no node.
fn place(starter: Option<u32>) -> usize {
    starter.map_or(0, |starter| starter as usize + 1)
}

/// The time that a process itself waited for a processor, in nanoseconds; 0 if unknown.
fn waited(tree: &ProcessTree, process: ProcessId) -> u64 {
    tree.images_of(process).filter_map(|(_, image)| image.used.waiting_ns).fold(0, u64::saturating_add)
}
