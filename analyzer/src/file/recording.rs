//! A recording: an opened file, its snapshots and its tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use barrow_format::block::Block;
use barrow_format::chain::Chain;
use barrow_format::commit::{BlockEntry, Commit, Totals, stored_checksum};
use barrow_format::frame::{FRAME_HEADER_BYTES, Frame, SectionType};
use barrow_format::header::{HEADER_BYTES, Header};
use barrow_format::rows::WordRow;
use barrow_format::{FormatError, SiteId, SnapshotId, TypeId};

use parking_lot::Mutex;

use crate::error::{AnalyzerError, Result};
use crate::file::bytes::Bytes;
use crate::file::contents::{Contents, Damage};
use crate::file::fields::Fields;
use crate::file::patch_chain::PatchChain;
use crate::file::sites::{SiteDetails, Sites};
use crate::file::tables::Tables;
use crate::file::words;
use crate::lazy::Lazy;

/// The fact of a recording whose numbers in fields were replaced when it was redacted.
pub const REPLACED_NUMBERS: &str = "redacted field values";

/// The fact of an imported recording that names the format of the dump.
pub const SOURCE_FORMAT: &str = "source format";

/// An open recording. Opening reads only the header and the index. Everything else is read when a question first needs
/// it, and then kept.
#[derive(Debug)]
pub struct Recording {
    path: Option<PathBuf>,
    bytes: Arc<Bytes>,
    header: Header,
    contents: Contents,
    /// Boxed, because a forged index can list more snapshots than there are.
    commits: Vec<Lazy<Box<Commit>>>,
    tables: Lazy<Tables>,
    sites: Lazy<Sites>,
    fields: Lazy<Fields>,
    words: Lazy<Vec<WordRow>>,
    /// The chains of the patched snapshots used last.
    chains: Mutex<Vec<(SnapshotId, Arc<PatchChain>)>>,
}

/// The description of a snapshot, which is known without reading its objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Its number in the recording.
    pub id: SnapshotId,
    /// When it was taken, in nanoseconds since the start of the recording.
    pub time_ns: Option<u64>,
    /// The number of the garbage collection after which it was taken.
    pub gc_number: Option<u64>,
    /// Its label.
    pub label: Option<String>,
    /// Other facts about it: keys and values.
    pub key_values: Vec<(String, String)>,
    /// Its totals, as counted by the writer.
    pub totals: Totals,
    /// Number of its blocks.
    pub blocks: usize,
    /// Length of its blocks in the file, in bytes. For a patch, this is only what differs from its base.
    pub stored_bytes: u64,
    /// The snapshot that it is stored as a difference to.
    pub base: Option<SnapshotId>,
}

impl Recording {
    /// Maps a file and reads its index. A file without an index is scanned, see [`Recording::damage`].
    ///
    /// # Errors
    /// [`AnalyzerError::Io`]; [`AnalyzerError::Unreadable`] if it is no recording or a newer one.
    pub fn open(path: &Path) -> Result<Self> {
        Self::new(Some(path.to_owned()), Bytes::map(path)?)
    }

    /// The same recording after its file was renamed to `path`.
    #[must_use]
    pub fn renamed(self, path: &Path) -> Self {
        Recording { path: Some(path.to_owned()), ..self }
    }

    /// The same recording without a path, for instance because its file is removed while mapped. No index file is kept
    /// for it.
    #[must_use]
    pub fn unnamed(self) -> Self {
        Recording { path: None, ..self }
    }

