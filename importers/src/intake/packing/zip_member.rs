//! The only file of a zip archive.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use byteorder::{ByteOrder, LittleEndian};
use flate2::Crc;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

/// Maximum number of names that an error lists.
const LISTED: usize = 3;
/// Maximum number of characters of such a name.
const NAME_CHARACTERS: usize = 60;
/// Maximum number of entries examined: an archive of a dump holds one.
const MOST_ENTRIES: usize = 10_000;
/// Length of the head of a file in an archive, before its name.
const HEAD_BYTES: usize = 30;

/// The place of the only file of an archive, and its compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ZipMember {
    /// Its first packed byte in the archive.
    pub(super) start: u64,
    packed_bytes: u64,
    is_deflated: bool,
    /// The checksum of its contents. `None` if the archive has no readable directory.
    checksum: Option<u32>,
}

impl ZipMember {
    /// The only file of an archive, apart from folders. In an archive without its directory, which is at its end, the
    /// first file.
    ///
    /// # Errors
    /// There is no file, there are several, it is encrypted or not packed by deflate, or the archive is damaged.
    pub(super) fn only(file: &File) -> io::Result<Self> {
        let mut archive = match ZipArchive::new(file) {
            Err(error) => return Self::first(file, error),
            Ok(archive) => archive,
        };
        if archive.len() > MOST_ENTRIES {
            return Err(refused("this zip archive holds thousands of files"));
        }
        let (mut names, mut count) = (Vec::new(), 0_usize);
        let mut only = None;
        for at in 0..archive.len() {
            let member = archive.by_index_raw(at).map_err(damaged)?;
            if member.is_dir() {
                continue;
            }
            if count == 0 {
                only = Some((
                    ZipMember {
                        start: member.data_start(),
                        packed_bytes: member.compressed_size(),
                        is_deflated: member.compression() == CompressionMethod::Deflated,
                        checksum: Some(member.crc32()),
                    },
                    member.encrypted(),
                    member.compression(),
                ));
            }
            count += 1;
            if count <= LISTED {
                // A name may have 64 KiB.
                let name: String = member.name().chars().take(NAME_CHARACTERS).collect();
                names.push(format!("{name:?}"));
            }
        }
        match (only, count) {
            (None, _) => Err(io::Error::new(io::ErrorKind::InvalidData, "this zip archive holds no file")),
            (Some((_, true, _)), 1) => Err(refused("this zip archive is encrypted")),
            (Some((member, _, CompressionMethod::Deflated | CompressionMethod::Stored)), 1) => Ok(member),
            (Some(_), 1) => Err(refused("this zip archive is not packed by deflate")),
            (Some(_), count) => {
                let listed = names.join(", ");
                let more = if count > LISTED { format!(" and {} more", count - LISTED) } else { String::new() };
                Err(refused(&format!("this zip archive holds several files, {listed}{more}")))
            }
        }
    }

    /// The first file of an archive without its directory.
    fn first(mut file: &File, error: ZipError) -> io::Result<Self> {
        let mut at = 0;
        for _ in 0..MOST_ENTRIES {
            let mut head = [0; HEAD_BYTES];
            file.seek(SeekFrom::Start(at))?;
            if file.read_exact(&mut head).is_err() || !head.starts_with(b"PK\x03\x04") {
                break;
            }
            let name_length = LittleEndian::read_u16(&head[26..]);
            let mut name = Vec::new();
            file.take(name_length.into()).read_to_end(&mut name)?;
            let extra_length = LittleEndian::read_u16(&head[28..]);
            let start = at + HEAD_BYTES as u64 + u64::from(name_length) + u64::from(extra_length);
            if name.ends_with(b"/") {
                at = start + u64::from(LittleEndian::read_u32(&head[18..]));
                continue;
            }
            let (flags, method) = (LittleEndian::read_u16(&head[6..]), LittleEndian::read_u16(&head[8..]));
            // Deflate marks its own end. The end of a stored file is only known from the directory.
            let is_readable = flags & 1 == 0 && method == 8;
            let member = ZipMember { start, packed_bytes: u64::MAX, is_deflated: true, checksum: None };
            return is_readable.then_some(member).ok_or_else(|| damaged(error));
        }
        Err(damaged(error))
    }

    /// Unpacks the file. `packed` begins with its first packed byte.
    pub(super) fn reader<'r>(self, packed: impl Read + 'r) -> Box<dyn Read + 'r> {
        let packed = packed.take(self.packed_bytes);
        match self.is_deflated {
            true => Box::new(self.checked(flate2::read::DeflateDecoder::new(packed))),
            false => Box::new(self.checked(packed)),
        }
    }

    fn checked<R>(self, inner: R) -> Checked<R> {
        Checked { inner, found: Crc::new(), expected: self.checksum }
    }
}

/// Compares the checksum at the end.
struct Checked<R> {
    inner: R,
    found: Crc,
    expected: Option<u32>,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.found.update(&bytes[..read]);
        let wrong = match self.expected {
            None => "the directory of the archive is missing or damaged, so that it may hold other files",
            Some(expected) if expected != self.found.sum() => "the checksum of the file is wrong",
            Some(_) => return Ok(read),
        };
        if read == 0 && !bytes.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, wrong));
        }
        Ok(read)
    }
}

fn refused(what: &str) -> io::Error {
    let what = format!("{what}; unpack it and import the dump that it holds");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn damaged(error: ZipError) -> io::Error {
    refused(&format!("this zip archive is damaged ({error})"))
}
