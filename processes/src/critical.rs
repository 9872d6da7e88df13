//! The critical path: the chain of processes that makes up the time from start to end.
//!
//! It is traced from the end to the start. A running process waited for the last of its children that ended; before
//! that child began, it waited for the last one that had ended by then. The time between those children is its own.
//!
//! ```text
//!   make  ├─┐         ┌─┐         ┌──────────┐ ┌─┤      make ├─┤, a ├────────┤, make ├┤, c ├─────────┤, make ├┤ …
//!   a       ├─────────┤ │         │          │ │
//!   b       ├──────┤    │         │          │ │        b ended before a did: nothing waited for it
//!   c                   ├─────────┤          │ │
//!   ld                                       ├─┤
//! ```

use barrow_analyzer::ProcessId;
use rayon::prelude::*;

use crate::lanes::{Span, spans};
use crate::tree::{ImageId, ProcessTree, duration};

/// A piece of the critical path: the image ran and waited for nothing that it had started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The image.
    pub image: ImageId,
    /// Start, in nanoseconds since the recording began.
    pub from_ns: i64,
    /// End; later than the start.
    pub to_ns: i64,
}

impl Step {
    /// Its duration in nanoseconds.
    #[must_use]
    pub fn wall_ns(&self) -> u64 {
        duration(self.from_ns, self.to_ns)
    }
}

/// The steps of the critical path in order of time. None overlaps another; together they cover all the time during
/// which a process without a recorded parent ran. Takes O(n log n) time for `n` processes.
#[must_use]
pub fn critical_path(tree: &ProcessTree) -> Vec<Step> {
    let children = Children::of(tree);
    let (first, last) = tree.span_ns();
    let mut steps = Vec::new();
    let mut walk = vec![Frame::new(tree, None, (first, last), children.of_process(None).len())];
    while let Some(frame) = walk.last_mut() {
        let ended = children.of_process(frame.process);
        // The last child that ended by now.
        let left = &ended[..frame.children];
        let count = left.partition_point(|&child| tree.ended_ns(tree.process(child)) <= frame.now_ns);
        let child = count.checked_sub(1).map(|at| left[at]);
        let child = child.map(|id| (id, tree.process(id))).filter(|(_, child)| tree.ended_ns(child) > frame.began_ns);
        let Some((id, child)) = child else {
            let began_ns = frame.began_ns;
            frame.run(tree, began_ns, &mut steps);
            walk.pop();
            if let Some(parent) = walk.last_mut() {
                parent.now_ns = parent.now_ns.min(began_ns);
            }
            continue;
        };
        frame.children = count - 1;
        let ended_ns = tree.ended_ns(child);
        frame.run(tree, ended_ns, &mut steps);
        let time = (child.began_ns.max(frame.began_ns), ended_ns);
        walk.push(Frame::new(tree, Some(id), time, children.of_process(Some(id)).len()));
    }
    steps.reverse();
    steps
}

/// Slot time during each step, of `slots` slots, in which nothing ran, in nanoseconds.
#[must_use]
pub fn idle_ns(tree: &ProcessTree, steps: &[Step], slots: u64) -> Vec<u64> {
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for Span { began_ns, ended_ns, .. } in spans(tree) {
        changes.extend([(began_ns, 1), (ended_ns, -1)]);
    }
    changes.par_sort_unstable();
    let (mut next, mut running) = (0, 0i64);
    let mut idle = Vec::with_capacity(steps.len());
    for step in steps {
        let (mut now, mut sum) = (step.from_ns, 0u64);
        loop {
            let until = changes.get(next).map_or(step.to_ns, |&(time, _)| time.min(step.to_ns));
            let unused = slots.saturating_sub(running.unsigned_abs());
            sum = sum.saturating_add(duration(now, until).saturating_mul(unused));
            now = now.max(until);
            match changes.get(next) {
                Some(&(time, change)) if time < step.to_ns => {
                    running += change;
                    next += 1;
                }
                _ => break,
            }
        }
        idle.push(sum);
    }
    idle
}

/// A process on the way back; the time before `now_ns` is not attributed yet.
struct Frame {
    /// `None` for the starter of the first processes.
    process: Option<ProcessId>,
    began_ns: i64,
    now_ns: i64,
    /// Children that may have been waited for, in the order in which they ended.
    children: usize,
    /// Its images up to now.
    images: Vec<ImageId>,
}

impl Frame {
    fn new(tree: &ProcessTree, process: Option<ProcessId>, time: (i64, i64), children: usize) -> Self {
        let images = process.map_or_else(Vec::new, |process| tree.images_of(process).map(|(id, _)| id).collect());
        Frame { process, began_ns: time.0, now_ns: time.1, children, images }
    }

    /// Attributes the time from `from_ns` to now to the process itself.
    fn run(&mut self, tree: &ProcessTree, from_ns: i64, steps: &mut Vec<Step>) {
        while let Some(&image) = self.images.last() {
            let began_ns = if self.images.len() == 1 { i64::MIN } else { tree.image(image).began_ns };
            let start = began_ns.max(from_ns);
            if start < self.now_ns {
                steps.push(Step { image, from_ns: start, to_ns: self.now_ns });
                self.now_ns = start;
            }
            if began_ns < from_ns || self.images.len() == 1 {
                break;
            }
            self.images.pop();
        }
        self.now_ns = self.now_ns.min(from_ns);
    }
}

/// The children of each process, in the order in which they ended.
struct Children {
    /// The end of the range of each process in `ids`; the first is that of processes without a parent.
    ends: Vec<usize>,
    ids: Vec<ProcessId>,
}

impl Children {
    fn of(tree: &ProcessTree) -> Self {
        let mut ends = vec![0usize; tree.processes().len() + 1];
        tree.processes().iter().for_each(|process| ends[place(process.parent)] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // The start of the range, for now.
            sum += std::mem::replace(end, sum);
        }
        let mut ids = vec![ProcessId(0); tree.processes().len()];
        let mut order: Vec<ProcessId> = (0..tree.processes().len() as u32).map(ProcessId).collect();
        order.par_sort_by_key(|&id| tree.ended_ns(tree.process(id)));
        for id in order {
            let at = &mut ends[place(tree.process(id).parent)];
            ids[*at] = id;
            *at += 1;
        }
        Children { ends, ids }
    }

    fn of_process(&self, process: Option<ProcessId>) -> &[ProcessId] {
        let place = place(process);
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[start..self.ends[place]]
    }
}

/// The position of the children of a process in `ends`.
fn place(parent: Option<ProcessId>) -> usize {
    parent.map_or(0, |parent| parent.index() + 1)
}
