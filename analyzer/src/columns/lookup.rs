//! A column that is read at single positions.
//!
//! ```text
//!   Whole    computed, or read from an index file and checked as a whole
//!   Sparse   mapped from an index file; each piece is checked when it is first read, so that a
//!            question about few objects does not read the whole column
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Pod;

use crate::columns::index_file::SparseColumn;
use crate::columns::prefetch::prefetch;
use crate::columns::values::Values;

/// A column of values, accessed by position.
#[derive(Debug)]
pub(crate) enum Lookup<T> {
    /// All values were checked.
    Whole(Values<T>),
    /// Pieces are checked when they are first read. A value in a damaged piece reads as `harmless`, and `is_damaged` is
    /// set.
    Sparse { column: SparseColumn<T>, harmless: T, is_damaged: AtomicBool },
}

impl<T: Pod> Lookup<T> {
    /// A column whose pieces are checked when they are first read. Damaged values read as `harmless`, which is chosen
    /// so that every walk over the column ends.
    pub(crate) fn sparse(column: SparseColumn<T>, harmless: T) -> Self {
        Lookup::Sparse { column, harmless, is_damaged: AtomicBool::new(false) }
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Lookup::Whole(values) => values.len(),
            Lookup::Sparse { column, .. } => column.len(),
        }
    }

    /// The value at a position.
    ///
    /// # Panics
    /// If a whole column has no such position.
    #[inline(always)]
    pub(crate) fn at(&self, at: usize) -> T {
        match self {
            Lookup::Whole(values) => values[at],
            Lookup::Sparse { column, harmless, is_damaged } => column.get(at).unwrap_or_else(|| {
                is_damaged.store(true, Ordering::Relaxed);
                *harmless
            }),
        }
    }

    /// Prefetches a value.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: usize) {
        match self {
            Lookup::Whole(values) => prefetch(values, at),
            Lookup::Sparse { column, .. } => column.prefetch(at),
        }
    }

    /// Consecutive values. `None` if one of them is damaged, and then the damage is noted.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<&[T]> {
        match self {
            Lookup::Whole(values) => values.get(range),
            Lookup::Sparse { column, is_damaged, .. } => column.slice(range).or_else(|| {
                is_damaged.store(true, Ordering::Relaxed);
                None
            }),
        }
    }

    /// Returns whether damaged values were read.
    pub(crate) fn is_damaged(&self) -> bool {
        match self {
            Lookup::Whole(_) => false,
            Lookup::Sparse { is_damaged, .. } => is_damaged.load(Ordering::Relaxed),
        }
    }

    /// All values; empty for a sparse column, which is not checked as a whole.
    pub(crate) fn whole(&self) -> &[T] {
        match self {
            Lookup::Whole(values) => values,
            Lookup::Sparse { .. } => &[],
        }
    }
}
