//! How a file is compressed, if it is.

use std::fs::File;
use std::io::{self, Read, Seek};

/// How many of an unpacked dump's first bytes tell its format.
const RECOGNISED_BYTES: u64 = 4096;

/// A general compression around a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// What a file's first bytes say, and these bytes, which are read from the file.
    pub(crate) fn of(file: &mut impl Read) -> io::Result<(Option<Packing>, Vec<u8>)> {
        let mut first_bytes = Vec::new();
        file.by_ref().take(4).read_to_end(&mut first_bytes)?;
        let packing = match first_bytes[..] {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] => Some(Packing::Zstd),
            _ => None,
        };
        Ok((packing, first_bytes))
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }

    /// What `packed` holds.
    pub(crate) fn reader<'r>(self, packed: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
            Packing::Zstd => Box::new(zstd::Decoder::new(packed)?),
        })
    }
}

/// The first bytes of a dump, unpacked if it is compressed: as many as [`recognise`](crate::recognise)
/// wants to see, or fewer if there are no more or they are damaged.
///
/// # Errors
/// The system's.
pub fn first_bytes(file: &mut File) -> io::Result<Vec<u8>> {
    let (packing, mut bytes) = Packing::of(file)?;
    match packing {
        None => {
            let more = RECOGNISED_BYTES - bytes.len() as u64;
            file.take(more).read_to_end(&mut bytes)?;
        }
        Some(packing) => {
            file.rewind()?;
            bytes.clear();
            // What cannot be unpacked is not recognised; the import would say why.
            let _ = packing.reader(file)?.take(RECOGNISED_BYTES).read_to_end(&mut bytes);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn first_bytes_are_those_of_what_is_packed() {
        let text = b"MoarHeapDumpv002".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).expect("written to memory");
        let packed = [text.clone(), gzip.finish().expect("finished"), zstd::encode_all(&text[..], 1).expect("packed")];
        for bytes in packed {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(&bytes).expect("written");
            file.rewind().expect("rewound");
            assert_eq!(first_bytes(&mut file).expect("readable"), text[..RECOGNISED_BYTES as usize]);
        }
    }
}
