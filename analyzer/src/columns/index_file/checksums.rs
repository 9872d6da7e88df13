//! Checksums of a column, computed while it is written.

use super::PIECE_BYTES;

/// The CRC-32C of each piece of a column. The column may be added in parts of any length.
#[derive(Debug, Default)]
pub(super) struct Checksums {
    /// The checksums of complete pieces.
    done: Vec<u8>,
    /// The checksum of the last piece so far.
    last: u32,
    /// Number of bytes added so far.
    length: u64,
}

impl Checksums {
    /// Adds the next bytes.
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

    /// The number of bytes added so far.
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
