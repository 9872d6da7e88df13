//! Opens files by their first bytes: a recording, or a dump that becomes one.

use std::path::Path;
use std::sync::Arc;

use barrow_analyzer::{AnalyzerError, FormatError, Recording};

use crate::context::Context;
use crate::error::QueryError;
use crate::sources::cache;
use crate::sources::counted::CountedSnapshot;
use crate::sources::destination::{Access, Destination};
use crate::sources::importing::{RecordingOptions, import};
use crate::sources::recognition::{self, first_bytes, readable};
use crate::sources::spool;

/// A recording and how it came to be open.
#[derive(Clone)]
pub struct OpenFile {
    /// As it was named.
    pub name: String,
    /// The recording.
    pub recording: Arc<Recording>,
    /// The losses of the recording or of the dump it was imported from, in a sentence.
    pub damage: Option<String>,
    /// It was imported or counted just now, and the watcher heard the notes.
    pub(crate) has_remarked: bool,
    /// The counts of each snapshot, if the objects of the dump were only counted. The recording then holds the types and
    /// no object.
    pub(crate) counted: Option<Vec<CountedSnapshot>>,
}

impl OpenFile {
    /// An open recording of this name.
    pub(crate) fn of(name: &str, recording: Arc<Recording>) -> Self {
        let damage = recording.damage().map(ToString::to_string);
        OpenFile { name: name.to_owned(), recording, damage, has_remarked: false, counted: None }
    }
}

/// Opens the file of this name.
///
/// # Errors
/// A file that is missing, or of an unknown format.
pub(crate) fn open(name: &str, context: &Context) -> Result<OpenFile, QueryError> {
    let path = Path::new(name);
    if path.is_dir() {
        return Err(QueryError::unreadable(name, format!("this is a folder; {}", readable())));
    }
    if spool::is_pipe(name) {
        return open_pipe(name, context);
    }
    let first_bytes = first_bytes(path).map_err(|error| QueryError::unreadable(name, error))?;
    if barrow_importers::recognise(&first_bytes).is_some() {
        return open_dumps(name, &[path], context);
    }
    let recording = Recording::open(path).map_err(|error| match error {
        AnalyzerError::Unreadable(FormatError::NotARecording { .. }) => {
            QueryError::unreadable(name, recognition::unreadable(path, &error.to_string()))
        }
        error => QueryError::unreadable(name, error),
    })?;
    Ok(OpenFile::of(name, Arc::new(recording)))
}

/// Opens dumps as the snapshots of one recording, in this order.
///
/// # Errors
/// Those of [`open`]; dumps of several formats.
pub(crate) fn open_dumps(name: &str, sources: &[&Path], context: &Context) -> Result<OpenFile, QueryError> {
    let cache::Cached { recording, lost, notes } = cache::open(sources, context)?;
    let has_remarked = remark(name, &notes, context);
    Ok(OpenFile { damage: lost, has_remarked, ..OpenFile::of(name, Arc::new(recording)) })
}

/// Opens a pipe. Nothing of it is kept for the next time: neither an import in the cache nor an index.
fn open_pipe(name: &str, context: &Context) -> Result<OpenFile, QueryError> {
    let meter = context.meter();
    let spooled = spool::spool(name, &meter)?;
    let opened = |path: &Path| {
        let recording = Recording::open(path).map_err(|error| QueryError::unreadable(name, error))?;
        Ok::<_, QueryError>(recording.unnamed())
    };
    let first_bytes = first_bytes(spooled.path()).map_err(|error| QueryError::unreadable(name, error))?;
    if barrow_importers::recognise(&first_bytes).is_some() {
        let part = Destination::replacing(&spooled.folder().join("imported.barrow")).begin(Access::Owner)?;
        let done = import(&[spooled.path()], &part, &RecordingOptions::QUICK, context, &meter)?;
        let file = OpenFile::of(name, Arc::new(opened(part.path())?));
        let has_remarked = remark(name, &done.notes(), context);
        return Ok(OpenFile { damage: done.lost(), has_remarked, ..file });
    }
    Ok(OpenFile::of(name, Arc::new(opened(spooled.path())?)))
}

/// Passes the notes of an import or a count to the watcher. Returns whether there were any.
pub(crate) fn remark(name: &str, notes: &[String], context: &Context) -> bool {
    notes.iter().for_each(|note| context.watcher.remark(&format!("{name}: {note}")));
    !notes.is_empty()
}
