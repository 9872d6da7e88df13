//! Transposing a graph: from the references of all blocks to packed lists of sources.
//!
//! ```text
//!   block ──▶ its references, sorted by part of their targets      4 bytes each: 16 bits for the source within the
//!                  │                                               block, 16 for the target within its part
//!                  ▼  for each part, in the order of blocks
//!   part  ──▶ count and length of each list ──▶ sum up ──▶ fill the lists
//! ```
//!
//! The numbers of a part fit a processor's cache, and everything else is read and written in order. So nothing waits
//! for memory. Blocks are independent of each other, and so are parts: all threads work on both.

use barrow_format::block::{BlockColumns, ColumnSelection, MAX_OBJECTS};
use barrow_format::{ObjectId, SnapshotId};
use parking_lot::Mutex;
use rayon::prelude::*;

use super::{GROUP, Incoming, MANY, PART, STARTS, longest};
use crate::columns::lookup::Lookup;
use crate::columns::memory::{Column, Growth, Scratch};
use crate::columns::packed::{MAX_BYTES, MaxLength, PADDING, zigzag};
use crate::columns::values::Values;
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, map_blocks, places};
use crate::file::object::Cursor;
use crate::file::recording::Recording;
use crate::graph::exclusion::Exclusion;
use crate::progress::{Progress, check};
use crate::run::Run;

const _: () = assert!(MAX_OBJECTS as usize <= PART, "a source within its block takes 16 bits");

/// References between two checks for cancellation: a cancelled question ends within milliseconds.
const CHECK_REFERENCES: usize = 1 << 20;

impl Incoming {
    /// Transposes the references of a snapshot, weak ones included, on all threads of the current pool.
    ///
    /// Time: linear. Memory: 4 bytes per reference besides the result, which takes a byte per object and one or two
    /// per reference.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], [`AnalyzerError::TooManyReferences`], those of
    /// [`crate::Memory`].
    pub(crate) fn of(
        recording: &Recording,
        snapshot: SnapshotId,
        exclusion: Option<&Exclusion>,
        run: Run<'_>,
    ) -> Result<Self> {
        let Run { memory, progress } = run;
        let objects = usize::try_from(recording.commit(snapshot)?.totals.objects).unwrap_or(usize::MAX);
        let places = places(recording, &[snapshot])?;
        let total: usize = places.iter().map(|place| place.entry.references as usize).sum();
        progress.begin("reading references", total as u64, "references");
        let mut sorted: Column<u32> = memory.column(total)?;
        let segments = sort_blocks(recording, &places, exclusion, &mut sorted, progress)?;
        recording.release();
        progress.begin("turning references around", total as u64, "references");
        let mut counts: Column<u8> = memory.column(objects)?;
        let mut starts: Column<u64> = memory.column(objects.div_ceil(PART) * STARTS)?;
        let mut lists: Scratch<u8> = memory.scratch(total * MAX_BYTES + objects.div_ceil(PART) * PADDING)?;
        let longest = longest(objects);
        let (bytes, growth) = lists.parts();
        let free = Mutex::new(FreeSpace { at: 0, bytes, growth, many: Vec::new() });
        let mut rest = &segments[..];
        let mut jobs = Vec::new();
        for (number, (counts, starts)) in (0..).zip(counts.chunks_mut(PART).zip(starts.chunks_mut(STARTS))) {
            let (segments, others) = rest.split_at(rest.partition_point(|segment| segment.part == number));
            rest = others;
            jobs.push(Job { first: number * PART as u32, segments, sorted: &sorted, longest, counts, starts });
        }
        // The largest parts first, so that no thread waits long for the last one.
        jobs.sort_by_key(|job| std::cmp::Reverse(job.references()));
        jobs.into_par_iter().with_max_len(1).try_for_each(|job| {
            let references = job.references();
            job.run(&free, progress)?;
            progress.advance(references as u64);
            Ok(())
        })?;
        let FreeSpace { at: end, mut many, .. } = free.into_inner();
        many.sort_unstable();
        let lists = lists.into_column(end);
        let (counts, starts, lists) = (Values::from(counts), Values::from(starts), Values::from(lists));
        let (counts, starts, lists) = (Lookup::Whole(counts), Lookup::Whole(starts), Lookup::Whole(lists));
        Ok(Incoming { counts, many, starts, lists, longest })
    }
}

