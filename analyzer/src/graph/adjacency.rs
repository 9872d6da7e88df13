//! Outgoing references as packed adjacency lists: the graph of one snapshot in memory.
//!
//! ```text
//!   starts    by object: offset of its targets in the bytes of its chunk,    4 bytes per object
//!             and a mark for algorithms that traverse the graph              4 more
//!   chunks    one for each block of the file, with its continuations
//!   bytes     target − source, zigzag, packed                                about 2 bytes per reference
//! ```
//!
//! In real heaps most references lead to nearby objects, so a packed difference takes half the bytes of an object
//! number, and caches hold twice as much of the graph. The lists are built from the blocks of the file, in parallel.

use std::sync::{Mutex, PoisonError};

use barrow_format::block::{BlockColumns, Wanted};
use barrow_format::rows::StrengthClass;
use barrow_format::{ObjectId, SnapshotId, StrengthId};

use crate::columns::memory::{Column, Memory};
use crate::columns::packed::{Longest, MAX_BYTES, PADDING, Packer, unzigzag, zigzag};
use crate::columns::prefetch::prefetch;
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, Workspace, decode, places, pooled};
use crate::file::object::{Cursor, Reference};
use crate::file::recording::Recording;
use crate::graph::ephemerons::{Ephemeron, Ephemerons};
use crate::graph::exclusion::Exclusion;
use crate::progress::check;
use crate::run::Run;

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
    longest: Longest,
    references: u64,
    ephemerons: Ephemerons,
}

/// The adjacency lists of consecutive objects: those of one block and its continuations.
#[derive(Debug, Clone, Copy)]
struct AdjacencyChunk {
    /// The first object after the chunk.
    end_object: u32,
    /// Where its bytes start and end.
    start: usize,
    end: usize,
}

/// Objects per entry of the guide.
const GUIDE_OBJECTS: usize = 1 << 10;

/// A block with its continuations, and the part of `starts` for its objects.
struct PackingJob<'a> {
    run: &'a [BlockPlace],
    starts: &'a mut [[u32; 2]],
}

/// The result of a packing job.
struct PackedRun {
    start: usize,
    end: usize,
    references: u64,
    ephemerons: Vec<Ephemeron>,
}

impl Adjacency {
    /// Decodes the references of a snapshot, in parallel on the current pool.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], those of [`Memory`].
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
        let longest = Longest::of(2 * totals.objects);
        let free = Mutex::new((0, &mut bytes[..]));
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
            (done.start, done.end) = place(&free, &packed_bytes[..length + PADDING]);
            workspace.bytes = packed_bytes;
            progress.advance(references);
            Ok(done)
        })?;
        recording.release();
        let mut guide = Vec::with_capacity(objects / GUIDE_OBJECTS + 1);
        let mut chunks = Vec::with_capacity(runs.len());
        for (chunk, (run, done)) in (0..).zip(runs.iter().zip(&done)) {
            let end_object = run[0].entry.first_object + run[0].entry.objects;
            while guide.len() * GUIDE_OBJECTS < end_object as usize {
                guide.push(chunk);
            }
            chunks.push(AdjacencyChunk { end_object, start: done.start, end: done.end });
        }
        let ephemerons = Ephemerons::new(done.iter().flat_map(|done| done.ephemerons.iter().copied()).collect());
        let references = done.iter().map(|done| done.references).sum();
        Ok(Adjacency { chunks, guide, starts, bytes, longest, references, ephemerons })
    }

    /// The number of objects.
    pub(crate) fn objects(&self) -> usize {
        self.starts.len()
    }

    /// The number of references.
    pub(crate) fn references(&self) -> u64 {
        self.references
    }

    /// The ephemerons, which are not among the targets.
    pub(crate) fn ephemerons(&self) -> &Ephemerons {
        &self.ephemerons
    }

    /// The same as slices, for loops over many objects.
    pub(crate) fn view(&self) -> AdjacencyView<'_> {
        let (chunks, guide) = (&self.chunks[..], &self.guide[..]);
        AdjacencyView {
            packed: PackedTargets { chunks, guide, bytes: &self.bytes, longest: self.longest },
            starts: &self.starts,
        }
    }

    /// The packed targets and, for each object, its start and its mark. Marks can be written while targets are read.
    pub(crate) fn marked(&mut self) -> (PackedTargets<'_>, &mut [[u32; 2]]) {
        let (chunks, guide) = (&self.chunks[..], &self.guide[..]);
        (PackedTargets { chunks, guide, bytes: &self.bytes, longest: self.longest }, &mut self.starts)
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
}

