//! The results of the shards and encoders of one snapshot, and its commit.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use barrow_format::block::BlockColumns;
use barrow_format::commit::{BlockEntry, Commit, Totals};
use barrow_format::rows::{Root, TypeTotals};
use barrow_format::{ObjectId, StringId, TypeId};

use crate::announced::Announced;
use crate::error::{Result, WriterError};
use crate::lock::lock;
use crate::options::Sync;
use crate::patches::{Draft, Spill};
use crate::shared::Shared;
use crate::tables::Pending;

/// The result of encoding one block.
#[derive(Debug)]
pub(crate) struct EncodedBlock {
    totals: Vec<TypeTotals>,
    objects: u32,
    references: u32,
    /// The highest target, and the object that refers to it.
    highest: Option<(u32, u32)>,
}

impl EncodedBlock {
    pub(crate) fn count(block: &Announced, columns: &BlockColumns) -> Self {
        let mut by_place =
            vec![TypeTotals { type_id: TypeId(0), objects: 0, heap_bytes: 0, unmanaged_bytes: 0 }; columns.forms.len()];
        let sizes = columns.shallow_bytes.iter().zip(&columns.unmanaged_bytes);
        for ((&place, &type_id), (&shallow, &unmanaged)) in columns.shapes.iter().zip(&block.types).zip(sizes) {
            if let Some(totals) = by_place.get_mut(place as usize) {
                totals.type_id = TypeId(type_id);
                totals.objects += 1;
                totals.heap_bytes = totals.heap_bytes.wrapping_add(shallow);
                totals.unmanaged_bytes = totals.unmanaged_bytes.wrapping_add(unmanaged);
            }
        }
        let highest = columns.targets.iter().copied().max();
        EncodedBlock {
            totals: by_place,
            objects: u32::try_from(columns.shapes.len()).unwrap_or(u32::MAX),
            references: u32::try_from(columns.targets.len()).unwrap_or(u32::MAX),
            highest: highest.map(|target| (target, source_of(target, columns))),
        }
    }
}

/// The first object of the block that refers to `target`.
fn source_of(target: u32, columns: &BlockColumns) -> u32 {
    let position = columns.targets.iter().position(|&other| other == target).unwrap_or(0);
    let mut end = 0;
    let before = columns.counts.iter().take_while(|&&count| {
        end += count as usize;
        end <= position
    });
    columns.first_object + u32::try_from(before.count()).unwrap_or(0)
}

/// The description of a snapshot for its commit, apart from its contents.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) time_ns: Option<u64>,
    pub(crate) gc_number: Option<u64>,
    pub(crate) label: Option<StringId>,
    pub(crate) key_values: Vec<(StringId, StringId)>,
}

/// The position of a written block in the order of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BlockPosition {
    /// The first object not before the block.
    start: u64,
    /// A continuation goes before the block that begins at `start`.
    begins: bool,
    sequence: u64,
}

/// The results of all shards and encoders of one snapshot.
#[derive(Debug)]
pub(crate) struct SnapshotResults {
    pub(crate) snapshot: u32,
    sequence: AtomicU64,
    open_shards: AtomicUsize,
    abandoned: AtomicBool,
    failed: AtomicBool,
    /// The snapshot was committed or abandoned; later announcements of its shards are discarded.
    ended: AtomicBool,
    error: Mutex<Option<WriterError>>,
    gathered: Mutex<Gathered>,
    /// The blocks that wait for the commit, if the snapshot may become a patch.
    spill: Option<Mutex<Spill>>,
}

#[derive(Debug, Default)]
struct Gathered {
    blocks: Vec<(BlockPosition, BlockEntry)>,
    /// By type id.
    totals: Vec<(u64, u64, u64)>,
    highest: Option<(u32, u32)>,
    roots: Vec<u64>,
    root_count: u64,
    highest_root: Option<u32>,
    pending_roots: Option<Pending>,
    /// All roots, if their targets may be renumbered.
    kept_roots: Vec<Root>,
}

impl SnapshotResults {
    pub(crate) fn new(snapshot: u32, may_be_patch: bool) -> Self {
        SnapshotResults {
            snapshot,
            sequence: AtomicU64::new(0),
            open_shards: AtomicUsize::new(0),
            abandoned: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            error: Mutex::new(None),
            gathered: Mutex::new(Gathered::default()),
            spill: may_be_patch.then(Mutex::default),
        }
    }

