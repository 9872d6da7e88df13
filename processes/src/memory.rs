//! The memory of a tree and of its classes over time, from the samples of a recording.

use crate::classes::{LabelId, Schema};
use crate::tree::{ImageId, ProcessTree, Sample, duration};
use crate::window::Window;

/// The maximum memory of a tree at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// Bytes.
    pub bytes: u64,
    /// The time of the peak.
    pub time_ns: i64,
    /// The meaning of the number.
    pub kind: PeakKind,
}

/// The meaning of a peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeakKind {
    /// The largest sample; the memory may have been larger between two of them.
    Sampled,
    /// No samples: the sum of the peaks of the images that ran at the same time. It is an upper bound, because their
    /// peaks need not coincide and shared pages count several times.
    UpperBound,
    /// Like [`PeakKind::UpperBound`], but this many images have unknown peaks: it may have been less or more.
    KnownPeaks(u32),
}

/// The memory of a tree in each sample: times, and bytes.
#[must_use]
pub fn memory_curve(tree: &ProcessTree) -> Vec<(i64, u64)> {
    tree.samples().map(|sample| (sample.time_ns, sample.total_bytes())).collect()
}

/// The same for the images of a class.
#[must_use]
pub fn class_memory_curve(tree: &ProcessTree, schema: &Schema, label: LabelId) -> Vec<(i64, u64)> {
    let of = tree.samples().map(|sample| {
        let of_class = sample.bytes.iter().filter(|(image, _)| schema.label(*image) == Some(label));
        (sample.time_ns, of_class.fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes)))
    });
    of.collect()
}

/// The largest sample of each class of a schema: its time, and the bytes of all images of the class together.
#[must_use]
pub fn class_peaks(tree: &ProcessTree, schema: &Schema) -> Vec<Option<(i64, u64)>> {
    class_peaks_within(tree, schema, Window::of(tree))
}

/// The same for the samples in a window.
#[must_use]
pub fn class_peaks_within(tree: &ProcessTree, schema: &Schema, window: Window) -> Vec<Option<(i64, u64)>> {
    let mut peaks: Vec<Option<(i64, u64)>> = vec![None; schema.labels().len()];
    let mut sums = vec![0u64; peaks.len()];
    for sample in tree.samples().filter(|sample| window.has_sample(sample.time_ns)) {
        let labelled = |&(image, bytes): &(ImageId, u64)| schema.label(image).map(|label| (label.index(), bytes));
        for (label, bytes) in sample.bytes.iter().filter_map(labelled) {
            sums[label] = sums[label].saturating_add(bytes);
        }
        for (label, _) in sample.bytes.iter().filter_map(labelled) {
            let sum = std::mem::take(&mut sums[label]);
            if sum > peaks[label].map_or(0, |(_, bytes)| bytes) {
                peaks[label] = Some((sample.time_ns, sum));
            }
        }
    }
    peaks
}

/// The memory of a tree at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Time of the measurement.
    pub time_ns: i64,
    /// Bytes of all processes.
    pub bytes: u64,
    /// Bytes of each class, by label; images that the schema ignores are left out.
    pub by_label: Vec<u64>,
}

/// The samples in a window: the largest in each of `cells` equal parts.
#[must_use]
pub fn memory_within(tree: &ProcessTree, schema: &Schema, window: Window, cells: u32) -> Vec<Memory> {
    let cell_ns = window.length_ns().div_ceil(cells.max(1).into()).max(1);
    let mut largest: Vec<(u64, Sample<'_>, u64)> = Vec::new();
    for sample in tree.samples().filter(|sample| window.has_sample(sample.time_ns)) {
        let (cell, bytes) = (duration(window.from_ns, sample.time_ns) / cell_ns, sample.total_bytes());
        match largest.last_mut().filter(|last| last.0 == cell) {
            Some(last) if last.2 >= bytes => {}
            Some(last) => *last = (cell, sample, bytes),
            None => largest.push((cell, sample, bytes)),
        }
    }
    let of = largest.into_iter().map(|(_, sample, bytes)| {
        let mut by_label = vec![0u64; schema.labels().len()];
        for (image, bytes) in sample.bytes {
            if let Some(label) = schema.label(*image) {
                by_label[label.index()] = by_label[label.index()].saturating_add(*bytes);
            }
        }
        Memory { time_ns: sample.time_ns, bytes, by_label }
    });
    of.collect()
}

/// The maximum memory of the tree at one time; `None` if nothing is known of it.
#[must_use]
pub fn peak(tree: &ProcessTree) -> Option<Peak> {
    let largest = memory_curve(tree).into_iter().max_by_key(|&(time_ns, bytes)| (bytes, std::cmp::Reverse(time_ns)));
    largest.map(|(time_ns, bytes)| Peak { bytes, time_ns, kind: PeakKind::Sampled }).or_else(|| bound(tree))
}

/// The largest sum of the peaks of images that ran at the same time.
fn bound(tree: &ProcessTree) -> Option<Peak> {
    let known: Vec<_> = tree.images().iter().filter_map(|image| Some((image, image.used.peak_bytes?))).collect();
    let mut starts: Vec<(i64, u64)> = known.iter().map(|&(image, bytes)| (image.began_ns, bytes)).collect();
    let ends = known.iter().map(|&(image, bytes)| (image.ended_ns.unwrap_or(i64::MAX), bytes));
    let mut ends: Vec<(i64, u64)> = ends.collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let unknown = tree.images().len() - starts.len();
    let kind = if unknown == 0 { PeakKind::UpperBound } else { PeakKind::KnownPeaks(unknown as u32) };
    let (mut sum, mut ended) = (0u128, ends.iter().peekable());
    let mut most: Option<(u128, i64)> = None;
    for &(time_ns, bytes) in &starts {
        // Subtract images that ended before this one began; those that ended at its very start may have overlapped.
        while let Some(&(_, bytes)) = ended.next_if(|(end, _)| *end < time_ns) {
            sum = sum.saturating_sub(bytes.into());
        }
        sum += u128::from(bytes);
        if most.is_none_or(|(before, _)| sum > before) {
            most = Some((sum, time_ns));
        }
    }
    most.map(|(bytes, time_ns)| Peak { bytes: u64::try_from(bytes).unwrap_or(u64::MAX), time_ns, kind })
}
