//! The shim beside a run: the library in a file, and the file of counters, see `shim/counters.rs`.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The library, as `build.rs` compiled it; empty where there is no glibc.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shim.so"));

const SLOT_BYTES: usize = 64;
const SLOTS: usize = 4095;

/// The folder of the library and of counters.
pub(crate) struct Shim {
    folder: TempDir,
    library: PathBuf,
    /// Files of counters so far: each run has its own, because processes may outlive a run.
    files: u32,
}

/// What was allocated in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counted {
    /// The most bytes that were live at a time, of the process that had most.
    pub(crate) peak_bytes: u64,
    /// Bytes of all processes.
    pub(crate) allocated_bytes: u64,
    /// Blocks of all processes.
    pub(crate) blocks: u64,
    /// Bytes that the program itself had when it ended.
    pub(crate) live_bytes: u64,
}

/// The counters of one run.
pub(crate) struct Counters {
    path: PathBuf,
    file: File,
}

impl Shim {
    /// Unpacks the library; `None` where there is none for this system.
    pub(crate) fn unpack() -> io::Result<Option<Self>> {
        if LIBRARY.is_empty() {
            return Ok(None);
        }
        // Of the same length for each run of barrow, so that fixed layouts are the same in all. In memory if possible.
        let mut builder = tempfile::Builder::new();
        builder.prefix("barrow-trial-").rand_bytes(8);
        let in_memory = Path::new("/dev/shm");
        let folder = if in_memory.is_dir() { builder.tempdir_in(in_memory) } else { builder.tempdir() };
        let folder = folder.or_else(|_| builder.tempdir())?;
        let library = folder.path().join("shim.so");
        fs::write(&library, LIBRARY)?;
        Ok(Some(Shim { folder, library, files: 0 }))
    }

    /// The path of the library.
    pub(crate) fn library(&self) -> &Path {
        &self.library
    }

    /// A new file of counters, all zero.
    pub(crate) fn counters(&mut self) -> io::Result<Counters> {
        self.files = (self.files + 1) % 100_000_000;
        let path = self.folder.path().join(format!("{:08}", self.files));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        file.set_len(((SLOTS + 1) * SLOT_BYTES) as u64)?;
        Ok(Counters { path, file })
    }
}

impl Counters {
    /// Where they are.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What was counted in a run whose first process had this number; `None` if nothing counted, or if there were more
    /// processes than slots.
    pub(crate) fn read(&self, process: u64) -> io::Result<Option<Counted>> {
        let mut taken = [0; 4];
        self.file.read_exact_at(&mut taken, 0)?;
        let taken = u32::from_le_bytes(taken) as usize;
        if taken == 0 || taken > SLOTS {
            return Ok(None);
        }
        let mut slots = vec![0; taken * SLOT_BYTES];
        self.file.read_exact_at(&mut slots, SLOT_BYTES as u64)?;
        let mut counted = Counted::default();
        for slot in slots.chunks_exact(SLOT_BYTES) {
            let number = |at: usize| {
                let bytes = slot[at * 8..at * 8 + 8].try_into().unwrap_or_default();
                u64::from_le_bytes(bytes)
            };
            let [of, allocated, blocks, live, peak] = [0, 1, 2, 3, 4].map(number);
            // The program may have written into its counters: sums stay sums.
            counted.peak_bytes = counted.peak_bytes.max(peak);
            counted.allocated_bytes = counted.allocated_bytes.saturating_add(allocated);
            counted.blocks = counted.blocks.saturating_add(blocks);
            if of == process {
                counted.live_bytes = live;
            }
        }
        Ok(Some(counted))
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
