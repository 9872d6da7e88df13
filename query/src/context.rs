//! Settings, the workspace, the watcher and the memory ceiling of a question.

use std::path::PathBuf;
use std::sync::Arc;

use barrow_analyzer::{Heap, IndexPlace, LineRules, Recording, SeriesOptions, SnapshotId};
use barrow_importers::{Contents, ObjectLayout};

use crate::ceiling::Ceiling;
use crate::error::QueryError;
use crate::flags::{Flags, Format};
use crate::progress::{Meter, Watcher};
use crate::sources::cache::folder;
use crate::workspace::Workspace;

/// Rows between two checks for cancellation: a cancelled question ends within milliseconds.
const ROWS: usize = 1024;
/// Bytes of a row of objects. Measured with 540,607 rows.
pub(crate) const ROW_BYTES: u64 = 600;
/// So many rows always fit: 10 MB, less than what is reserved for everything but columns.
const FEW_ROWS: usize = 1 << 14;
/// Rows of a page by default: with the facts and notes around them they fit a terminal of 24 rows.
const PAGE_ROWS: usize = 15;

/// Settings for opening files and making answers.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The format in which answers will be drawn, as flags and `set format` say. No answer depends on it.
    pub format: Format,
    /// A person reads the answers: they come in pages, and what matters least is left out. A program wants everything.
    pub is_abridged: bool,
    /// Rows of a page.
    pub rows: usize,
    /// `set rows` said so: answers have as many where there are no pages, too.
    pub has_set_rows: bool,
    /// No index file is read or written.
    pub no_index: bool,
    /// The largest size of an index file in bytes, instead of the usual one.
    pub index_size: Option<u64>,
    /// The folder for recordings of imported dumps; `None`: the cache of the user.
    pub cache: Option<PathBuf>,
    /// Long paths are shortened, as on a terminal.
    pub short_paths: bool,
    /// The object layout of the JVM of an HPROF dump; `None`: the importer infers it.
    pub object_layout: Option<ObjectLayout>,
    /// The part of the contents of objects that is imported.
    pub contents: Contents,
    /// The most bytes that a compressed dump may unpack to, instead of the usual limit.
    pub max_unpacked: Option<u64>,
    /// A file of lines for objects, instead of the one beside the recording.
    pub lines: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings::of(&Flags::default())
    }
}

impl Settings {
    /// The settings that the flags of a command line ask for.
    #[must_use]
    pub fn of(flags: &Flags) -> Self {
        Settings {
            format: flags.format.unwrap_or_default(),
            is_abridged: true,
            rows: PAGE_ROWS,
            has_set_rows: false,
            no_index: flags.session.no_index,
            index_size: flags.session.index_size,
            cache: None,
            short_paths: false,
            object_layout: flags.session.object_layout,
            contents: flags.session.contents.unwrap_or_default(),
            max_unpacked: flags.session.max_unpacked,
            lines: flags.session.object_lines.clone(),
        }
    }
}

/// Settings, workspace, watcher and ceiling of a question.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) settings: Settings,
    pub(crate) workspace: Arc<Workspace>,
    /// Rules for the lines of objects.
    pub(crate) lines: Option<Arc<LineRules>>,
    /// Follows the current question.
    pub(crate) watcher: Arc<dyn Watcher>,
    /// Ends the current question if the process holds too much memory.
    pub(crate) ceiling: Arc<Ceiling>,
}

impl Context {
    /// A clock for a piece of work that may take long.
    pub(crate) fn meter(&self) -> Meter {
        Meter::new(Arc::clone(&self.watcher), Arc::clone(&self.ceiling), self.settings.short_paths)
    }

    /// A snapshot as a graph, with nothing excluded.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn heap_of(&self, recording: Arc<Recording>, snapshot: SnapshotId) -> Result<Heap, QueryError> {
        let heap = Heap::new(recording, snapshot, &self.index_place(), self.workspace.memory())?;
        match &self.lines {
            Some(rules) => Ok(heap.with_lines(Arc::clone(rules))?),
            None => Ok(heap),
        }
    }

    /// Index and memory for questions over several snapshots.
    pub(crate) fn series_options(&self) -> SeriesOptions {
        SeriesOptions { place: self.index_place(), memory: self.workspace.memory(), lines: self.lines.clone() }
    }

    /// Where columns are kept between runs.
    fn index_place(&self) -> IndexPlace {
        match self.settings.no_index {
            true => IndexPlace::Nowhere,
            false => IndexPlace::Beside { otherwise: folder::index_folder(), most_bytes: self.settings.index_size },
        }
    }

    /// The error of a question that was stopped: too little memory, unless someone stopped it.
    pub(crate) fn why_stopped(&self) -> QueryError {
        let is_stopped = self.watcher.is_stopped();
        self.ceiling.take_error().filter(|_| !is_stopped).unwrap_or(QueryError::Stopped)
    }

    /// Fails if the question should stop.
    ///
    /// # Errors
    /// [`QueryError::Stopped`]; [`Session`](crate::Session) says if it was for want of memory.
    pub(crate) fn check(&self) -> Result<(), QueryError> {
        if self.watcher.is_stopped() || self.ceiling.is_reached() { Err(QueryError::Stopped) } else { Ok(()) }
    }

    /// Fails if there is too little memory for `count` things of `bytes` each.
    ///
    /// # Errors
    /// [`AnalyzerError::MemoryCeiling`](barrow_analyzer::AnalyzerError::MemoryCeiling).
    pub(crate) fn require(&self, count: usize, bytes: u64) -> Result<(), QueryError> {
        Ok(self.workspace.memory().require_more((count as u64).saturating_mul(bytes))?)
    }

    /// Fails if there is too little memory for so many rows at once.
    ///
    /// # Errors
    /// [`AnalyzerError::MemoryCeiling`](barrow_analyzer::AnalyzerError::MemoryCeiling).
    pub(crate) fn require_rows(&self, count: usize) -> Result<(), QueryError> {
        self.require_rows_of(count, ROW_BYTES)
    }

    /// The same for rows of `bytes` each.
    ///
    /// # Errors
    /// [`AnalyzerError::MemoryCeiling`](barrow_analyzer::AnalyzerError::MemoryCeiling).
    pub(crate) fn require_rows_of(&self, count: usize, bytes: u64) -> Result<(), QueryError> {
        if count > FEW_ROWS { self.require(count, bytes) } else { Ok(()) }
    }

    /// Collects rows, of which there may be millions, unless the question is stopped.
    ///
    /// # Errors
    /// [`QueryError::Stopped`].
    pub(crate) fn collect<T>(&self, rows: impl Iterator<Item = T>) -> Result<Vec<T>, QueryError> {
        let mut collected = Vec::with_capacity(rows.size_hint().0);
        for row in rows {
            if collected.len().is_multiple_of(ROWS) {
                self.check()?;
            }
            collected.push(row);
        }
        Ok(collected)
    }
}
