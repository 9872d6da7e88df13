//! Copies of pipes as files: questions and importers read their input more than once.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use barrow_analyzer::Progress;
use tempfile::TempDir;

use crate::error::QueryError;
use crate::progress::Meter;
use crate::sources::{cache::folder, recognition};

/// The name of the standard input, on a command line.
pub const STDIN: &str = "-";
/// Bytes that are read before the format must be known: more than a block of bzip2, which cannot be unpacked before all
/// of it is there.
const BEGINNING_BYTES: usize = 1 << 20;
/// Bytes that are copied between two checks for Ctrl-C: a disk takes milliseconds.
const COPY_BYTES: usize = 1 << 20;

/// A copy of a pipe. Its file is removed when this is dropped.
pub(crate) struct Spooled {
    folder: TempDir,
    path: PathBuf,
}

impl Spooled {
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder, which holds nothing else and is readable for its owner only.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns whether a file of this name can only be read once, from its beginning to its end.
pub(crate) fn is_pipe(name: &str) -> bool {
    name == STDIN || fs::metadata(name).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Copies the pipe of this name into a file: in the cache's folder, or in that for temporary files.
///
/// # Errors
/// A pipe that cannot be read, that begins like nothing barrow reads, or that the disk has no room for; Ctrl-C.
pub(crate) fn spool(name: &str, meter: &Meter) -> Result<Spooled, QueryError> {
    if name == STDIN && io::stdin().is_terminal() {
        return Err(QueryError::usage(
            "`-` is the standard input, and nothing is piped into it: `zcat dump.gz | barrow top -`",
        ));
    }
    let mut pipe: Box<dyn Read> = match name {
        STDIN => Box::new(io::stdin().lock()),
        name => Box::new(File::open(name).map_err(|error| QueryError::unreadable(name, error))?),
    };
    let folder = folder::folder_for_copies().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::Builder::new()
        .prefix(".pipe.")
        .tempdir_in(&folder)
        .map_err(|error| QueryError::file(&folder, error))?;
    let path = folder.path().join("stdin");
    let full = |error: io::Error| QueryError::file(&path, error);
    let mut file = File::create(&path).map_err(full)?;
    meter.begin("reading the pipe", 0, "bytes");
    let (mut bytes, mut length, mut is_known) = (vec![0; COPY_BYTES], 0usize, false);
    loop {
        if meter.cancelled() {
            return Err(QueryError::Stopped);
        }
        let room = if is_known { COPY_BYTES } else { BEGINNING_BYTES - length };
        let read = match pipe.read(&mut bytes[..room]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(|error| QueryError::unreadable(name, error))?,
        };
        file.write_all(&bytes[..read]).map_err(full)?;
        length += read;
        meter.advance(read as u64);
        if !is_known && (read == 0 || length == BEGINNING_BYTES) {
            // An endless pipe of something else must not fill the disk.
            is_known = read > 0 && recognition::is_archive(&path).map_err(full)?
                || recognition::is_readable(&path).map_err(|error| QueryError::unreadable(name, error))?;
            if !is_known {
                let why = recognition::unreadable(&path, "not a recording and no dump");
                return Err(QueryError::unreadable(name, why));
            }
        }
        if read == 0 {
            return Ok(Spooled { folder, path });
        }
    }
}
