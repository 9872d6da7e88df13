//! What the first bytes of a file say it is.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use barrow_analyzer::RECORDING_MAGIC;

/// Whether a file begins like a recording or a dump.
///
/// # Errors
/// The system's.
pub fn is_readable(path: &Path) -> std::io::Result<bool> {
    Ok(recognise(path)? != Recognised::Unknown)
}

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recognised {
    /// A recording.
    Recording,
    /// A dump of this format.
    Dump(String),
    /// Neither.
    Unknown,
}

/// What the first bytes of a file say it is.
///
/// # Errors
/// The system's.
pub fn recognise(path: &Path) -> std::io::Result<Recognised> {
    let mut magic = Vec::new();
    File::open(path)?.take(RECORDING_MAGIC.len() as u64).read_to_end(&mut magic)?;
    if magic == RECORDING_MAGIC {
        return Ok(Recognised::Recording);
    }
    let format = barrow_importers::recognise(&first_bytes(path)?);
    Ok(format.map_or(Recognised::Unknown, |format| Recognised::Dump(format.to_string())))
}

/// Whether only the end of a file tells what it holds.
///
/// # Errors
/// The system's.
pub(crate) fn is_archive(path: &Path) -> std::io::Result<bool> {
    let mut first_bytes = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut first_bytes)?;
    Ok(barrow_importers::is_archive(&first_bytes))
}

/// The beginning of a file, as much as importers want to see, unpacked if it is compressed.
///
/// # Errors
/// The system's.
pub(crate) fn first_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    barrow_importers::first_bytes(&mut File::open(path)?)
}

/// Why a file cannot be read: what it is, if that is known; otherwise `what`, and what can be read.
pub(crate) fn unreadable(path: &Path, what: &str) -> String {
    let known = first_bytes(path).ok().and_then(|bytes| barrow_importers::named_otherwise(&bytes));
    known.unwrap_or_else(|| format!("{what}; {}", readable()))
}

/// What can be read, as a clause.
pub(crate) fn readable() -> String {
    let mut headings: Vec<&str> = barrow_importers::FORMATS.iter().map(|format| format.heading()).collect();
    headings.dedup();
    format!("barrow reads its own recordings, and files of {}", headings.join(", "))
}
