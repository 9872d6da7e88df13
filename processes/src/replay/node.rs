//! Jobs and what starts them, and what they need of one another.

use barrow_analyzer::ProcessId;

use super::sharing::Shared;
use crate::tree::{Process, ProcessTree, duration};

/// A job, or something that starts jobs.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) process: ProcessId,
    /// What starts it; `None` for what nothing in the recording started.
    pub(super) starter: Option<u32>,
    /// Whether it is a job, with all that it starts.
    pub(super) is_job: bool,
    /// Whether it needs a slot while it runs.
    pub(super) takes_slot: bool,
    /// Whether its starter does not end before it.
    pub(super) is_waited_for: bool,
    /// From when all that it needs is there until it begins, in nanoseconds.
    pub(super) lag_ns: f64,
    /// How long a job takes if it has the processor when it needs it; how long a starter goes on after its last child.
    pub(super) work_ns: f64,
    /// Cores that it uses meanwhile.
    pub(super) demand: f64,
    pub(super) memory: NodeMemory,
    /// The pool that it needs a place in besides a slot.
    pub(super) pool: Option<u32>,
}

/// What is known of the memory of a node, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct NodeMemory {
    /// At most: of a job all images that ran at the same time, each with its peak; of a starter its own peak.
    pub(super) peak: f64,
    /// What a starter holds usually; the curve of a job tells more.
    pub(super) usual: f64,
    /// On average at least.
    pub(super) mean: f64,
    /// What it shares with other jobs of the same program, and the number of that.
    pub(super) shares: Option<(u32, Shared)>,
}

/// One node needs another to have come so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Need {
    pub(super) of: u32,
    pub(super) node: u32,
    /// The part of its work that has to be done: 1 if all.
    pub(super) part: f64,
}

/// How long a process ran.
pub(super) fn duration_of(tree: &ProcessTree, process: &Process) -> u64 {
    duration(process.began_ns, tree.ended_ns(process))
}
