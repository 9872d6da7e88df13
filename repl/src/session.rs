//! A session: one recording, the selected snapshot, settings, and what the last answer left behind.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use barrow_analyzer::{
    Heap, IndexPlace, Memory, ObjectId, ObjectSet, Recording, SnapshotId, TypeTotals, object_at_address,
};
use barrow_importers::ObjectLayout;

use crate::answer::Value;
use crate::args::{Flags, Format, Least, SnapshotName};
use crate::commands::More;
use crate::error::ReplError;
use crate::object_name::{ObjectName, Which};
use crate::progress::Meter;
use crate::selection;
use crate::sets::{Scope, Sets};
use crate::without::Removal;

/// Rows of a page, unless told.
const PAGE_ROWS: usize = 15;
/// Rows that are in memory at once where an answer has every row.
pub(crate) const PIECE_ROWS: usize = 1 << 14;
/// Rows that `%` can name.
const MOST_LISTED: usize = 1 << 20;

/// What a question may use and change.
pub(crate) struct Session {
    /// The recording that is open.
    file: Option<OpenFile>,
    /// What is thought away.
    pub(crate) away: Vec<Removal>,
    /// The heap that was asked last: what was computed for one question serves the next.
    heap: RefCell<Option<Arc<Heap>>>,
    /// The snapshot that was selected.
    pub(crate) selected: SnapshotName,
    /// How answers are made and printed.
    pub(crate) settings: Settings,
    /// Where `more` goes on.
    pub(crate) more: Option<More>,
    /// The objects in the rows of the last table; `%1` is the first.
    pub(crate) listed: Vec<(SnapshotId, ObjectId)>,
    /// Sets of objects that have a name.
    pub(crate) sets: Sets,
    /// The lines typed so far.
    pub(crate) history: Vec<String>,
    /// `exit` was typed.
    pub(crate) ended: bool,
    /// Answers come in pages: there is somebody to type `more`.
    pub(crate) paged: bool,
    /// Answers have every row unless the question says how many: they go to a command or a file.
    pub(crate) whole: bool,
}

/// A recording and how it came to be open.
pub(crate) struct OpenFile {
    /// As it was named on the command line.
    pub(crate) name: String,
    /// The recording.
    pub(crate) recording: Arc<Recording>,
    /// What was lost, in the recording or in the dump it was imported from.
    pub(crate) damage: Option<String>,
    /// Objects by type, if the file is a dump of which only these are known: the recording then holds
    /// its types and no object.
    pub(crate) counted: Option<Vec<TypeTotals>>,
}

/// How answers are made and printed.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// How answers are printed.
    pub(crate) format: Format,
    /// Rows of a page.
    pub(crate) rows: usize,
    /// How many threads may work; `None`: as many as there are cores.
    pub(crate) threads: Option<usize>,
    /// How much memory may be used.
    pub(crate) max_memory: Option<u64>,
    /// Whether headings on a terminal are bold.
    pub(crate) colour: bool,
    /// No progress.
    pub(crate) quiet: bool,
    /// No index file is read or written.
    pub(crate) no_index: bool,
    /// Where imported dumps are kept, if not in the user's own cache.
    pub(crate) cache: Option<PathBuf>,
    /// How the JVM of a dump laid out its objects, if that is not to be found out.
    pub(crate) object_layout: Option<ObjectLayout>,
    /// How much a compressed dump may unpack to, if the user says that.
    pub(crate) max_unpacked: Option<u64>,
}

impl Settings {
    /// A snapshot as a graph, with nothing thought away.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn heap_of(&self, recording: Arc<Recording>, snapshot: SnapshotId) -> Result<Heap, ReplError> {
        let memory = self.max_memory.map_or_else(Memory::unlimited, Memory::limited);
        let place = if self.no_index {
            IndexPlace::Nowhere
        } else {
            IndexPlace::Beside { otherwise: crate::cache::index_folder() }
        };
        Ok(Heap::new(recording, snapshot, &place, memory)?)
    }
}

