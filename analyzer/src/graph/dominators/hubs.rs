//! Hubs: objects that very many others refer to, as instances refer to their class.
//!
//! ```text
//!   marks      of a hub, beside its row: MARK and which hub it is, where other objects have their number
//!   pieces     hub ─▶ the pieces of `bytes` that are its own, in order
//!   bytes      the numbers that refer to it, ascending, as packed differences
//! ```
//!
//! Some hundred hubs take a half of the references of a heap. Who refers to one is noted where it is
//! found: close together, a byte each, and nothing needs to be turned around.

use std::ops::ControlFlow;

use crate::columns::memory::{Column, Memory};
use crate::columns::packed::{Longest, MAX_BYTES, PADDING, Packer};
use crate::columns::prefetch::prefetch;
use crate::error::Result;
use crate::graph::adjacency::PackedTargets;

/// What the mark of a hub has beyond its place among the hubs. Numbers are less.
const MARK: u32 = 1 << 31;
/// The most hubs there are.
const MAX_HUBS: usize = 1 << 12;

/// Of this many objects, [`SAMPLE`] are looked at to find hubs.
const STRIDE: usize = 1 << 12;
const SAMPLE: usize = 1 << 6;
/// References of one object that are looked at: an array may hold most of all there are.
const SAMPLE_REFERENCES: usize = 1 << 8;
/// As many references from a sample make a hub: some 1,000 from all objects.
const ENOUGH: u32 = 1 << 4;

/// Bytes of a piece.
const PIECE: usize = 1 << 10;
/// Sources that are on their way from memory together.
const BATCH: usize = 64;

/// The hubs of a search, and who refers to them.
pub(super) struct Hubs {
    hubs: Vec<Hub>,
    bytes: Column<u8>,
    longest: Longest,
}

/// One hub.
pub(super) struct Hub {
    object: u32,
    /// Its number; 0 before it is visited.
    number: u32,
    /// The number that was noted last.
    last: u32,
    /// Where the next difference goes.
    at: usize,
    /// The end of its last piece, less what must follow a number.
    end: usize,
    pieces: Vec<u32>,
}

impl Hub {
    /// Its number; 0 if nobody visited it.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The greatest number that is noted; its own at first.
    #[inline(always)]
    fn greatest(&self) -> u32 {
        self.last.max(self.number)
    }
}

impl Hubs {
    /// Finds and marks the hubs of up to `vertices`, by a sample. Which objects are hubs changes no answer.
    ///
    /// Time: the first references of a 64th of the objects are read twice.
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
        Ok(Hubs { hubs, bytes: memory.scratch(pieces * PIECE)?, longest: Longest::of(vertices as u64) })
    }

    /// Which hub a mark is of, if it is one.
    #[inline(always)]
    pub(super) fn of_mark(mark: u32) -> Option<usize> {
        mark.checked_sub(MARK).map(|hub| hub as usize)
    }

    /// The hubs, to be visited and noted.
    pub(super) fn notes(&mut self) -> Notes<'_> {
        Notes { hubs: &mut self.hubs, bytes: &mut self.bytes, taken: 0, longest: self.longest }
    }

    /// Gives hubs back their numbers as marks; from now on they are in falling order of them.
    pub(super) fn unmark(&mut self, state: &mut [[u32; 2]]) {
        for hub in &self.hubs {
            state[hub.object as usize][1] = hub.number;
        }
        self.hubs.sort_unstable_by_key(|hub| std::cmp::Reverse(hub.number));
    }

    /// The hubs, in falling order of their numbers; those that nobody visited have 0, and come last.
    pub(super) fn by_falling_number(&self) -> std::slice::Iter<'_, Hub> {
        self.hubs.iter()
    }

    /// Calls `visit` with the numbers that refer to a hub, until it says to stop. What stands at them in `elements`
    /// is asked for before.
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

/// Who refers to hubs, as it is found.
pub(super) struct Notes<'h> {
    hubs: &'h mut [Hub],
    bytes: &'h mut [u8],
    /// How many pieces are taken.
    taken: u32,
    longest: Longest,
}

impl Notes<'_> {
    /// The number of a hub; 0 before it is visited.
    #[inline(always)]
    pub(super) fn number(&mut self, hub: usize) -> &mut u32 {
        &mut self.hubs[hub].number
    }

    /// Notes that `source` refers to a hub that was visited, unless that was noted last. Sources only grow.
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

/// Calls `visit` with the targets of the objects of a sample, and the mark of each.
fn each_sampled(packed: PackedTargets<'_>, state: &mut [[u32; 2]], mut visit: impl FnMut(u32, &mut u32)) {
    let objects = state.len();
    for first in (0..objects).step_by(STRIDE) {
        for object in first..objects.min(first + SAMPLE) {
            // The row reads starts, the visit writes marks.
            let targets = packed.targets(object as u32, |object| state[object][0]);
            targets.take(SAMPLE_REFERENCES).for_each(|target| visit(target, &mut state[target as usize][1]));
        }
    }
}
