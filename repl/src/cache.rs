//! Recordings of dumps that were opened directly, kept so that the next time is quick.
//!
//! ```text
//! $BARROW_CACHE, or $XDG_CACHE_HOME/barrow, or ~/.cache/barrow, or the folder for temporary files
//!   PATH-CONTENT.barrow    PATH: a hash of the dump's path; CONTENT: of its length, time and importer
//!   PATH-CONTENT.lost      what the dump had lost, in a sentence; only if it had
//! ```

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::destination::Destination;
use crate::error::ReplError;
use crate::importing::import;
use crate::progress::Meter;
use crate::session::Settings;

/// Raised when importers write something else for the same dump.
const IMPORTER_VERSION: u32 = 2;

/// A dump as a recording.
#[derive(Debug)]
pub(crate) struct Cached {
    /// The recording.
    pub(crate) recording: PathBuf,
    /// What the dump had lost.
    pub(crate) lost: Option<String>,
}

/// The recording of the dump at `source`; imports it if that has not happened yet.
///
/// # Errors
/// Those of the import, and of writing to the cache.
pub(crate) fn recording_of(source: &Path, settings: &Settings) -> Result<Cached, ReplError> {
    let unreadable =
        |error: std::io::Error| ReplError::Unreadable { path: source.display().to_string(), cause: error.to_string() };
    let (path_hash, _) = hashes(source, settings).map_err(unreadable)?;
    let folder = folder();
    let recording = recording_path(source, settings).map_err(unreadable)?;
    let sidecar = recording.with_extension("lost");
    if recording.is_file() {
        return Ok(Cached { recording, lost: fs::read_to_string(sidecar).ok() });
    }
    fs::create_dir_all(&folder).map_err(|error| ReplError::file(&folder, error))?;
    let destination = Destination::replacing(&recording)?;
    let done = import(&[source], destination.temporary(), None, false, settings, &Meter::new(settings.quiet))?;
    forget(&folder, &format!("{path_hash:016x}-"));
    let lost = done.lost();
    // First what was lost, then the recording: who finds the recording finds both.
    if let Some(sentence) = &lost {
        fs::write(&sidecar, sentence).map_err(|error| ReplError::file(&sidecar, error))?;
    }
    destination.commit()?;
    Ok(Cached { recording, lost })
}

/// Whether the dump at `source` was imported already.
pub(crate) fn holds(source: &Path, settings: &Settings) -> bool {
    recording_path(source, settings).is_ok_and(|recording| recording.is_file())
}

/// Removes a recording that turned out to be damaged.
pub(crate) fn discard(cached: &Cached) {
    let _ = fs::remove_file(&cached.recording);
}

/// Removes recordings of what the dump was before. Who has one open keeps it.
fn forget(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)) {
        let _ = fs::remove_file(entry.path());
    }
}

/// The folder of the cache; it need not be there yet.
pub(crate) fn folder() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("BARROW_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("barrow")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache").join("barrow")))
        .unwrap_or_else(|| std::env::temp_dir().join("barrow"))
}

fn recording_path(source: &Path, settings: &Settings) -> std::io::Result<PathBuf> {
    let (path_hash, content_hash) = hashes(source, settings)?;
    Ok(folder().join(format!("{path_hash:016x}-{content_hash:016x}.barrow")))
}

fn hashes(source: &Path, settings: &Settings) -> std::io::Result<(u64, u64)> {
    let hash = |value: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        value(&mut hasher);
        hasher.finish()
    };
    let path = source.canonicalize()?;
    let metadata = fs::metadata(source)?;
    let changed = metadata.modified()?;
    let layout = settings.object_layout.map(|layout| layout.to_string());
    let content = hash(&|hasher| (metadata.len(), changed, layout.as_deref(), IMPORTER_VERSION).hash(hasher));
    Ok((hash(&|hasher| path.hash(hasher)), content))
}
