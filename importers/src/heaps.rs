//! Heap dumps of runtimes: a folder for each format.

pub(crate) mod hprof;
pub(crate) mod json_lines;
pub(crate) mod moarvm;
pub(crate) mod python;
pub(crate) mod ruby;
pub(crate) mod v8;
