//! Options of an embedder.

use barrow_format::codec::Compression;

/// When the operating system is told to write bytes to the disk. A killed process loses nothing either way; only a
/// crash of the whole machine makes a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Never; the system decides.
    Never,
    /// Before and after each commit: a snapshot that was committed survives a power failure.
    AtCommit,
}

/// Options of a recording.
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
    /// The permanent identifier of the recording; random unless given.
    pub uuid: Option<[u8; 16]>,
    /// Start of the recording, in nanoseconds since 1970-01-01 UTC; now unless given.
    pub created_ns: Option<u64>,
    /// A snapshot is written as its difference to the one before if that is smaller: for runtimes that give
    /// every object a unique serial. A snapshot in which an object has none, or two have the same, is whole, and so is
    /// the next one. The objects of such a patch are renumbered in the file; serials identify them.
    ///
    /// Besides the budget this takes 30 bytes per object (38 if addresses are recorded), in the worst case also for
    /// half as many dead ones, 4 to 24 more during a commit, and 16 bytes per root. Until its commit a snapshot waits
    /// in an unnamed temporary file, in the system's folder for such (`TMPDIR`), as large as the whole snapshot.
    pub patches: bool,
}

impl Options {
    /// The default without threads: those that announce also encode.
    #[must_use]
    pub const fn without_threads() -> Self {
        Options {
            memory_budget_bytes: 64 << 20,
            compression: Compression::Zstd(3),
            threads: 0,
            sync: Sync::Never,
            uuid: None,
            created_ns: None,
            patches: false,
        }
    }
}

impl Default for Options {
    /// 64 MiB, zstd level 3, a thread per core up to eight, no waiting for the disk.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Options { threads: cores.min(8), ..Options::without_threads() }
    }
}
