//! The memory of each job at each part of its time, as it would be sampled if the job ran alone.

use super::node::{Node, duration_of};
use super::sharing::{SampledPrograms, SharedMemory};
use crate::tree::{ProcessTree, duration};

/// Maximum number of knots of a job: with more samples, the largest in each of this many parts of its time.
const MOST_KNOTS: usize = 32;
/// A job with fewer samples follows the usual curve of jobs.
const FEW_SAMPLES: usize = 3;
/// Number of parts of the time of jobs with a usual memory.
const PARTS: usize = 4;
/// Minimum number of samples in each part, or in all parts together.
const FEW_IN_A_PART: usize = 3;

/// A part of the time of a job, from 0 to 1, and its memory then in bytes.
pub(super) type Knot = (f32, f32);

/// The curve of each job: straight lines from 0 at its start through its knots, and level after the last one.
#[derive(Debug, Clone)]
pub(super) struct Curves {
    knots: Vec<Knot>,
    /// The end of the range of each node in `knots`.
    ends: Vec<usize>,
    /// The share of its peak that a job holds in each part of its time, weighted by peak: the same in all parts if
    /// there are few samples, and 1 if there are none.
    usual: [f32; PARTS],
    /// The largest sample of each job; used if the job has few.
    few: Vec<f32>,
}

/// Lower bounds of the memory of a job, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct MemoryBounds {
    /// The average over its time, with 0 before its first sample and after its last one.
    pub(super) mean: f64,
    /// The second largest sample: another recording would reach it too.
    pub(super) again: f64,
}

impl Curves {
    /// The curves of the recorded jobs, and the lower bounds of each. Takes time linear in the samples.
    pub(super) fn of(
        tree: &ProcessTree,
        nodes: &[Node],
        node_of: &[u32],
        sharing: &SharedMemory,
    ) -> (Self, Vec<MemoryBounds>) {
        let mut sampled = sampled(tree, nodes, node_of, sharing);
        sampled.sort_by_key(|sampled| sampled.node);
        let usual = usual(nodes, &sampled);
        let mut curves = Curves { knots: Vec::new(), ends: Vec::with_capacity(nodes.len()), usual, few: Vec::new() };
        let mut certain = Vec::with_capacity(nodes.len());
        let mut rest = &sampled[..];
        for node in 0..nodes.len() as u32 {
            let (own, others) = rest.split_at(rest.partition_point(|sampled| sampled.node == node));
            rest = others;
            certain.push(self::certain(own));
            let largest = own.iter().fold(0.0f32, |most, sampled| most.max(sampled.alone));
            curves.few.push(largest);
            if own.len() >= FEW_SAMPLES {
                curves.add(own);
            }
            curves.ends.push(curves.knots.len());
        }
        (curves, certain)
    }

    fn add(&mut self, own: &[JobSample]) {
        if own.len() <= MOST_KNOTS {
            return self.knots.extend(own.iter().map(|sampled| (sampled.part, sampled.alone)));
        }
        for own in own.chunk_by(|one, next| one.knot() == next.knot()) {
            let largest = own.iter().max_by(|one, other| one.alone.total_cmp(&other.alone));
            self.knots.extend(largest.map(|sampled| (sampled.part, sampled.alone)));
        }
    }

    /// A knot of the curve of a node, counted from 0.
    pub(super) fn knot(&self, id: u32, node: &Node, number: usize) -> Option<Knot> {
        let at = id as usize;
        let own = &self.knots[at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]];
        if !own.is_empty() {
            return own.get(number).copied();
        }
        let most = self.usual.iter().fold(0.0f32, |most, share| most.max(*share));
        let peak = (node.memory.peak as f32).max(if most > 0.0 { self.few[at] / most } else { 0.0 });
        if peak <= 0.0 {
            return None;
        }
        if self.usual.iter().all(|share| *share == self.usual[0]) {
            return (number == 0).then_some((0.0, peak * most));
        }
        let part = (number as f32 + 0.5) / PARTS as f32;
        self.usual.get(number).map(|share| (part, peak * share))
    }

    /// The maximum of the curve of a node.
    pub(super) fn most(&self, id: u32, node: &Node) -> f64 {
        let knots = (0..).map_while(|number| self.knot(id, node, number));
        knots.fold(0.0f32, |most, (_, bytes)| most.max(bytes)).into()
    }
}

