//! Repacking: a recording is rewritten with each snapshot as its difference to the one before where that is smaller.
//!
//! ```text
//!   snapshot   0      1      2      3        12       13
//!   stored     whole ◀patch ◀patch ◀patch …  whole   ◀patch      a whole one in between, so that reading stays cheap
//! ```
//!
//! Objects are renumbered: those of a patch are in the order of their rows. To compare both files, use serials or
//! addresses.

mod comparison;
mod draft;

use std::path::Path;

use barrow_analyzer::raw::{
    Frames, LoadedSnapshot, MATCHED, NO_OBJECT, PAIRED_KEY, SERIALS_FACT, Serials, Side, match_serials,
    match_structure, pairing,
};
use barrow_analyzer::{Pairing, Recording, Roots, SerialOrigin, Tables};
use barrow_format::codec::{Compression, Compressor};
use barrow_format::commit::Patched;
use barrow_format::frame::{NO_SNAPSHOT, encode_frame};
use barrow_format::patch::{Divisions, Layout, MAX_CHAIN, RowGroup, is_worthwhile, most_rows, most_stored};
use barrow_format::rows::{KeyValue, MAX_CHUNK_BYTES, Root, Row, Text, encode_raw_chunk};
use barrow_format::{FormatError, ObjectId, SnapshotId, StringId};
use barrow_progress::Progress;

use crate::copy::{Copy, refuse_same_file, write_anew};
use crate::error::{Result, RewriteError, check};
use comparison::part_changed_giants;
use draft::Draft;

/// Options of repacking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepackOptions {
    /// The level of zstd, 1 to 22.
    pub level: i32,
}

impl Default for RepackOptions {
    fn default() -> Self {
        RepackOptions { level: 9 }
    }
}

/// The result of repacking.
#[derive(Debug, Clone, PartialEq)]
pub struct Repacked {
    /// Its snapshots, in order.
    pub snapshots: Vec<RepackedSnapshot>,
    /// The origin of the serials of its objects.
    pub origin: SerialOrigin,
    /// Length of the new file, in bytes.
    pub bytes: u64,
}

/// The storage of one snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct RepackedSnapshot {
    /// Its number.
    pub snapshot: SnapshotId,
    /// The snapshot it is stored as a difference to.
    pub base: Option<SnapshotId>,
    /// Number of its objects.
    pub objects: u64,
    /// The length of its blocks and patches, in bytes.
    pub stored_bytes: u64,
    /// The pairing of its objects with those of the snapshot before.
    pub pairing: Option<Pairing>,
}

/// Maximum length of the row of a root.
const MAX_ROOT_BYTES: usize = 16;

/// Rewrites `recording` to `destination`, which is replaced when the new file is complete. Snapshots keep their numbers
/// and all recorded facts; objects get new numbers, and serials if they have none.
///
/// Holds two snapshots in memory at a time.
///
/// # Errors
/// [`RewriteError::SameFile`], [`RewriteError::Io`], [`RewriteError::Encode`] for a level that does not exist,
/// [`RewriteError::Cancelled`], or the recording cannot be read.
pub fn repack(
    recording: &Recording,
    destination: &Path,
    options: RepackOptions,
    progress: &dyn Progress,
) -> Result<Repacked> {
    refuse_same_file(recording, destination)?;
    let origin = recording.serial_origin()?;
    let mut snapshots = Vec::new();
    let bytes = write_anew(recording, recording.uuid(), destination, |copy| {
        let mut repacking = Repacker::new(recording, copy, origin, options)?;
        for snapshot in recording.snapshot_ids() {
            snapshots.push(repacking.snapshot(snapshot, progress)?);
        }
        Ok(())
    })?;
    let origin = if origin == SerialOrigin::Matched { SerialOrigin::Repacked } else { origin };
    Ok(Repacked { snapshots, origin, bytes })
}

/// A recording being repacked.
struct Repacker<'c, 'r> {
    recording: &'r Recording,
    copy: &'c mut Copy<'r>,
    compression: Compression,
    compressor: Compressor,
    origin: SerialOrigin,
    serials: Serials,
    /// Number of strings in the new file.
    strings: u32,
    /// The key of the fact about the pairing of a snapshot.
    paired: StringId,
    /// The last written snapshot.
    before: Option<WrittenSnapshot>,
}

/// A written snapshot.
struct WrittenSnapshot {
    id: SnapshotId,
    whole: LoadedSnapshot,
    roots: Roots,
    /// For each object, its row.
    row_of: Vec<u32>,
    groups: Vec<RowGroup>,
    divisions: Divisions,
    /// Number of patches since the last whole snapshot.
    chain: usize,
    /// Number of rows and references in blocks and patches since then.
    stored: u64,
    /// Average size of an object of the whole snapshot, in bytes.
    bytes_per_object: f64,
}

