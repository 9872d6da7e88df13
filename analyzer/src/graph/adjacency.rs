//! Outgoing references as packed adjacency lists: the graph of one snapshot in memory.
//!
//! ```text
//!   starts    by object: offset of its targets in the bytes of its chunk,    4 bytes per object
//!             and a mark for algorithms that traverse the graph              4 more
//!   chunks    one for each block of the file, with its continuations
//!   bytes     target − source, zigzag, packed                                about 2 bytes per reference
//!   rows      long lists that several objects of a block share: where their bytes are
//! ```
//!
//! In real heaps most references lead to nearby objects, so a packed difference takes half the bytes of an object
//! number, and caches hold twice as much of the graph. The lists are built from the blocks of the file, in parallel.

mod packing;

use barrow_format::SnapshotId;
use parking_lot::Mutex;

use crate::columns::memory::{Column, Growth, Memory};
use crate::columns::packed::{MAX_BYTES, MaxLength, PADDING, unzigzag};
use crate::columns::prefetch::prefetch;
use crate::error::Result;
use crate::file::blocks::{BlockPlace, places, pooled};
use crate::file::recording::Recording;
use crate::graph::ephemerons::Ephemerons;
use crate::graph::exclusion::Exclusion;
use crate::graph::shared_rows::{SharedRow, VisitedRows};
use crate::progress::check;
use crate::run::Run;

use self::packing::{Filter, PackingJob, job_references, pack};

/// Which references become part of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Follow {
    /// References that keep their targets alive: strong ones. Ephemerons are kept separately.
    Retaining,
    /// All references, including weak, soft and ephemeron ones.
    All,
}

/// The outgoing references of all objects of a snapshot.
#[derive(Debug)]
pub(crate) struct Adjacency {
    chunks: Vec<AdjacencyChunk>,
    /// For every [`GUIDE_OBJECTS`] objects, the chunk that contains the first of them.
    guide: Vec<u32>,
    /// For each object, the offset of its targets in its chunk, and a mark, initially 0. Both are adjacent in memory,
    /// because an algorithm that reads one reads the other next.
    starts: Column<[u32; 2]>,
    bytes: Column<u8>,
    rows: Vec<SharedRow>,
    longest: MaxLength,
    references: u64,
    stored_references: u64,
    ephemerons: Ephemerons,
}

/// The adjacency lists of consecutive objects: those of one block and its continuations.
#[derive(Debug, Clone, Copy)]
struct AdjacencyChunk {
    /// The first object after the chunk.
    end_object: u32,
    /// The number of its first shared row.
    first_row: u32,
    /// Where its bytes start and end.
    start: usize,
    end: usize,
}

/// Objects per entry of the guide, which thus is a thousandth of the references' size. This is a judgement.
const GUIDE_OBJECTS: usize = 1 << 10;
/// Marks the start of an object that shares a row: in place of its targets there is the number of the row in the chunk.
/// Other starts are lower.
const SHARES: u32 = 1 << 31;

impl Adjacency {
    /// Decodes the references of a snapshot, in parallel on the current pool.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section),
    /// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled), those of [`Memory`].
    pub(crate) fn build(
        recording: &Recording,
        snapshot: SnapshotId,
        follow: Follow,
        exclusion: Option<&Exclusion>,
        run: Run<'_>,
    ) -> Result<Self> {
        let Run { memory, progress } = run;
        let totals = recording.commit(snapshot)?.totals;
        let places = places(recording, &[snapshot])?;
        let runs: Vec<&[BlockPlace]> = places.chunk_by(|_, next| next.entry.objects == 0).collect();
        let objects = usize::try_from(totals.objects).unwrap_or(usize::MAX);
        let references = usize::try_from(totals.references).unwrap_or(usize::MAX);
        progress.begin("reading references", totals.references, "references");
        let mut starts = memory.column(objects)?;
        let mut bytes = memory.scratch(references * MAX_BYTES + runs.len() * PADDING)?;
        let filter = Filter::new(recording, follow, exclusion)?;
        // A zigzag difference takes one bit more than an object number.
        let longest = MaxLength::of(2 * totals.objects);
        let (rest, growth) = bytes.parts();
        let free = Mutex::new(FreeBytes { start: 0, rest, growth });
        let mut rest = &mut starts[..];
        let jobs = runs.iter().map(|&run| {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(run[0].entry.objects as usize);
            rest = others;
            PackingJob { run, starts: own }
        });
        let done = pooled(jobs.collect(), |job, workspace| {
            check(progress)?;
            let references = job_references(&job);
            let mut packed_bytes = std::mem::take(&mut workspace.bytes);
            let (mut done, length) = pack(job, &filter, longest, workspace, &mut packed_bytes)?;
            (done.start, done.end) = place(&free, &packed_bytes[..length + PADDING])?;
            workspace.bytes = packed_bytes;
            progress.advance(references);
            Ok(done)
        })?;
        recording.release();
        let length = free.into_inner().start;
        let bytes = bytes.into_column(length);
        let mut guide = Vec::with_capacity(objects / GUIDE_OBJECTS + 1);
        let mut chunks = Vec::with_capacity(runs.len());
        let mut rows = Vec::new();
        for (chunk, (run, done)) in (0..).zip(runs.iter().zip(&done)) {
            let end_object = run[0].entry.first_object + run[0].entry.objects;
            while guide.len() * GUIDE_OBJECTS < end_object as usize {
                guide.push(chunk);
            }
            chunks.push(AdjacencyChunk { end_object, first_row: rows.len() as u32, start: done.start, end: done.end });
            rows.extend(done.shared.rows.iter().map(|row| SharedRow {
                start: done.start + row.start,
                end: done.start + row.end,
                ..*row
            }));
        }
        let ephemerons = Ephemerons::new(done.iter().flat_map(|done| done.ephemerons.iter().copied()).collect());
        let references = done.iter().map(|done| done.references).sum();
        let stored_references = done.iter().map(|done| done.stored_references + done.shared.targets).sum();
        Ok(Adjacency { chunks, guide, starts, bytes, rows, longest, references, stored_references, ephemerons })
    }

