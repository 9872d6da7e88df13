//! Lanes: the images that really ran at each time, packed so that nothing in a lane overlaps.
//!
//! An image is drawn while no process it started runs: a compiler, not the driver and the shell that wait for it. These
//! pieces of time are *spans*. A build with four slots has about four lanes.
//!
//! ```text
//!            make runs ├─┤  sh  ├┤   cc1    ├────────┤ sh ├┤ make ├──┤
//!   lane 0   │ make    sh  cc1 cc1 cc1 cc1 cc1 cc1 sh    make
//!   lane 1   │              cc1 cc1 cc1 cc1 ld ld
//! ```
//!
//! Each span goes to the previous lane of its process, or else to that of the process that started it, or else to the
//! first free one. A lane is opened only if none is free, so the number of lanes is the maximum number of overlapping
//! spans.

mod blocks;
mod classes;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::totals::in_order_of_start;
use crate::tree::{ImageId, ProcessTree};
use crate::window::Window;

pub use blocks::{Block, Blocks, Limits};
pub use classes::ClassUse;

/// A piece of time in which an image ran and no process it had started did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The image.
    pub image: ImageId,
    /// Start, in nanoseconds since the recording began.
    pub began_ns: i64,
    /// End; later than the start.
    pub ended_ns: i64,
}

/// All spans of a tree in lanes.
#[derive(Debug)]
pub struct Lanes {
    /// Lane by lane, each in order of time.
    spans: Vec<Span>,
    /// The end of each lane in `spans`.
    ends: Vec<usize>,
}

impl Lanes {
    /// Packs a tree. Takes O(n log n) time for `n` spans, about two for each image.
    #[must_use]
    pub fn of(tree: &ProcessTree) -> Self {
        let mut spans = spans(tree);
        spans.sort_by_key(|span| span.began_ns);
        let lanes = pack(tree, &spans);
        let count = lanes.iter().max().map_or(0, |&last| last as usize + 1);
        let mut ends = vec![0usize; count];
        lanes.iter().for_each(|&lane| ends[lane as usize] += 1);
        let mut next = Vec::with_capacity(count);
        let mut sum = 0;
        for end in &mut ends {
            next.push(sum);
            sum += *end;
            *end = sum;
        }
        let mut packed = spans.clone();
        for (span, &lane) in spans.into_iter().zip(&lanes) {
            packed[next[lane as usize]] = span;
            next[lane as usize] += 1;
        }
        Lanes { spans: packed, ends }
    }

    /// A single lane with the spans of a path, which are in order of time and do not overlap.
    #[must_use]
    pub fn of_path(path: Vec<Span>) -> Self {
        let ends = if path.is_empty() { Vec::new() } else { vec![path.len()] };
        Lanes { spans: path, ends }
    }

    /// Number of lanes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether nothing ran.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The spans of a lane, in the order of time.
    #[must_use]
    pub fn lane(&self, lane: usize) -> &[Span] {
        let start = lane.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.spans[start..self.ends[lane]]
    }

    /// The spans of a lane that lie in a window, clipped to it.
    pub fn within(&self, lane: usize, window: Window) -> impl Iterator<Item = Span> + '_ {
        let spans = self.lane(lane);
        let first = spans.partition_point(|span| span.ended_ns <= window.from_ns);
        let last = spans.partition_point(|span| span.began_ns < window.to_ns);
        spans[first..last.max(first)].iter().map(move |span| Span {
            image: span.image,
            began_ns: span.began_ns.max(window.from_ns),
            ended_ns: span.ended_ns.min(window.to_ns),
        })
    }
}

/// All spans; those of an image are in order of time.
pub(crate) fn spans(tree: &ProcessTree) -> Vec<Span> {
    let images = tree.images();
    let mut covered_until: Vec<i64> = images.iter().map(|image| image.began_ns).collect();
    let mut spans = Vec::with_capacity(images.len() * 2);
    for id in in_order_of_start(tree) {
        let process = tree.process(id);
        let Some(starter) = process.started_by.map(ImageId::index) else { continue };
        let from = process.began_ns.max(covered_until[starter]);
        let to = tree.ended_ns(process).min(tree.image_ended_ns(&images[starter]));
        if to > from {
            push_span(&mut spans, starter, covered_until[starter], from);
            covered_until[starter] = to;
        }
    }
    for (at, (image, &covered)) in images.iter().zip(&covered_until).enumerate() {
        push_span(&mut spans, at, covered, tree.image_ended_ns(image));
    }
    spans
}

fn push_span(spans: &mut Vec<Span>, image: usize, began_ns: i64, ended_ns: i64) {
    if ended_ns > began_ns {
        spans.push(Span { image: ImageId(image as u32), began_ns, ended_ns });
    }
}

/// The lane of each span. The spans are in order of start.
fn pack(tree: &ProcessTree, spans: &[Span]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    // The last lane of each process.
    let mut last = vec![NONE; tree.processes().len()];
    let mut free: BTreeSet<u32> = BTreeSet::new();
    let mut taken: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut opened = 0u32;
    let mut lanes = Vec::with_capacity(spans.len());
    for span in spans {
        while let Some(&Reverse((_, lane))) = taken.peek().filter(|Reverse((end, _))| *end <= span.began_ns) {
            taken.pop();
            free.insert(lane);
        }
        let process = tree.image(span.image).process;
        let wanted = [Some(process), tree.process(process).parent].into_iter().flatten();
        let mut wanted = wanted.map(|process| last[process.index()]);
        let chosen = wanted.find(|lane| free.contains(lane)).or_else(|| free.first().copied());
        let lane = chosen.unwrap_or_else(|| {
            opened += 1;
            opened - 1
        });
        free.remove(&lane);
        last[process.index()] = lane;
        taken.push(Reverse((span.ended_ns, lane)));
        lanes.push(lane);
    }
    lanes
}
