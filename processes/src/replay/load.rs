//! How much recorded jobs were slowed down by one another.

use rayon::prelude::*;

use super::node::{Node, duration_of};
use crate::tree::{ProcessTree, duration};

/// The share of the time with more jobs than cores from which on it tells what the cores really did.
const OFTEN: f64 = 0.1;

/// Makes the times of jobs what they would be if each had a processor when it needed it. Returns how many cores the jobs
/// really had: fewer than the machine has if other programs used them, too, as far as the recording tells.
pub(super) fn take_off(tree: &ProcessTree, nodes: &mut [Node], cores: u64) -> f64 {
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
    nodes.iter_mut().zip(work).for_each(|(node, work)| speed_up(tree, node, work));
    let cores = cores as f64;
    if crowded_ns > whole_ns * OFTEN { (crowded_cpu_ns / crowded_ns).clamp(cores.min(0.5), cores) } else { cores }
}

/// A job that was slowed down takes less time with a processor for itself, but not less than it computes.
fn speed_up(tree: &ProcessTree, node: &mut Node, work: f64) {
    let wall = duration_of(tree, tree.process(node.process)) as f64;
    if !node.is_job || work >= wall {
        return;
    }
    let cpu = node.demand * wall;
    // Before the job itself its slot may have waited for the scheduler.
    let before = (node.work_ns - wall).max(0.0);
    node.work_ns = work.max(cpu.min(wall)) + before;
    node.demand = if node.work_ns > 0.0 { cpu / node.work_ns } else { 0.0 };
}