/// Prefetch distances in objects: for the start of an object's targets, and for their bytes.
const AHEAD: (usize, usize) = (16, 8);

impl<'r> AdjacencyView<'r> {
    /// The targets of objects that are far apart in memory. They are prefetched.
    #[inline(always)]
    pub(crate) fn scattered<'o>(self, objects: &'o [u32]) -> impl Iterator<Item = (u32, Targets<'r>)> + use<'r, 'o> {
        objects.iter().enumerate().map(move |(at, &object)| {
            if let Some(&far) = objects.get(at + AHEAD.0) {
                prefetch(self.starts, far as usize);
            }
            if let Some(&near) = objects.get(at + AHEAD.1) {
                self.packed.prefetch(near, self.starts[near as usize][0]);
            }
            (object, self.targets(object))
        })
    }
}

/// The packed targets without their starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedTargets<'r> {
    chunks: &'r [AdjacencyChunk],
    guide: &'r [u32],
    bytes: &'r [u8],
    longest: Longest,
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
        let chunk = self.chunk(object);
        let next = object as usize + 1;
        let end = if next < chunk.end_object as usize { chunk.start + start(next) as usize } else { chunk.end };
        let at = chunk.start + start(object as usize) as usize;
        Targets { bytes: self.bytes, longest: self.longest, at, end, source: object }
    }

    /// Prefetches the targets that start at `start`. Near chunk borders it may prefetch the wrong chunk, which is
    /// harmless.
    #[inline(always)]
    pub(crate) fn prefetch(&self, object: u32, start: u32) {
        let chunk = self.guide[object as usize / GUIDE_OBJECTS];
        prefetch(self.bytes, self.chunks[chunk as usize].start + start as usize);
    }
}

/// An iterator over the targets of one object.
#[derive(Debug, Clone)]
pub(crate) struct Targets<'r> {
    bytes: &'r [u8],
    longest: Longest,
    at: usize,
    end: usize,
    source: u32,
}

impl Targets<'_> {
    /// Whether the targets take more than `bytes` bytes. Each takes at least one.
    #[inline(always)]
    pub(crate) fn is_longer_than(&self, bytes: usize) -> bool {
        self.end - self.at > bytes
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

/// Reserves a part of the free bytes for a chunk and copies the chunk there. Returns its start, and its end without
/// padding.
fn place(free: &Mutex<(usize, &mut [u8])>, bytes: &[u8]) -> (usize, usize) {
    let (start, own) = {
        let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, rest) = (free.0, std::mem::take(&mut free.1));
        let (own, rest) = rest.split_at_mut(bytes.len());
        *free = (start + bytes.len(), rest);
        (start, own)
    };
    own.copy_from_slice(bytes);
    (start, start + bytes.len() - PADDING)
}

fn job_references(job: &PackingJob<'_>) -> u64 {
    job.run.iter().map(|place| u64::from(place.entry.references)).sum()
}

/// Decides which references become part of the graph.
struct Filter<'a> {
    recording: &'a Recording,
    follow: Follow,
    exclusion: Option<&'a Exclusion>,
    classes: Vec<StrengthClass>,
}

impl<'a> Filter<'a> {
    fn new(recording: &'a Recording, follow: Follow, exclusion: Option<&'a Exclusion>) -> Result<Self> {
        let tables = recording.tables()?;
        let strengths = (0..tables.strength_count() as u32).map(StrengthId);
        let classes = strengths.map(|strength| tables.strength_class(strength)).collect();
        Ok(Filter { recording, follow, exclusion, classes })
    }

