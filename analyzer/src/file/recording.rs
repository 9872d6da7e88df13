//! A recording: an opened file, its snapshots and its tables.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use barrow_format::block::Block;
use barrow_format::chain::Chain;
use barrow_format::commit::{BlockEntry, Commit, Totals, stored_checksum};
use barrow_format::frame::{FRAME_HEADER_BYTES, Frame, SectionType};
use barrow_format::header::{HEADER_BYTES, Header};
use barrow_format::{FormatError, SiteId, SnapshotId};

use crate::error::{AnalyzerError, Result};
use crate::file::bytes::Bytes;
use crate::file::contents::{Contents, Damage};
use crate::file::layers::Layers;
use crate::file::sites::{SiteDetails, Sites};
use crate::file::tables::Tables;

/// An opened recording. Opening reads header and index only; everything else is read when a question
/// needs it, and kept.
#[derive(Debug)]
pub struct Recording {
    path: Option<PathBuf>,
    bytes: Arc<Bytes>,
    header: Header,
    contents: Contents,
    /// Boxed: an index can list more snapshots than there are.
    commits: Vec<OnceLock<Box<Commit>>>,
    tables: OnceLock<Tables>,
    sites: OnceLock<Sites>,
    /// Those of the patched snapshots looked at last.
    layers: Mutex<Vec<(SnapshotId, Arc<Layers>)>>,
}

/// What is known of a snapshot without looking at its objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Its number.
    pub id: SnapshotId,
    /// When it was taken, in nanoseconds since the recording began.
    pub time_ns: Option<u64>,
    /// The collection after which it was taken.
    pub gc_number: Option<u64>,
    /// Its name.
    pub label: Option<String>,
    /// What else is known of it.
    pub key_values: Vec<(String, String)>,
    /// What it holds, as its writer counted.
    pub totals: Totals,
    /// Its blocks.
    pub blocks: usize,
    /// The length of its blocks in the file, in bytes; in a patch, of what differs from its base.
    pub stored_bytes: u64,
    /// The snapshot it is stored as the difference to.
    pub base: Option<SnapshotId>,
}

impl Recording {
    /// Maps a file and reads its index; a file without one is scanned, see [`Recording::damage`].
    ///
    /// # Errors
    /// [`AnalyzerError::Io`]; [`AnalyzerError::Unreadable`] if it is no recording or a newer one.
    pub fn open(path: &Path) -> Result<Self> {
        Self::new(Some(path.to_owned()), Bytes::map(path)?)
    }

    /// The same recording, whose file was given this path.
    #[must_use]
    pub fn renamed(self, path: &Path) -> Self {
        Recording { path: Some(path.to_owned()), ..self }
    }

    /// The same recording without a path, such as one whose file is removed while it is mapped: nothing is kept beside it.
    #[must_use]
    pub fn unnamed(self) -> Self {
        Recording { path: None, ..self }
    }