    pub(crate) fn open_shard(&self) {
        self.open_shards.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn close_shard(&self, finished: bool) {
        if !finished {
            self.abandoned.store(true, Ordering::Release);
        }
        self.open_shards.fetch_sub(1, Ordering::AcqRel);
    }

    /// Bytes that one shard's block may take now. A growing column holds up to two and a half times its contents, and
    /// an encoder up to three times its current block: its columns, their varints, the compressed bytes and the frame.
    pub(crate) fn share_bytes(&self, shared: &Shared) -> usize {
        // Relaxed: a stale number of shards only makes a block a little larger or smaller.
        let shards = self.open_shards.load(Ordering::Relaxed).max(1);
        // Without encoding threads, every shard has an encoder of its own.
        let encoders = if shared.threads == 0 { shards } else { shared.threads };
        (shared.memory_budget_bytes / 5 / (shards + encoders + 1)).clamp(16 << 10, 8 << 20)
    }

    pub(crate) fn next_sequence(&self) -> u64 {
        // Relaxed: only one shard's own order matters, and it submits from one thread.
        self.sequence.fetch_add(1, Ordering::Relaxed)
    }

    /// Keeps the first error, also after it was reported; the announcing threads meet it at their next block.
    pub(crate) fn fail(&self, error: WriterError) {
        let mut first = lock(&self.error);
        if !self.failed.load(Ordering::Acquire) {
            *first = Some(error);
        }
        // Under the lock: a thread that sees it finds the error.
        self.failed.store(true, Ordering::Release);
    }

    /// Returns whether nothing more of the snapshot needs to be written.
    pub(crate) fn is_over(&self) -> bool {
        self.failed.load(Ordering::Acquire) || self.ended.load(Ordering::Acquire)
    }

    /// Fails if the snapshot ended, or if an encoder failed: with its error the first time, then with
    /// [`WriterError::SnapshotFailed`].
    pub(crate) fn check(&self) -> Result<()> {
        if !self.is_over() {
            return Ok(());
        }
        if self.ended.load(Ordering::Acquire) {
            return Err(WriterError::SnapshotEnded);
        }
        Err(lock(&self.error).take().unwrap_or(WriterError::SnapshotFailed))
    }

    /// Ends the snapshot for its shards. A root that is being announced meanwhile is included when this returns, later
    /// ones are refused.
    pub(crate) fn end(&self) {
        let _gathered = lock(&self.gathered);
        self.ended.store(true, Ordering::Release);
    }

    /// Appends the frame of a block to the file, or to the blocks that wait for the commit. Returns its offset there.
    pub(crate) fn append(&self, shared: &Shared, frame: &mut [u8]) -> Result<u64> {
        match &self.spill {
            Some(spill) => lock(spill).append(frame),
            None => lock(&shared.sink).append_frame(frame),
        }
    }

    /// Enters a block that has been appended.
    pub(crate) fn add(&self, encoded: EncodedBlock, block: &Announced, offset: u64, length: u64) {
        let first_object = block.first_object;
        let place = BlockPosition {
            start: u64::from(first_object) + u64::from(block.is_continuation),
            begins: !block.is_continuation,
            sequence: block.sequence,
        };
        // Its group is its position among the blocks, which is known when all are there, and not stored.
        let EncodedBlock { objects, references, .. } = encoded;
        let entry = BlockEntry { offset, length, first_object, objects, references, group: 0 };
        let mut gathered = lock(&self.gathered);
        gathered.blocks.push((place, entry));
        gathered.highest = gathered.highest.max(encoded.highest);
        for totals in encoded.totals.iter().filter(|totals| totals.objects > 0) {
            let index = totals.type_id.index();
            if gathered.totals.len() <= index {
                gathered.totals.resize(index + 1, (0, 0, 0));
            }
            if let Some(sum) = gathered.totals.get_mut(index) {
                sum.0 += totals.objects;
                sum.1 = sum.1.wrapping_add(totals.heap_bytes);
                sum.2 = sum.2.wrapping_add(totals.unmanaged_bytes);
            }
        }
    }

    pub(crate) fn root(&self, shared: &Shared, root: &Root) -> Result<()> {
        let mut gathered = lock(&self.gathered);
        // Under the lock: once the snapshot has ended, nothing of it may be written.
        self.check()?;
        let mut is_full = false;
        if self.spill.is_some() {
            gathered.kept_roots.push(*root);
        } else {
            let pending = gathered.pending_roots.get_or_insert_with(Pending::new);
            pending.push(root)?;
            is_full = pending.is_full();
        }
        gathered.root_count += 1;
        gathered.highest_root = gathered.highest_root.max(Some(root.target.0));
        if is_full && let Err(error) = self.flush_roots(&mut gathered, shared) {
            self.fail(error);
        }
        self.check()
    }

    fn flush_roots(&self, gathered: &mut Gathered, shared: &Shared) -> Result<()> {
        let Some(pending) = &mut gathered.pending_roots else { return Ok(()) };
        let mut tables = lock(&shared.tables);
        let offsets = pending.flush::<Root>(self.snapshot, &mut lock(&shared.sink), tables.compressor())?;
        gathered.roots.extend(offsets);
        Ok(())
    }

    /// Fails unless every shard was finished.
    pub(crate) fn check_shards(&self) -> Result<()> {
        let count = self.open_shards.load(Ordering::Acquire);
        if count > 0 {
            return Err(WriterError::ShardsOpen { count });
        }
        if self.abandoned.load(Ordering::Acquire) { Err(WriterError::ShardAbandoned) } else { Ok(()) }
    }

    /// Checks the announcements and writes all sections that end a snapshot.
    pub(crate) fn write(&self, shared: &Shared, description: Description, threads: Vec<u64>) -> Result<Totals> {
        let mut gathered = lock(&self.gathered);
        let objects = gathered.tile()?;
        gathered.check_targets(objects)?;
        let announced: Vec<BlockEntry> = gathered.blocks.iter().map(|&(_, entry)| entry).collect();
        let draft = self.draft(&announced, shared)?;
        let blocks = self.write_kept_blocks(&announced, draft.as_ref(), shared)?;
        self.write_kept_roots(&mut gathered, draft.as_ref(), shared)?;
        self.flush_roots(&mut gathered, shared)?;
        let stats = gathered.write_stats(self.snapshot, shared)?;
        // Counted before they are written: other threads may declare more meanwhile, and a commit must need nothing
        // that does not precede it in the file.
        let tables = shared.counts.snapshot();
        shared.flush_tables()?;
        let Description { time_ns, gc_number, label, key_values } = description;
        let mut commit = Commit {
            // Set when it is appended.
            checksum: 0,
            snapshot: self.snapshot,
            time_ns,
            gc_number,
            label,
            key_values,
            totals: gathered.sums(objects),
            tables,
            stats,
            roots: std::mem::take(&mut gathered.roots),
            threads,
            blocks,
            previous_offset: shared.last_commit(),
            patched: draft.as_ref().map(Draft::patched),
        };
        let mut sink = lock(&shared.sink);
        if shared.sync == Sync::AtCommit {
            sink.sync()?;
        }
        let offset = sink.append_commit(&mut commit)?;
        drop(sink);
        shared.committed(offset);
        self.remember(&announced, draft, shared);
        let totals = commit.totals;
        match lock(&shared.sink).sync_if(shared.sync == Sync::AtCommit) {
            Err(WriterError::Io { source, .. }) => Err(WriterError::CommittedNotSynced { totals, source }),
            other => other.map(|()| totals),
        }
    }
}

/// Where a snapshot may become a patch.
impl SnapshotResults {
    /// The snapshot as its difference to the one before, if it should be written that way.
    fn draft(&self, announced: &[BlockEntry], shared: &Shared) -> Result<Option<Draft>> {
        match (&self.spill, &shared.patches) {
            (Some(spill), Some(patches)) => patches.draft(self.snapshot, announced, spill, &shared.shapes),
            _ => Ok(None),
        }
    }

