//! A column as it is stored in a mapped index file.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use byteorder::{ByteOrder, LittleEndian};

use super::piece::{Decoder, Form};
use super::section::{Entry, PIECE_ENTRY_BYTES, Section};
use crate::columns::values::Values;
use crate::file::bytes::Bytes;

/// The stored pieces of a column, with their lengths and checksums.
#[derive(Debug, Clone)]
pub(super) struct StoredColumn {
    file: Arc<Bytes>,
    entry: Entry,
    /// The offset of the first piece in the file.
    start: usize,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    /// The offset of its end, in bytes from the start of the first piece.
    end: usize,
    checksum: u32,
}

impl StoredColumn {
    /// A column of values of type `T`; `None` if it holds other ones or its list of pieces is damaged.
    pub(super) fn of<T: Pod>(file: &Arc<Bytes>, section: &Section, entry: Entry) -> Option<Self> {
        if entry.width != size_of::<T>() {
            return None;
        }
        let start = usize::try_from(section.start + entry.offset).ok()?;
        let list = start + usize::try_from(entry.stored).ok()?;
        let list = file.get(list..list + usize::try_from(entry.pieces()).ok()? * PIECE_ENTRY_BYTES)?;
        if crc32c::crc32c(list) != entry.checksum {
            return None;
        }
        let mut free = 0;
        let pieces = list.chunks_exact(PIECE_ENTRY_BYTES).map(|bytes| {
            let end = LittleEndian::read_u64(bytes);
            let is_after = end >= free && end <= entry.stored;
            free = end;
            is_after.then_some(Piece { end: end as usize, checksum: LittleEndian::read_u32(&bytes[8..]) })
        });
        let pieces = pieces.collect::<Option<_>>()?;
        Some(StoredColumn { file: Arc::clone(file), entry, start, pieces })
    }

    pub(super) fn form(&self) -> Form {
        self.entry.form
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.entry.values as usize
    }

    /// The number of pieces.
    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// The number of values in every piece but the last, which may be shorter.
    pub(super) fn piece_values(&self) -> usize {
        self.entry.piece_values()
    }

    /// The values of a piece.
    pub(super) fn values_of(&self, piece: usize) -> Range<usize> {
        let start = piece * self.piece_values();
        start..self.len().min(start + self.piece_values())
    }

    /// The range of all pieces in the file, in bytes.
    pub(super) fn place(&self) -> Range<usize> {
        self.start..self.start + self.entry.stored as usize
    }

    /// The bytes of a piece, unchecked; `None` if the file is too short.
    pub(super) fn bytes_of(&self, piece: usize) -> Option<&[u8]> {
        let start = if piece == 0 { 0 } else { self.pieces[piece - 1].end };
        self.file.get(self.start + start..self.start + self.pieces[piece].end)
    }

    /// The bytes of a piece; `None` if they are damaged.
    pub(super) fn whole_bytes_of(&self, piece: usize) -> Option<&[u8]> {
        self.bytes_of(piece).filter(|bytes| crc32c::crc32c(bytes) == self.pieces[piece].checksum)
    }

    /// Decodes a piece into `values`, which have its length; `None` if it is damaged.
    pub(super) fn decode<T: Pod>(&self, piece: usize, decoder: &mut Decoder, values: &mut [T]) -> Option<()> {
        decoder.decode(self.entry.form, self.whole_bytes_of(piece)?, values)
    }

    /// The values in the mapped file, unchecked. `None` unless the column is plain and its pieces have the right lengths.
    pub(super) fn mapped<T: Pod>(&self) -> Option<Values<T>> {
        let lengths = self.pieces.iter().enumerate();
        let is_plain = self.entry.form == Form::Plain
            && lengths
                .map(|(at, piece)| (self.values_of(at).end, piece.end))
                .all(|(values, end)| values * size_of::<T>() == end);
        let place = self.place();
        is_plain.then(|| Values::kept(Arc::clone(&self.file), place.start, self.len() * size_of::<T>()))?
    }

    /// Tells the system that all pieces will be read.
    pub(super) fn will_be_read(&self) {
        self.file.will_be_read(self.start, self.entry.stored as usize);
    }
}