impl Session {
    /// A session with nothing open.
    pub(crate) fn new(flags: &Flags) -> Result<Self, ReplError> {
        let settings = Settings {
            format: flags.format.unwrap_or_default(),
            rows: PAGE_ROWS,
            threads: None,
            max_memory: flags.max_memory,
            colour: !flags.no_color && std::env::var_os("NO_COLOR").is_none(),
            quiet: flags.quiet,
            no_index: flags.no_index,
            cache: None,
            object_layout: flags.object_layout,
            max_unpacked: flags.max_unpacked,
        };
        let mut session = Session {
            file: None,
            away: Vec::new(),
            heap: RefCell::new(None),
            selected: flags.snapshot.unwrap_or(SnapshotName::Last),
            settings,
            more: None,
            listed: Vec::new(),
            sets: Sets::default(),
            history: Vec::new(),
            ended: false,
            paged: false,
            whole: false,
        };
        flags.threads.map_or(Ok(()), |threads| session.bound_threads(threads))?;
        Ok(session)
    }

    /// Makes `file` what questions are about.
    pub(crate) fn open(&mut self, file: OpenFile) {
        self.file = Some(file);
    }

    /// The open file, if one is open.
    pub(crate) fn file(&self) -> Option<&OpenFile> {
        self.file.as_ref()
    }

    /// Objects by type, of a dump of which only these are known.
    pub(crate) fn counted(&self) -> Option<&[TypeTotals]> {
        self.file.as_ref()?.counted.as_deref()
    }

    /// The open recording.
    ///
    /// # Errors
    /// A usage error if none is open.
    pub(crate) fn recording(&self) -> Result<Arc<Recording>, ReplError> {
        let file = self.file.as_ref().ok_or_else(|| ReplError::usage("no recording is open; type barrow FILE"))?;
        Ok(Arc::clone(&file.recording))
    }

    /// The snapshot that questions are about.
    ///
    /// # Errors
    /// A usage error if the recording does not hold it.
    pub(crate) fn snapshot(&self) -> Result<SnapshotId, ReplError> {
        selection::one(self.selected, &self.snapshots()?)
    }

    /// A snapshot of the open recording as a graph, without what is thought away.
    ///
    /// # Errors
    /// A usage error if no recording is open; those of the analyzer.
    pub(crate) fn heap(&self, snapshot: SnapshotId) -> Result<Arc<Heap>, ReplError> {
        let recording = self.recording()?;
        let mut last = self.heap.borrow_mut();
        if let Some(heap) = &*last
            && heap.snapshot() == snapshot
            && Arc::ptr_eq(heap.recording(), &recording)
        {
            return Ok(Arc::clone(heap));
        }
        // The other one's memory goes first.
        *last = None;
        let mut heap = Arc::new(self.settings.heap_of(recording, snapshot)?);
        for removal in &self.away {
            heap = Arc::new(removal.applied(&heap, &self.meter())?);
        }
        Ok(Arc::clone(last.insert(heap)))
    }

    /// What is thought away, in words; empty if nothing is.
    pub(crate) fn away_text(&self) -> String {
        let texts: Vec<&str> = self.away.iter().map(Removal::text).collect();
        if texts.is_empty() { String::new() } else { format!("without {}", texts.join(", without ")) }
    }

    /// The same snapshot with nothing thought away.
    ///
    /// # Errors
    /// As for [`Session::heap`].
    pub(crate) fn whole_heap(&self, snapshot: SnapshotId) -> Result<Heap, ReplError> {
        self.settings.heap_of(self.recording()?, snapshot)
    }

    /// Why computed columns could not be kept, if that happened since it was asked last.
    pub(crate) fn index_problem(&self) -> Option<String> {
        self.heap.borrow().as_ref().and_then(|heap| heap.index_problem())
    }

    /// Makes `heap` the one that is asked, or none: it is then made anew.
    pub(crate) fn ask_of(&self, heap: Option<Arc<Heap>>) {
        *self.heap.borrow_mut() = heap;
    }

    /// The snapshots of the open recording.
    ///
    /// # Errors
    /// A usage error if none is open.
    pub(crate) fn snapshots(&self) -> Result<Vec<SnapshotId>, ReplError> {
        Ok(self.recording()?.snapshot_ids().collect())
    }

    /// Rows of the first page of a full table: all of them where nobody can type `more`.
    pub(crate) fn page_rows(&self) -> usize {
        if self.paged && self.settings.format == Format::Table { self.settings.rows } else { usize::MAX }
    }

    /// The same where the rows are made page by page: [`Answer::goes_on`](crate::answer::Answer) then.
    pub(crate) fn piece_rows(&self) -> usize {
        if self.whole { PIECE_ROWS } else { self.page_rows() }
    }

