//! The only file of a zip archive.

use std::fs::File;
use std::io::{self, Read};

use flate2::Crc;
use zip::{CompressionMethod, ZipArchive};

/// Names that an error lists.
const LISTED: usize = 3;
/// Characters of such a name.
const NAME_CHARACTERS: usize = 60;
/// Entries that are looked at: an archive of a dump holds one.
const MOST_ENTRIES: usize = 10_000;

/// Where the only file of an archive is, and how it is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ZipMember {
    /// Its first packed byte in the archive.
    pub(super) start: u64,
    packed_bytes: u64,
    is_deflated: bool,
    /// The checksum of what it holds.
    checksum: u32,
}

impl ZipMember {
    /// The only file of an archive. Folders do not count.
    ///
    /// # Errors
    /// There is none, there are several, it is encrypted or packed otherwise than by deflate, or the archive is damaged.
    pub(super) fn only(file: &File) -> io::Result<Self> {
        let mut archive = ZipArchive::new(file).map_err(damaged)?;
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
                        checksum: member.crc32(),
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

    /// What the file holds. `packed` begins with its first packed byte.
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
    expected: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.found.update(&bytes[..read]);
        if read == 0 && !bytes.is_empty() && self.found.sum() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum of the file is wrong"));
        }
        Ok(read)
    }
}

fn refused(what: &str) -> io::Error {
    let what = format!("{what}; unpack it and import the dump that it holds");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn damaged(error: zip::result::ZipError) -> io::Error {
    refused(&format!("this zip archive is damaged ({error})"))
}