impl<'c, 'r> Repacker<'c, 'r> {
    fn new(
        recording: &'r Recording,
        copy: &'c mut Copy<'r>,
        origin: SerialOrigin,
        options: RepackOptions,
    ) -> Result<Self> {
        let compression = Compression::Zstd(options.level);
        let strings = u32::try_from(recording.tables()?.string_count()).unwrap_or(u32::MAX);
        copy.tables()?;
        let compressor = Compressor::new(compression).map_err(encoding("table"))?;
        let (serials, paired) = (Serials::default(), StringId(0));
        let mut repacking =
            Repacker { recording, copy, compression, compressor, origin, serials, strings, paired, before: None };
        if origin == SerialOrigin::Matched {
            repacking.say_matched()?;
        }
        Ok(repacking)
    }

    /// Adds the fact that serials are matched.
    fn say_matched(&mut self) -> Result<()> {
        self.paired = self.string(PAIRED_KEY)?;
        let fact = KeyValue { key: self.string(SERIALS_FACT)?, value: self.string(MATCHED)? };
        let known = self.recording.facts()?.len() as u64;
        self.chunk(NO_SNAPSHOT, known, &[fact]).map(drop)
    }

    /// Adds a string to the table.
    fn string(&mut self, text: &str) -> Result<StringId> {
        let id = StringId(self.strings);
        self.chunk(NO_SNAPSHOT, id.0.into(), &[Text(text.to_owned())])?;
        self.strings += 1;
        Ok(id)
    }

    /// Writes a chunk of a table. Returns its offset.
    fn chunk<R: Row>(&mut self, snapshot: u32, first: u64, rows: &[R]) -> Result<u64> {
        let mut raw = Vec::new();
        rows.iter().for_each(|row| row.put(&mut raw));
        let count = rows.len() as u64;
        let chunk = encode_raw_chunk::<R>(first, count, &raw, &mut self.compressor).map_err(encoding(R::NAME))?;
        let frame = encode_frame(R::SECTION, snapshot, 0, &chunk.0, &chunk.1);
        self.copy.rows(R::SECTION, snapshot, count, frame)
    }

    fn snapshot(&mut self, id: SnapshotId, progress: &dyn Progress) -> Result<RepackedSnapshot> {
        check(progress)?;
        let mut whole = LoadedSnapshot::read(self.recording, id, progress)?;
        let roots = Roots::read(self.recording, id)?;
        let before = self.before.take();
        let mut partners = match &before {
            None => vec![NO_OBJECT; whole.objects()],
            Some(before) if self.origin == SerialOrigin::Matched => {
                let (old, new) = (before.side(), Side { loaded: &whole, roots: roots.rows() });
                match_structure(old, new, self.tables()?, progress)?
            }
            Some(before) => match_serials(&before.whole, &whole),
        };
        let pairing = before.as_ref().map(|before| pairing(&before.whole, &whole, &partners));
        if self.origin == SerialOrigin::Matched {
            let serials_before = before.as_ref().map_or(&[][..], |before| &before.whole.serials);
            whole.serials = self.serials.inherit(&partners, serials_before);
        }
        progress.begin("writing", whole.objects() as u64, "objects");
        let draft = match &before {
            None => None,
            Some(before) => self.patch(id, before, &whole, &mut partners, progress)?,
        };
        let (base, mut draft) = match draft {
            Some(draft) => (before.as_ref(), draft),
            None => (None, self.whole(id, &whole, before.is_some())?),
        };
        progress.advance(whole.objects() as u64);
        let objects = whole.objects() as u64;
        let (stored_bytes, base_id) = (draft.bytes(), base.map(|base| base.id));
        self.write(id, base_id, &mut draft, pairing)?;
        self.before = Some(WrittenSnapshot::new(id, (draft, stored_bytes), whole, roots, base));
        Ok(RepackedSnapshot { snapshot: id, base: base_id, objects, stored_bytes, pairing })
    }

    /// All objects in blocks; those that existed before come first if nothing else orders them.
    fn whole(&self, id: SnapshotId, whole: &LoadedSnapshot, has_before: bool) -> Result<Draft> {
        let mut order: Vec<u32> = (0..whole.objects() as u32).collect();
        if has_before && self.origin == SerialOrigin::Matched && whole.addresses.is_empty() {
            order.sort_unstable_by_key(|&object| whole.serials[object as usize]);
        }
        let mut draft = Draft::new(id, vec![NO_OBJECT; whole.objects()], 0);
        draft.add_rows(whole, &order, self.tables()?, self.compression)?;
        Ok(draft)
    }

