//! The slowdown of recorded jobs that waited for a processor.
//!
//! If the system reported how long a process waited, that time is taken off. Otherwise it is estimated: while there
//! were more jobs than cores, each had an equal share of them.

use rayon::prelude::*;

use super::node::{Node, duration_of};
use crate::totals::Totals;
use crate::tree::{ProcessTree, duration};

/// Minimum share of the time with more jobs than cores from which the number of cores that jobs had is estimated.
const OFTEN: f64 = 0.1;

/// The measured load.
pub(super) struct Load {
    /// Cores that were really available to the jobs.
    pub(super) capacity: f64,
    /// Sum of the times that jobs waited for processors, where the system reported it, in nanoseconds.
    pub(super) waited_ns: f64,
}

/// Changes the times of jobs to what they would be if each had a processor when it needed it. If the recording shows
/// that other programs used the cores too, the capacity is less than the cores of the machine.
pub(super) fn take_off(tree: &ProcessTree, totals: &Totals, nodes: &mut [Node], cores: u64) -> Load {
    let mut changes: Vec<(i64, bool, u32)> = Vec::new();
    for (node, of) in (0..).zip(&*nodes) {
        let process = tree.process(of.process);
        if of.is_job && tree.ended_ns(process) > process.began_ns {
            changes.extend([(process.began_ns, true, node), (tree.ended_ns(process), false, node)]);
        }
    }
    changes.par_sort_unstable();
    let mut work = vec![0.0; nodes.len()];
    // `done` is the work that one job could do since the start; then the time in which jobs ran, and that with too
    // many.
    let (mut running, mut now, mut done) = (0u64, i64::MIN, 0.0);
    let (mut demand, mut whole_ns, mut crowded_ns, mut crowded_cpu_ns) = (0.0, 0.0, 0.0, 0.0);
    for (time, is_begin, node) in changes {
        let length = if running > 0 { duration(now, time) as f64 } else { 0.0 };
        now = time;
        whole_ns += length;
        if running > cores {
            crowded_ns += length;
            crowded_cpu_ns += length * demand;
        }
        done += length * (cores as f64 / running as f64).min(1.0);
        let of = &nodes[node as usize];
        if is_begin {
            running += 1;
            demand += of.demand;
            work[node as usize] = done;
        } else {
            running -= 1;
            demand -= of.demand;
            work[node as usize] = done - work[node as usize];
        }
    }
    let (mut waited_ns, mut guessed_ns, mut told_ns) = (0.0, 0.0, 0.0);
    for (node, work) in nodes.iter_mut().zip(work).filter(|(node, _)| node.is_job) {
        let (before, wall) = (node.work_ns, duration_of(tree, tree.process(node.process)) as f64);
        if let Some(work) = without_waiting(tree, totals, node, wall) {
            told_ns += before;
            speed_up(node, wall, work);
            waited_ns += before - node.work_ns;
        } else {
            guessed_ns += before;
            // It takes at least as long as it computes.
            speed_up(node, wall, work.max((node.demand * wall).min(wall)));
        }
    }
    let cores = cores as f64;
    let is_guess = guessed_ns > told_ns && crowded_ns > whole_ns * OFTEN;
    let capacity = if is_guess { (crowded_cpu_ns / crowded_ns).clamp(cores.min(0.5), cores) } else { cores };
    Load { capacity, waited_ns }
}

/// The duration of a job without waiting for a processor, if the waiting time of all its processes is known. If several
/// threads or processes waited at the same time, they need more than one processor together: the job is slowed down by
/// the same factor as before.
fn without_waiting(tree: &ProcessTree, totals: &Totals, node: &Node, wall: f64) -> Option<f64> {
    let used = totals.of_process(tree, node.process);
    let waited = used.waiting_ns.value().filter(|_| used.waiting_ns.unknown() == 0)? as f64;
    let cpu = node.demand * wall;
    Some(if cpu + waited <= wall { wall - waited } else { wall * cpu / (cpu + waited) })
}

/// Shortens a job that was slowed down to the time it takes with a processor for itself.
fn speed_up(node: &mut Node, wall: f64, work: f64) {
    if work >= wall {
        return;
    }
    let cpu = node.demand * wall;
    // Its slot may have waited for the scheduler before the job itself.
    let before = (node.work_ns - wall).max(0.0);
    node.work_ns = work + before;
    node.demand = if node.work_ns > 0.0 { cpu / node.work_ns } else { 0.0 };
}
