//! Memory shared by processes that execute the same program: pages of the program and its libraries are in memory once.
//!
//! Samples divide shared pages among the processes that share them, and peaks count them in full:
//!
//! ```text
//!   a sample of one of k processes = private + shared / k        its peak ≥ private + shared
//! ```
//!
//! So the two differ by `shared · (1 - 1/k)` at least, and by exactly that when the process is at its peak: the minimum
//! over all samples estimates the shared memory. It is at most the peak of the smallest process. If only one process of
//! a program was sampled at a time, an attribute of a process, `file memory`, may say how much of its memory was pages
//! of files, divided like the samples. Without that attribute, a process that is small beside others of its program is
//! taken for code, which is shared; processes of similar size say nothing.

use std::collections::HashMap;

use barrow_analyzer::StringId;
use foldhash::fast::RandomState;

use crate::tree::{Image, ImageId, ProcessTree, Sample};

/// The attribute with the maximum memory of a process in pages of files, in bytes; pages that others share are divided,
/// as in samples.
const FILE_MEMORY: &str = "file memory";
/// Minimum number of processes: the smallest of fewer may be large by chance.
const FEW_PROCESSES: u32 = 3;
/// A process is small if it has at most this part of the memory of the largest one.
const SMALL: u64 = 4;

/// The memory that each process of a program shares with the others, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct SharedBytes {
    /// As estimated from samples; 0 if they do not tell.
    pub(super) likely: f64,
    /// Maximum.
    pub(super) most: f64,
}

/// The memory shared by the processes of each program.
#[derive(Debug, Clone)]
pub(super) struct SharedMemory {
    programs: HashMap<StringId, SharedBytes, RandomState>,
}

impl SharedMemory {
    pub(super) fn of(tree: &ProcessTree) -> Self {
        let (told, measured) = (told(tree), measured(tree));
        // The smallest and the largest peak, and the number of peaks.
        let mut peaks: HashMap<StringId, (u64, u64, u32), RandomState> = HashMap::default();
        for image in tree.images().iter().filter(|image| !image.is_forked) {
            if let Some((program, peak)) = tree.program(image).executable.zip(image.used.peak_bytes) {
                let of = peaks.entry(program).or_insert((peak, peak, 0));
                *of = (of.0.min(peak), of.1.max(peak), of.2.saturating_add(1));
            }
        }
        let of = |(program, (smallest, largest, images)): (StringId, (u64, u64, u32))| {
            let shared = match measured.get(&program).or_else(|| told.get(&program)) {
                Some(&bytes) => {
                    let bytes = bytes.min(smallest as f64);
                    SharedBytes { likely: bytes, most: bytes }
                }
                None if images > 1 => {
                    let is_code = images >= FEW_PROCESSES && smallest <= largest / SMALL;
                    SharedBytes { likely: if is_code { smallest as f64 } else { 0.0 }, most: smallest as f64 }
                }
                None => return None,
            };
            Some((program, shared))
        };
        SharedMemory { programs: peaks.into_iter().filter_map(of).collect() }
    }

    /// The program of an image, and the memory it shares with others that execute the same program.
    pub(super) fn of_image(&self, tree: &ProcessTree, image: &Image) -> Option<(StringId, SharedBytes)> {
        let program = tree.program(image).executable?;
        Some((program, *self.programs.get(&program)?))
    }
}

/// For each program, the maximum recorded memory of its files. Recorders may report it again as it grows.
fn told(tree: &ProcessTree) -> HashMap<StringId, f64, RandomState> {
    let mut told: HashMap<StringId, f64, RandomState> = HashMap::default();
    for process in tree.processes() {
        let Some(program) = tree.program(tree.image(process.last_image)).executable else { continue };
        for &(_, value) in process.attributes.iter().filter(|(key, _)| tree.text(*key) == FILE_MEMORY) {
            if let Ok(bytes) = tree.text(value).parse::<u64>() {
                told.entry(program).and_modify(|most| *most = most.max(bytes as f64)).or_insert(bytes as f64);
            }
        }
    }
    told
}

/// For each program that several processes executed at the same time: the smallest bound of the memory they share over
/// all samples.
fn measured(tree: &ProcessTree) -> HashMap<StringId, f64, RandomState> {
    let mut least: HashMap<StringId, f64, RandomState> = HashMap::default();
    // The last sample that has each image, counted from 1.
    let mut seen = vec![0u32; tree.images().len()];
    for (number, sample) in (1u32..).zip(tree.samples()) {
        let together = SampledPrograms::of(tree, &sample, |image| seen[image.index()] + 1 == number && number > 1);
        for &(id, bytes) in sample.bytes {
            let image = tree.image(id);
            let Some(program) = tree.program(image).executable.filter(|_| !image.is_forked) else { continue };
            if let Some((processes, peak)) = together.settled(tree, image).zip(image.used.peak_bytes) {
                let bound = peak.saturating_sub(bytes) as f64 / (1.0 - 1.0 / f64::from(processes));
                least.entry(program).and_modify(|least| *least = least.min(bound)).or_insert(bound);
            }
        }
        sample.bytes.iter().for_each(|&(image, _)| seen[image.index()] = number);
    }
    least
}

/// The processes of each program in a sample.
pub(super) struct SampledPrograms {
    /// Number of processes, and number of those that are not settled.
    programs: HashMap<StringId, (u32, u32), RandomState>,
}

impl SampledPrograms {
    /// `is_settled` says whether an image had time to load the program that it executes.
    pub(super) fn of(tree: &ProcessTree, sample: &Sample<'_>, is_settled: impl Fn(ImageId) -> bool) -> Self {
        let mut programs: HashMap<StringId, (u32, u32), RandomState> = HashMap::default();
        for &(image, _) in sample.bytes {
            if let Some(program) = tree.program(tree.image(image)).executable {
                let of = programs.entry(program).or_default();
                *of = (of.0.saturating_add(1), of.1.saturating_add(u32::from(!is_settled(image))));
            }
        }
        SampledPrograms { programs }
    }

    /// Number of processes that execute the program of an image; at least 1.
    pub(super) fn processes(&self, tree: &ProcessTree, image: &Image) -> u32 {
        let program = tree.program(image).executable;
        program.and_then(|program| self.programs.get(&program)).map_or(1, |of| of.0.max(1))
    }

    /// The same, if there are several and all are settled.
    fn settled(&self, tree: &ProcessTree, image: &Image) -> Option<u32> {
        let of = self.programs.get(&tree.program(image).executable?)?;
        (of.0 > 1 && of.1 == 0).then_some(of.0)
    }
}
