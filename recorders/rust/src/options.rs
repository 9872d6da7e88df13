//! Options of the recording of allocations.

use std::time::Duration;

/// The way to find the chain of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Frames {
    /// By frame pointers where this crate was compiled with them, by tables otherwise.
    #[default]
    Detect,
    /// By frame pointers: `-C force-frame-pointers=yes`, about a nanosecond a frame.
    Pointers,
    /// By the tables that panics use: any program, but some microseconds for each allocation.
    Tables,
}

/// Which objects represent blocks in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Blocks {
    /// An object for each, so that objects are blocks in every question.
    #[default]
    Each,
    /// One object for all of one site and class of sizes, which is named `12 blocks`: for heaps of many millions.
    Grouped,
}

/// Options of the recording of allocations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The number of frames of a chain that are recorded, from the allocation outwards: 1 to 255.
    pub depth: usize,
    /// The way to find the chain of calls.
    pub frames: Frames,
    /// Which objects represent blocks.
    pub blocks: Blocks,
    /// A snapshot each time so long has passed.
    pub interval: Option<Duration>,
}

impl Default for Options {
    /// 64 frames, an object for each block, snapshots only on request.
    fn default() -> Self {
        Options { depth: 64, frames: Frames::Detect, blocks: Blocks::Each, interval: None }
    }
}
