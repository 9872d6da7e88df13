//! Verifies a recording: checks every byte, decodes every block and compares every count.

use std::collections::{HashMap, HashSet};

use barrow_format::block::{Block, BlockColumns, ColumnSelection};
use barrow_format::chain::Chain;
use barrow_format::codec::Decompressor;
use barrow_format::commit::{Totals, chained_checksum, stored_checksum};
use barrow_format::frame::{FRAME_HEADER_BYTES, Frame, SectionType, next_frame};
use barrow_format::header::{HEADER_BYTES, TRAILER_BYTES};
use barrow_format::rows::{Chunk, LabelCode, Root};
use barrow_format::{FormatError, SnapshotId};
use parking_lot::Mutex;

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, Workspace, decode, in_parallel, places};
use crate::file::contents::is_table;
use crate::file::recording::Recording;
use crate::file::tables::TableRoom;
use crate::progress::Progress;
use crate::questions::summary::{TypeCounter, count_types, difference, type_totals};
use crate::questions::threads::Threads;

/// The result of verifying a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// The committed snapshots.
    pub snapshots: Vec<SnapshotVerification>,
    /// All problems, in the order of the file.
    pub problems: Vec<Problem>,
    /// The number of objects decoded.
    pub objects: u64,
    /// The number of references decoded.
    pub references: u64,
    /// The number of roots decoded.
    pub roots: u64,
    /// The number of blocks decoded.
    pub blocks: u64,
    /// The bytes of these blocks in the file.
    pub stored_bytes: u64,
    /// The bytes of frames that belong to no committed snapshot, such as those of an abandoned snapshot.
    pub unused_bytes: u64,
}

/// The result of verifying one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotVerification {
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// Its totals according to its commit.
    pub totals: Totals,
    /// The number of its blocks.
    pub blocks: u64,
    /// The number of its problems.
    pub problems: usize,
}

