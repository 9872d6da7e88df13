//! Jobs and their starters, and their needs.

use barrow_analyzer::ProcessId;

use super::sharing::SharedBytes;
use crate::tree::{Process, ProcessTree, duration};

/// A job, or something that starts jobs.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) process: ProcessId,
    /// Its starter; `None` if nothing in the recording started it.
    pub(super) starter: Option<u32>,
    /// Whether it is a job, including all processes that it starts.
    pub(super) is_job: bool,
    /// Whether it needs a slot while it runs.
    pub(super) takes_slot: bool,
    /// Whether it is a starter that was started in a slot: a make that a make started. The first of its jobs has that slot, and
    /// while none runs it keeps it.
    pub(super) holds_slot: bool,
    /// Whether its starter does not end before it.
    pub(super) is_waited_for: bool,
    /// Time from when all its needs are met to its start, in nanoseconds.
    pub(super) lag_ns: f64,
    /// Time that a job takes if it has the processor when it needs it; time that a starter continues after its last
    /// child.
    pub(super) work_ns: f64,
    /// Cores that it uses during that time.
    pub(super) demand: f64,
    pub(super) memory: NodeMemory,
    /// The pool in which it needs a place besides a slot.
    pub(super) pool: Option<u32>,
}

/// The known memory of a node, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct NodeMemory {
    /// Maximum: for a job, the sum of the peaks of the images that ran at the same time; for a starter, its own peak.
    pub(super) peak: f64,
    /// The usual memory of a starter; that of a job is in its curve.
    pub(super) usual: f64,
    /// Minimum of the average.
    pub(super) mean: f64,
    /// The number of its program, and the memory shared with other jobs of that program.
    pub(super) shares: Option<(u32, SharedBytes)>,
}

/// The need of one node for the progress of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Need {
    pub(super) of: u32,
    pub(super) node: u32,
    /// The part of its work that must be done: 1 for all.
    pub(super) part: f64,
}

/// The time that a process ran.
pub(super) fn duration_of(tree: &ProcessTree, process: &Process) -> u64 {
    duration(process.began_ns, tree.ended_ns(process))
}
