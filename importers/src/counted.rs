//! What a count of a dump by type returns.

use barrow_writer::{SnapshotInfo, Totals, TypeId};

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
    /// Sentences for the user: what an import would say of these numbers.
    pub notes: Vec<String>,
    /// Set if the dump is cut or damaged.
    pub lost: Option<Loss>,
}

/// What a snapshot of a dump holds.
#[derive(Debug)]
pub struct CountedSnapshot {
    /// Its time and label.
    pub info: SnapshotInfo,
    /// What an import of it would commit.
    pub totals: Totals,
    /// The types with objects, by id.
    pub types: Vec<TypeCount>,
}

/// What a dump of several snapshots holds.
#[derive(Debug)]
pub struct CountedSnapshots {
    /// Those that an import would commit.
    pub snapshots: Vec<CountedSnapshot>,
    /// Sentences for the user: where the dump contradicts itself without harm.
    pub notes: Vec<String>,
    /// Set if the dump is cut or damaged.
    pub lost: Option<Loss>,
}