    /// The rows of a ranking: as many as were told, else a page, or all where the answer goes to a command or a file.
    pub(crate) fn ranking_rows(&self, told: Option<usize>) -> usize {
        let usual = if self.whole { usize::MAX } else { self.settings.rows };
        told.unwrap_or(usual).max(1)
    }

    /// Adds to the rows that `%` names.
    pub(crate) fn list(&mut self, snapshot: SnapshotId, objects: impl IntoIterator<Item = ObjectId>) {
        let most = if self.whole { MOST_LISTED } else { usize::MAX };
        let room = most.saturating_sub(self.listed.len());
        self.listed.extend(objects.into_iter().take(room).map(|object| (snapshot, object)));
    }

    /// The number of a row, as far as `%` names rows.
    pub(crate) fn row_number(&self, number: usize) -> Value {
        if number <= MOST_LISTED || !self.whole { number.into() } else { Value::None }
    }

    /// A clock for a question that may take long.
    pub(crate) fn meter(&self) -> Meter {
        Meter::new(self.settings.quiet)
    }

    /// Bounds the threads of the analyzer. Possible once, before it has started them.
    ///
    /// # Errors
    /// A usage error if they run already.
    pub(crate) fn bound_threads(&mut self, threads: usize) -> Result<(), ReplError> {
        if threads == 0 {
            return Err(ReplError::usage("at least one thread has to work"));
        }
        if self.settings.threads == Some(threads) {
            return Ok(());
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|_| ReplError::usage("the threads run already; start again with `barrow --threads N`"))?;
        self.settings.threads = Some(threads);
        Ok(())
    }

    /// What names mean in a question about this snapshot.
    pub(crate) fn scope(&self, snapshot: SnapshotId) -> Scope<'_> {
        Scope { snapshot, sets: &self.sets, listed: &self.listed }
    }

    /// Makes these objects the last result.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn set_last_to(
        &mut self,
        snapshot: SnapshotId,
        objects: impl Iterator<Item = ObjectId>,
    ) -> Result<(), ReplError> {
        let mut set = ObjectSet::new(snapshot, self.recording()?.snapshot(snapshot)?.totals.objects);
        for object in objects {
            set.insert(object);
        }
        self.sets.set_last(Arc::new(set));
        Ok(())
    }

    /// Makes the objects in the rows of the last table, all of this snapshot, the last result.
    pub(crate) fn set_last_to_listed(&mut self, snapshot: SnapshotId) -> Result<(), ReplError> {
        let objects = self.recording()?.snapshot(snapshot)?.totals.objects;
        let ids = self.listed.iter().filter(|(of, _)| *of == snapshot).map(|(_, id)| *id);
        let set = ObjectSet::from_sorted(snapshot, objects, ids);
        self.sets.set_last(Arc::new(set));
        Ok(())
    }

    /// Looks up an object.
    ///
    /// # Errors
    /// A usage error if there is none of that name.
    pub(crate) fn object(&self, name: &str) -> Result<(SnapshotId, ObjectId), ReplError> {
        let ObjectName { snapshot, which } = name.parse()?;
        let recording = self.recording()?;
        let snapshot = match snapshot {
            Some(number) => selection::one(SnapshotName::Number(number), &self.snapshots()?)?,
            None => self.snapshot()?,
        };
        match which {
            Which::Id(object) => self.checked(snapshot, object),
            Which::Row(row) => self.row(row),
            Which::Address(address) => {
                let found = object_at_address(&recording, snapshot, address, &self.meter())?;
                let object = found.ok_or_else(|| {
                    ReplError::usage(format!("no object of snapshot {snapshot} lived at {address:#x}"))
                })?;
                Ok((snapshot, object))
            }
        }
    }

    fn checked(&self, snapshot: SnapshotId, object: ObjectId) -> Result<(SnapshotId, ObjectId), ReplError> {
        let objects = self.recording()?.snapshot(snapshot)?.totals.objects;
        if u64::from(object.0) < objects {
            return Ok((snapshot, object));
        }
        Err(ReplError::usage(match objects.checked_sub(1) {
            Some(last) => format!("there is no object @{object}; snapshot {snapshot} holds @0 to @{last}"),
            None => format!("there is no object @{object}; snapshot {snapshot} is empty"),
        }))
    }

    fn row(&self, row: usize) -> Result<(SnapshotId, ObjectId), ReplError> {
        let found = row.checked_sub(1).and_then(|at| self.listed.get(at).copied());
        found.ok_or_else(|| {
            ReplError::usage(match self.listed.len() {
                0 => format!("%{row}: the last table lists no objects; `find` and `show` list some"),
                rows => format!("%{row}: the last table has the rows %1 to %{rows}"),
            })
        })
    }
}

