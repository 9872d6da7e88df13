//! Compression of columns and table chunks.

use crate::error::{FormatError, Result};
use crate::numbered::numbered_enum;

numbered_enum! {
    /// The encoding of the bytes of a column or table chunk.
    pub enum Codec("codec", up to 2) {
        /// As they are.
        None = 0,
        /// One LZ4 block, without frame or length.
        Lz4 = 1,
        /// One zstd frame.
        Zstd = 2,
    }
}

impl Codec {
    /// Its name, as users type it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Codec::None => "none",
            Codec::Lz4 => "lz4",
            Codec::Zstd => "zstd",
        }
    }
}

/// The setting of a writer: a codec and, for zstd, its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Store bytes as they are.
    None,
    /// LZ4: the fastest, about a third larger than zstd.
    Lz4,
    /// zstd with this level, 1 to 22. Short inputs are stored in LZ4.
    Zstd(i32),
}

/// Compresses with one reused context; one per thread.
pub struct Compressor {
    compression: Compression,
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").field("compression", &self.compression).finish_non_exhaustive()
    }
}

/// Shorter inputs are stored as they are: no codec shrinks them.
const WORTH_COMPRESSING: usize = 32;
/// LZ4 makes shorter inputs about as small as zstd, which first builds tables of codes.
const WORTH_ZSTD: usize = 512;

impl Compressor {
    /// A compressor for this setting.
    ///
    /// # Errors
    /// [`FormatError::OutOfRange`] for a zstd level that does not exist.
    pub fn new(compression: Compression) -> Result<Self> {
        let zstd = match compression {
            Compression::Zstd(level) => {
                let range = zstd::compression_level_range();
                if !range.contains(&level) {
                    return Err(FormatError::OutOfRange {
                        what: "zstd level",
                        value: u64::from(level.unsigned_abs()),
                        limit: u64::from(range.end().unsigned_abs()),
                    });
                }
                Some(zstd::bulk::Compressor::new(level).map_err(|_| FormatError::OutOfRange {
                    what: "zstd level",
                    value: u64::from(level.unsigned_abs()),
                    limit: u64::from(range.end().unsigned_abs()),
                })?)
            }
            Compression::None | Compression::Lz4 => None,
        };
        Ok(Compressor { compression, zstd })
    }

    /// Appends `raw` to `out`, compressed if that makes it shorter, and returns the codec used.
    ///
    /// # Errors
    /// [`FormatError::Compress`] if the codec fails (out of memory).
    pub fn append(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<Codec> {
        let start = out.len();
        let codec = if raw.len() < WORTH_COMPRESSING { Codec::None } else { self.compress_to(raw, out)? };
        if codec == Codec::None || out.len() - start >= raw.len() {
            out.truncate(start);
            out.extend_from_slice(raw);
            return Ok(Codec::None);
        }
        Ok(codec)
    }

    fn compress_to(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<Codec> {
        let start = out.len();
        match (self.compression, &mut self.zstd) {
            (Compression::Zstd(_), Some(zstd)) if raw.len() >= WORTH_ZSTD => {
                out.resize(start + zstd::zstd_safe::compress_bound(raw.len()), 0);
                let room = out.get_mut(start..).unwrap_or_default();
                let written = zstd
                    .compress_to_buffer(raw, room)
                    .map_err(|_| FormatError::Compress { codec: "zstd", length: raw.len() as u64 })?;
                out.truncate(start + written);
                Ok(Codec::Zstd)
            }
            (Compression::Lz4 | Compression::Zstd(_), _) => {
                out.resize(start + lz4_flex::block::get_maximum_output_size(raw.len()), 0);
                let room = out.get_mut(start..).unwrap_or_default();
                let written = lz4_flex::block::compress_into(raw, room)
                    .map_err(|_| FormatError::Compress { codec: "lz4", length: raw.len() as u64 })?;
                out.truncate(start + written);
                Ok(Codec::Lz4)
            }
            (Compression::None, _) => Ok(Codec::None),
        }
    }
}

/// Decompresses with one reused context; one per thread.
pub struct Decompressor {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressor").finish_non_exhaustive()
    }
}

impl Default for Decompressor {
    fn default() -> Self {
        Self::new()
    }
}

impl Decompressor {
    /// A decompressor for every codec; its zstd context is made when first needed.
    #[must_use]
    pub fn new() -> Self {
        Decompressor { zstd: None }
    }

    /// The raw bytes of `stored`, either `stored` itself or in `buffer`, which is overwritten.
    ///
    /// The caller has checked `raw_length` against the limit for `what`: that much is allocated.
    ///
    /// # Errors
    /// [`FormatError::Decompress`] unless exactly `raw_length` bytes come out.
    pub fn decompress<'a>(
        &mut self,
        what: &'static str,
        codec: Codec,
        stored: &'a [u8],
        raw_length: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let failed = || FormatError::Decompress { what, codec: codec.name(), raw_length: raw_length as u64 };
        let written = match codec {
            Codec::None => {
                return if stored.len() == raw_length { Ok(stored) } else { Err(failed()) };
            }
            Codec::Lz4 => lz4_flex::block::decompress_into(stored, room(buffer, raw_length)).map_err(|_| failed())?,
            Codec::Zstd => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new().map_err(|_| failed())?),
                };
                zstd.decompress_to_buffer(stored, room(buffer, raw_length)).map_err(|_| failed())?
            }
        };
        buffer.get(..raw_length).filter(|_| written == raw_length).ok_or_else(failed)
    }
}

/// The first `length` bytes of a buffer that only ever grows, so that reuse costs no zeroing.
fn room(buffer: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    buffer.get_mut(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_back_in_the_codec_that_suits_it() {
        for (compression, long) in
            [(Compression::None, Codec::None), (Compression::Lz4, Codec::Lz4), (Compression::Zstd(3), Codec::Zstd)]
        {
            let mut compressor = Compressor::new(compression).unwrap();
            for length in [0, 1, WORTH_COMPRESSING, 200, WORTH_ZSTD - 1, WORTH_ZSTD, 5000] {
                let raw: Vec<u8> = (0..length).map(|at| (at % 7) as u8).collect();
                let mut stored = vec![9];
                let codec = compressor.append(&raw, &mut stored).unwrap();
                if length == 200 && compression != Compression::None {
                    assert_eq!(codec, Codec::Lz4);
                }
                if length >= WORTH_ZSTD {
                    assert_eq!(codec, long);
                }
                let mut decompressor = Decompressor::new();
                let mut buffer = Vec::new();
                assert_eq!(decompressor.decompress("text", codec, &stored[1..], length, &mut buffer).unwrap(), raw);
            }
        }
    }
}
