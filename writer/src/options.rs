//! What an embedder can choose.

use barrow_format::codec::Compression;

/// When the operating system is asked to put bytes on the disk. A killed process loses nothing
/// either way; only a crash of the whole machine makes a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Whenever it likes.
    Never,
    /// Before and after each commit: a snapshot that was committed survives a power failure.
    AtCommit,
}

/// How to write a recording.
#[derive(Debug, Clone)]
pub struct Options {
    /// Memory that the writer may use for objects and references, in bytes, whatever the heap's size.
    /// The tables (strings, types, shapes) come on top.
    pub memory_budget_bytes: usize,
    /// Compression of every column.
    pub compression: Compression,
    /// Threads that encode and compress; 0 leaves that to the announcing threads.
    pub threads: usize,
    /// When to wait for the disk.
    pub sync: Sync,
    /// The recording's name for ever; random unless given.
    pub uuid: Option<[u8; 16]>,
    /// When the recording began, in nanoseconds since 1970-01-01 UTC; now unless given.
    pub created_ns: Option<u64>,
}

impl Default for Options {
    /// 64 MiB, zstd level 3, a thread per core up to eight, no waiting for the disk.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Options {
            memory_budget_bytes: 64 << 20,
            compression: Compression::Zstd(3),
            threads: cores.min(8),
            sync: Sync::Never,
            uuid: None,
            created_ns: None,
        }
    }
}
