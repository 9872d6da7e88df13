//! Imports a dump into a recording: for `import`, and for dumps that are opened directly.

use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use barrow_importers::{ImportError, ImportOptions, Imported, Series};
use barrow_writer::{Compression, Finished, Options, Writer};

use crate::error::ReplError;
use crate::progress::Meter;
use crate::session::Settings;

/// What an import did.
pub(crate) struct Done {
    /// What was found in each dump, in the order in which they were taken.
    pub(crate) imported: Vec<(PathBuf, Imported)>,
    /// What was written.
    pub(crate) finished: Finished,
    /// The length of the dumps.
    pub(crate) source_bytes: u64,
}

impl Done {
    /// What the dumps had lost, in a sentence for each.
    pub(crate) fn lost(&self) -> Option<String> {
        let lost = self.imported.iter().filter_map(|(source, imported)| {
            let lost = imported.lost.as_ref()?;
            Some(if self.imported.len() == 1 { lost.to_string() } else { format!("{}: {lost}", source.display()) })
        });
        let sentences: Vec<String> = lost.collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

/// Imports the dumps at `sources` into a new recording at `destination`, in the order in which they were taken; with
/// `patches` as differences, where dumps name objects across snapshots.
///
/// # Errors
/// A dump that cannot be read or is of no known format, a recording that cannot be written, Ctrl-C.
pub(crate) fn import(
    sources: &[&Path],
    destination: &Path,
    compression: Option<Compression>,
    patches: bool,
    settings: &Settings,
    meter: &Meter,
) -> Result<Done, ReplError> {
    let mut source_bytes = 0;
    let mut dumps = Vec::new();
    for &source in sources {
        let unreadable = |cause: String| ReplError::Unreadable { path: source.display().to_string(), cause };
        let system = |error: io::Error| unreadable(error.to_string());
        source_bytes += fs::metadata(source).map_err(system)?.len();
        if barrow_importers::recognise(&crate::opening::first_bytes(source).map_err(system)?).is_none() {
            return Err(unreadable(format!("not a dump that can be imported; {}", crate::opening::readable())));
        }
        dumps.push((barrow_importers::taken_ns(source).map_err(system)?, source));
    }
    // Those of one moment stay in the order they were named in.
    dumps.sort_by_key(|&(taken_ns, _)| taken_ns);
    let written = |source| ReplError::Write { path: destination.display().to_string(), source };
    let mut options = options(compression, settings);
    options.patches = patches;
    options.created_ns = dumps.first().map(|&(taken_ns, _)| taken_ns).filter(|_| dumps.len() > 1);
    let writer = Writer::create(destination, options).map_err(written)?;
    let wishes = wishes(destination, settings);
    let mut series = Series::new(&writer, &wishes, meter);
    let mut imported = Vec::new();
    for &(_, source) in &dumps {
        let one = match dumps.len() {
            1 => barrow_importers::import(source, &writer, &wishes, meter),
            _ => series.import(source),
        };
        let one = one.map_err(|error| match error {
            ImportError::Cancelled => ReplError::Stopped,
            error => ReplError::Import { path: source.display().to_string(), source: error },
        })?;
        imported.push((source.to_path_buf(), one));
    }
    let finished = writer.finish().map_err(written)?;
    Ok(Done { imported, finished, source_bytes })
}

/// How the dump is read; a compressed one is unpacked beside the recording.
pub(crate) fn wishes(destination: &Path, settings: &Settings) -> ImportOptions {
    let &Settings { object_layout, max_unpacked, .. } = settings;
    let mut wishes = ImportOptions { object_layout, max_unpacked, ..ImportOptions::default() };
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
