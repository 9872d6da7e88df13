//! Imports a dump into a recording: for `import`, and for dumps that are opened directly.

use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use barrow_importers::{ClockOffsets, Format, Holds, ImportError, ImportOptions, Imported, Progress, Series};
use barrow_writer::{Compression, Finished, Options, Writer};

use crate::context::{Context, Settings};
use crate::error::QueryError;
use crate::progress::Meter;
use crate::sources::destination::PartialFile;
use crate::sources::import_facts;

/// Options for writing a recording of dumps.
#[derive(Debug, Default)]
pub(crate) struct RecordingOptions<'w> {
    /// Another compression than the usual one.
    pub(crate) compression: Option<Compression>,
    /// As differences, where dumps name objects across snapshots.
    pub(crate) patches: bool,
    /// More facts for the recording: keys, which are words of barrow, and values, which are texts.
    pub(crate) facts: &'w [(&'static str, &'w str)],
    /// Offsets added to the times of hosts, in nanoseconds.
    pub(crate) clocks: &'w [(String, i64)],
}

impl RecordingOptions<'_> {
    /// Options for a recording that is read soon and not passed on: LZ4 took 0.8 of the time of zstd for 17.6 M objects with
    /// contents, and 1.4 times the space.
    pub(crate) const QUICK: Self =
        RecordingOptions { compression: Some(Compression::Lz4), patches: false, facts: &[], clocks: &[] };
}

/// The result of an import.
pub(crate) struct ImportResult {
    /// Each dump with its content, in the order of their snapshots.
    pub(crate) imported: Vec<(PathBuf, Imported)>,
    /// Totals of the new recording.
    pub(crate) finished: Finished,
    /// The length of the dumps.
    pub(crate) source_bytes: u64,
}

impl ImportResult {
    /// The notes of the importers; of several dumps, each with its name.
    pub(crate) fn notes(&self) -> Vec<String> {
        import_facts::notes(&self.imported)
    }

    /// The losses of the dumps, in a sentence for each.
    pub(crate) fn lost(&self) -> Option<String> {
        let lost = self.imported.iter().filter_map(|(source, imported)| {
            let lost = imported.lost.as_ref()?;
            Some(if self.imported.len() == 1 { lost.to_string() } else { format!("{}: {lost}", source.display()) })
        });
        let sentences: Vec<String> = lost.collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

/// Imports the dumps at `sources`, in this order, into a new recording. What they had lost is among its facts.
///
/// # Errors
/// A dump that cannot be read or is of no known format, a recording that cannot be written, Ctrl-C.
pub(crate) fn import(
    sources: &[&Path],
    part: &PartialFile,
    output: &RecordingOptions<'_>,
    context: &Context,
    meter: &Meter,
) -> Result<ImportResult, QueryError> {
    let (sources, empty) = without_empty_logs(sources);
    let sources = &sources[..];
    let (formats, source_bytes) = recognised(sources)?;
    let mut reading = reading(part.path(), context);
    if !output.clocks.is_empty() {
        if formats.iter().any(|format| format.key() != "kleknev") {
            return Err(QueryError::usage("--clock is for logs of Kleknev and barrow-sh, which name hosts"));
        }
        reading.of_formats.set(ClockOffsets(output.clocks.iter().cloned().collect()));
    }
    let are_of_strace = formats.iter().all(|format| format.key() == "strace");
    let join = || barrow_importers::joined_strace(sources, &reading.folder);
    let joined = are_of_strace.then(join).transpose().map_err(|error| QueryError::Import {
        path: sources.first().map(|source| source.display().to_string()).unwrap_or_default(),
        source: error,
    })?;
    let joined = joined.flatten();
    let siblings = match sources {
        [one] if joined.is_some() => barrow_importers::strace_siblings(one),
        _ => 0,
    };
    let of_joined = joined.as_ref().map(|joined| [joined.path()]);
    let sources = of_joined.as_ref().map_or(sources, |joined| &joined[..]);
    let written = |source| QueryError::Write { path: part.shown().to_owned(), source };
    let mut options = options(output.compression, &formats, context);
    options.patches = output.patches;
    // A log of processes has no other time; a heap snapshot that is alone needs none.
    if let [first, rest @ ..] = sources
        && (!rest.is_empty() || formats.iter().any(|format| format.holds() == Holds::Processes))
    {
        options.created_ns =
            barrow_importers::began_ns(first, &reading).map_err(|error| QueryError::file(first, error))?;
    }
    let writer = Writer::to_file(part.file()?, options).map_err(written)?;
    let mut imported = import_each(sources, &writer, &reading, meter)?;
    if let [(_, one), ..] = &mut imported[..] {
        one.notes.extend(notes_on_logs(&empty, siblings));
    }
    let has_snapshots = formats.iter().any(|format| format.holds() == Holds::Snapshots);
    let contents = import_facts::contents(context.settings.contents).filter(|_| has_snapshots);
    import_facts::write(&writer, contents, output.facts, &imported).map_err(written)?;
    let finished = writer.finish().map_err(written)?;
    Ok(ImportResult { imported, finished, source_bytes })
}

/// The formats of the dumps, and their length in bytes.
fn recognised(sources: &[&Path]) -> Result<(Vec<Format>, u64), QueryError> {
    let (mut formats, mut bytes) = (Vec::with_capacity(sources.len()), 0);
    for &source in sources {
        let system = |error: io::Error| QueryError::unreadable(source.display(), error);
        bytes += fs::metadata(source).map_err(system)?.len();
        let first_bytes = crate::sources::recognition::first_bytes(source).map_err(system)?;
        formats.push(barrow_importers::recognise(&first_bytes).ok_or_else(|| {
            let why = crate::sources::recognition::unreadable(source, "not a dump that can be imported");
            QueryError::unreadable(source.display(), why)
        })?);
    }
    Ok((formats, bytes))
}

/// Imports the dumps one after another; several are the snapshots of a series.
fn import_each(
    sources: &[&Path],
    writer: &Writer,
    reading: &ImportOptions,
    meter: &Meter,
) -> Result<Vec<(PathBuf, Imported)>, QueryError> {
    let numbered = Numbered { meter, at: AtomicUsize::new(0), of: sources.len() };
    let mut series = Series::new(writer, reading, &numbered);
    let imported = sources.iter().map(|&source| {
        numbered.at.fetch_add(1, Ordering::Relaxed);
        let one = match sources.len() {
            1 => barrow_importers::import(source, writer, reading, meter),
            _ => series.import(source),
        };
        let one = one.map_err(|error| match error {
            ImportError::Cancelled => QueryError::Stopped,
            error => QueryError::Import { path: source.display().to_string(), source: error },
        })?;
        Ok((source.to_path_buf(), one))
    });
    imported.collect()
}

/// The progress of several dumps: each phase says which of them it is about.
struct Numbered<'m> {
    meter: &'m Meter,
    /// The number of the dump, from 1.
    at: AtomicUsize,
    of: usize,
}

impl Progress for Numbered<'_> {
    fn begin(&self, phase: &str, total: u64, unit: &'static str) {
        let at = self.at.load(Ordering::Relaxed);
        self.meter.begin(&format!("{at} of {}: {phase}", self.of), total, unit);
    }

