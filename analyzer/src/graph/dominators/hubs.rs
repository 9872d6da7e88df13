//! Hubs: objects with very many incoming references, such as classes, to which all instances refer.
//!
//! ```text
//!   marks      of a hub: MARK and its index among the hubs; other objects have their number there
//!   pieces     by hub: its own pieces of `bytes`, in order
//!   bytes      the numbers of its sources, ascending, as packed differences
//! ```
//!
//! A few hundred hubs receive half of the references in a heap. Their sources are recorded when the references are
//! found. They take about one byte each and need not be transposed.

use std::ops::ControlFlow;

use crate::columns::memory::{Growth, Memory, Scratch};
use crate::columns::packed::{MAX_BYTES, MaxLength, PADDING, Packer};
use crate::columns::prefetch::prefetch;
use crate::error::Result;
use crate::graph::adjacency::PackedTargets;

/// The mark of a hub is this bit and its index among the hubs. Numbers are lower.
const MARK: u32 = 1 << 31;
/// The maximum number of hubs. Those with fewer references save little. This is a judgement.
const MAX_HUBS: usize = 1 << 12;

/// Of this number of objects, the first [`SAMPLE`] are sampled to find hubs: one in 64, whose references take a sixty-fourth of
/// the time of all, and of which a hub has many. This is a judgement.
const STRIDE: usize = 1 << 12;
const SAMPLE: usize = 1 << 6;
/// The maximum number of references sampled per object, because one array may hold most references of the heap.
const SAMPLE_REFERENCES: usize = 1 << 8;
/// Objects with this number of references from the sample become hubs. They have about 1,000 references from all
/// objects.
const ENOUGH: u32 = 1 << 4;

/// Length of a piece in bytes.
const PIECE: usize = 1 << 10;
/// Number of sources that are prefetched together: they fit into the nearest cache. This is a judgement.
const BATCH: usize = 64;

/// The hubs of a search and their sources.
pub(super) struct Hubs {
    hubs: Vec<Hub>,
    bytes: Scratch<u8>,
    longest: MaxLength,
}

/// One hub.
pub(super) struct Hub {
    object: u32,
    /// Its number; 0 before it is visited.
    number: u32,
    /// The source that was recorded last.
    last: u32,
    /// Position of the next difference.
    at: usize,
    /// The end of the usable part of its last piece.
    end: usize,
    pieces: Vec<u32>,
}

impl Hub {
    /// Its number; 0 if it was not visited.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The highest number recorded; initially its own.
    #[inline(always)]
    fn greatest(&self) -> u32 {
        self.last.max(self.number)
    }
}

impl Hubs {
    /// Finds hubs by sampling, and marks them. Which objects become hubs does not affect any result.
    ///
    /// Time: the first references of one object in 64 are read twice.
    ///
    /// # Errors
    /// Those of [`Memory`].
    pub(super) fn find(
        packed: PackedTargets<'_>,
        state: &mut [[u32; 2]],
        vertices: usize,
        references: usize,
        memory: &Memory,
    ) -> Result<Self> {
        let mut hubs = Vec::new();
        if vertices < MARK as usize {
            each_sampled(packed, state, |object, count| {
                *count += 1;
                if *count == ENOUGH && hubs.len() < MAX_HUBS {
                    hubs.push(Hub { object, number: 0, last: 0, at: 0, end: 0, pieces: Vec::new() });
                }
            });
            each_sampled(packed, state, |_, count| *count = 0);
        }
        for (mark, hub) in (MARK..).zip(&hubs) {
            state[hub.object as usize][1] = mark;
        }
        let pieces = if hubs.is_empty() { 0 } else { hubs.len() + references * MAX_BYTES / (PIECE - PADDING) + 1 };
        Ok(Hubs { hubs, bytes: memory.scratch(pieces * PIECE)?, longest: MaxLength::of(vertices as u64) })
    }

    /// The index of the hub that a mark belongs to; `None` if the mark is a number.
    #[inline(always)]
    pub(super) fn of_mark(mark: u32) -> Option<usize> {
        mark.checked_sub(MARK).map(|hub| hub as usize)
    }