/// References of one block whose targets are in one part.
#[derive(Debug, Clone, Copy)]
struct Segment {
    part: u32,
    /// The first object of the block.
    first: u32,
    /// The position of its references among all of them.
    start: usize,
    length: usize,
}

/// Sorts the references of each block by the part of their targets, into `sorted`. Returns the segments by part, those
/// of a part in the order of blocks.
fn sort_blocks(
    recording: &Recording,
    places: &[BlockPlace],
    exclusion: Option<&Exclusion>,
    sorted: &mut [u32],
    progress: &dyn Progress,
) -> Result<Vec<Segment>> {
    let free = Mutex::new((0, sorted));
    let spare = Mutex::new(Vec::<Sorter>::new());
    let found = map_blocks(recording, places, ColumnSelection::References, progress, |place, _, columns| {
        let taken = spare.lock().pop();
        let mut sorter = taken.unwrap_or_default();
        let targets = sorter.read(recording, place, columns, exclusion)?;
        let (start, own) = {
            let mut free = free.lock();
            let (own, rest) = std::mem::take(&mut free.1).split_at_mut(targets);
            let start = free.0;
            *free = (start + targets, rest);
            (start, own)
        };
        let segments = sorter.sort(columns, exclusion.is_some(), start, own);
        spare.lock().push(sorter);
        Ok(segments)
    })?;
    let mut segments = found.concat();
    // A stable sort.
    segments.par_sort_by_key(|segment| segment.part);
    Ok(segments)
}

/// Buffers for sorting the references of a block.
#[derive(Default)]
struct Sorter {
    /// The source of each reference, within the block.
    sources: Vec<u16>,
    /// The targets that are not excluded, if any are.
    targets: Vec<u32>,
    /// By part: the number of references, later where the next one goes. All 0 between two blocks.
    counts: Vec<u32>,
    /// The parts with references.
    parts: Vec<u32>,
}

impl Sorter {
    /// Reads the references that are not excluded. Returns their number.
    fn read(
        &mut self,
        recording: &Recording,
        place: &BlockPlace,
        columns: &BlockColumns,
        exclusion: Option<&Exclusion>,
    ) -> Result<usize> {
        self.sources.clear();
        self.targets.clear();
        let Some(exclusion) = exclusion else {
            for (row, &count) in columns.counts.iter().enumerate() {
                self.sources.extend(std::iter::repeat_n(row as u16, count as usize));
            }
            return Ok(self.sources.len());
        };
        let tables = recording.tables()?;
        let at = AnalyzerError::section("BLOCK", place.entry.offset);
        let (mut cursor, mut references) = (Cursor::default(), Vec::new());
        for row in 0..columns.counts.len() {
            references.clear();
            cursor.push_references(columns, row, tables, &mut references).map_err(&at)?;
            cursor.step(columns, row);
            let source = ObjectId(columns.first_object + row as u32);
            references.retain(|reference| !exclusion.cuts(source, reference));
            self.sources.extend(references.iter().map(|_| row as u16));
            self.targets.extend(references.iter().map(|reference| reference.target.0));
        }
        Ok(self.sources.len())
    }

    /// Sorts them by counting, into `own`, which starts at `start` of all references.
    fn sort(&mut self, columns: &BlockColumns, is_filtered: bool, start: usize, own: &mut [u32]) -> Vec<Segment> {
        let targets = if is_filtered { &self.targets } else { &columns.targets };
        for &target in targets {
            let part = target as usize / PART;
            if part >= self.counts.len() {
                self.counts.resize(part + 1, 0);
            }
            if self.counts[part] == 0 {
                self.parts.push(part as u32);
            }
            self.counts[part] += 1;
        }
        self.parts.sort_unstable();
        let mut segments = Vec::with_capacity(self.parts.len());
        let mut at = 0;
        for &part in &self.parts {
            let length = std::mem::replace(&mut self.counts[part as usize], at) as usize;
            segments.push(Segment { part, first: columns.first_object, start: start + at as usize, length });
            at += length as u32;
        }
        for (&source, &target) in self.sources.iter().zip(targets) {
            let at = &mut self.counts[target as usize / PART];
            own[*at as usize] = (u32::from(source) << 16) | (target % PART as u32);
            *at += 1;
        }
        self.parts.drain(..).for_each(|part| self.counts[part as usize] = 0);
        segments
    }
}

