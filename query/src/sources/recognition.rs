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