/// A sample of a job.
#[derive(Debug, Clone, Copy)]
struct JobSample {
    node: u32,
    part: f32,
    /// Bytes as sampled, and as they would have been without other processes of the same program.
    bytes: f32,
    alone: f32,
}

impl JobSample {
    /// The part of the time of its job, of [`MOST_KNOTS`] parts.
    fn knot(&self) -> usize {
        ((self.part * MOST_KNOTS as f32) as usize).min(MOST_KNOTS - 1)
    }
}

fn certain(own: &[JobSample]) -> MemoryBounds {
    let (mut first, mut second) = (0.0f32, 0.0f32);
    let (mut area, mut last) = (0.0f64, (0.0f32, 0.0f32));
    for &JobSample { part, bytes, .. } in own {
        (first, second) = if bytes > first { (bytes, first) } else { (first, second.max(bytes)) };
        area += f64::from(part - last.0) * f64::from(bytes + last.1) / 2.0;
        last = (part, bytes);
    }
    area += f64::from(1.0 - last.0) * f64::from(last.1) / 2.0;
    MemoryBounds { mean: area, again: second.into() }
}

/// The share of their peak that jobs hold in each part of their time.
fn usual(nodes: &[Node], sampled: &[JobSample]) -> [f32; PARTS] {
    let (mut sums, mut weights, mut counts) = ([0.0f64; PARTS], [0.0f64; PARTS], [0usize; PARTS]);
    for sampled in sampled {
        let peak = nodes[sampled.node as usize].memory.peak;
        if peak > 0.0 {
            let part = ((sampled.part * PARTS as f32) as usize).min(PARTS - 1);
            sums[part] += f64::from(sampled.alone).min(peak);
            weights[part] += peak;
            counts[part] += 1;
        }
    }
    if counts.iter().all(|&count| count >= FEW_IN_A_PART) {
        return std::array::from_fn(|part| (sums[part] / weights[part]) as f32);
    }
    let (samples, sum, weight) = (counts.iter().sum::<usize>(), sums.iter().sum::<f64>(), weights.iter().sum::<f64>());
    [if samples >= FEW_IN_A_PART { (sum / weight) as f32 } else { 1.0 }; PARTS]
}

/// The samples of jobs; those of each job are in order of time.
fn sampled(tree: &ProcessTree, nodes: &[Node], node_of: &[u32], sharing: &SharedMemory) -> Vec<JobSample> {
    let mut held: Vec<(f64, f64)> = vec![(0.0, 0.0); nodes.len()];
    let (mut touched, mut sampled) = (Vec::new(), Vec::new());
    for sample in tree.samples() {
        let together = SampledPrograms::of(tree, &sample, |_| true);
        for &(id, bytes) in sample.bytes {
            let image = tree.image(id);
            let node = node_of[image.process.index()];
            if !nodes[node as usize].is_job {
                continue;
            }
            let processes = f64::from(together.processes(tree, image));
            let shared = sharing.of_image(tree, image).map_or(0.0, |(_, shared)| shared.likely);
            let alone = bytes as f64 + shared * (1.0 - 1.0 / processes);
            let most = image.used.peak_bytes.map_or(f64::INFINITY, |peak| peak.max(bytes) as f64);
            let of = &mut held[node as usize];
            *of = (of.0 + bytes as f64, of.1 + alone.min(most));
            touched.push(node);
        }
        for node in touched.drain(..) {
            let (bytes, alone) = std::mem::take(&mut held[node as usize]);
            let process = tree.process(nodes[node as usize].process);
            let length = duration_of(tree, process);
            if bytes > 0.0 && length > 0 {
                let part = (duration(process.began_ns, sample.time_ns) as f64 / length as f64).min(1.0) as f32;
                sampled.push(JobSample { node, part, bytes: bytes as f32, alone: alone as f32 });
            }
        }
    }
    sampled
}
