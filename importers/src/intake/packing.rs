//! The compression of a file, if any.

mod zip_member;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use liblzma::stream::{self, CONCATENATED, Stream};

use self::zip_member::ZipMember;

/// Maximum memory for unpacking xz: more than any of its presets needs (`xz -9` 65 MiB).
const XZ_MEMORY_BYTES: u64 = 256 << 20;
/// Number of bytes that identify the compression of a file.
const FIRST_BYTES: u64 = 6;

/// A general compression around a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    /// The only file of an archive.
    Zip(ZipMember),
}

/// Returns whether a file with these first bytes is a zip archive, whose contents only its end lists.
#[must_use]
pub fn is_archive(first_bytes: &[u8]) -> bool {
    matches!(first_bytes, [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..])
}

impl Packing {
    /// The compression of a file, and its first bytes, which are read from the file.
    ///
    /// # Errors
    /// Those of the system; a zip archive that does not hold exactly one file that can be unpacked.
    pub(crate) fn of(file: &mut File) -> io::Result<(Option<Packing>, Vec<u8>)> {
        let mut first_bytes = Vec::new();
        file.by_ref().take(FIRST_BYTES).read_to_end(&mut first_bytes)?;
        let packing = match first_bytes[..] {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Packing::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Some(Packing::Xz),
            _ if is_archive(&first_bytes) => Some(Packing::Zip(ZipMember::only(file)?)),
            _ => None,
        };
        Ok((packing, first_bytes))
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
            Packing::Bzip2 => "bzip2",
            Packing::Xz => "xz",
            Packing::Zip(_) => "zip",
        }
    }

    /// The packed bytes of a file of which `first_bytes` were read. Files other than archives may be pipes.
    pub(crate) fn packed(self, mut file: File, first_bytes: Vec<u8>) -> io::Result<Box<dyn Read>> {
        if let Packing::Zip(member) = self {
            file.seek(SeekFrom::Start(member.start))?;
            return Ok(Box::new(file));
        }
        Ok(Box::new(io::Cursor::new(first_bytes).chain(file)))
    }

    /// The reason why unpacking ended.
    pub(crate) fn cause(self, error: &io::Error) -> String {
        let of_xz = error.get_ref().and_then(|error| error.downcast_ref());
        match of_xz {
            Some(stream::Error::MemLimit) => format!("it needs more than {} MiB of memory", XZ_MEMORY_BYTES >> 20),
            _ => error.to_string(),
        }
    }

    /// The error for a file of which nothing could be unpacked.
    pub(crate) fn nothing(self, cause: &str) -> io::Error {
        let what = format!("this is packed by {}, and nothing of it can be unpacked: {cause}", self.name());
        io::Error::new(io::ErrorKind::InvalidData, what)
    }

    /// Unpacks `packed`.
    pub(crate) fn reader<'r>(self, packed: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
            Packing::Zstd => Box::new(zstd::Decoder::new(packed)?),
            Packing::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(packed)),
            Packing::Xz => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES, CONCATENATED)?;
                Box::new(liblzma::read::XzDecoder::new_stream(packed, stream))
            }
            Packing::Zip(member) => member.reader(packed),
        })
    }
}
