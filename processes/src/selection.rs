//! What the images of a set add up to.

use std::collections::HashSet;

use crate::image_set::ImageSet;
use barrow_analyzer::Usage;

use crate::totals::Sum;
use crate::tree::{ImageId, ProcessTree, duration};

/// What the images of a set are and used, their children not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Selection {
    /// How many there are.
    pub images: u64,
    /// Of how many of them no program is known.
    pub unknown_programs: u64,
    /// Of how many processes.
    pub processes: u64,
    /// How many of them are known to have failed.
    pub failed: u64,
    /// Of how many of them it is not known whether they failed.
    pub unknown_failures: u64,
    /// Processor time in programs, in nanoseconds.
    pub user_ns: Sum,
    /// Processor time in the kernel.
    pub system_ns: Sum,
    /// Both.
    pub cpu_ns: Sum,
    /// Bytes read from devices.
    pub read_bytes: Sum,
    /// Bytes written to devices.
    pub written_bytes: Sum,
    /// The largest peak of memory of a single image, and how many peaks are unknown.
    pub peak_bytes: Option<u64>,
    /// Images whose peak of memory is unknown.
    pub unknown_peaks: u32,
    /// When the first began and when the last ended, in nanoseconds since the recording began.
    pub span_ns: Option<(i64, i64)>,
}

impl Selection {
    /// Adds up the images of a set.
    #[must_use]
    pub fn of(tree: &ProcessTree, images: &ImageSet) -> Self {
        let mut selection = Selection::default();
        let mut processes = HashSet::new();
        let end = tree.span_ns().1;
        for id in images.iter() {
            let image = tree.image(id);
            let Usage { user_ns, system_ns, peak_bytes, read_bytes, written_bytes, .. } = image.used;
            selection.images += 1;
            selection.unknown_programs += u64::from(!image.is_forked && tree.program(image).is_empty());
            // Images of a process often follow each other; only those with several are remembered.
            let process = tree.process(image.process);
            let is_new = process.first_image == process.last_image || processes.insert(image.process);
            selection.processes += u64::from(is_new);
            let end_of = tree.end_of(id);
            selection.failed += u64::from(end_of.is_some_and(|end| end.is_failure()));
            selection.unknown_failures += u64::from(end_of.is_some_and(|end| !end.is_known()));
            selection.user_ns.add(user_ns);
            selection.system_ns.add(system_ns);
            selection.cpu_ns.add(tree.cpu_ns(image));
            selection.read_bytes.add(read_bytes);
            selection.written_bytes.add(written_bytes);
            selection.peak_bytes = selection.peak_bytes.max(peak_bytes);
            selection.unknown_peaks += u32::from(peak_bytes.is_none());
            let (first, last) = selection.span_ns.unwrap_or((image.began_ns, image.began_ns));
            let ended = image.ended_ns.unwrap_or(end);
            selection.span_ns = Some((first.min(image.began_ns), last.max(ended)));
        }
        selection
    }

    /// Of how many images a part of the processor time is unknown, at least.
    #[must_use]
    pub fn unknown_cpu(&self) -> u32 {
        self.user_ns.unknown().max(self.system_ns.unknown())
    }

    /// From the beginning of the first to the end of the last, in nanoseconds.
    #[must_use]
    pub fn wall_ns(&self) -> u64 {
        self.span_ns.map_or(0, |(first, last)| duration(first, last))
    }
}

/// The sample in which the images of a set have most memory together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledPeak {
    /// When, in nanoseconds since the recording began.
    pub time_ns: i64,
    /// Their memory together. Shared pages are divided among those that share them.
    pub bytes: u64,
    /// The memory of each of them.
    pub images: Vec<(ImageId, u64)>,
}

impl SampledPeak {
    /// The peak of a set; `None` if the recording has no samples of memory.
    #[must_use]
    pub fn of(tree: &ProcessTree, images: &ImageSet) -> Option<Self> {
        let bytes = |sample: &crate::tree::Sample<'_>| {
            let of = sample.bytes.iter().filter(|(image, _)| images.contains(*image));
            of.fold(0u64, |sum, &(_, bytes)| sum.saturating_add(bytes))
        };
        // Of equal ones the first.
        let peak = tree
            .samples()
            .map(|sample| (bytes(&sample), sample))
            .reduce(|most, next| if next.0 > most.0 { next } else { most })?;
        let (bytes, sample) = peak;
        let images = sample.bytes.iter().copied().filter(|(image, _)| images.contains(*image)).collect();
        Some(SampledPeak { time_ns: sample.time_ns, bytes, images })
    }
}