/// What a command was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arguments {
    /// The words behind the verb.
    words: Vec<String>,
    /// Whether the words still have their quotes: those of a shell have lost them.
    quoted: bool,
    /// `--verify`.
    pub(crate) verify: bool,
    /// `-o DST`.
    pub(crate) output: Option<PathBuf>,
    /// `--force`.
    pub(crate) force: bool,
    /// `--compression`.
    pub(crate) compression: Option<barrow_writer::Compression>,
    /// `--patches`.
    pub(crate) patches: bool,
    /// `--by-time`.
    pub(crate) by_time: bool,
    /// `--level`.
    pub(crate) level: Option<i32>,
    /// `--avoid`.
    pub(crate) avoid: Option<String>,
    /// `--weak`.
    pub(crate) weak: bool,
    /// `--depth`.
    pub(crate) depth: Option<u32>,
    /// `--min`.
    pub(crate) min: Option<Least>,
    /// `--from`.
    pub(crate) from: Option<PathBuf>,
    /// `--allow`.
    pub(crate) allow: Option<PathBuf>,
    /// `--baseline`.
    pub(crate) baseline: Option<String>,
    /// `--junit`.
    pub(crate) junit: Option<PathBuf>,
    /// `--binary`.
    pub(crate) binary: Option<PathBuf>,
}

impl Arguments {
    /// The words behind the verb, with the flags beside them.
    pub(crate) fn new(words: &[String], quoted: bool, flags: &Flags) -> Self {
        Arguments {
            words: words.to_vec(),
            quoted,
            verify: flags.verify,
            output: flags.output.clone(),
            force: flags.force,
            compression: flags.compression,
            patches: flags.patches,
            by_time: flags.by_time,
            level: flags.level,
            avoid: flags.avoid.clone(),
            weak: flags.weak,
            depth: flags.depth,
            min: flags.min,
            from: flags.from.clone(),
            allow: flags.allow.clone(),
            baseline: flags.baseline.clone(),
            junit: flags.junit.clone(),
            binary: flags.binary.clone(),
        }
    }

    /// The words of a part of a line.
    ///
    /// # Errors
    /// A quote that does not end.
    pub(crate) fn of_text(text: &str) -> Result<Self, ReplError> {
        Ok(Arguments { words: crate::line::words(text)?, quoted: true, ..Arguments::default() })
    }

    /// The same with the words of one that a shell was given in quotes.
    pub(crate) fn divided(&self) -> Self {
        match &self.words[..] {
            [word] if !self.quoted && word.contains(char::is_whitespace) => match crate::line::words(word) {
                Ok(words) => Arguments { words, quoted: true, ..self.clone() },
                Err(_) => self.clone(),
            },
            _ => self.clone(),
        }
    }

    /// The same with these of its words.
    pub(crate) fn only(&self, kept: &[usize]) -> Self {
        Arguments { words: kept.iter().map(|&at| self.words[at].clone()).collect(), ..self.clone() }
    }

    /// All words as they were typed, as one text.
    pub(crate) fn text(&self) -> String {
        self.expression(0)
    }

    /// The words as assertions: from a shell, and in single quotes, each of them; else all as one.
    pub(crate) fn assertions(&self) -> Vec<String> {
        match &self.words[..] {
            [] => Vec::new(),
            words if !self.quoted || words.iter().all(|word| word.starts_with('\'')) => self.words(),
            words => vec![words.join(" ")],
        }
    }

    /// What is too little of `whole` to be shown: 0 unless `--min` tells.
    pub(crate) fn least(&self, whole: u64) -> u64 {
        self.min.map_or(0, |min| min.of(whole))
    }

    /// The words, without quotes.
    pub(crate) fn words(&self) -> Vec<String> {
        let plain = |word: &String| if self.quoted { crate::line::unquoted(word) } else { word.clone() };
        self.words.iter().map(plain).collect()
    }

    /// The words from number `first` on as an expression, whose quotes mean something. Quotes around
    /// the whole of it, as a shell needs them, are taken off.
    pub(crate) fn expression(&self, first: usize) -> String {
        match &self.words[first.min(self.words.len())..] {
            [whole] if self.quoted && whole.starts_with('\'') => crate::line::unquoted(whole),
            words => words.join(" "),
        }
    }
}
