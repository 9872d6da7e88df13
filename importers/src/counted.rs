//! What a count of a dump by type returns.

use barrow_writer::TypeId;

use crate::error::Loss;

/// Objects of a type in a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeCount {
    /// The type, as the writer knows it.
    pub type_id: TypeId,
    /// How many there are.
    pub objects: u64,
    /// Their shallow sizes, summed.
    pub heap_bytes: u64,
    /// What they take outside of the heap, summed.
    pub unmanaged_bytes: u64,
}

/// What a dump holds, by type.
#[derive(Debug)]
pub struct Counted {
    /// The types with objects, by id.
    pub totals: Vec<TypeCount>,
    /// Set if the dump is cut or damaged.
    pub lost: Option<Loss>,
}