    /// Writes the frames that wait for the commit: those of the patch, or all blocks as they were announced. Returns
    /// the blocks with their positions in the file.
    fn write_kept_blocks(
        &self,
        announced: &[BlockEntry],
        draft: Option<&Draft>,
        shared: &Shared,
    ) -> Result<Vec<BlockEntry>> {
        let mut blocks = draft.map_or(announced, |draft| &draft.layout.blocks).to_vec();
        let Some(spill) = &self.spill else { return Ok(blocks) };
        let (mut spill, mut frame) = (lock(spill), Vec::new());
        for block in blocks.iter_mut().filter(|block| block.length > 0) {
            spill.read(block.offset, block.length, &mut frame)?;
            block.offset = lock(&shared.sink).append_frame(&mut frame)?;
        }
        Ok(blocks)
    }

    /// Writes the roots that wait for the numbers of their targets.
    fn write_kept_roots(&self, gathered: &mut Gathered, draft: Option<&Draft>, shared: &Shared) -> Result<()> {
        let mut pending = Pending::new();
        for root in std::mem::take(&mut gathered.kept_roots) {
            let target = draft.map_or(root.target, |draft| ObjectId(draft.object(root.target.0)));
            pending.push(&Root { target, ..root })?;
            if pending.is_full() {
                gathered.pending_roots = Some(pending);
                self.flush_roots(gathered, shared)?;
                pending = gathered.pending_roots.take().unwrap_or_else(Pending::new);
            }
        }
        if self.spill.is_some() {
            gathered.pending_roots = Some(pending);
        }
        Ok(())
    }

