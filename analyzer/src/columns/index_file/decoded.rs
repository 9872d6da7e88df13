//! Memory for the values of a column that are decoded piece by piece, by any thread, when they are first read.

#![expect(unsafe_code, reason = "pieces are written while others are read")]

use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::OnceLock;

use bytemuck::Pod;

use crate::columns::memory::{Column, Memory};
use crate::columns::prefetch::prefetch;
use crate::error::Result;

/// Values of which each piece is written once, before it is read.
pub(super) struct DecodedColumn<T> {
    start: NonNull<T>,
    length: usize,
    piece_values: usize,
    /// For each piece that a write was tried for, whether it succeeded.
    pieces: Vec<OnceLock<bool>>,
    /// Keeps the memory alive. Nothing else refers to it.
    _owner: Column<T>,
}

// SAFETY: a piece is written by one thread, under the lock of its `OnceLock`, and only read after that.
unsafe impl<T: Send> Send for DecodedColumn<T> where Column<T>: Send {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for DecodedColumn<T> where Column<T>: Sync {}

impl<T: Pod> DecodedColumn<T> {
    /// Room for `length` values in pieces of `piece_values`. Pages take memory when they are first written.
    pub(super) fn new(length: usize, piece_values: usize, memory: &Memory) -> Result<Self> {
        let mut owner: Column<T> = memory.column(length)?;
        let start = NonNull::from(&mut owner[..]).cast();
        let pieces = (0..length.div_ceil(piece_values)).map(|_| OnceLock::new()).collect();
        Ok(DecodedColumn { start, length, piece_values, pieces, _owner: owner })
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The value at a position; `None` if there is none, or `write` fails for its piece.
    #[inline]
    pub(super) fn get(&self, at: usize, write: impl FnOnce(usize, &mut [T]) -> bool) -> Option<T> {
        let piece = at / self.piece_values;
        let is_written = match self.pieces.get(piece)?.get() {
            Some(&is_written) => is_written,
            None => self.write(piece, write),
        };
        // SAFETY: the piece is written, and never again. The position is within it.
        (is_written && at < self.length).then(|| unsafe { *self.start.as_ptr().add(at) })
    }

    /// Consecutive values; `None` if the range is too long, or `write` fails for one of their pieces.
    pub(super) fn slice(&self, range: Range<usize>, write: impl Fn(usize, &mut [T]) -> bool) -> Option<&[T]> {
        if range.start > range.end || range.end > self.length {
            return None;
        }
        for piece in range.start / self.piece_values..range.end.div_ceil(self.piece_values) {
            let is_written = match self.pieces[piece].get() {
                Some(&is_written) => is_written,
                None => self.write(piece, &write),
            };
            if !is_written {
                return None;
            }
        }
        // SAFETY: all pieces of the range are written, and never again. The range is within the memory.
        Some(unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(range.start), range.len()) })
    }

    /// Prefetches a value.
    #[inline(always)]
    pub(super) fn prefetch(&self, at: usize) {
        // SAFETY: of an empty slice nothing is read.
        prefetch(unsafe { std::slice::from_raw_parts(self.start.as_ptr(), 0) }, at);
    }

    #[cold]
    fn write(&self, piece: usize, write: impl FnOnce(usize, &mut [T]) -> bool) -> bool {
        *self.pieces[piece].get_or_init(|| {
            let start = piece * self.piece_values;
            let length = self.piece_values.min(self.length - start);
            // SAFETY: the range is within the memory. This runs once for a piece, and no thread reads the piece before.
            let values = unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(start), length) };
            write(piece, values)
        })
    }
}

impl<T> fmt::Debug for DecodedColumn<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Decoded").field("length", &self.length).finish_non_exhaustive()
    }
}
