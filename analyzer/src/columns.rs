//! Columns of numbers: in memory, in temporary files, and kept in the index file.

pub(crate) mod atomic;
pub(crate) mod index_file;
pub(crate) mod lookup;
pub(crate) mod memory;
pub(crate) mod packed;
pub(crate) mod prefetch;
pub(crate) mod temporary;
pub(crate) mod values;
