//! How a file is compressed, if it is.

use std::io::{self, Read};

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
