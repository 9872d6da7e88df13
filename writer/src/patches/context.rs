//! The context of a comparison of snapshots.

use std::sync::Mutex;

use barrow_format::patch::EncodedGroup;

use super::draft::SpilledGroup;
use super::{Patches, PreviousSnapshot, Spill};
use crate::error::Result;
use crate::lock::lock;

/// The base of a comparison, and the destination of the difference.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) patches: &'a Patches,
    pub(super) before: &'a PreviousSnapshot,
    pub(super) snapshot: u32,
    pub(super) spill: &'a Mutex<Spill>,
}

impl Context<'_> {
    /// Appends the frame of a group to the spill.
    pub(super) fn spilled(&self, group: EncodedGroup<Vec<u8>>) -> Result<SpilledGroup> {
        group.try_map(|frame| Ok((lock(self.spill).append(&frame)?, frame.len() as u64)))
    }
}
