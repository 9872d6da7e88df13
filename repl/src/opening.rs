//! Opens what a file's first bytes say it is: a recording, or a dump that becomes one.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use barrow_analyzer::{AnalyzerError, FormatError, Recording};

use crate::cache;
use crate::error::ReplError;
use crate::session::{OpenFile, Settings};

/// Opens the file of this name.
///
/// # Errors
/// A file that is missing, or that nobody here can read.
pub(crate) fn open(name: &str, settings: &Settings) -> Result<OpenFile, ReplError> {
    let path = Path::new(name);
    let unreadable = |cause: String| ReplError::Unreadable { path: name.to_owned(), cause };
    if path.is_dir() {
        return Err(unreadable(format!("this is a folder; {}", readable())));
    }
    let first_bytes = first_bytes(path).map_err(|error| unreadable(error.to_string()))?;
    if barrow_importers::recognise(&first_bytes).is_some() {
        let cached = cache::open(path, settings)?;
        let recording = Arc::new(cached.recording);
        return Ok(OpenFile { name: name.to_owned(), recording, damage: cached.lost, counted: None });
    }
    let recording = Recording::open(path).map_err(|error| match error {
        AnalyzerError::Unreadable(FormatError::NotARecording { .. }) => unreadable(format!("{error}; {}", readable())),
        error => unreadable(error.to_string()),
    })?;
    let damage = recording.damage().map(ToString::to_string);
    Ok(OpenFile { name: name.to_owned(), recording: Arc::new(recording), damage, counted: None })
}

/// The beginning of a file, as much as importers want to see, unpacked if it is compressed.
///
/// # Errors
/// The system's.
pub(crate) fn first_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    barrow_importers::first_bytes(&mut File::open(path)?)
}

/// What can be read, as a clause.
pub(crate) fn readable() -> String {
    let formats: Vec<String> = barrow_importers::FORMATS.iter().map(ToString::to_string).collect();
    format!("barrow reads its own recordings, and dumps of these kinds: {}", formats.join("; "))
}
