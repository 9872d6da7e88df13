//! A reference in the recording, made from an edge.

use barrow_writer::{Label, StrengthId};

use super::meta::UNNAMED;

/// An edge, as it is announced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reference {
    pub(crate) label: Label,
    pub(crate) strength: StrengthId,
    pub(crate) target: u64,
}

impl Reference {
    /// The same reference with another label.
    #[inline(always)]
    pub(crate) fn with_label(self, label: Label) -> Self {
        Reference { label, ..self }
    }
}

/// Returns whether edges of a type have a name: the number of a string. Others have an index, or an unknown number.
pub(crate) fn has_name(edge_type: &str) -> bool {
    !matches!(edge_type, "element" | "hidden" | UNNAMED)
}
