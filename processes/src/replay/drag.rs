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
    /// started take as long as before. A starter of jobs takes no time between them, and none after the last one.
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
                nodes[at as usize].work_ns = 0.0;
                self.schedule.children(at).for_each(|child| nodes[child as usize].lag_ns = 0.0);
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

/// Takes off the time in which an image of a job ran alone. Of that time the given share is left if the job has the
/// processor when it needs it.
fn take_off(tree: &ProcessTree, totals: &Totals, node: &mut Node, (id, share): (ImageId, f64)) {
    let used = &tree.image(id).used;
    let cpu = node.demand * node.work_ns - cpu_ns(used.user_ns, used.system_ns).unwrap_or(0) as f64;
    node.work_ns = (node.work_ns - totals.alone_ns(id) as f64 * share).max(0.0);
    node.demand = if node.work_ns > 0.0 { (cpu.max(0.0) / node.work_ns).min(node.demand.max(1.0)) } else { 0.0 };
}