/// The part of the column of lists that no part has taken.
struct FreeSpace<'c> {
    at: usize,
    bytes: &'c mut [u8],
    growth: &'c mut Growth,
    many: Vec<[u64; 3]>,
}

/// Making the lists of one part.
struct Job<'c> {
    /// The first target.
    first: u32,
    segments: &'c [Segment],
    sorted: &'c [u32],
    longest: MaxLength,
    counts: &'c mut [u8],
    starts: &'c mut [u64],
}

/// A list under construction.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    /// The source before.
    before: u32,
    /// The number of sources so far.
    count: u32,
    /// Its length in bytes so far; later the place of the next source.
    at: usize,
}

impl List {
    /// Takes the next source. Returns the number that encodes it.
    #[inline(always)]
    fn next(&mut self, target: u32, source: u32) -> u64 {
        // Branch-free, because many lists have one source.
        let base = if self.count == 0 { target } else { self.before };
        let difference = i64::from(source) - i64::from(base);
        let number = if self.count == 0 { zigzag(difference) } else { difference.cast_unsigned() };
        self.before = source;
        self.count += 1;
        number
    }
}

impl Job<'_> {
    fn references(&self) -> usize {
        self.segments.iter().map(|segment| segment.length).sum()
    }

    fn run(mut self, free: &Mutex<FreeSpace<'_>>, progress: &dyn Progress) -> Result<()> {
        if u32::try_from(self.references()).is_err() {
            return Err(AnalyzerError::TooManyReferences);
        }
        let mut lists = vec![List::default(); self.counts.len()];
        let longest = self.longest;
        self.each(&mut lists, progress, |list, number| list.at += longest.length_of(number))?;
        let bytes: usize = lists.iter().map(|list| list.at).sum();
        let (start, own) = {
            let mut free = free.lock();
            let end = free.at + bytes + PADDING;
            free.growth.reach(end)?;
            let (own, rest) = std::mem::take(&mut free.bytes).split_at_mut(bytes + PADDING);
            let start = free.at;
            (free.at, free.bytes) = (start + own.len(), rest);
            (start, own)
        };
        let many = self.describe(&mut lists, start as u64);
        free.lock().many.extend(many);
        self.each(&mut lists, progress, |list, number| longest.put_between(own, &mut list.at, number))
    }

    /// Calls `visit` for each source of each list, ascending within a list, with the number that encodes it.
    #[inline(always)]
    fn each(&self, lists: &mut [List], progress: &dyn Progress, mut visit: impl FnMut(&mut List, u64)) -> Result<()> {
        for segment in self.segments {
            for entries in self.sorted[segment.start..segment.start + segment.length].chunks(CHECK_REFERENCES) {
                check(progress)?;
                for &entry in entries {
                    let target = entry % PART as u32;
                    let list = &mut lists[target as usize];
                    let number = list.next(self.first + target, segment.first + (entry >> 16));
                    visit(list, number);
                }
            }
        }
        Ok(())
    }

    /// Fills in counts and starts. Makes the lists ready to be filled. Returns the objects with many references.
    fn describe(&mut self, lists: &mut [List], start: u64) -> Vec<[u64; 3]> {
        let mut many = Vec::new();
        let mut at = 0;
        for (target, list) in lists.iter_mut().enumerate() {
            if target.is_multiple_of(GROUP) {
                self.starts[target / GROUP] = start + at as u64;
            }
            let (count, bytes) = (u64::from(list.count), list.at);
            self.counts[target] = count.min(MANY) as u8;
            if count >= MANY {
                many.push([u64::from(self.first) + target as u64, count, bytes as u64]);
            }
            *list = List { at, ..List::default() };
            at += bytes;
        }
        self.starts[lists.len().div_ceil(GROUP)..].fill(start + at as u64);
        many
    }
}
