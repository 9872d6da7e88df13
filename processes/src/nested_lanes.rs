//! Nested lanes: where a viewer of traces draws processes. What is on one lane overlaps only if one contains the other.
//!
//! ```text
//!   lane 0   |------------ make -------------|
//!               |--- gcc ---|  |--- gcc ---|
//!   lane 1         |--- gcc ---|
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::tree::{Process, ProcessTree};
use barrow_analyzer::ProcessId;

/// The processes of a tree on lanes.
#[derive(Debug, Clone, Default)]
pub struct NestedLanes {
    /// The processes of each lane, in the order of their beginning.
    lanes: Vec<Vec<ProcessId>>,
}

impl NestedLanes {
    /// Puts each process on the lane of the one that started it if it ends before that one and before what else that one
    /// runs there; else on the first lane on which nothing runs.
    #[must_use]
    pub fn of(tree: &ProcessTree) -> Self {
        let mut order: Vec<ProcessId> = (0..).map(ProcessId).take(tree.processes().len()).collect();
        order.sort_by_key(|&id| tree.process(id).began_ns);
        let mut placing = Placing::default();
        let mut lane_of = vec![None; order.len()];
        for id in order {
            let process = tree.process(id);
            let parent = process.parent.and_then(|parent| lane_of[parent.index()]);
            lane_of[id.index()] = Some(placing.place(id, process.began_ns, end_of(tree, process), parent));
        }
        NestedLanes { lanes: placing.lanes }
    }

    /// The processes of each lane, in the order of their beginning: each contains the next one, or ends before it.
    pub fn iter(&self) -> impl Iterator<Item = &[ProcessId]> {
        self.lanes.iter().map(Vec::as_slice)
    }
}

/// When a process ended, never before it began.
fn end_of(tree: &ProcessTree, process: &Process) -> i64 {
    tree.ended_ns(process).max(process.began_ns)
}

/// What is known while processes are placed.
#[derive(Default)]
struct Placing {
    lanes: Vec<Vec<ProcessId>>,
    /// The ends of what runs on each lane; the last one is contained in all others.
    running: Vec<Vec<i64>>,
    /// When nothing runs on a lane any more.
    busy: BinaryHeap<Reverse<(i64, usize)>>,
    free: BTreeSet<usize>,
}

impl Placing {
    fn place(&mut self, id: ProcessId, began_ns: i64, ended_ns: i64, parent: Option<usize>) -> usize {
        while let Some(&Reverse((_, lane))) = self.busy.peek().filter(|Reverse((end, _))| *end <= began_ns) {
            self.busy.pop();
            self.running[lane].clear();
            self.free.insert(lane);
        }
        let lane = parent.filter(|&lane| self.contains(lane, began_ns, ended_ns)).unwrap_or_else(|| {
            let lane = self.free.pop_first().unwrap_or_else(|| {
                self.lanes.push(Vec::new());
                self.running.push(Vec::new());
                self.lanes.len() - 1
            });
            self.busy.push(Reverse((ended_ns, lane)));
            lane
        });
        self.lanes[lane].push(id);
        self.running[lane].push(ended_ns);
        lane
    }

    /// Whether what runs on a lane contains this time.
    fn contains(&mut self, lane: usize, began_ns: i64, ended_ns: i64) -> bool {
        let running = &mut self.running[lane];
        while running.pop_if(|end| *end <= began_ns).is_some() {}
        running.last().is_some_and(|&end| ended_ns <= end)
    }
}
