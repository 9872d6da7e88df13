//! A column of an index file that is checked, and decoded if need be, piece by piece.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use bytemuck::Pod;

use super::decoded::DecodedColumn;
use super::piece::Decoder;
use super::stored_column::StoredColumn;
use crate::columns::memory::Memory;
use crate::columns::prefetch::prefetch;
use crate::columns::values::Values;

thread_local! {
    /// The decoder of this thread, while it is not in use.
    static DECODER: Cell<Option<Decoder>> = const { Cell::new(None) };
}

/// Calls `work` with the decoder of this thread.
pub(super) fn with_decoder<T>(work: impl FnOnce(&mut Decoder) -> T) -> T {
    let mut decoder = DECODER.take().unwrap_or_default();
    let result = work(&mut decoder);
    DECODER.set(Some(decoder));
    result
}

/// A column whose pieces are checked when they are first read.
pub(crate) struct SparseColumn<T> {
    stored: StoredColumn,
    values: Pieces<T>,
    is_valid: Box<IsValid<T>>,
}

enum Pieces<T> {
    /// The values in the mapped file, and for each piece that was checked, whether it is whole.
    Mapped(Values<T>, Vec<OnceLock<bool>>),
    Decoded(DecodedColumn<T>),
}

/// Checks whether values are possible, given the position of the first.
pub(super) type IsValid<T> = dyn Fn(usize, &[T]) -> bool + Send + Sync;

impl<T: Pod> SparseColumn<T> {
    /// `None` if the column has an impossible layout, or there is no memory for its values.
    pub(super) fn new(
        stored: StoredColumn,
        memory: &Memory,
        is_valid: impl Fn(usize, &[T]) -> bool + Send + Sync + 'static,
    ) -> Option<Self> {
        let values = match stored.mapped() {
            Some(values) => Pieces::Mapped(values, (0..stored.pieces()).map(|_| OnceLock::new()).collect()),
            None => Pieces::Decoded(DecodedColumn::new(stored.len(), stored.piece_values(), memory).ok()?),
        };
        Some(SparseColumn { stored, values, is_valid: Box::new(is_valid) })
    }

    /// The number of values, damaged ones included.
    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Pieces::Mapped(values, _) => values.len(),
            Pieces::Decoded(values) => values.len(),
        }
    }

    /// The value at a position; `None` if there is none or it is damaged.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<T> {
        match &self.values {
            Pieces::Mapped(values, pieces) => {
                let piece = at / self.stored.piece_values();
                pieces.get(piece)?.get_or_init(|| self.is_whole(piece, values)).then(|| values.get(at).copied())?
            }
            Pieces::Decoded(values) => values.get(at, |piece, values| self.decode(piece, values)),
        }
    }

    /// Prefetches a value.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: usize) {
        match &self.values {
            Pieces::Mapped(values, _) => prefetch(values, at),
            Pieces::Decoded(values) => values.prefetch(at),
        }
    }

    /// Consecutive values; `None` if the range is too long or one of them is damaged.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<&[T]> {
        match &self.values {
            Pieces::Mapped(values, pieces) => {
                let found = values.get(range.clone())?;
                let length = self.stored.piece_values();
                let mut touched = range.start / length..range.end.div_ceil(length);
                touched.all(|piece| *pieces[piece].get_or_init(|| self.is_whole(piece, values))).then_some(found)
            }
            Pieces::Decoded(values) => values.slice(range, |piece, values| self.decode(piece, values)),
        }
    }

    #[cold]
    fn is_whole(&self, piece: usize, values: &[T]) -> bool {
        let range = self.stored.values_of(piece);
        self.stored.whole_bytes_of(piece).is_some() && (self.is_valid)(range.start, &values[range])
    }

    fn decode(&self, piece: usize, values: &mut [T]) -> bool {
        let decoded = with_decoder(|decoder| self.stored.decode(piece, decoder, values));
        decoded.is_some() && (self.is_valid)(self.stored.values_of(piece).start, values)
    }
}

impl<T> fmt::Debug for SparseColumn<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SparseColumn").field("stored", &self.stored).finish_non_exhaustive()
    }
}