    /// Opens a recording in memory.
    ///
    /// # Errors
    /// [`AnalyzerError::Unreadable`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::new(None, Bytes::Owned(bytes))
    }

    fn new(path: Option<PathBuf>, bytes: Bytes) -> Result<Self> {
        match Header::parse(&bytes) {
            Ok(header) => {
                let contents = Contents::find(&bytes).map_err(AnalyzerError::Unreadable)?;
                Ok(Self::with_contents(path, Arc::new(bytes), header, contents))
            }
            // Frames contain everything needed to continue without a valid header.
            Err(error @ FormatError::Checksum { .. }) => {
                let header = Header::read(&bytes).map_err(AnalyzerError::Unreadable)?;
                let contents = Contents::scan(&bytes, error.to_string()).map_err(AnalyzerError::Unreadable)?;
                Ok(Self::with_contents(path, Arc::new(bytes), header, contents))
            }
            Err(error) => Err(AnalyzerError::Unreadable(error)),
        }
    }

    pub(crate) fn with_contents(path: Option<PathBuf>, bytes: Arc<Bytes>, header: Header, contents: Contents) -> Self {
        let commits = contents.commits.iter().map(|_| Lazy::default()).collect();
        let (tables, chains) = (Lazy::default(), Mutex::new(Vec::new()));
        let (sites, fields, words) = (Lazy::default(), Lazy::default(), Lazy::default());
        Recording { path, bytes, header, contents, commits, tables, sites, fields, words, chains }
    }

    /// The same file, opened without using its index.
    pub(crate) fn rescanned(&self, reason: String) -> Result<Self> {
        let contents = Contents::scan_thoroughly(&self.bytes, reason).map_err(AnalyzerError::Unreadable)?;
        Ok(Self::with_contents(self.path.clone(), Arc::clone(&self.bytes), self.header.clone(), contents))
    }

    /// Path of the file; `None` if the recording is in memory.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Length of the file, in bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The unique identifier of the recording.
    #[must_use]
    pub fn uuid(&self) -> [u8; 16] {
        self.header.uuid
    }

    /// When the recording was started, in nanoseconds since 1970-01-01 UTC; 0 if unknown.
    #[must_use]
    pub fn created_ns(&self) -> u64 {
        self.header.created_ns
    }

    /// Major and minor version of the file format.
    #[must_use]
    pub fn version(&self) -> (u16, u16) {
        (self.header.major, self.header.minor)
    }

    /// The loss, if the file is damaged or incomplete.
    #[must_use]
    pub fn damage(&self) -> Option<&Damage> {
        self.contents.damage.as_ref()
    }

    /// Facts about the file: producer, runtime and so on.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`] if the tables are damaged.
    pub fn facts(&self) -> Result<Vec<(String, String)>> {
        let tables = self.tables()?;
        let facts = tables.texts(tables.facts().iter().map(|fact| (fact.key, fact.value)));
        tables.check_strings()?;
        Ok(facts)
    }

    /// Returns whether numbers in fields were replaced by others, so that only their equality means anything.
    ///
    /// # Errors
    /// As for [`Recording::facts`].
    pub fn has_replaced_numbers(&self) -> Result<bool> {
        let tables = self.tables()?;
        Ok(tables.facts().iter().any(|fact| tables.string(fact.key) == REPLACED_NUMBERS))
    }

    /// Returns whether the contents of objects besides references were recorded, according to the facts. Dumps can be
    /// imported without contents.
    ///
    /// # Errors
    /// As for [`Recording::facts`].
    pub fn has_contents(&self) -> Result<bool> {
        let tables = self.tables()?;
        let mut facts = tables.facts().iter();
        Ok(!facts.any(|fact| tables.string(fact.key) == "contents" && tables.string(fact.value) == "none"))
    }

    /// Returns whether numbers are objects whose values were not recorded, as in a snapshot of V8 without numeric values. It
    /// has no references to small numbers, either.
    ///
    /// # Errors
    /// As for [`Recording::tables`].
    pub fn lacks_numbers(&self) -> Result<bool> {
        const NUMBERS_OF_V8: &str = "(number)";
        let (tables, fields) = (self.tables()?, self.fields()?);
        let mut types = (0..tables.type_count() as u32).map(TypeId);
        Ok(types.any(|id| tables.type_name(id) == NUMBERS_OF_V8 && fields.declared_by(id).is_empty()))
    }

    /// Returns whether bytes outside the managed heap were recorded with objects, according to the facts. HPROF does not
    /// tell them.
    ///
    /// # Errors
    /// As for [`Recording::facts`].
    pub fn has_unmanaged_sizes(&self) -> Result<bool> {
        Ok(!self.is_made_from("HPROF")?)
    }

    /// Returns whether texts hold characters beyond U+FFFF, according to the facts. V8 writes the low 16 bits of each.
    ///
    /// # Errors
    /// As for [`Recording::facts`].
    pub fn has_wide_characters(&self) -> Result<bool> {
        Ok(!self.is_made_from("V8")?)
    }

    /// Returns whether it was imported from a format whose name has this word.
    fn is_made_from(&self, word: &str) -> Result<bool> {
        let tables = self.tables()?;
        let mut formats = tables.facts().iter().filter(|fact| tables.string(fact.key) == SOURCE_FORMAT);
        Ok(formats.any(|fact| tables.string(fact.value).contains(word)))
    }

    /// The number of complete snapshots.
    #[must_use]
    pub fn snapshot_count(&self) -> usize {
        self.commits.len()
    }

    /// The numbers of all snapshots, ascending. There are no gaps unless the file is damaged.
    pub fn snapshot_ids(&self) -> impl DoubleEndedIterator<Item = SnapshotId> + '_ {
        self.contents.commits.iter().map(|&(id, _)| id)
    }

    /// The description of a snapshot. Its objects are not read.
    ///
    /// # Errors
    /// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`].
    pub fn snapshot(&self, id: SnapshotId) -> Result<SnapshotInfo> {
        let commit = self.commit(id)?;
        let tables = self.tables()?;
        let info = SnapshotInfo {
            id,
            time_ns: commit.time_ns,
            gc_number: commit.gc_number,
            label: commit.label.map(|label| tables.string(label).to_owned()),
            key_values: tables.texts(commit.key_values.iter().copied()),
            totals: commit.totals,
            blocks: commit.blocks.len(),
            stored_bytes: commit.blocks.iter().map(|block| block.length).sum(),
            base: commit.patched.as_ref().map(|patched| SnapshotId(patched.base)),
        };
        tables.check_strings()?;
        Ok(info)
    }

    /// The tables. They are loaded on the first call.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`] if they are damaged.
    pub fn tables(&self) -> Result<&Tables> {
        self.tables.get_or_compute(|| Tables::load(&self.bytes, &self.contents.chunks))
    }

    /// Fails if a string used so far could not be read, see [`Tables::check_strings`]. Loads nothing.
    ///
    /// # Errors
    /// As for [`Tables::check_strings`].
    pub fn check_strings(&self) -> Result<()> {
        self.tables.get().map_or(Ok(()), Tables::check_strings)
    }

    /// The attributes of an allocation site; `None` if the recording has only its number.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`] if the tables are damaged.
    pub fn site(&self, id: SiteId) -> Result<Option<SiteDetails<'_>>> {
        let tables = self.tables()?;
        let details = self.sites()?.details(id, tables);
        tables.check_strings()?;
        Ok(details)
    }

    /// The first site that differs from this one at most in its attributes. Totals by site are grouped by it.
    ///
    /// # Errors
    /// As for [`Recording::site`].
    pub fn site_place(&self, id: SiteId) -> Result<SiteId> {
        Ok(self.sites()?.place_of(id))
    }

    /// The number of sites that the recording describes. Site numbers start at 1.
    ///
    /// # Errors
    /// As for [`Recording::site`].
    pub fn site_count(&self) -> Result<usize> {
        Ok(self.sites()?.count())
    }

    /// The site table. It is loaded on the first call.
    pub(crate) fn sites(&self) -> Result<&Sites> {
        self.sites.get_or_compute(|| Sites::load(&self.bytes, &self.contents.chunks, self.tables()?))
    }

    /// The field table. It is loaded on the first call.
    pub(crate) fn fields(&self) -> Result<&Fields> {
        self.fields.get_or_compute(|| Fields::load(&self.bytes, &self.contents.chunks, self.tables()?))
    }

    /// The strings that are words of the recorder. The table is loaded on the first call.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Unreadable`].
    pub fn words(&self) -> Result<&[WordRow]> {
        let words = self.words.get_or_compute(|| words::load(&self.bytes, &self.contents.chunks, self.tables()?))?;
        Ok(words)
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Releases the pages of the file, see [`Bytes::release`].
    pub(crate) fn release(&self) {
        self.bytes.release();
    }

    pub(crate) fn recent_chains(&self) -> &Mutex<Vec<(SnapshotId, Arc<PatchChain>)>> {
        &self.chains
    }

    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Offset of a snapshot's COMMIT frame.
    pub(crate) fn commit_offset(&self, id: SnapshotId) -> Result<u64> {
        Ok(self.contents.commits[self.position(id)?].1)
    }

    fn position(&self, id: SnapshotId) -> Result<usize> {
        let commits = &self.contents.commits;
        commits.binary_search_by_key(&id, |&(id, _)| id).map_err(|_| AnalyzerError::NoSnapshot {
            snapshot: id,
            count: commits.len(),
            first: commits.first().map(|&(id, _)| id),
            last: commits.last().map(|&(id, _)| id),
        })
    }

    /// The commit of a snapshot. It is read on the first call.
    pub(crate) fn commit(&self, id: SnapshotId) -> Result<&Commit> {
        let position = self.position(id)?;
        let (_, offset) = self.contents.commits[position];
        let commit = self.commits[position].get_or_compute(|| Ok(Box::new(self.read_commit(id, offset)?)))?;
        Ok(commit)
    }

    /// A checksum that identifies the content of the recording up to the commit of a snapshot. The checksum in the
    /// COMMIT covers all frames up to it. To it are added the offsets of the table chunks before it, since damage can
    /// hide some. Nothing else of the file is read.
    pub(crate) fn content_up_to(&self, snapshot: SnapshotId) -> Result<u64> {
        let (_, committed) = self.contents.commits[self.position(snapshot)?];
        let body = self.frame(SectionType::COMMIT, Some(snapshot), committed)?.body();
        let checksum = body.and_then(stored_checksum).map_err(AnalyzerError::section("COMMIT", committed))?;
        let mut chain = Chain::after_commit(checksum);
        let before = self.contents.chunks.iter().filter(|&&(_, offset)| offset < committed);
        before.for_each(|(_, offset)| chain.add(&offset.to_le_bytes()));
        Ok(chain.checksum())
    }

    fn read_commit(&self, id: SnapshotId, offset: u64) -> Result<Commit> {
        let at = AnalyzerError::section("COMMIT", offset);
        let frame = self.frame(SectionType::COMMIT, Some(id), offset)?;
        let commit = frame.body().and_then(Commit::parse).map_err(&at)?;
        if commit.snapshot != id.0 {
            let (stored, found) = (commit.snapshot.into(), id.0.into());
            return Err(at(FormatError::Mismatch { what: "number of the snapshot", stored, found }));
        }
        check_places(&commit, self.length_bytes()).map_err(&at)?;
        // Tables are loaded here, because the ids in a commit must be checked against them.
        let tables = self.tables()?;
        for (what, needed, known) in [
            ("strings of the snapshot", commit.tables.strings, tables.string_count()),
            ("kinds of the snapshot", commit.tables.kinds, tables.kind_count()),
            ("strengths of the snapshot", commit.tables.strengths, tables.strength_count()),
            ("types of the snapshot", commit.tables.types, tables.type_count()),
            ("shapes of the snapshot", commit.tables.shapes, tables.shape_count()),
        ] {
            if needed as usize > known {
                let (value, limit) = (needed.into(), known as u64);
                return Err(at(FormatError::OutOfRange { what, value, limit }));
            }
        }
        let named = commit.label.into_iter().chain(commit.key_values.iter().flat_map(|&(key, value)| [key, value]));
        for name in named {
            if name.0 >= commit.tables.strings {
                let (value, limit) = (name.0.into(), commit.tables.strings.into());
                return Err(at(FormatError::OutOfRange { what: "string of a commit", value, limit }));
            }
        }
        Ok(commit)
    }

    /// The frame at `offset`. Its section type, and its snapshot if given, must match.
    pub(crate) fn frame(&self, section: SectionType, snapshot: Option<SnapshotId>, offset: u64) -> Result<Frame<'_>> {
        let at = AnalyzerError::section(section.name().unwrap_or("section"), offset);
        let frame = Frame::parse(&self.bytes, offset).map_err(&at)?;
        let expected = snapshot.map_or(frame.header.snapshot, |id| id.0);
        for (what, stored, found) in [
            ("section type", u64::from(section.0), u64::from(frame.header.section.0)),
            ("snapshot of a section", expected.into(), frame.header.snapshot.into()),
        ] {
            if stored != found {
                return Err(at(FormatError::Mismatch { what, stored, found }));
            }
        }
        Ok(frame)
    }

    /// The block of a commit's directory entry, checked against that entry.
    pub(crate) fn block(&self, snapshot: SnapshotId, entry: &BlockEntry) -> Result<Block<'_>> {
        let frame = self.frame(SectionType::BLOCK, Some(snapshot), entry.offset)?;
        let at = AnalyzerError::section("BLOCK", entry.offset);
        let block = Block::parse(&frame).map_err(&at)?;
        for (what, stored, found) in [
            ("length of a block", entry.length, frame.end() - frame.offset),
            ("first object of a block", entry.first_object.into(), block.first_object().into()),
            ("objects in a block", entry.objects.into(), block.objects().into()),
            ("references in a block", entry.references.into(), block.references().into()),
        ] {
            if stored != found {
                return Err(at(FormatError::Mismatch { what, stored, found }));
            }
        }
        Ok(block)
    }
}

/// Checks that the sections of a commit are inside the file and do not overlap. A section listed twice would make a
/// small file appear large.
fn check_places(commit: &Commit, file_length: u64) -> Result<(), FormatError> {
    let mut spans: Vec<(u64, u64)> = commit.own_blocks().map(|(_, block)| (block.offset, block.length)).collect();
    spans.extend(commit.stats.iter().chain(&commit.roots).map(|&offset| (offset, FRAME_HEADER_BYTES as u64)));
    spans.sort_unstable();
    let mut free = HEADER_BYTES as u64;
    for (offset, length) in spans {
        if offset < free {
            return Err(FormatError::OutOfRange { what: "end of a section", value: free, limit: offset });
        }
        free = offset.saturating_add(length.max(FRAME_HEADER_BYTES as u64));
    }
    if free <= file_length {
        return Ok(());
    }
    Err(FormatError::OutOfRange { what: "end of a section", value: free, limit: file_length })
}
