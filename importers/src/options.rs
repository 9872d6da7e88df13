//! What the user may say about an import.

use std::num::NonZero;
use std::path::PathBuf;

use crate::hprof::ObjectLayout;

/// Options of an import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Threads that read the dump, for formats that can be read by several.
    pub threads: NonZero<usize>,
    /// Where compressed dumps are unpacked, into temporary files that nobody sees.
    pub folder: PathBuf,
    /// How much a compressed dump may unpack to, in bytes; `None`: 1 GiB or 10,000 times its length, whichever is
    /// more. Either way some room is left on the disk.
    pub max_unpacked: Option<u64>,
    /// How a JVM laid out its objects, if that is not to be found out from the dump.
    pub object_layout: Option<ObjectLayout>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        ImportOptions { threads, folder: std::env::temp_dir(), max_unpacked: None, object_layout: None }
    }
}
