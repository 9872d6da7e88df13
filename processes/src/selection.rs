//! Totals of the images of a set.

use std::collections::HashSet;

use crate::image_set::ImageSet;
use barrow_analyzer::Usage;

use crate::totals::{Sum, faults};
use crate::tree::{ImageId, ProcessTree, Sample, duration};

/// Totals of the images of a set, without their children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Selection {
    /// Number of images.
    pub images: u64,
    /// Number of images without a known program.
    pub unknown_programs: u64,
    /// Number of processes.
    pub processes: u64,
    /// Number of processes known to have failed.
    pub failed: u64,
    /// Number of processes that may have failed: their end is unknown.
    pub unknown_failures: u64,
    /// Processor time in programs, in nanoseconds.
    pub user_ns: Sum,
    /// Processor time in the kernel.
    pub system_ns: Sum,
    /// Processor time: user and system.
    pub cpu_ns: Sum,
    /// Time without a processor that threads could have used.
    pub waiting_ns: Sum,
    /// Number of images whose processor time and peak of memory are at least those that are recorded.
    pub at_least: u32,
    /// Page faults, minor and major.
    pub faults: Sum,
    /// Page faults that waited for a device.
    pub major_faults: Sum,
    /// Bytes read from devices.
    pub read_bytes: Sum,
    /// Bytes written to devices.
    pub written_bytes: Sum,
    /// The largest peak memory of a single image.
    pub peak_bytes: Option<u64>,
    /// Number of images whose peak of memory is unknown and may be larger than all known ones.
    pub unknown_peaks: u32,
    /// Start of the first image and end of the last one, in nanoseconds since the recording began.
    pub span_ns: Option<(i64, i64)>,
}

impl Selection {
    /// Adds up the images of a set.
    #[must_use]
    pub fn of(tree: &ProcessTree, images: &ImageSet) -> Self {
        Selection::of_images(tree, images.iter())
    }

    /// Adds up some images, each once.
    #[must_use]
    pub fn of_images(tree: &ProcessTree, images: impl IntoIterator<Item = ImageId>) -> Self {
        let mut selection = Selection::default();
        let mut processes = HashSet::new();
        let end = tree.span_ns().1;
        for id in images {
            let image = tree.image(id);
            let Usage { user_ns, system_ns, waiting_ns, peak_bytes, major_faults, read_bytes, written_bytes, .. } =
                image.used;
            selection.images += 1;
            selection.unknown_programs += u64::from(!image.is_forked && tree.program(image).is_empty());
            // Images of a process often follow each other; only processes with several images are remembered.
            let process = tree.process(image.process);
            let is_new = process.first_image == process.last_image || processes.insert(image.process);
            selection.processes += u64::from(is_new);
            let end_of = tree.end_of(id);
            selection.failed += u64::from(end_of.is_some_and(|end| end.is_failure()));
            selection.unknown_failures += u64::from(end_of.is_some_and(|end| !end.is_known()));
            selection.user_ns.add(user_ns);
            selection.system_ns.add(system_ns);
            selection.cpu_ns.add(tree.cpu_ns(image));
            selection.waiting_ns.add(waiting_ns);
            selection.faults.add(faults(&image.used));
            selection.major_faults.add(major_faults);
            selection.read_bytes.add(read_bytes);
            selection.written_bytes.add(written_bytes);
            selection.peak_bytes = selection.peak_bytes.max(peak_bytes);
            selection.unknown_peaks += u32::from(peak_bytes.is_none());
            selection.at_least += u32::from(tree.used_at_least(id));
            let (first, last) = selection.span_ns.unwrap_or((image.began_ns, image.began_ns));
            let ended = image.ended_ns.unwrap_or(end);
            selection.span_ns = Some((first.min(image.began_ns), last.max(ended)));
        }
        // Of a traced process a peak is unknown if that of an earlier image or of a child was larger.
        if selection.images == tree.images().len() as u64 && is_traced(tree) {
            selection.unknown_peaks = 0;
        }
        selection
    }

    /// Minimum number of images for which a part of the processor time is unknown.
    #[must_use]
    pub fn unknown_cpu(&self) -> u32 {
        self.user_ns.unknown().max(self.system_ns.unknown())
    }

    /// From the start of the first to the end of the last, in nanoseconds.
    #[must_use]
    pub fn wall_ns(&self) -> u64 {
        self.span_ns.map_or(0, |(first, last)| duration(first, last))
    }
}

/// Whether `barrow record` traced all processes to their ends.
pub(crate) fn is_traced(tree: &ProcessTree) -> bool {
    let knows = tree.knowledge();
    let mut processes = tree.processes().iter();
    knows.one_command && !knows.by_calls && processes.all(|process| process.end.is_some() && !process.is_untraced)
}

/// The sample in which the images of a set have the most memory together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledPeak {
    /// Time of the sample, in nanoseconds since the recording began.
    pub time_ns: i64,
    /// Their memory together. Shared pages are divided among the processes that share them.
    pub bytes: u64,
    /// The memory of each of them.
    pub images: Vec<(ImageId, u64)>,
}

impl SampledPeak {
    /// The peak of a set; `None` if the recording has no samples of memory.
    #[must_use]
    pub fn of(tree: &ProcessTree, images: &ImageSet) -> Option<Self> {
        // Of equal samples, the first one.
        let peak = tree
            .samples()
            .map(|sample| (bytes_of(images, &sample), sample))
            .reduce(|most, next| if next.0 > most.0 { next } else { most })?;
        let (bytes, sample) = peak;
        let images = sample.bytes.iter().copied().filter(|(image, _)| images.contains(*image)).collect();
        Some(SampledPeak { time_ns: sample.time_ns, bytes, images })
    }
}

fn bytes_of(images: &ImageSet, sample: &Sample<'_>) -> u64 {
    let of = sample.bytes.iter().filter(|(image, _)| images.contains(*image));
    of.fold(0, |sum: u64, &(_, bytes)| sum.saturating_add(bytes))
}
