//! Compresses responses if the browser accepts that.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Encodes the pieces of one response.
pub(crate) enum Encoder {
    /// Uncompressed.
    Plain,
    /// As one gzip stream. Each piece can be read at once.
    Gzip(Box<GzEncoder<Vec<u8>>>),
}

impl Encoder {
    pub(crate) fn new(gzip: bool) -> Self {
        // A third smaller than the lowest level, at 10 ms more for an answer of 3 MB.
        if gzip { Encoder::Gzip(Box::new(GzEncoder::new(Vec::new(), Compression::new(4)))) } else { Encoder::Plain }
    }

    /// The next piece.
    pub(crate) fn piece(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Encoder::Plain => bytes,
            Encoder::Gzip(gzip) => {
                // Writing into memory does not fail.
                let _ = gzip.write_all(&bytes).and_then(|()| gzip.flush());
                std::mem::take(gzip.get_mut())
            }
        }
    }

    /// The last piece.
    pub(crate) fn last(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        match std::mem::replace(self, Encoder::Plain) {
            Encoder::Plain => bytes,
            Encoder::Gzip(mut gzip) => {
                let _ = gzip.write_all(&bytes);
                gzip.finish().unwrap_or_default()
            }
        }
    }
}

/// All bytes with the best compression: for data that is compressed once.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let _ = gzip.write_all(bytes);
    gzip.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn pieces_are_one_stream() {
        let mut encoder = Encoder::new(true);
        let mut stream = encoder.piece(b"first ".to_vec());
        stream.extend(encoder.piece(b"second ".to_vec()));
        stream.extend(encoder.last(b"last".to_vec()));
        let mut text = String::new();
        flate2::read::GzDecoder::new(&stream[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "first second last");
        assert_eq!(Encoder::new(false).last(b"as it is".to_vec()), b"as it is");
    }
}
