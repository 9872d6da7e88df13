//! How much recorded jobs were slowed down because they waited for a processor.
//!
//! Where the system told how long a process waited, that is taken off. Otherwise it is a guess: jobs that were more
//! than the cores had as much less of them.

use rayon::prelude::*;

use super::node::{Node, duration_of};
use crate::totals::Totals;
use crate::tree::{ProcessTree, duration};

/// The share of the time with more jobs than cores from which on it tells what the cores really did.
const OFTEN: f64 = 0.1;

/// What was found out.
pub(super) struct Load {
    /// Cores that the jobs really had.
    pub(super) capacity: f64,
    /// How long jobs waited for processors, as far as the system told: together, in nanoseconds.
    pub(super) waited_ns: f64,
}

/// Makes the times of jobs what they would be if each had a processor when it needed it. The cores that jobs
/// really had are fewer than the machine has if other programs used them, too, as far as the recording tells.
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
    // Work that one job could do since the beginning; time in which jobs ran, and that in which there were too many.
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
            // It takes as long as it computes at least.
            speed_up(node, wall, work.max((node.demand * wall).min(wall)));
        }
    }
    let cores = cores as f64;
    let is_guess = guessed_ns > told_ns && crowded_ns > whole_ns * OFTEN;
    let capacity = if is_guess { (crowded_cpu_ns / crowded_ns).clamp(cores.min(0.5), cores) } else { cores };
    Load { capacity, waited_ns }
}

/// How long a job would have taken without waiting for a processor, if that is known of all its processes. Several
/// threads or processes that wait at the same time need more than one processor together: all of them waited as much as
/// they did.
fn without_waiting(tree: &ProcessTree, totals: &Totals, node: &Node, wall: f64) -> Option<f64> {
    let used = totals.of_process(tree, node.process);
    let waited = used.waiting_ns.value().filter(|_| used.waiting_ns.unknown() == 0)? as f64;
    let cpu = node.demand * wall;
    Some(if cpu + waited <= wall { wall - waited } else { wall * cpu / (cpu + waited) })
}

/// A job that was slowed down takes less time with a processor for itself.
fn speed_up(node: &mut Node, wall: f64, work: f64) {
    if work >= wall {
        return;
    }
    let cpu = node.demand * wall;
    // Before the job itself its slot may have waited for the scheduler.
    let before = (node.work_ns - wall).max(0.0);
    node.work_ns = work + before;
    node.demand = if node.work_ns > 0.0 { cpu / node.work_ns } else { 0.0 };
}
