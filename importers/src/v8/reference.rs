//! A reference in the recording, made from an edge.

use barrow_writer::{Label, StrengthId};

/// An edge, as it is announced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reference {
    pub(crate) label: Label,
    pub(crate) strength: StrengthId,
    pub(crate) target: u64,
}