    /// Access for visiting hubs and recording their sources.
    pub(super) fn notes(&mut self) -> Notes<'_> {
        let (bytes, growth) = self.bytes.parts();
        Notes { hubs: &mut self.hubs, bytes, growth, taken: 0, longest: self.longest }
    }

    /// Replaces the marks of hubs by their numbers, and sorts the hubs by descending number.
    pub(super) fn unmark(&mut self, state: &mut [[u32; 2]]) {
        for hub in &self.hubs {
            state[hub.object as usize][1] = hub.number;
        }
        self.hubs.sort_unstable_by_key(|hub| std::cmp::Reverse(hub.number));
    }

    /// The hubs by descending number. Those that were not visited have number 0 and come last.
    pub(super) fn by_falling_number(&self) -> std::slice::Iter<'_, Hub> {
        self.hubs.iter()
    }

    /// Calls `visit` with each number that refers to a hub, until it returns a break. Prefetches the elements at these
    /// numbers.
    pub(super) fn each_source<T>(
        &self,
        hub: &Hub,
        elements: &mut [T],
        mut visit: impl FnMut(&mut [T], u32) -> ControlFlow<()>,
    ) {
        let bytes = &self.bytes[..];
        let (mut source, greatest) = (hub.number, hub.greatest());
        let mut pieces = hub.pieces.iter();
        let (mut at, mut end) = (0, 0);
        let mut batch = [0; BATCH];
        while source != greatest {
            let mut length = 0;
            while length < BATCH && source != greatest {
                if at >= end {
                    let Some(&piece) = pieces.next() else { return };
                    at = piece as usize * PIECE;
                    end = at + PIECE - PADDING;
                }
                source += self.longest.get(bytes, &mut at) as u32;
                prefetch(elements, source as usize);
                batch[length] = source;
                length += 1;
            }
            for &source in &batch[..length] {
                if visit(elements, source).is_break() {
                    return;
                }
            }
        }
    }
}

/// Records the sources of hubs while they are found.
pub(super) struct Notes<'h> {
    hubs: &'h mut [Hub],
    bytes: &'h mut [u8],
    growth: &'h mut Growth,
    /// The number of pieces in use.
    taken: u32,
    longest: MaxLength,
}

impl Notes<'_> {
    /// The number of a hub; 0 before it is visited.
    #[inline(always)]
    pub(super) fn number(&mut self, hub: usize) -> &mut u32 {
        &mut self.hubs[hub].number
    }

    /// Makes room for `sources` more.
    ///
    /// # Errors
    /// Those of [`Growth::reach`].
    pub(super) fn reach(&mut self, sources: usize) -> Result<()> {
        let pieces = sources.min(self.hubs.len()) + sources * MAX_BYTES / (PIECE - PADDING) + 1;
        self.growth.reach((self.taken as usize + pieces) * PIECE)
    }

    /// Records that `source` refers to a visited hub, unless that was recorded last. Sources only increase.
    #[inline(always)]
    pub(super) fn note(&mut self, hub: usize, source: u32) {
        let hub = &mut self.hubs[hub];
        let difference = source - hub.greatest();
        if difference == 0 {
            return;
        }
        if hub.at >= hub.end {
            hub.pieces.push(self.taken);
            hub.at = self.taken as usize * PIECE;
            hub.end = hub.at + PIECE - PADDING;
            self.taken += 1;
        }
        let mut packer = Packer::new(self.bytes, self.longest);
        packer.skip(hub.at);
        packer.put(difference.into());
        hub.at = packer.position();
        hub.last = source;
    }
}

/// Calls `visit` with each target of the sampled objects, and the target's mark.
fn each_sampled(packed: PackedTargets<'_>, state: &mut [[u32; 2]], mut visit: impl FnMut(u32, &mut u32)) {
    let objects = state.len();
    for first in (0..objects).step_by(STRIDE) {
        for object in first..objects.min(first + SAMPLE) {
            // Only starts are read here; `visit` writes marks.
            let targets = packed.targets(object as u32, |object| state[object][0]);
            targets.take(SAMPLE_REFERENCES).for_each(|target| visit(target, &mut state[target as usize][1]));
        }
    }
}
