//! A column that is complete: computed in this process, or mapped from an index file.

use std::ops::Deref;
use std::sync::Arc;

use bytemuck::Pod;

use crate::bytes::Bytes;
use crate::memory::Column;

/// An array of plain numbers that nobody changes any more.
#[derive(Debug)]
pub(crate) enum Values<T> {
    /// Computed.
    Computed(Column<T>),
    /// These bytes of a mapped index file.
    Mapped { file: Arc<Bytes>, start: usize, length: usize },
}

impl<T: Pod> Deref for Values<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Values::Computed(column) => column,
            Values::Mapped { file, start, length } => {
                bytemuck::cast_slice(&file[*start..*start + *length * size_of::<T>()])
            }
        }
    }
}

impl<T> From<Column<T>> for Values<T> {
    fn from(column: Column<T>) -> Self {
        Values::Computed(column)
    }
}
