//! Recognises files by their first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use barrow_analyzer::RECORDING_MAGIC;

/// Returns whether a file begins like a recording or a dump.
///
/// # Errors
/// The system's.
pub fn is_readable(path: &Path) -> std::io::Result<bool> {
    Ok(recognise(path)? != Recognised::Unknown)
}

/// The kind of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recognised {
    /// A recording.
    Recording,
    /// A dump of this format.
    Dump(String),
    /// Neither.
    Unknown,
}

/// Recognises a file by its first bytes.
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

/// Returns whether only the end of a file tells its format, as of a ZIP archive.
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

/// The reason why a file cannot be read: its format, if that is known; otherwise `what`, and the formats that can be read.
pub(crate) fn unreadable(path: &Path, what: &str) -> String {
    let known = first_bytes(path).ok().and_then(|bytes| barrow_importers::named_otherwise(&bytes));
    known.unwrap_or_else(|| format!("{what}; {}", readable()))
}

/// The formats that can be read, as a clause.
pub(crate) fn readable() -> String {
    let mut headings: Vec<&str> = barrow_importers::FORMATS.iter().map(|format| format.heading()).collect();
    headings.dedup();
    format!("barrow reads its own recordings, and files of {}", headings.join(", "))
}
