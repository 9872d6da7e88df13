//! The first bytes of a dump, which determine its format.

use std::fs::File;
use std::io::{self, Read, Seek};

use crate::intake::packing::Packing;

/// Number of bytes of a dump that are read to recognise its format.
pub(crate) const FIRST_BYTES: usize = 4096;

/// Reads the first 4096 bytes of a dump, unpacked if it is compressed. There are fewer if the dump is shorter or its
/// compressed form is damaged.
///
/// # Errors
/// Those of the system, or if nothing can be unpacked.
pub fn first_bytes(file: &mut File) -> io::Result<Vec<u8>> {
    let (packing, mut bytes) = Packing::of(file)?;
    match packing {
        None => {
            let more = FIRST_BYTES - bytes.len();
            file.take(more as u64).read_to_end(&mut bytes)?;
        }
        Some(packing) => {
            file.rewind()?;
            let packed = packing.packed(file.try_clone()?, Vec::new())?;
            bytes.clear();
            let unpacked = packing.reader(packed)?.take(FIRST_BYTES as u64).read_to_end(&mut bytes);
            // The bytes before damage may be recognised; an import reports the damage.
            if let Err(error) = unpacked
                && bytes.is_empty()
            {
                return Err(packing.nothing(&packing.cause(&error)));
            }
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
            assert_eq!(first_bytes(&mut file).expect("readable"), text[..FIRST_BYTES]);
        }
    }
}
