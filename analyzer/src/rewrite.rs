//! Writes recordings anew: what can be saved of a damaged one, and differences instead of whole snapshots.

pub(crate) mod copy;
pub(crate) mod repack;
pub(crate) mod repair;
