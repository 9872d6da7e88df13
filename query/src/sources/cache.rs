//! Recordings of dumps that were opened directly, kept so that the next time is quick.
//!
//! ```text
//! $BARROW_CACHE, or $XDG_CACHE_HOME/barrow, or ~/.cache/barrow, or /tmp/barrow-UID
//!   PATH-CONTENT.barrow         PATH and CONTENT: see `key`
//!     fact `dump`               the dump's path; of several dumps each in a line
//!     fact `lost`               what the dump had lost, in a sentence; only if it had
//!     facts `note`, `note 2`…   what the import remarked
//!   PATH-CONTENT.barrow.index   what was computed of it
//!   UUID.index                  likewise, of a recording whose own folder cannot be written to
//! ```
//!
//! A recording holds all that is known of its dump and gets its name when it is whole. So processes that open,
//! replace and remove it at once see all of it or nothing.
//!
//! In reading order: `key` (names a dump and its content), `folder` (where, and for whom), `sweep` (what is removed).

pub(crate) mod folder;
mod key;
mod sweep;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use barrow_analyzer::Recording;

use crate::context::Context;
use crate::error::QueryError;
use crate::sources::destination::{Access, Destination};
use crate::sources::import_facts::LOST;
use crate::sources::importing::{RecordingOptions, import};

use folder::CacheFolder;
use key::Key;

/// The fact that holds the path of the dump.
const DUMP: &str = "dump";
/// A recording that was used is marked so at most this often: the order in which they are removed needs no better
/// clock, and reading writes nothing otherwise.
const MARKED_EVERY: Duration = Duration::from_secs(3600);

/// A dump as a recording.
#[derive(Debug)]
pub(crate) struct Cached {
    /// The recording, which stays readable even if it is removed from the cache.
    pub(crate) recording: Recording,
    /// The losses of the dump, in a sentence.
    pub(crate) lost: Option<String>,
    /// The notes of its import, if that was just now.
    pub(crate) notes: Vec<String>,
}

/// Opens the recording of the dumps at `sources`, in this order; imports them if that has not happened yet.
///
/// # Errors
/// Those of the import, and of writing to the cache.
pub(crate) fn open(sources: &[&Path], context: &Context) -> Result<Cached, QueryError> {
    let first = sources.first().map_or_else(String::new, |source| source.display().to_string());
    let key = Key::of(sources, context).map_err(|error| QueryError::unreadable(first, error))?;
    let folder = folder_of(context)?;
    let path = folder.path().join(key.file_name());
    if let Some(cached) = find(&path, &key) {
        mark_used(&path);
        return Ok(cached);
    }
    let limit_bytes = sweep::limit_bytes()?;
    folder.make()?;
    let part = Destination::replacing(&path).begin(Access::Owner)?;
    let dump = dump_fact(&key);
    let output = RecordingOptions { facts: &[(DUMP, &dump)], ..RecordingOptions::QUICK };
    let done = import(sources, &part, &output, context, &context.meter())?;
    // Another process may have been faster. Its recording stays, so that an index of it stays valid.
    let cached = match find(&path, &key) {
        Some(cached) => cached,
        None => {
            // Opened before others can see it, and so before they can remove it.
            let recording = Recording::open(part.path())?.renamed(&path);
            part.commit()?;
            with_loss(recording)?
        }
    };
    sweep::sweep(folder.path(), &key, limit_bytes);
    Ok(Cached { notes: done.notes(), ..cached })
}

fn folder_of(context: &Context) -> Result<CacheFolder, QueryError> {
    context.settings.cache.as_deref().map_or_else(CacheFolder::find, |path| Ok(CacheFolder::at(path)))
}

/// Returns whether the dumps at `sources` were imported already, in this order.
pub(crate) fn holds(sources: &[&Path], context: &Context) -> bool {
    let (Ok(key), Ok(folder)) = (Key::of(sources, context), folder_of(context)) else { return false };
    find(&folder.path().join(key.file_name()), &key).is_some()
}

/// The recording at `path`, if it is there, whole, and that of the key's dump.
fn find(path: &Path, key: &Key) -> Option<Cached> {
    let recording = Recording::open(path).ok().filter(|recording| recording.damage().is_none())?;
    let facts = recording.facts().ok()?;
    let is_of_dump = fact(&facts, DUMP) == Some(&dump_fact(key));
    if is_of_dump { with_loss(recording).ok() } else { None }
}

fn with_loss(recording: Recording) -> Result<Cached, QueryError> {
    let lost = fact(&recording.facts()?, LOST).map(str::to_owned);
    Ok(Cached { recording, lost, notes: Vec::new() })
}

/// The value of a fact: of two with one key the later holds.
fn fact<'f>(facts: &'f [(String, String)], key: &str) -> Option<&'f str> {
    facts.iter().rev().find(|(found, _)| found == key).map(|(_, value)| value.as_str())
}

fn dump_fact(key: &Key) -> String {
    let paths: Vec<_> = key.sources.iter().map(|source| source.to_string_lossy()).collect();
    paths.join("\n")
}

/// Notes that the recording was used, for `sweep` to know; without a write at each opening.
fn mark_used(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    let marked = file.metadata().and_then(|metadata| metadata.modified());
    let since = marked.ok().and_then(|marked| marked.elapsed().ok());
    if since.is_none_or(|since| since > MARKED_EVERY) {
        // Where it cannot be marked, it is removed a little earlier.
        let _ = file.set_modified(SystemTime::now());
    }
}
