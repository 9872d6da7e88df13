//! A column of an index file that is checked piece by piece.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Pod;

use super::PIECE_BYTES;
use crate::columns::prefetch::prefetch;
use crate::columns::values::Values;

/// A column of an index file whose pieces are checked when they are first read.
pub(crate) struct SparseColumn<T> {
    values: Values<T>,
    checksums: Vec<u32>,
    is_checked: Vec<AtomicBool>,
    is_valid: Box<IsValid<T>>,
}

/// Whether values are possible ones; the number is the position of the first.
type IsValid<T> = dyn Fn(usize, &[T]) -> bool + Send + Sync;

impl<T: Pod> SparseColumn<T> {
    /// Values of a mapped file, with the checksums of their pieces.
    pub(super) fn new(
        values: Values<T>,
        checksums: Vec<u32>,
        is_valid: impl Fn(usize, &[T]) -> bool + Send + Sync + 'static,
    ) -> Self {
        const { assert!(PIECE_BYTES.is_multiple_of(size_of::<T>()), "pieces hold whole values") };
        let is_checked = checksums.iter().map(|_| AtomicBool::new(false)).collect();
        SparseColumn { values, checksums, is_checked, is_valid: Box::new(is_valid) }
    }

    /// The number of values, damaged ones included.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The value at a position; `None` if there is none or it is damaged.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<T> {
        let piece = at / (PIECE_BYTES / size_of::<T>());
        if !self.is_checked.get(piece)?.load(Ordering::Relaxed) {
            self.check(piece)?;
        }
        self.values.get(at).copied()
    }

    /// Prefetches a value.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: usize) {
        prefetch(&self.values, at);
    }

    /// Consecutive values; `None` if the range is too long or one of them is damaged.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<&[T]> {
        let per_piece = PIECE_BYTES / size_of::<T>();
        let values = self.values.get(range.clone())?;
        for piece in range.start / per_piece..range.end.div_ceil(per_piece) {
            if !self.is_checked.get(piece)?.load(Ordering::Relaxed) {
                self.check(piece)?;
            }
        }
        Some(values)
    }

    /// Checks a piece. `None` if it is damaged.
    #[cold]
    fn check(&self, piece: usize) -> Option<()> {
        let per_piece = PIECE_BYTES / size_of::<T>();
        let values = self.values.chunks(per_piece).nth(piece)?;
        let is_whole = crc32c::crc32c(bytemuck::cast_slice(values)) == self.checksums[piece];
        if !is_whole || !(self.is_valid)(piece * per_piece, values) {
            return None;
        }
        self.is_checked[piece].store(true, Ordering::Relaxed);
        Some(())
    }
}

impl<T> fmt::Debug for SparseColumn<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SparseColumn").field("values", &self.values).finish_non_exhaustive()
    }
}
