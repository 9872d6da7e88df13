//! The memory of jobs and of what starts them.

use rayon::prelude::*;

use super::curves::Curves;
use super::node::Node;
use super::sharing::{SharedBytes, SharedMemory};
use crate::tree::ProcessTree;

/// Adds the known memory to nodes. Returns the curves of jobs, and the maximum over jobs of the memory that each is
/// sure to reach.
pub(super) fn measure(tree: &ProcessTree, nodes: &mut [Node], node_of: &[u32]) -> (Curves, f64) {
    let sharing = SharedMemory::of(tree);
    peaks(tree, nodes, node_of, &sharing);
    starters(tree, nodes, node_of);
    let (curves, certain) = Curves::of(tree, nodes, node_of, &sharing);
    let mut again = 0.0f64;
    for ((id, node), certain) in (0..).zip(nodes).zip(certain).filter(|((_, node), _)| node.is_job) {
        again = again.max(certain.again);
        node.memory.mean = certain.mean;
        let most = curves.most(id, node);
        if let Some((_, shared)) = &mut node.memory.shares {
            *shared = SharedBytes { likely: shared.likely.min(most), most: shared.most.min(certain.mean) };
        }
    }
    (curves, again)
}

/// Sets the peak of each job to the maximum sum of the peaks of images that ran at the same time, and its shared memory
/// to that of its largest image.
fn peaks(tree: &ProcessTree, nodes: &mut [Node], node_of: &[u32], sharing: &SharedMemory) {
    // Starts and ends of the images of each job.
    let mut changes: Vec<(u32, i64, bool, u64)> = Vec::new();
    let mut largest = vec![0; nodes.len()];
    let sampled = largest_samples(tree);
    for (image, &sampled) in tree.images().iter().zip(&sampled) {
        let at = node_of[image.process.index()];
        let node = &mut nodes[at as usize];
        // Samples are all that is known of a process that was still running or was not measured.
        let bytes = image.used.peak_bytes.unwrap_or(0).max(sampled);
        if !node.is_job {
            node.memory.peak = node.memory.peak.max(bytes as f64);
            continue;
        }
        if bytes > largest[at as usize] {
            largest[at as usize] = bytes;
            node.memory.shares = sharing.of_image(tree, image).map(|(program, shared)| (program.0, shared));
        }
        let ended_ns = image.ended_ns.unwrap_or(tree.span_ns().1);
        changes.extend([(at, image.began_ns, true, bytes), (at, ended_ns, false, bytes)]);
    }
    changes.par_sort_unstable();
    let (mut of, mut sum) = (u32::MAX, 0.0);
    for (node, _, is_begin, bytes) in changes {
        sum = if node == of { sum } else { 0.0 };
        of = node;
        sum += if is_begin { bytes as f64 } else { -(bytes as f64) };
        let most = &mut nodes[node as usize].memory.peak;
        *most = most.max(sum);
    }
}

fn largest_samples(tree: &ProcessTree) -> Vec<u64> {
    let mut largest = vec![0u64; tree.images().len()];
    for &(image, bytes) in tree.samples().flat_map(|sample| sample.bytes) {
        largest[image.index()] = largest[image.index()].max(bytes);
    }
    largest
}

/// Sets the memory of starters: the largest sample of each, or its peak if it has none.
fn starters(tree: &ProcessTree, nodes: &mut [Node], node_of: &[u32]) {
    for sample in tree.samples() {
        for &(image, bytes) in sample.bytes {
            let node = &mut nodes[node_of[tree.image(image).process.index()] as usize];
            if !node.is_job {
                node.memory.usual = node.memory.usual.max(bytes as f64);
            }
        }
    }
    for node in nodes.iter_mut().filter(|node| !node.is_job) {
        node.memory.mean = node.memory.usual;
        if node.memory.usual == 0.0 {
            node.memory.usual = node.memory.peak;
        }
    }
}
