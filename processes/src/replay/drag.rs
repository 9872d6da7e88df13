//! Drag: the decrease of the total time if some processes took no time.
//!
//! The critical path does not show it: without a process on it, the whole may wait for another one nearly as long; and
//! a process that nothing waited for may have held a slot that others waited for.

use super::node::{Node, duration_of};
use super::plan::Plan;
use super::simulation;
use crate::totals::{Totals, cpu_ns};
use crate::tree::{ImageId, ProcessTree};

impl Plan {
    /// The duration of a replay with the recorded slots, in nanoseconds.
    #[must_use]
    pub fn replayed_ns(&self) -> u64 {
        simulation::time(&self.schedule, &self.schedule.nodes, self.limits(self.recorded_slots()))
    }

    /// Estimates the drag of `images` together, with the recorded slots, in nanoseconds. Processes that an image
    /// started take as long as before. A starter of jobs takes no time between them, and none after the last one, where
    /// one of `images` ran then.
    /// `replayed_ns` is that of the plan. Takes as long as one replay.
    #[must_use]
    pub fn drag_ns(&self, tree: &ProcessTree, totals: &Totals, images: &[ImageId], replayed_ns: u64) -> u64 {
        let limits = self.limits(self.recorded_slots());
        let mut nodes = self.schedule.nodes.clone();
        for &image in images {
            let at = self.node_of[tree.image(image).process.index()];
            let recorded = &self.schedule.nodes[at as usize];
            if recorded.is_job {
                let wall = duration_of(tree, tree.process(recorded.process)) as f64;
                let share = if wall > 0.0 { (recorded.work_ns / wall).min(1.0) } else { 1.0 };
                take_off(tree, totals, &mut nodes[at as usize], (image, share));
            } else {
                let (from, to) = span(tree, image);
                let end = tree.ended_ns(tree.process(recorded.process));
                let node = &mut nodes[at as usize];
                node.work_ns = (node.work_ns - overlap(end, recorded.work_ns, (from, to))).max(0.0);
                for child in self.schedule.children(at) {
                    let recorded = &self.schedule.nodes[child as usize];
                    let began = tree.process(recorded.process).began_ns;
                    let lag_ns = &mut nodes[child as usize].lag_ns;
                    *lag_ns = (*lag_ns - overlap(began, recorded.lag_ns, (from, to))).max(0.0);
                }
            }
        }
        replayed_ns.saturating_sub(simulation::time(&self.schedule, &nodes, limits))
    }

    /// Number of jobs and starters: the cost of a replay.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.schedule.nodes.len()
    }
}

/// The times from which and to which a process was an image: the first is there before the process begins, and the last one
/// after it has ended.
fn span(tree: &ProcessTree, id: ImageId) -> (i64, i64) {
    let mut images = tree.images_of(tree.image(id).process);
    let first = images.next().map(|(first, _)| first);
    let last = images.last().map(|(last, _)| last).or(first);
    let (from, to) = (tree.image(id).began_ns, tree.image(id).ended_ns);
    (if first == Some(id) { i64::MIN } else { from }, if last == Some(id) { i64::MAX } else { to.unwrap_or(i64::MAX) })
}

/// The part of the time before an end that is in a span.
fn overlap(end_ns: i64, time_ns: f64, (from_ns, to_ns): (i64, i64)) -> f64 {
    let before = |at: i64| end_ns.saturating_sub(at).max(0) as f64;
    (before(from_ns).min(time_ns) - before(to_ns)).max(0.0)
}

/// Takes off the time in which an image of a job ran alone. Of that time the given share is left if the job has the
/// processor when it needs it.
fn take_off(tree: &ProcessTree, totals: &Totals, node: &mut Node, (id, share): (ImageId, f64)) {
    let used = &tree.image(id).used;
    let cpu = node.demand * node.work_ns - cpu_ns(used.user_ns, used.system_ns).unwrap_or(0) as f64;
    node.work_ns = (node.work_ns - totals.alone_ns(id) as f64 * share).max(0.0);
    node.demand = if node.work_ns > 0.0 { (cpu.max(0.0) / node.work_ns).min(node.demand.max(1.0)) } else { 0.0 };
}