    /// For each shape of the block: whether all references of its objects are kept.
    fn keeps_all(&self, columns: &BlockColumns, out: &mut Vec<bool>) -> Result<()> {
        let tables = self.recording.tables()?;
        out.clear();
        let only_strong = self.classes.iter().all(|&class| class == StrengthClass::Strong);
        out.extend(columns.dictionary.iter().map(|&shape| {
            self.exclusion.is_none()
                && (self.follow == Follow::All || only_strong || {
                    let strengths = tables.shape(shape).fixed_strengths();
                    strengths.is_some_and(|mut fixed| fixed.all(|id| self.class(id) == Some(StrengthClass::Strong)))
                })
        }));
        Ok(())
    }

    fn class(&self, strength: StrengthId) -> Option<StrengthClass> {
        self.classes.get(strength.index()).copied()
    }
}

/// Packs the targets of one job into `packed_bytes`. Also returns their length without padding.
fn pack(
    job: PackingJob<'_>,
    filter: &Filter<'_>,
    longest: Longest,
    workspace: &mut Workspace,
    packed_bytes: &mut Vec<u8>,
) -> Result<(PackedRun, usize)> {
    let mut done = PackedRun { start: 0, end: 0, references: 0, ephemerons: Vec::new() };
    let recording = filter.recording;
    let tables = recording.tables()?;
    let mut keeps_all = Vec::new();
    let mut references = Vec::new();
    // The target before, which is the key if a continuation begins with an ephemeron.
    let mut previous = None;
    let mut length = 0;
    for place in job.run {
        let at = AnalyzerError::section("BLOCK", place.entry.offset);
        decode(recording, place, Wanted::References, workspace, |_, columns| {
            filter.keeps_all(columns, &mut keeps_all)?;
            let is_continuation = columns.objects() == 0;
            let mut cursor = Cursor::default();
            // The size is reserved here, after decoding has confirmed the number of references in the commit.
            let most = length + columns.targets.len() * MAX_BYTES + PADDING;
            packed_bytes.resize(packed_bytes.len().max(most), 0);
            let mut bytes = Packer::new(&mut packed_bytes[..], longest);
            bytes.skip(length);
            for row in 0..columns.counts.len() {
                let source = columns.first_object + row as u32;
                if !is_continuation {
                    job.starts[row][0] = u32::try_from(bytes.position()).expect("a block has at most 2^20 references");
                    previous = None;
                }
                let shape = columns.shapes.get(row).map_or(0, |&shape| shape as usize);
                if keeps_all[shape] {
                    let targets = cursor.targets(columns, row);
                    for &target in targets {
                        bytes.put(zigzag(i64::from(target) - i64::from(source)));
                    }
                    done.references += targets.len() as u64;
                    previous = targets.last().map(|&target| ObjectId(target)).or(previous);
                } else {
                    references.clear();
                    cursor.push_references(columns, row, tables, &mut references).map_err(&at)?;
                    pack_filtered(ObjectId(source), &references, filter, &mut previous, &mut bytes, &mut done);
                }
                cursor.step(columns, row);
            }
            length = bytes.position();
            Ok(())
        })?;
    }
    packed_bytes.resize(packed_bytes.len().max(length + PADDING), 0);
    Ok((done, length))
}

/// Packs the references of one object that are kept.
fn pack_filtered(
    source: ObjectId,
    references: &[Reference],
    filter: &Filter<'_>,
    previous: &mut Option<ObjectId>,
    bytes: &mut Packer<'_>,
    done: &mut PackedRun,
) {
    for reference in references {
        let before = previous.replace(reference.target);
        if filter.exclusion.is_some_and(|exclusion| exclusion.cuts(source, reference)) {
            continue;
        }
        let class = filter.class(reference.strength).unwrap_or(StrengthClass::Strong);
        match (filter.follow, class) {
            (Follow::All, _) | (Follow::Retaining, StrengthClass::Strong) => {
                bytes.put(zigzag(i64::from(reference.target.0) - i64::from(source.0)));
                done.references += 1;
            }
            (Follow::Retaining, StrengthClass::Ephemeron) => {
                // An ephemeron without a key depends only on its source.
                let key = before.unwrap_or(source);
                if !filter.exclusion.is_some_and(|exclusion| exclusion.removes(key)) {
                    done.ephemerons.push(Ephemeron { key, source, value: reference.target });
                }
            }
            (Follow::Retaining, StrengthClass::Weak | StrengthClass::Soft) => {}
        }
    }
}
