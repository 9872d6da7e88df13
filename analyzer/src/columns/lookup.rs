//! A column of which single values are looked up.
//!
//! ```text
//!   Whole    computed, or kept in an index file and checked as a whole
//!   Sparse   kept, and checked piece by piece, where it is looked at: a question about few objects
//!            does not read all of them
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Pod;

use crate::columns::index_file::SparseColumn;
use crate::columns::prefetch::prefetch;
use crate::columns::values::Values;

/// Values by number.
#[derive(Debug)]
pub(crate) enum Lookup<T> {
    /// All of them are right.
    Whole(Values<T>),
    /// Those in damaged pieces are `harmless`, and `is_damaged` tells that one was looked at.
    Sparse { column: SparseColumn<T>, harmless: T, is_damaged: AtomicBool },
}

impl<T: Pod> Lookup<T> {
    /// A column that is checked where it is looked at. What is damaged is `harmless`: no walk goes on for ever with it.
    pub(crate) fn sparse(column: SparseColumn<T>, harmless: T) -> Self {
        Lookup::Sparse { column, harmless, is_damaged: AtomicBool::new(false) }
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Lookup::Whole(values) => values.len(),
            Lookup::Sparse { column, .. } => column.len(),
        }
    }

    /// A value.
    ///
    /// # Panics
    /// If a whole column has none there.
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

    /// Asks for the memory of a value.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: usize) {
        match self {
            Lookup::Whole(values) => prefetch(values, at),
            Lookup::Sparse { column, .. } => column.prefetch(at),
        }
    }

    /// Values in a row; `None`, and damage, if one is damaged.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<&[T]> {
        match self {
            Lookup::Whole(values) => values.get(range),
            Lookup::Sparse { column, is_damaged, .. } => column.slice(range).or_else(|| {
                is_damaged.store(true, Ordering::Relaxed);
                None
            }),
        }
    }

    /// Whether something damaged was looked at.
    pub(crate) fn is_damaged(&self) -> bool {
        match self {
            Lookup::Whole(_) => false,
            Lookup::Sparse { is_damaged, .. } => is_damaged.load(Ordering::Relaxed),
        }
    }

    /// All values; none if they are not checked.
    pub(crate) fn whole(&self) -> &[T] {
        match self {
            Lookup::Whole(values) => values,
            Lookup::Sparse { .. } => &[],
        }
    }
}
