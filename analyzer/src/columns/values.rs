//! A column that is complete: computed in this process, or mapped from an index file.

#![expect(unsafe_code, reason = "the address of the numbers is computed once, not at every access")]

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use bytemuck::Pod;

use crate::columns::memory::Column;
use crate::file::bytes::Bytes;

/// An array of plain numbers that never changes.
pub(crate) struct Values<T> {
    start: NonNull<T>,
    length: usize,
    /// Keeps the memory alive.
    _owner: Owner<T>,
}

#[expect(dead_code, reason = "owners keep the memory alive and are never read")]
enum Owner<T> {
    Computed(Column<T>),
    /// A mapped index file.
    Kept(Arc<Bytes>),
}

// SAFETY: the numbers are only read, and both owners can be sent and shared.
unsafe impl<T: Sync> Send for Values<T> where Column<T>: Send {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Values<T> where Column<T>: Sync {}

impl<T: Pod> Values<T> {
    /// Values within an index file. `None` if the range is outside the file, misaligned, or holds no whole number of
    /// values.
    pub(crate) fn kept(file: Arc<Bytes>, start: usize, bytes: usize) -> Option<Self> {
        let values: &[T] = bytemuck::try_cast_slice(file.get(start..start.checked_add(bytes)?)?).ok()?;
        Some(Values { start: NonNull::from(values).cast(), length: values.len(), _owner: Owner::Kept(file) })
    }
}

impl<T: Pod> From<Column<T>> for Values<T> {
    fn from(column: Column<T>) -> Self {
        let values: &[T] = &column;
        Values { start: NonNull::from(values).cast(), length: values.len(), _owner: Owner::Computed(column) }
    }
}

impl<T> Deref for Values<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` and `length` describe a slice of the owner's memory. That memory is a mapping, which does not
        // move with its owner and is not changed while the owner lives.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T> fmt::Debug for Values<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Values").field("length", &self.length).finish_non_exhaustive()
    }
}
