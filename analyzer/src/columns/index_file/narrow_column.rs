//! A column of narrow numbers of an index file, which are read in place.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use super::narrow::NarrowPiece;
use super::piece::{Form, NARROW_VALUES};
use super::sparse_column::IsValid;
use super::stored_column::StoredColumn;

/// A column with a number of each object. Its pieces are checked when they are first read.
pub(crate) struct NarrowColumn {
    stored: StoredColumn,
    /// For each piece that was checked, whether it is whole.
    pieces: Vec<OnceLock<bool>>,
    is_valid: Box<IsValid<u32>>,
}

impl NarrowColumn {
    /// `None` if the column is stored in another form.
    pub(super) fn new(
        stored: StoredColumn,
        is_valid: impl Fn(usize, &[u32]) -> bool + Send + Sync + 'static,
    ) -> Option<Self> {
        let pieces = (0..stored.pieces()).map(|_| OnceLock::new()).collect();
        (stored.form() == Form::Narrow).then(|| NarrowColumn { stored, pieces, is_valid: Box::new(is_valid) })
    }

    /// The number of values, damaged ones included.
    pub(crate) fn len(&self) -> usize {
        self.stored.len()
    }

    /// The value at a position; `None` if there is none or it is damaged.
    pub(crate) fn get(&self, at: usize) -> Option<u32> {
        if at >= self.len() {
            return None;
        }
        Some(self.piece(at / NARROW_VALUES)?.get(at % NARROW_VALUES))
    }

    /// Reads consecutive values into a buffer, and returns them; `None` if the range is too long or one is damaged.
    pub(crate) fn read<'b>(&self, range: Range<usize>, buffer: &'b mut Vec<u32>) -> Option<&'b [u32]> {
        if range.start > range.end || range.end > self.len() {
            return None;
        }
        // Whole pieces are read: a little more than the range.
        let first = range.start / NARROW_VALUES * NARROW_VALUES;
        let end = range.end.next_multiple_of(NARROW_VALUES).min(self.len());
        if buffer.len() < end - first {
            buffer.resize(end - first, 0);
        }
        for (piece, values) in (first / NARROW_VALUES..).zip(buffer[..end - first].chunks_mut(NARROW_VALUES)) {
            self.piece(piece)?.decode(values)?;
        }
        buffer.get(range.start - first..range.end - first)
    }

    fn piece(&self, piece: usize) -> Option<NarrowPiece<'_>> {
        let is_whole = *self.pieces.get(piece)?.get_or_init(|| self.is_whole(piece).is_some());
        let bytes = is_whole.then(|| self.stored.bytes_of(piece))??;
        NarrowPiece::parse(bytes, self.stored.values_of(piece).len())
    }

    #[cold]
    fn is_whole(&self, piece: usize) -> Option<()> {
        let range = self.stored.values_of(piece);
        let mut values = [0; NARROW_VALUES];
        let values = &mut values[..range.len()];
        NarrowPiece::parse(self.stored.whole_bytes_of(piece)?, range.len())?.decode(values)?;
        (self.is_valid)(range.start, values).then_some(())
    }
}

impl fmt::Debug for NarrowColumn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("NarrowColumn").field("stored", &self.stored).finish_non_exhaustive()
    }
}
