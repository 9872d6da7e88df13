//! Imports a dump into a recording: for `import`, and for dumps that are opened directly.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use barrow_importers::{ImportError, ImportOptions, Imported};
use barrow_writer::{Compression, Finished, Options, Writer};

use crate::error::ReplError;
use crate::progress::Meter;
use crate::session::Settings;

/// What an import did.
pub(crate) struct Done {
    /// What was found in the dump.
    pub(crate) imported: Imported,
    /// What was written.
    pub(crate) finished: Finished,
    /// The length of the dump.
    pub(crate) source_bytes: u64,
}

/// Imports the dump at `source` into a new recording at `destination`.
///
/// # Errors
/// A dump that cannot be read or is of no known format, a recording that cannot be written, Ctrl-C.
pub(crate) fn import(
    source: &Path,
    destination: &Path,
    compression: Option<Compression>,
    settings: &Settings,
    meter: &Meter,
) -> Result<Done, ReplError> {
    let name = source.display().to_string();
    let unreadable = |cause: String| ReplError::Unreadable { path: name.clone(), cause };
    let source_bytes = fs::metadata(source).map_err(|error| unreadable(error.to_string()))?.len();
    let first_bytes = crate::opening::first_bytes(source).map_err(|error| unreadable(error.to_string()))?;
    if barrow_importers::recognise(&first_bytes).is_none() {
        return Err(unreadable(format!("not a dump that can be imported; {}", crate::opening::readable())));
    }
    let written = |source| ReplError::Write { path: destination.display().to_string(), source };
    let writer = Writer::create(destination, options(compression, settings)).map_err(written)?;
    let imported = barrow_importers::import(source, &writer, &wishes(destination, settings), meter);
    let imported = imported.map_err(|source| match source {
        ImportError::Cancelled => ReplError::Stopped,
        source => ReplError::Import { path: name.clone(), source },
    })?;
    let finished = writer.finish().map_err(written)?;
    Ok(Done { imported, finished, source_bytes })
}

/// How the dump is read; a compressed one is unpacked beside the recording.
pub(crate) fn wishes(destination: &Path, settings: &Settings) -> ImportOptions {
    let mut wishes = ImportOptions { object_layout: settings.object_layout, ..ImportOptions::default() };
    if let Some(threads) = settings.threads.and_then(NonZero::new) {
        wishes.threads = threads;
    }
    if let Some(folder) = destination.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        folder.clone_into(&mut wishes.folder);
    } else {
        wishes.folder = PathBuf::from(".");
    }
    wishes
}

fn options(compression: Option<Compression>, settings: &Settings) -> Options {
    let mut options = Options::default();
    if let Some(compression) = compression {
        options.compression = compression;
    }
    if let Some(budget) = settings.max_memory {
        options.memory_budget_bytes = usize::try_from(budget).unwrap_or(usize::MAX);
    }
    // The importer itself works in the one thread that is left.
    let threads = settings.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
    options.threads = threads - 1;
    options
}
