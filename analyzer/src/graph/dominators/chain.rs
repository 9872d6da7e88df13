//! A chain of objects in the dominator tree, such as a linked list.

use barrow_format::TypeId;

/// The maximum number of types that repeat: nodes of lists and maps have one or two, with a holder in between. This is
/// a judgement.
pub(super) const MOST_TYPES: usize = 3;
/// The fewest objects of a chain: shorter ones are shown one by one, as a folded row explains more than it saves. This
/// is a judgement.
pub(super) const LEAST_OBJECTS: usize = 8;

/// A chain of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    pub(super) types: [TypeId; MOST_TYPES],
    /// The number of types that repeat.
    pub(super) period: usize,
    /// The number of its objects.
    pub objects: u64,
    /// The bytes of its objects themselves.
    pub own_bytes: u64,
}

impl Chain {
    /// The types that repeat.
    #[must_use]
    pub fn types(&self) -> &[TypeId] {
        &self.types[..self.period]
    }
}
