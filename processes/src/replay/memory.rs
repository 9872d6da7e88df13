//! The memory of jobs: the most that each holds, and when; and what jobs that execute the same program share.
//!
//! The code of a program is in memory once, however many processes execute it: it is a part of the peak of each, and samples
//! divide it among them.

use std::collections::HashMap;

use barrow_analyzer::StringId;
use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::node::{Node, duration_of};
use crate::tree::{Image, ProcessTree, duration};

/// Parts of the time of a job.
const PARTS: usize = 16;
/// Samples of jobs that a part needs at least.
const FEW_SAMPLES: usize = 3;

/// So many processes have to have executed a program.
const FEW_PROCESSES: u32 = 3;

/// What the processes of each program share, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    /// The smallest peak of each executable file, and how many images executed it.
    programs: HashMap<StringId, (u64, u32), RandomState>,
}

impl Shared {
    pub(super) fn of(tree: &ProcessTree) -> Self {
        let mut programs: HashMap<StringId, (u64, u32), RandomState> = HashMap::default();
        for image in tree.images().iter().filter(|image| !image.is_forked) {
            if let Some((program, peak)) = tree.program(image).executable.zip(image.used.peak_bytes) {
                let of = programs.entry(program).or_insert((peak, 0));
                *of = (of.0.min(peak), of.1.saturating_add(1));
            }
        }
        Shared { programs }
    }

    /// What all processes that execute a program share: as much as the smallest of them held, which is nearly all code.
    fn bytes(&self, program: StringId) -> f64 {
        let known = self.programs.get(&program).filter(|(_, count)| *count >= FEW_PROCESSES);
        known.map_or(0.0, |&(smallest, _)| smallest as f64)
    }

    /// What the image shares with others that execute the same program.
    pub(super) fn of_image(&self, tree: &ProcessTree, image: &Image) -> Option<(StringId, f64)> {
        let program = tree.program(image).executable?;
        Some((program, self.bytes(program))).filter(|(_, bytes)| *bytes > 0.0)
    }
}

/// How much memory each job holds while it works.
#[derive(Debug, Clone)]
pub(super) struct Curves {
    /// What was sampled of each job: the part of its time that had passed, from 0 to 1, and the share of its peak.
    points: Vec<(f32, f32)>,
    /// Where those of each node end.
    ends: Vec<usize>,
    /// The share of its peak that a job held in each part of its time, weighted with peaks, for jobs with few samples.
    usual: [f64; PARTS],
}