    /// The difference of a snapshot to the one before; `None` if it is not worthwhile.
    fn patch(
        &self,
        id: SnapshotId,
        before: &WrittenSnapshot,
        whole: &LoadedSnapshot,
        partners: &mut [u32],
        progress: &dyn Progress,
    ) -> Result<Option<Draft>> {
        if before.chain >= MAX_CHAIN {
            return Ok(None);
        }
        part_changed_giants(before, whole, self.tables()?, partners, progress)?;
        let first_new_row = before.groups.last().map_or(0, |group| group.rows.end);
        let rows = partners.iter().map(|&old| before.row_of.get(old as usize).copied().unwrap_or(NO_OBJECT));
        let mut draft = Draft::new(id, rows.collect(), first_new_row);
        let fresh: Vec<u32> =
            (0..).zip(&draft.row_of).filter(|(_, row)| **row == NO_OBJECT).map(|(at, _)| at).collect();
        let objects = whole.objects() as u64;
        if u64::from(first_new_row) + fresh.len() as u64 > most_rows(objects) {
            return Ok(None);
        }
        draft.number(&fresh);
        draft.divisions.clone_from(&before.divisions);
        if !draft.compare(before, whole, self.tables()?, self.compression)? {
            return Ok(None);
        }
        draft.add_rows(whole, &fresh, self.tables()?, self.compression)?;
        let pays = is_worthwhile(draft.bytes(), before.bytes_per_object * objects as f64);
        let is_cheap = before.stored + draft.stored <= most_stored(objects, whole.references() as u64);
        Ok((pays && is_cheap).then_some(draft))
    }

    fn tables(&self) -> Result<&'r Tables> {
        Ok(self.recording.tables()?)
    }

    /// Writes a snapshot: its frames, roots, statistics and commit.
    fn write(
        &mut self,
        id: SnapshotId,
        base: Option<SnapshotId>,
        draft: &mut Draft,
        pairing: Option<Pairing>,
    ) -> Result<()> {
        let mut commit = Frames::of(self.recording).commit(id)?.clone();
        let mut layout = Layout::default();
        for encoded in draft.encoded.drain(..) {
            layout.add(&encoded.try_map(|frame: Vec<u8>| {
                let length = frame.len() as u64;
                Ok::<_, RewriteError>((self.copy.append(frame)?, length))
            })?);
        }
        commit.blocks = layout.blocks;
        commit.patched = base.map(|base| Patched { base: base.0, rows: draft.rows, groups: layout.groups });
        commit.roots = self.roots(id, &draft.objects_of_rows())?;
        self.copy.statistics(&mut commit)?;
        self.copy.threads(&mut commit)?;
        if let Some(pairing) = pairing.filter(|_| self.origin == SerialOrigin::Matched) {
            commit.key_values.push((self.paired, self.string(&pairing.sentence())?));
        }
        commit.tables.strings = self.strings;
        self.copy.commit(commit)
    }

    /// Writes the roots of a snapshot with the new numbers of their objects. Returns the offsets of their chunks.
    fn roots(&mut self, id: SnapshotId, object_of: &[u32]) -> Result<Vec<u64>> {
        let roots = Roots::read(self.recording, id)?;
        let mut offsets = Vec::new();
        let mut first = 0;
        for rows in roots.rows().chunks(MAX_CHUNK_BYTES / MAX_ROOT_BYTES) {
            let rows = rows.iter().map(|root| Root { target: ObjectId(object_of[root.target.index()]), ..*root });
            let rows: Vec<Root> = rows.collect();
            offsets.push(self.chunk(id.0, first, &rows)?);
            first += rows.len() as u64;
        }
        Ok(offsets)
    }
}

impl WrittenSnapshot {
    fn new(
        id: SnapshotId,
        (draft, stored_bytes): (Draft, u64),
        whole: LoadedSnapshot,
        roots: Roots,
        base: Option<&WrittenSnapshot>,
    ) -> Self {
        let bytes_per_object = stored_bytes as f64 / (whole.objects() as f64).max(1.0);
        WrittenSnapshot {
            id,
            whole,
            roots,
            row_of: draft.row_of,
            groups: draft.groups,
            divisions: draft.divisions,
            chain: base.map_or(0, |base| base.chain + 1),
            stored: base.map_or(0, |base| base.stored) + draft.stored,
            bytes_per_object: base.map_or(bytes_per_object, |base| base.bytes_per_object),
        }
    }

    fn side(&self) -> Side<'_> {
        Side { loaded: &self.whole, roots: self.roots.rows() }
    }
}

fn encoding(section: &'static str) -> impl Fn(FormatError) -> RewriteError {
    move |source| RewriteError::Encode { section, source }
}