    /// Remembers the committed snapshot, for comparison with the next one.
    fn remember(&self, announced: &[BlockEntry], draft: Option<Draft>, shared: &Shared) {
        let (Some(spill), Some(patches)) = (&self.spill, &shared.patches) else { return };
        match draft {
            Some(draft) => patches.committed(self.snapshot, draft),
            None => patches.committed_whole(self.snapshot, announced, spill, &shared.shapes),
        }
    }
}

impl Gathered {
    fn sums(&self, objects: u64) -> Totals {
        Totals {
            objects,
            references: self.blocks.iter().map(|(_, block)| u64::from(block.references)).sum(),
            roots: self.root_count,
            heap_bytes: self.totals.iter().map(|totals| totals.1).fold(0, u64::wrapping_add),
            unmanaged_bytes: self.totals.iter().map(|totals| totals.2).fold(0, u64::wrapping_add),
        }
    }

    /// Sorts the blocks and checks that they hold each object once. Returns the number of objects.
    fn tile(&mut self) -> Result<u64> {
        self.blocks.sort_unstable_by_key(|&(place, _)| place);
        let announced = self.blocks.iter().map(|(_, entry)| u64::from(entry.objects)).sum();
        let mut next = 0;
        for (place, entry) in self.blocks.iter().filter(|(place, _)| place.begins) {
            if place.start < next {
                return Err(WriterError::ObjectAnnouncedTwice { object: place.start });
            }
            if place.start > next {
                return Err(WriterError::ObjectNeverAnnounced { object: next, announced });
            }
            next += u64::from(entry.objects);
        }
        Ok(next)
    }

    fn check_targets(&self, announced: u64) -> Result<()> {
        if let Some((target, from)) = self.highest
            && u64::from(target) >= announced
        {
            return Err(WriterError::ReferenceToUnannounced { from: from.into(), target: target.into(), announced });
        }
        match self.highest_root {
            Some(target) if u64::from(target) >= announced => {
                Err(WriterError::RootToUnannounced { target: target.into(), announced })
            }
            _ => Ok(()),
        }
    }

    /// Writes the totals of every type. Returns the offsets of their frames.
    fn write_stats(&self, snapshot: u32, shared: &Shared) -> Result<Vec<u64>> {
        let mut offsets = Vec::new();
        let mut pending = Pending::new();
        let mut tables = lock(&shared.tables);
        let mut sink = lock(&shared.sink);
        for (type_id, &(objects, heap_bytes, unmanaged_bytes)) in (0..).map(TypeId).zip(&self.totals) {
            if objects == 0 {
                continue;
            }
            pending.push(&TypeTotals { type_id, objects, heap_bytes, unmanaged_bytes })?;
            if pending.is_full() {
                offsets.extend(pending.flush::<TypeTotals>(snapshot, &mut sink, tables.compressor())?);
            }
        }
        offsets.extend(pending.flush::<TypeTotals>(snapshot, &mut sink, tables.compressor())?);
        Ok(offsets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_told_once() {
        let collected = SnapshotResults::new(0, false);
        assert!(collected.check().is_ok());
        collected.fail(WriterError::ShardAbandoned);
        collected.fail(WriterError::Broken);
        assert!(matches!(collected.check(), Err(WriterError::ShardAbandoned)));
        // Another encoder that was at work meanwhile.
        collected.fail(WriterError::Broken);
        assert!(matches!(collected.check(), Err(WriterError::SnapshotFailed)));
    }
}