/// A problem of a recording.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The position in bytes from the start of the file.
    pub offset: u64,
    /// The snapshot that it concerns; `None` if it concerns none, or if that is unknown.
    pub snapshot: Option<SnapshotId>,
    /// The description of the problem.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(snapshot) = self.snapshot {
            write!(f, "snapshot {snapshot}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// Checks the whole file: the chain of frames and all checksums, tables, commits, every column of every block, ids,
/// counts and statistics. Damage is reported in the result, not as an error.
///
/// # Errors
/// [`AnalyzerError::Cancelled`].
pub fn verify(recording: &Recording, progress: &dyn Progress) -> Result<Verification> {
    let mut found = Verification::default();
    if let Some(damage) = recording.damage() {
        found.problem(damage.committed_end, None, damage.to_string());
    }
    let frames = Frames::walk(recording, &mut found);
    if let Err(error) = recording.tables() {
        found.error(None, &error);
        return Ok(found);
    }
    recording.tables()?.string_problems().iter().for_each(|error| found.error(None, error));
    for error in [recording.sites().err(), recording.fields().err(), recording.words().err()].into_iter().flatten() {
        found.error(None, &error);
    }
    for log in [recording.process_rows(|_| Ok(())), recording.measurement_rows(|_| Ok(()))] {
        if let Err(error) = log {
            found.error(None, &error);
        }
    }
    let snapshots: Vec<SnapshotId> = recording.snapshot_ids().collect();
    let mut whole = Vec::new();
    for &snapshot in &snapshots {
        match recording.commit(snapshot) {
            Ok(_) => whole.push(snapshot),
            Err(error) => found.error(Some(snapshot), &error),
        }
    }
    verify_blocks(recording, &whole, progress, &mut found)?;
    for &snapshot in &whole {
        verify_roots(recording, snapshot, &mut found);
        if let Err(error) = Threads::read(recording, snapshot) {
            found.error(Some(snapshot), &error);
        }
    }
    frames.compare(recording, &whole, &mut found)?;
    found.problems.sort_unstable();
    found.problems.dedup();
    let mut problems_of: HashMap<SnapshotId, usize> = HashMap::new();
    for snapshot in found.problems.iter().filter_map(|problem| problem.snapshot) {
        *problems_of.entry(snapshot).or_default() += 1;
    }
    for &snapshot in &whole {
        let commit = recording.commit(snapshot)?;
        let problems = problems_of.get(&snapshot).copied().unwrap_or(0);
        let (totals, blocks) = (commit.totals, commit.blocks.len() as u64);
        found.snapshots.push(SnapshotVerification { snapshot, totals, blocks, problems });
    }
    Ok(found)
}

impl Verification {
    fn problem(&mut self, offset: u64, snapshot: Option<SnapshotId>, message: String) {
        self.problems.push(Problem { offset, snapshot, message });
    }

    fn error(&mut self, snapshot: Option<SnapshotId>, error: &AnalyzerError) {
        let offset = if let AnalyzerError::Section { offset, .. } = error { *offset } else { 0 };
        self.problem(offset, snapshot, error.to_string());
    }
}

/// The frames of a file, from its header to its trailer.
struct Frames {
    /// The offsets and lengths of frames that belong to a snapshot, except commits.
    of_snapshots: Vec<(u64, u64)>,
    /// The offsets of tables and commits.
    shared: HashSet<u64>,
}

impl Frames {
    /// Walks over all frames and makes the checks that decoding omits: that there are no gaps between them, the checksums
    /// of all frames but blocks, and that commits name the frames before them. It does not check to which snapshot a frame
    /// belongs, because an abandoned snapshot leaves frames with the number of the next snapshot.
    fn walk(recording: &Recording, found: &mut Verification) -> Self {
        let file = recording.bytes();
        let mut frames = Frames { of_snapshots: Vec::new(), shared: HashSet::new() };
        let trailer = if recording.damage().is_some() { 0 } else { TRAILER_BYTES };
        let end = (file.len() - trailer.min(file.len())) as u64;
        // After damage the sequence number of the next frame is unknown.
        let (mut offset, mut sequence) = (HEADER_BYTES as u64, Some(0u32));
        let mut links = Links::new();
        while offset < end {
            let frame = match Frame::parse(file, offset) {
                Ok(frame) => frame,
                Err(error) => {
                    // The end of a cut file was already reported as damage.
                    if recording.damage().is_none() {
                        found.problem(offset, None, format!("frame at byte {offset}: {error}"));
                    }
                    offset = next_frame(file, offset + 1).unwrap_or(end);
                    sequence = None;
                    links.lose();
                    continue;
                }
            };
            let section = frame.header.section;
            let stored = frame.header.sequence;
            if let Some(expected) = sequence.filter(|&expected| expected != stored) {
                let message =
                    format!("{section} at byte {offset}: frame {expected} of the file says it is frame {stored}");
                found.problem(offset, None, message);
                links.lose();
            }
            sequence = Some(stored.wrapping_add(1));
            let checked =
                frame.directory().and_then(|_| if section.has_columns() { Ok(&[][..]) } else { frame.body() });
            if let Err(error) = checked {
                found.problem(offset, None, format!("{section} at byte {offset}: {error}"));
            }
            found.problems.extend(links.check(file, &frame));
            if is_table(section) || section == SectionType::COMMIT {
                frames.shared.insert(offset);
            } else if section != SectionType::INDEX && section.is_read() {
                frames.of_snapshots.push((offset, frame.end() - offset));
            }
            offset = frame.end();
        }
        if offset != end {
            found.problem(offset, None, format!("the last frame ends at byte {offset}, the frames at byte {end}"));
        }
        frames
    }

    /// Compares the frames found with those that the index and the commits name.
    fn compare(&self, recording: &Recording, whole: &[SnapshotId], found: &mut Verification) -> Result<()> {
        let mut named: HashMap<u64, SnapshotId> = HashMap::new();
        // Separate, because a missing chunk of threads was reported when the threads were read.
        let mut threads: HashMap<u64, SnapshotId> = HashMap::new();
        for &snapshot in whole {
            let commit = recording.commit(snapshot)?;
            let blocks = commit.own_blocks().map(|(_, block)| block.offset);
            let offsets = blocks.chain(commit.stats.iter().copied()).chain(commit.roots.iter().copied());
            named.extend(offsets.map(|offset| (offset, snapshot)));
            threads.extend(commit.threads.iter().map(|&offset| (offset, snapshot)));
        }
        let commits = recording.contents().commits.iter().map(|&(snapshot, offset)| (offset, snapshot));
        let owned = named.iter().chain(&threads).map(|(&offset, &id)| (offset, id));
        let owners: HashMap<u64, SnapshotId> = owned.chain(commits).collect();
        for problem in found.problems.iter_mut().filter(|problem| problem.snapshot.is_none()) {
            problem.snapshot = owners.get(&problem.offset).copied();
        }
        for &(offset, length) in &self.of_snapshots {
            if !named.contains_key(&offset) && !threads.contains_key(&offset) {
                found.unused_bytes += length;
                check_unused(recording, offset, found);
            }
        }
        let there: HashSet<u64> = self.of_snapshots.iter().map(|&(offset, _)| offset).collect();
        for &offset in named.keys().filter(|offset| !there.contains(*offset)) {
            found.problem(offset, None, format!("a commit names a frame at byte {offset}, where none begins"));
        }
        let contents = recording.contents();
        let listed: HashSet<u64> = contents
            .commits
            .iter()
            .map(|&(_, offset)| offset)
            .chain(contents.chunks.iter().map(|&(_, offset)| offset))
            .collect();
        if recording.damage().is_none() {
            for offset in self.shared.symmetric_difference(&listed) {
                found.problem(*offset, None, format!("the index and the frames disagree about byte {offset}"));
            }
        }
        Ok(())
    }
}

/// Recomputes the checksum of each commit from the previous commit and the frames in between.
struct Links {
    /// The checksum of all frames so far; `None` after damage, until the next commit.
    chain: Option<Chain>,
    /// The offset of the first frame that the next commit covers.
    since: u64,
}

impl Links {
    fn new() -> Self {
        Links { chain: Some(Chain::new()), since: HEADER_BYTES as u64 }
    }

    /// Records that a frame is unreadable, which was already reported.
    fn lose(&mut self) {
        self.chain = None;
    }

    /// Adds a frame. If it is a commit with a wrong checksum, returns the problem. The next commit is checked against
    /// the stored checksum.
    fn check(&mut self, file: &[u8], frame: &Frame<'_>) -> Option<Problem> {
        let offset = frame.offset;
        if frame.header.section != SectionType::COMMIT {
            let header = usize::try_from(offset).ok().and_then(|start| file.get(start..)?.get(..FRAME_HEADER_BYTES));
            self.chain = self.chain.take().zip(header).map(|(mut chain, header)| {
                chain.add(header);
                chain
            });
            return None;
        }
        let before = self.chain.take();
        let since = std::mem::replace(&mut self.since, frame.end());
        let body = frame.body().ok()?;
        let stored = stored_checksum(body).ok()?;
        self.chain = Some(Chain::after_commit(stored));
        let computed = chained_checksum(before?, body).ok().filter(|&computed| computed != stored)?;
        let message = format!(
            "COMMIT at byte {offset}: its checksum over the frames from byte {since} on is {stored:016x}, but these frames \
             give {computed:016x}: at least one was changed after it was written, though its own checksums hold"
        );
        Some(Problem { offset, snapshot: None, message })
    }
}

/// Checks the columns of a block that no commit names, because such blocks are never decoded.
fn check_unused(recording: &Recording, offset: u64, found: &mut Verification) {
    let frame = [SectionType::BLOCK, SectionType::PATCH]
        .iter()
        .find_map(|&section| recording.frame(section, None, offset).ok());
    let Some(frame) = frame else { return };
    if let Err(error) = Block::parse(&frame).and_then(|block| block.check_columns()) {
        let section = frame.header.section;
        found.problem(offset, None, format!("{section} at byte {offset}, which belongs to no snapshot: {error}"));
    }
}

/// The counts of one snapshot, added up from all threads.
struct SnapshotCounts {
    snapshot: SnapshotId,
    types: TypeCounter,
    is_whole: bool,
}

/// Decodes all columns of all blocks and compares their totals with the statistics.
fn verify_blocks(
    recording: &Recording,
    snapshots: &[SnapshotId],
    progress: &dyn Progress,
    found: &mut Verification,
) -> Result<()> {
    let places = places(recording, snapshots)?;
    progress.begin("decoding", places.iter().map(|place| u64::from(place.entry.references)).sum(), "references");
    let counting: Vec<Mutex<SnapshotCounts>> = snapshots
        .iter()
        .map(|&snapshot| Mutex::new(SnapshotCounts { snapshot, types: TypeCounter::default(), is_whole: true }))
        .collect();
    let problems = in_parallel(&places, ColumnSelection::All, progress, |place, workspace| {
        Ok(verify_block(recording, place, workspace, &counting))
    })?;
    found.problems.extend(problems.into_iter().flatten());
    for place in &places {
        found.objects += u64::from(place.entry.objects);
        found.references += u64::from(place.entry.references);
        found.blocks += 1;
        found.stored_bytes += place.entry.length;
    }
    for counting in counting {
        let counting = counting.into_inner();
        verify_statistics(recording, &counting, found);
    }
    Ok(())
}

fn verify_block(
    recording: &Recording,
    place: &BlockPlace,
    workspace: &mut Workspace,
    counting: &[Mutex<SnapshotCounts>],
) -> Option<Problem> {
    let position = counting
        .binary_search_by_key(&place.snapshot, |counting| counting.lock().snapshot)
        .expect("blocks were listed from these snapshots");
    let checked = decode(recording, place, ColumnSelection::All, workspace, |block, columns| {
        check_block(recording, place, block, columns)?;
        Ok(count_types(columns, recording.tables()?))
    });
    let mut counting = counting[position].lock();
    match checked {
        Ok(rows) => {
            counting.types.add(&rows);
            None
        }
        Err(error) => {
            counting.is_whole = false;
            let (offset, snapshot) = (place.entry.offset, Some(place.snapshot));
            Some(Problem { offset, snapshot, message: error.to_string() })
        }
    }
}

/// Makes the checks that decoding omits: columns that are not decoded, and the labels of explicit tails.
fn check_block(recording: &Recording, place: &BlockPlace, block: &Block<'_>, columns: &BlockColumns) -> Result<()> {
    let at = AnalyzerError::section("BLOCK", place.entry.offset);
    block.check_columns().map_err(&at)?;
    let tables = recording.tables()?;
    columns.labels.iter().try_for_each(|&code| tables.check_label(LabelCode(code))).map_err(at)
}

fn verify_statistics(recording: &Recording, counting: &SnapshotCounts, found: &mut Verification) {
    let snapshot = counting.snapshot;
    match type_totals(recording, snapshot) {
        Err(error) => found.error(Some(snapshot), &error),
        // A block that cannot be decoded was already reported; the totals differ because of it.
        Ok(stored) if counting.is_whole => {
            if let Some(error) = difference(&stored, &counting.types.rows()) {
                let offset = recording.commit(snapshot).ok().and_then(|commit| commit.stats.first().copied());
                let offset = offset.unwrap_or_default();
                found.problem(offset, Some(snapshot), format!("STATS at byte {offset}: {error}"));
            }
        }
        Ok(_) => {}
    }
}

fn verify_roots(recording: &Recording, snapshot: SnapshotId, found: &mut Verification) {
    let Ok(commit) = recording.commit(snapshot) else { return };
    let mut count = 0;
    let mut room = TableRoom::new(recording.bytes());
    for &offset in &commit.roots {
        match roots_at(recording, snapshot, offset, &mut room) {
            Ok(roots) => count += roots,
            Err(error) => return found.error(Some(snapshot), &error),
        }
    }
    found.roots += count;
    if count != commit.totals.roots {
        let error = FormatError::Mismatch { what: "roots of the snapshot", stored: commit.totals.roots, found: count };
        let offset = commit.roots.first().copied().unwrap_or_default();
        found.problem(offset, Some(snapshot), format!("ROOTS at byte {offset}: {error}"));
    }
}

/// Reads one chunk of roots and checks their ids. Returns the number of roots.
fn roots_at(recording: &Recording, snapshot: SnapshotId, offset: u64, room: &mut TableRoom) -> Result<u64> {
    let at = AnalyzerError::section("ROOTS", offset);
    let commit = recording.commit(snapshot)?;
    let frame = recording.frame(SectionType::ROOTS, Some(snapshot), offset)?;
    let chunk = frame.directory().and_then(|directory| Chunk::parse(directory, frame.body()?)).map_err(&at)?;
    room.take(SectionType::ROOTS, &chunk).map_err(&at)?;
    chunk
        .for_each(&mut Decompressor::new(), |root: Root| {
            let name = root.category.0.max(root.label.map_or(0, |label| label.0));
            for (what, value, limit) in [
                ("string of a root", u64::from(name), u64::from(commit.tables.strings)),
                ("target of a root", root.target.0.into(), commit.totals.objects),
            ] {
                if value >= limit {
                    return Err(FormatError::OutOfRange { what, value, limit });
                }
            }
            Ok(())
        })
        .map_err(at)?;
    Ok(chunk.count)
}