    /// The number of objects.
    pub(crate) fn objects(&self) -> usize {
        self.starts.len()
    }

    /// The number of references.
    pub(crate) fn references(&self) -> u64 {
        self.references
    }

    /// The number of references if every shared row is a vertex: those to the rows, and those from each row once.
    pub(crate) fn stored_references(&self) -> u64 {
        self.stored_references
    }

    /// The number of shared rows.
    pub(crate) fn shared_rows(&self) -> usize {
        self.rows.len()
    }

    /// For a search that visits every shared row once.
    pub(crate) fn visited_rows(&self) -> VisitedRows {
        VisitedRows::new(self.rows.len())
    }

    /// The ephemerons, which are not among the targets.
    pub(crate) fn ephemerons(&self) -> &Ephemerons {
        &self.ephemerons
    }

    /// The same as slices, for loops over many objects.
    pub(crate) fn view(&self) -> AdjacencyView<'_> {
        AdjacencyView { packed: self.packed(), starts: &self.starts }
    }

    /// The packed targets and, for each object, its start and its mark. Marks can be written while targets are read.
    pub(crate) fn marked(&mut self) -> (PackedTargets<'_>, &mut [[u32; 2]]) {
        let (chunks, guide, rows) = (&self.chunks[..], &self.guide[..], &self.rows[..]);
        (PackedTargets { chunks, guide, rows, bytes: &self.bytes, longest: self.longest }, &mut self.starts)
    }

    fn packed(&self) -> PackedTargets<'_> {
        let (chunks, guide, rows) = (&self.chunks[..], &self.guide[..], &self.rows[..]);
        PackedTargets { chunks, guide, rows, bytes: &self.bytes, longest: self.longest }
    }

    /// Copies starts and marks into memory if they are paged and there is room, because searches access them randomly.
    pub(crate) fn bring_in(mut self, memory: &Memory) -> Result<Self> {
        self.starts = memory.bring_in(self.starts)?;
        Ok(self)
    }

    /// Keeps only the marks.
    pub(crate) fn into_marks(self) -> Column<u32> {
        self.starts.into_seconds()
    }
}

/// [`Adjacency`] as plain slices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdjacencyView<'r> {
    packed: PackedTargets<'r>,
    starts: &'r [[u32; 2]],
}

impl<'r> AdjacencyView<'r> {
    /// The targets of an object, in the order of its references.
    #[inline(always)]
    pub(crate) fn targets(&self, object: u32) -> Targets<'r> {
        self.packed.targets(object, |object| self.starts[object][0])
    }

    /// The targets of an object, or none if a lower object has visited the row that it shares.
    #[inline(always)]
    pub(crate) fn new_targets(&self, object: u32, rows: &VisitedRows) -> Targets<'r> {
        let start = |object: usize| self.starts[object][0];
        self.packed.targets_if(object, start, |row| rows.claim(row, object))
    }
}

/// Prefetch distances in objects: for the start of an object's targets, and for their bytes. The time that memory takes is
/// hidden by so many objects. This is a judgement.
const AHEAD: (usize, usize) = (16, 8);

impl<'r> AdjacencyView<'r> {
    /// The targets of objects that are far apart in memory. They are prefetched.
    #[inline(always)]
    pub(crate) fn scattered<'o>(self, objects: &'o [u32]) -> impl Iterator<Item = (u32, Targets<'r>)> + use<'r, 'o> {
        self.prefetched(objects).map(move |object| (object, self.targets(object)))
    }

    /// The same as by [`AdjacencyView::new_targets`].
    #[inline(always)]
    pub(crate) fn new_scattered<'o>(
        self,
        objects: &'o [u32],
        rows: &'o VisitedRows,
    ) -> impl Iterator<Item = (u32, Targets<'r>)> + use<'r, 'o> {
        self.prefetched(objects).map(move |object| (object, self.new_targets(object, rows)))
    }

    /// These objects, with their targets prefetched.
    #[inline(always)]
    fn prefetched<'o>(self, objects: &'o [u32]) -> impl Iterator<Item = u32> + use<'r, 'o> {
        objects.iter().enumerate().map(move |(at, &object)| {
            if let Some(&far) = objects.get(at + AHEAD.0) {
                prefetch(self.starts, far as usize);
            }
            if let Some(&near) = objects.get(at + AHEAD.1) {
                self.packed.prefetch(near, self.starts[near as usize][0]);
            }
            object
        })
    }
}

