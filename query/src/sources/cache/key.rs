//! Keys of dumps: they tell a dump and its content from all others, without reading all of it. Several dumps that
//! became one recording have one key.
//!
//! ```text
//!   path      FNV-1a of the canonical path
//!   content   FNV-1a of: length, times, device and inode, checksum of the bytes or of samples, wishes, version
//! ```
//!
//! A program can set a file's modification time, but not its change time (`ctime`), which each write moves. The system
//! counts it in steps of some milliseconds, and not every system has it, so bytes are looked at, too: all of a
//! small dump, and pieces of a large one.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use barrow_importers::Contents;

use crate::context::Context;

/// Raised when importers write something else for the same dump.
const IMPORTER_VERSION: u64 = 18;
/// Of a dump that is no longer, all bytes are looked at: about a millisecond.
const SMALL_BYTES: u64 = 8 << 20;
/// The number of pieces of a longer file, and their length: a page each, half a megabyte in all. The first and the
/// last bytes are among them. Both numbers are judgements.
const PIECES: u64 = 128;
const PIECE_BYTES: u64 = 4096;

/// Names a dump and its content, or several dumps that are snapshots of one recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// The canonical paths.
    pub(crate) sources: Vec<PathBuf>,
    path: u64,
    content: u64,
}

impl Key {
    /// The key of the dumps at `sources` as they are now, read with these wishes.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn of(sources: &[&Path], context: &Context) -> io::Result<Self> {
        let (mut path, mut content) = (Fnv::default(), Fnv::default());
        let mut canonical = Vec::with_capacity(sources.len());
        content.number(IMPORTER_VERSION);
        for &source in sources {
            let source = source.canonicalize()?;
            let mut file = File::open(&source)?;
            let metadata = file.metadata()?;
            content.number(metadata.len());
            marks(&metadata).into_iter().for_each(|mark| content.number(mark));
            content.number(checksum(&mut file, metadata.len())?.into());
            // No path has a zero.
            path.bytes(if canonical.is_empty() { b"" } else { b"\0" });
            path.bytes(source.as_os_str().as_encoded_bytes());
            canonical.push(source);
        }
        if let Some(layout) = context.settings.object_layout {
            content.bytes(layout.to_string().as_bytes());
        }
        if context.settings.contents != Contents::default() {
            content.bytes(format!("{:?}", context.settings.contents).as_bytes());
        }
        Ok(Key { sources: canonical, path: path.0, content: content.0 })
    }

    /// The name of the recording: the same for the same dump and content, for any version of Rust and of barrow.
    pub(crate) fn file_name(&self) -> String {
        format!("{}{:016x}.barrow", self.prefix(), self.content)
    }

    /// The beginning of the names of all recordings of this path.
    pub(crate) fn prefix(&self) -> String {
        format!("{:016x}-", self.path)
    }
}

/// The system's marks of a file's changes.
#[cfg(unix)]
fn marks(metadata: &Metadata) -> [u64; 6] {
    use std::os::unix::fs::MetadataExt;

    [
        metadata.dev(),
        metadata.ino(),
        metadata.ctime().cast_unsigned(),
        metadata.ctime_nsec().cast_unsigned(),
        metadata.mtime().cast_unsigned(),
        metadata.mtime_nsec().cast_unsigned(),
    ]
}

/// The system's marks of a file's changes: without a change time, so the bytes count the more.
#[cfg(not(unix))]
fn marks(metadata: &Metadata) -> [u64; 2] {
    [metadata.created(), metadata.modified()].map(|time| time.map_or(0, nanoseconds))
}

#[cfg(not(unix))]
fn nanoseconds(time: std::time::SystemTime) -> u64 {
    let since = time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// CRC-32C of the bytes, or of pieces spread evenly over them.
fn checksum(file: &mut File, length: u64) -> io::Result<u32> {
    let mut checksum = 0;
    let mut buffer = vec![0; 1 << 16];
    if length <= SMALL_BYTES {
        let mut rest = file.take(length);
        loop {
            match rest.read(&mut buffer) {
                Ok(0) => return Ok(checksum),
                Ok(read) => checksum = crc32c::crc32c_append(checksum, &buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    let last = length - PIECE_BYTES;
    for piece in 0..PIECES {
        // Lengths of files have 63 bits: the product is computed in more.
        let at = (u128::from(last) * u128::from(piece) / u128::from(PIECES - 1)) as u64;
        file.seek(SeekFrom::Start(at))?;
        let mut read = Vec::with_capacity(PIECE_BYTES as usize);
        file.take(PIECE_BYTES).read_to_end(&mut read)?;
        checksum = crc32c::crc32c_append(checksum, &read);
    }
    Ok(checksum)
}

/// The hash FNV-1a of 64 bits: its definition does not change, unlike that of the standard library's hasher.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        let hash = |text: &str| {
            let mut fnv = Fnv::default();
            fnv.bytes(text.as_bytes());
            fnv.0
        };
        assert_eq!([hash(""), hash("a"), hash("foobar")], [0xcbf29ce484222325, 0xaf63dc4c8601ec8c, 0x85944171f73967e8]);
    }

    #[test]
    fn all_bytes_of_a_small_dump_count_and_the_ends_of_a_large_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump");
        let of = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            checksum(&mut File::open(&path).unwrap(), bytes.len() as u64).unwrap()
        };
        for length in [1, 100_000, SMALL_BYTES as usize + 1] {
            let mut bytes = vec![7; length];
            let before = of(&bytes);
            for at in [0, length - 1] {
                bytes[at] ^= 1;
                assert_ne!(of(&bytes), before, "byte {at} of {length}");
                bytes[at] ^= 1;
            }
            assert_eq!(of(&bytes), before);
        }
    }
}