    /// Opens a recording that is in memory.
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
            // Everything that is needed to read on stands in the frames.
            Err(error @ FormatError::Checksum { .. }) => {
                let header = Header::read(&bytes).map_err(AnalyzerError::Unreadable)?;
                let contents = Contents::scan(&bytes, error.to_string()).map_err(AnalyzerError::Unreadable)?;
                Ok(Self::with_contents(path, Arc::new(bytes), header, contents))
            }
            Err(error) => Err(AnalyzerError::Unreadable(error)),
        }
    }

    pub(crate) fn with_contents(path: Option<PathBuf>, bytes: Arc<Bytes>, header: Header, contents: Contents) -> Self {
        let commits = contents.commits.iter().map(|_| OnceLock::new()).collect();
        let (tables, sites, layers) = (OnceLock::new(), OnceLock::new(), Mutex::new(Vec::new()));
        Recording { path, bytes, header, contents, commits, tables, sites, layers }
    }

    /// The same file, opened without trust in its index.
    pub(crate) fn rescanned(&self, reason: String) -> Result<Self> {
        let contents = Contents::scan_thoroughly(&self.bytes, reason).map_err(AnalyzerError::Unreadable)?;
        Ok(Self::with_contents(self.path.clone(), Arc::clone(&self.bytes), self.header.clone(), contents))
    }

    /// The file, unless the recording is in memory.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Length of the file, in bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// What names the recording for ever.
    #[must_use]
    pub fn uuid(&self) -> [u8; 16] {
        self.header.uuid
    }

    /// When recording began, in nanoseconds since 1970-01-01 UTC; 0 if unknown.
    #[must_use]
    pub fn created_ns(&self) -> u64 {
        self.header.created_ns
    }

    /// Major and minor version of its format.
    #[must_use]
    pub fn version(&self) -> (u16, u16) {
        (self.header.major, self.header.minor)
    }

    /// What was lost, if the file is not whole.
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
        let text = |id| tables.string(id).to_owned();
        let facts = tables.facts().iter().map(|fact| (text(fact.key), text(fact.value))).collect();
        tables.check_strings()?;
        Ok(facts)
    }

    /// How many complete snapshots there are.
    #[must_use]
    pub fn snapshot_count(&self) -> usize {
        self.commits.len()
    }

    /// Their numbers, ascending; without gaps unless the file is damaged.
    pub fn snapshot_ids(&self) -> impl DoubleEndedIterator<Item = SnapshotId> + '_ {
        self.contents.commits.iter().map(|&(id, _)| id)
    }

    /// What is known of a snapshot without looking at its objects.
    ///
    /// # Errors
    /// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`].
    pub fn snapshot(&self, id: SnapshotId) -> Result<SnapshotInfo> {
        let commit = self.commit(id)?;
        let tables = self.tables()?;
        let text = |id| tables.string(id).to_owned();
        let info = SnapshotInfo {
            id,
            time_ns: commit.time_ns,
            gc_number: commit.gc_number,
            label: commit.label.map(text),
            key_values: commit.key_values.iter().map(|&(key, value)| (text(key), text(value))).collect(),
            totals: commit.totals,
            blocks: commit.blocks.len(),
            stored_bytes: commit.blocks.iter().map(|block| block.length).sum(),
            base: commit.patched.as_ref().map(|patched| SnapshotId(patched.base)),
        };
        tables.check_strings()?;
        Ok(info)
    }

    /// The tables, loaded when first asked for.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`] if they are damaged.
    pub fn tables(&self) -> Result<&Tables> {
        if let Some(tables) = self.tables.get() {
            return Ok(tables);
        }
        let tables = Tables::load(&self.bytes, &self.contents.chunks)?;
        Ok(self.tables.get_or_init(|| tables))
    }

    /// Fails if a string that was asked for so far could not be read, see [`Tables::check_strings`]. Loads nothing.
    ///
    /// # Errors
    /// As for [`Tables::check_strings`].
    pub fn check_strings(&self) -> Result<()> {
        self.tables.get().map_or(Ok(()), Tables::check_strings)
    }

    /// What the recording says of a site; `None` if it has its number only.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`] if the tables are damaged.
    pub fn site(&self, id: SiteId) -> Result<Option<SiteDetails<'_>>> {
        let tables = self.tables()?;
        let details = self.sites()?.details(id, tables);
        tables.check_strings()?;
        Ok(details)
    }

    /// The first site that differs from this one in nothing but its attributes: what totals by site go by.
    ///
    /// # Errors
    /// As for [`Recording::site`].
    pub fn site_place(&self, id: SiteId) -> Result<SiteId> {
        Ok(self.sites()?.place_of(id))
    }

    /// How many sites the recording describes; their numbers begin with 1.
    ///
    /// # Errors
    /// As for [`Recording::site`].
    pub fn site_count(&self) -> Result<usize> {
        Ok(self.sites()?.count())
    }

    /// The site table, loaded when first asked for.
    pub(crate) fn sites(&self) -> Result<&Sites> {
        if let Some(sites) = self.sites.get() {
            return Ok(sites);
        }
        let sites = Sites::load(&self.bytes, &self.contents.chunks, self.tables()?)?;
        Ok(self.sites.get_or_init(|| sites))
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Gives back the memory of what was read; see [`Bytes::release`].
    pub(crate) fn release(&self) {
        self.bytes.release();
    }

    pub(crate) fn kept_layers(&self) -> &Mutex<Vec<(SnapshotId, Arc<Layers>)>> {
        &self.layers
    }

    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Where the commit of a snapshot is.
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

    /// The commit of a snapshot, read when first asked for.
    pub(crate) fn commit(&self, id: SnapshotId) -> Result<&Commit> {
        let position = self.position(id)?;
        if let Some(commit) = self.commits[position].get() {
            return Ok(commit);
        }
        let (_, offset) = self.contents.commits[position];
        let commit = self.read_commit(id, offset)?;
        Ok(self.commits[position].get_or_init(|| Box::new(commit)))
    }

    /// A number that names the content of the recording. The checksum of the last COMMIT names all frames up to it; added
    /// are which table chunks there are, since damage can hide some, and the headers of those after the last COMMIT.
    /// Nothing else of the file is read.
    pub(crate) fn content_checksum(&self) -> Result<u64> {
        let (mut chain, mut committed) = (Chain::new(), 0);
        if let Some(&(id, offset)) = self.contents.commits.last() {
            let body = self.frame(SectionType::COMMIT, Some(id), offset)?.body();
            let checksum = body.and_then(stored_checksum).map_err(AnalyzerError::section("COMMIT", offset))?;
            (chain, committed) = (Chain::after_commit(checksum), offset);
        }
        for &(section, offset) in &self.contents.chunks {
            chain.add(&offset.to_le_bytes());
            if offset > committed {
                let start = usize::try_from(self.frame(section, None, offset)?.offset).unwrap_or(usize::MAX);
                chain.add(&self.bytes[start..][..FRAME_HEADER_BYTES]);
            }
        }
        Ok(chain.checksum())
    }

    fn read_commit(&self, id: SnapshotId, offset: u64) -> Result<Commit> {
        let at = AnalyzerError::section("COMMIT", offset);
        let frame = self.frame(SectionType::COMMIT, Some(id), offset)?;
        let commit = frame.body().and_then(Commit::parse).map_err(&at)?;
        let agree = |what, stored: u32, found: u32| {
            let (stored, found) = (stored.into(), found.into());
            if stored == found { Ok(()) } else { Err(at(FormatError::Mismatch { what, stored, found })) }
        };
        agree("number of the snapshot", commit.snapshot, id.0)?;
        check_places(&commit, self.length_bytes()).map_err(&at)?;
        // Tables are loaded now, since what a commit names must be in them.
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

    /// The frame at `offset`, which must be of this type (and snapshot).
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

    /// The block that a commit lists, which must be what it says.
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

/// Checks that the sections a commit names lie apart from each other and in the file: one that is
/// listed twice would make a small file look large.
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
