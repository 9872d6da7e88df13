//! Tracks: the lines of a trace viewer, on which processes may overlap only if one contains the other.
//!
//! ```text
//!   track 0   |------------ make -------------|
//!               |--- gcc ---|  |--- gcc ---|
//!   track 1         |--- gcc ---|
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::tree::{Process, ProcessTree};
use barrow_analyzer::ProcessId;

/// The processes of a tree on tracks.
#[derive(Debug, Clone, Default)]
pub struct Tracks {
    /// The processes of each track, in order of start.
    tracks: Vec<Vec<ProcessId>>,
}

impl Tracks {
    /// Puts each process on the track of its parent if it ends before its parent and before any other process that runs
    /// there; else on the first track on which nothing runs.
    #[must_use]
    pub fn of(tree: &ProcessTree) -> Self {
        let mut order: Vec<ProcessId> = (0..).map(ProcessId).take(tree.processes().len()).collect();
        order.sort_by_key(|&id| tree.process(id).began_ns);
        let mut placing = TrackPlacement::default();
        let mut track_of = vec![None; order.len()];
        for id in order {
            let process = tree.process(id);
            let parent = process.parent.and_then(|parent| track_of[parent.index()]);
            track_of[id.index()] = Some(placing.place(id, process.began_ns, end_of(tree, process), parent));
        }
        Tracks { tracks: placing.tracks }
    }

    /// The processes of each track, in order of start: each contains the next one, or ends before it.
    pub fn iter(&self) -> impl Iterator<Item = &[ProcessId]> {
        self.tracks.iter().map(Vec::as_slice)
    }
}

/// The end of a process, never before its start.
fn end_of(tree: &ProcessTree, process: &Process) -> i64 {
    tree.ended_ns(process).max(process.began_ns)
}

/// The state of the placement.
#[derive(Default)]
struct TrackPlacement {
    tracks: Vec<Vec<ProcessId>>,
    /// The ends of the processes that run on each track; the last one is contained in all others.
    running: Vec<Vec<i64>>,
    /// The time when each busy track becomes free.
    busy: BinaryHeap<Reverse<(i64, usize)>>,
    free: BTreeSet<usize>,
}

impl TrackPlacement {
    fn place(&mut self, id: ProcessId, began_ns: i64, ended_ns: i64, parent: Option<usize>) -> usize {
        while let Some(&Reverse((_, track))) = self.busy.peek().filter(|Reverse((end, _))| *end <= began_ns) {
            self.busy.pop();
            self.running[track].clear();
            self.free.insert(track);
        }
        let track = parent.filter(|&track| self.contains(track, began_ns, ended_ns)).unwrap_or_else(|| {
            let track = self.free.pop_first().unwrap_or_else(|| {
                self.tracks.push(Vec::new());
                self.running.push(Vec::new());
                self.tracks.len() - 1
            });
            self.busy.push(Reverse((ended_ns, track)));
            track
        });
        self.tracks[track].push(id);
        self.running[track].push(ended_ns);
        track
    }

    /// Whether a process that runs on a track contains this time.
    fn contains(&mut self, track: usize, began_ns: i64, ended_ns: i64) -> bool {
        let running = &mut self.running[track];
        while running.pop_if(|end| *end <= began_ns).is_some() {}
        running.last().is_some_and(|&end| ended_ns <= end)
    }
}