impl Curves {
    /// The memory of the recorded jobs.
    pub(super) fn of(tree: &ProcessTree, nodes: &[Node], node_of: &[u32], shared: &Shared) -> Self {
        let mut sampled = sampled(tree, nodes, node_of, shared);
        sampled.sort_by_key(|&(node, _, _)| node);
        let (mut sums, mut weights, mut counts) = ([0.0; PARTS], [0.0; PARTS], [0usize; PARTS]);
        let mut ends = vec![0; nodes.len()];
        for &(node, part, share) in &sampled {
            let bin = bin(part.into());
            let weight = nodes[node as usize].peak_bytes;
            sums[bin] += f64::from(share) * weight;
            weights[bin] += weight;
            counts[bin] += 1;
            ends[node as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let is_known = counts.iter().all(|&count| count >= FEW_SAMPLES);
        let usual = std::array::from_fn(|part| if is_known { sums[part] / weights[part] } else { 1.0 });
        Curves { points: sampled.into_iter().map(|(_, part, share)| (part, share)).collect(), ends, usual }
    }

    /// The share of its peak that a job holds when this part of its work is done, from 0 to 1.
    pub(super) fn at(&self, node: u32, part: f64) -> f64 {
        let node = node as usize;
        let points = &self.points[node.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[node]];
        if points.len() < FEW_SAMPLES {
            return self.usual[bin(part)];
        }
        let next = points.partition_point(|&(at, _)| f64::from(at) < part);
        let ((from, a), (to, b)) = match (next.checked_sub(1).map(|before| points[before]), points.get(next)) {
            (Some(before), Some(&after)) => (before, after),
            (None, Some(&after)) => ((0.0, 0.0), after),
            (Some(before), None) => return before.1.into(),
            (None, None) => return 1.0,
        };
        let along = if to > from { (part - f64::from(from)) / f64::from(to - from) } else { 1.0 };
        f64::from(a) + f64::from(b - a) * along
    }
}

fn bin(part: f64) -> usize {
    ((part * PARTS as f64) as usize).min(PARTS - 1)
}

/// The samples of jobs: node, part of its time, share of its peak; those of a job in the order of time.
fn sampled(tree: &ProcessTree, nodes: &[Node], node_of: &[u32], shared: &Shared) -> Vec<(u32, f32, f32)> {
    let mut sharing: HashMap<StringId, f64, RandomState> = HashMap::default();
    let mut held: Vec<f64> = vec![0.0; nodes.len()];
    let (mut touched, mut sampled) = (Vec::new(), Vec::new());
    for sample in tree.samples() {
        sharing.clear();
        let of = |image| shared.of_image(tree, tree.image(image));
        let programs = sample.bytes.iter().filter_map(|&(image, _)| of(image));
        programs.for_each(|(program, _)| *sharing.entry(program).or_default() += 1.0);
        for &(image, bytes) in sample.bytes {
            let others = of(image).map_or(0.0, |(program, bytes)| bytes * (1.0 - 1.0 / sharing[&program]));
            let node = node_of[tree.image(image).process.index()];
            if nodes[node as usize].is_job {
                touched.push(node);
                held[node as usize] += bytes as f64 + others;
            }
        }
        for node in touched.drain(..) {
            let bytes = std::mem::take(&mut held[node as usize]);
            let of = &nodes[node as usize];
            let process = tree.process(of.process);
            let length = duration_of(tree, process);
            if bytes > 0.0 && of.peak_bytes > 0.0 && length > 0 {
                let part = duration(process.began_ns, sample.time_ns) as f64 / length as f64;
                sampled.push((node, part.min(1.0) as f32, (bytes / of.peak_bytes).min(1.0) as f32));
            }
        }
    }
    sampled
}

/// What a node holds at most, in bytes, and what it shares with others: the number of a program, and bytes.
type AtMost = (f64, Option<(u32, f64)>);

/// The most memory of each node, and what it shares: of a job that of all images that ran at the same time, each with its peak,
/// and what the largest of them shares; of a starter its own.
pub(super) fn measure(tree: &ProcessTree, nodes: &[Node], node_of: &[u32]) -> (Shared, Vec<AtMost>) {
    let shared = Shared::of(tree);
    // Begins and ends of the images of each job.
    let mut changes: Vec<(u32, i64, bool, u64)> = Vec::new();
    let mut largest = vec![0; nodes.len()];
    let mut held: Vec<AtMost> = vec![(0.0, None); nodes.len()];
    for image in tree.images() {
        let node = node_of[image.process.index()];
        let of = &mut held[node as usize];
        let bytes = image.used.peak_bytes.unwrap_or(0);
        if !nodes[node as usize].is_job {
            of.0 = of.0.max(bytes as f64);
            continue;
        }
        if bytes > largest[node as usize] {
            largest[node as usize] = bytes;
            of.1 = shared.of_image(tree, image).map(|(program, bytes)| (program.0, bytes));
        }
        let ended_ns = image.ended_ns.unwrap_or(tree.span_ns().1);
        changes.extend([(node, image.began_ns, true, bytes), (node, ended_ns, false, bytes)]);
    }
    changes.par_sort_unstable();
    let (mut of, mut sum) = (u32::MAX, 0.0);
    for (node, _, is_begin, bytes) in changes {
        sum = if node == of { sum } else { 0.0 };
        of = node;
        sum += if is_begin { bytes as f64 } else { -(bytes as f64) };
        let most = &mut held[node as usize].0;
        *most = most.max(sum);
    }
    (shared, held)
}
