//! Checksums of a column while it is written.

use super::PIECE_BYTES;

/// The CRC-32C of each piece of a column that comes in parts of any length.
#[derive(Debug, Default)]
pub(super) struct Checksums {
    /// Those of pieces that are complete.
    done: Vec<u8>,
    /// That of the last piece, as far as it came.
    last: u32,
    /// Bytes that came.
    length: u64,
}

impl Checksums {
    /// Takes what comes next.
    pub(super) fn add(&mut self, mut values: &[u8]) {
        while !values.is_empty() {
            let missing = PIECE_BYTES - (self.length % PIECE_BYTES as u64) as usize;
            let (piece, rest) = values.split_at(missing.min(values.len()));
            self.last = crc32c::crc32c_append(self.last, piece);
            self.length += piece.len() as u64;
            if piece.len() == missing {
                self.done.extend_from_slice(&std::mem::take(&mut self.last).to_le_bytes());
            }
            values = rest;
        }
    }

    /// How many bytes came.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// The checksums of all pieces.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if !self.length.is_multiple_of(PIECE_BYTES as u64) {
            self.done.extend_from_slice(&self.last.to_le_bytes());
        }
        self.done
    }
}