/// The packed targets without their starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedTargets<'r> {
    chunks: &'r [AdjacencyChunk],
    guide: &'r [u32],
    rows: &'r [SharedRow],
    bytes: &'r [u8],
    longest: MaxLength,
}

impl<'r> PackedTargets<'r> {
    fn chunk(&self, object: u32) -> AdjacencyChunk {
        let mut at = self.guide[object as usize / GUIDE_OBJECTS] as usize;
        while self.chunks[at].end_object <= object {
            at += 1;
        }
        self.chunks[at]
    }

    /// The targets of an object. `start` returns the start of this object's targets and of the next object's.
    #[inline(always)]
    pub(crate) fn targets(&self, object: u32, start: impl Fn(usize) -> u32) -> Targets<'r> {
        self.targets_if(object, start, |_| true)
    }

    /// The same, but none if the object shares a row that is not `wanted`.
    #[inline(always)]
    fn targets_if(&self, object: u32, start: impl Fn(usize) -> u32, wanted: impl FnOnce(u32) -> bool) -> Targets<'r> {
        let own = start(object as usize);
        if let Some(row) = self.shared_row(object, own) {
            let targets = self.targets_of_row(row);
            return if wanted(row) { targets } else { Targets { at: targets.end, ..targets } };
        }
        let chunk = self.chunk(object);
        let next = object as usize + 1;
        let is_last = next >= chunk.end_object as usize;
        let end = if is_last { chunk.end } else { chunk.start + (start(next) & !SHARES) as usize };
        let at = chunk.start + own as usize;
        Targets { bytes: self.bytes, longest: self.longest, at, end, source: object }
    }

    /// The row that an object with this start shares with others, if it does.
    #[inline(always)]
    pub(crate) fn shared_row(&self, object: u32, start: u32) -> Option<u32> {
        (start & SHARES != 0).then(|| self.row_at(object, start & !SHARES))
    }

    #[cold]
    fn row_at(&self, object: u32, offset: u32) -> u32 {
        let chunk = self.chunk(object);
        chunk.first_row + self.longest.get(self.bytes, &mut (chunk.start + offset as usize)) as u32
    }

    /// The targets of a shared row.
    pub(crate) fn targets_of_row(&self, row: u32) -> Targets<'r> {
        let SharedRow { start, end, owner } = self.rows[row as usize];
        Targets { bytes: self.bytes, longest: self.longest, at: start, end, source: owner }
    }

    /// Prefetches the targets that start at `start`. Near chunk borders it may prefetch the wrong chunk, which is
    /// harmless.
    #[inline(always)]
    pub(crate) fn prefetch(&self, object: u32, start: u32) {
        let chunk = self.guide[object as usize / GUIDE_OBJECTS];
        prefetch(self.bytes, self.chunks[chunk as usize].start + (start & !SHARES) as usize);
    }
}

/// An iterator over the targets of one object.
#[derive(Debug, Clone)]
pub(crate) struct Targets<'r> {
    bytes: &'r [u8],
    longest: MaxLength,
    at: usize,
    end: usize,
    source: u32,
}

impl Targets<'_> {
    /// The bytes of the targets that are left, and so the most that their number can be.
    #[inline(always)]
    pub(crate) fn bytes_left(&self) -> usize {
        self.end - self.at
    }

    /// Returns whether the targets take more than `bytes` bytes. Each takes at least one.
    #[inline(always)]
    pub(crate) fn is_longer_than(&self, bytes: usize) -> bool {
        self.bytes_left() > bytes
    }
}

impl Iterator for Targets<'_> {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        if self.at >= self.end {
            return None;
        }
        let difference = unzigzag(self.longest.get(self.bytes, &mut self.at));
        // Differences wrap around modulo 2^32, like the ids they were made from.
        Some(self.source.wrapping_add(difference as u32))
    }
}

/// The bytes after those of the chunks that were placed.
struct FreeBytes<'f> {
    start: usize,
    rest: &'f mut [u8],
    growth: &'f mut Growth,
}

/// Reserves a part of the free bytes for a chunk and copies the chunk there. Returns its start, and its end without
/// padding.
fn place(free: &Mutex<FreeBytes<'_>>, bytes: &[u8]) -> Result<(usize, usize)> {
    let (start, own) = {
        let mut free = free.lock();
        let (start, end) = (free.start, free.start + bytes.len());
        free.growth.reach(end)?;
        let (own, rest) = std::mem::take(&mut free.rest).split_at_mut(bytes.len());
        (free.start, free.rest) = (end, rest);
        (start, own)
    };
    own.copy_from_slice(bytes);
    Ok((start, start + bytes.len() - PADDING))
}