    fn advance(&self, steps: u64) {
        self.meter.advance(steps);
    }

    fn cancelled(&self) -> bool {
        self.meter.cancelled()
    }
}

/// Notes on logs of strace: those that were empty, and the `siblings` of a single one, which were not read.
fn notes_on_logs(empty: &[&Path], siblings: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if !empty.is_empty() {
        let names: Vec<_> = empty.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy()).collect();
        notes.push(format!("empty logs, whose processes did nothing that was traced: {}", names.join(", ")));
    }
    if siblings > 0 {
        let files = siblings + 1;
        notes.push(format!(
            "one of {files} files whose names differ in the number at their end, as `strace -ff` writes them: \
             `barrow import NAME.*` reads all of them as one log"
        ));
    }
    notes
}

/// The sources, and those that are empty, if all others are logs of strace: `strace -ff` makes a file for a process that
/// does nothing of what is traced.
fn without_empty_logs<'s>(sources: &[&'s Path]) -> (Vec<&'s Path>, Vec<&'s Path>) {
    let is_empty = |source: &&Path| fs::metadata(source).is_ok_and(|file| file.is_file() && file.len() == 0);
    let (empty, others): (Vec<&Path>, Vec<&Path>) = sources.iter().partition(|&source| is_empty(source));
    let is_of_strace = |source: &&Path| {
        let first_bytes = crate::sources::recognition::first_bytes(source);
        first_bytes
            .is_ok_and(|bytes| barrow_importers::recognise(&bytes).is_some_and(|format| format.key() == "strace"))
    };
    let are_of_strace = !empty.is_empty() && !others.is_empty() && others.iter().all(is_of_strace);
    if are_of_strace { (others, empty) } else { (sources.to_vec(), Vec::new()) }
}

/// Options for reading a dump; a compressed one is unpacked beside `destination`.
pub(crate) fn reading(destination: &Path, context: &Context) -> ImportOptions {
    let &Settings { object_layout, contents, max_unpacked, .. } = &context.settings;
    let mut options = ImportOptions { max_unpacked, contents, ..ImportOptions::default() };
    if let Some(layout) = object_layout {
        options.of_formats.set(layout);
    }
    if let Some(threads) = context.workspace.threads().and_then(NonZero::new) {
        options.threads = threads;
    }
    if let Some(folder) = destination.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        folder.clone_into(&mut options.folder);
    } else {
        options.folder = PathBuf::from(".");
    }
    options
}

fn options(compression: Option<Compression>, formats: &[Format], context: &Context) -> Options {
    let mut options = Options::default();
    if let Some(compression) = compression {
        options.compression = compression;
    }
    let threads =
        context.workspace.threads().unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
    // An importer that announces on one thread leaves the others to the writer.
    let announces_on_all = formats.iter().all(|format| format.announces_on_all_threads());
    options.threads = if announces_on_all { 0 } else { threads - 1 };
    options.memory_budget_bytes = match context.workspace.max_memory() {
        Some(budget) => usize::try_from(budget).unwrap_or(usize::MAX),
        // The writer divides its budget by twice the threads and one. So blocks are as large as with one thread.
        None if announces_on_all => options.memory_budget_bytes.saturating_mul(2 * threads + 1) / 3,
        None => options.memory_budget_bytes,
    };
    options
}
