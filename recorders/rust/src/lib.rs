//! Records a Rust program's own allocations as a barrow recording.
//!
//! ```text
//!   program ── alloc, free ──▶ Recorder ──▶ the underlying allocator
//!                                 │  counts blocks and bytes by chain of calls, a share for each thread
//!                              snapshot ──▶ writer ──▶ app.barrow ── barrow resolve ──▶ function, file, line
//! ```
//!
//! One line installs it, and a feature turns it on; without `record` it only forwards to the underlying allocator:
//!
//! ```
//! # #[cfg(feature = "record")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::alloc::System;
//!
//! #[global_allocator]
//! static ALLOC: barrow_alloc::Recorder<System> = barrow_alloc::Recorder::system();
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("app.barrow");
//! let recording = barrow_alloc::recording(&path)?;
//! let kept = vec![0u8; 1 << 20];
//! let taken = barrow_alloc::snapshot("loaded")?.ok_or("nothing is recorded")?;
//! assert!(taken.bytes >= 1 << 20);
//! recording.finish()?;
//! # drop(kept);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "record"))]
//! # fn main() {}
//! ```
//!
//! Without a line of code, `BARROW_OUT=app.barrow` in the environment records from the first allocation to the exit:
//!
//! | variable | meaning |
//! |---|---|
//! | `BARROW_OUT` | where to; if another process is writing there, its own number is added to the name |
//! | `BARROW_INTERVAL` | seconds between snapshots; there is always one more at the exit |
//! | `BARROW_DEPTH` | frames of a chain, 64 unless told |
//! | `BARROW_FRAMES` | `pointers` or `tables`, otherwise whichever the program was compiled for |
//! | `BARROW_BLOCKS` | `grouped`: an object for blocks of one site and size, not one for each |
//!
//! Guarantees: a block that is neither allocated nor freed while a snapshot is taken is in it, once, at the chain
//! that allocated it (or reallocated it last), if a recording was on then; of other blocks it depends on the moment. A snapshot
//! counts as soon as it is committed, whatever happens to the process. The recorder's own allocations are not in it.
//! The child of a fork records nothing. Linux only, so far.
//!
//! Reading order: `recorder` (or `pass_through`), `state`, `threads` with `classes` and `stack`, `sites` with `pairs` and
//! `code`; then `recording`, `environment` and `snapshot`; below them `region` and `system`.

#[cfg(feature = "record")]
mod classes;
#[cfg(feature = "record")]
mod code;
#[cfg(feature = "record")]
mod complaint;
#[cfg(feature = "record")]
mod environment;
mod error;
mod options;
#[cfg(feature = "record")]
mod pairs;
#[cfg(not(feature = "record"))]
mod pass_through;
#[cfg(feature = "record")]
mod recorder;
#[cfg(feature = "record")]
mod recording;
#[cfg(feature = "record")]
mod region;
#[cfg(feature = "record")]
mod sites;
#[cfg(feature = "record")]
mod snapshot;
#[cfg(feature = "record")]
mod stack;
#[cfg(feature = "record")]
mod startup;
#[cfg(feature = "record")]
mod state;
#[cfg(feature = "record")]
mod system;
#[cfg(feature = "record")]
mod threads;

#[cfg(not(feature = "record"))]
use pass_through as recording;

pub use error::RecordError;
pub use options::{Blocks, Frames, Options};
pub use recording::Recording;

use std::alloc::System;
use std::path::Path;

#[cfg(all(feature = "record", not(target_os = "linux")))]
compile_error!("barrow-alloc records on Linux only, so far; without the feature `record` it builds everywhere");

/// An allocator that records what goes through it, around another one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Recorder<A = System> {
    inner: A,
}

impl Recorder<System> {
    /// Around the system's allocator.
    #[must_use]
    pub const fn system() -> Self {
        Recorder::new(System)
    }
}

impl<A> Recorder<A> {
    /// Around any allocator.
    #[must_use]
    pub const fn new(inner: A) -> Self {
        Recorder { inner }
    }
}

/// The contents of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Live blocks.
    pub blocks: u64,
    /// The sum of the sizes that the program requested, in bytes.
    pub bytes: u64,
}

/// Records from now on into a new file, until the guard is dropped, which takes a last snapshot.
///
/// # Errors
/// [`RecordError::AlreadyRecording`], [`RecordError::Io`] and others; nothing is recorded then.
pub fn recording(path: impl AsRef<Path>) -> Result<Recording, RecordError> {
    Options::default().recording(path)
}

/// Takes a snapshot of what is live now. `None` if nothing is being recorded: then this costs nothing.
///
/// # Errors
/// The file cannot be written; snapshots before are not affected.
pub fn snapshot(label: &str) -> Result<Option<Taken>, RecordError> {
    #[cfg(feature = "record")]
    startup::is_on();
    recording::snapshot(label)
}

impl Options {
    /// As [`recording`](crate::recording()), with these options.
    ///
    /// # Errors
    /// As there.
    pub fn recording(&self, path: impl AsRef<Path>) -> Result<Recording, RecordError> {
        // A recording that the environment asks for comes first.
        #[cfg(feature = "record")]
        startup::is_on();
        recording::begin(path.as_ref(), self)
    }
}

/// The README, whose example is compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
