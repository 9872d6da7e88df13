//! Results of counting a dump by type.

use barrow_writer::{SnapshotInfo, Totals, TypeId};

use crate::error::Loss;

/// Objects of a type in a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeCount {
    /// The type, as the writer knows it.
    pub type_id: TypeId,
    /// Number of objects.
    pub objects: u64,
    /// Their shallow sizes, summed.
    pub heap_bytes: u64,
    /// Bytes that they take outside of the heap, summed.
    pub unmanaged_bytes: u64,
}

/// The contents of a dump, counted by type.
#[derive(Debug)]
pub struct Counted {
    /// The types with objects, by id.
    pub totals: Vec<TypeCount>,
    /// Notes for the user on these numbers, as an import would add them.
    pub notes: Vec<String>,
    /// Set if the dump is cut or damaged.
    pub lost: Option<Loss>,
}

/// The contents of one snapshot of a dump, counted.
#[derive(Debug)]
pub struct CountedSnapshot {
    /// Its time and label.
    pub info: SnapshotInfo,
    /// The totals that an import of it would commit.
    pub totals: Totals,
    /// The types with objects, by id.
    pub types: Vec<TypeCount>,
}

/// The contents of a dump of several snapshots, counted.
#[derive(Debug)]
pub struct CountedSnapshots {
    /// The snapshots that an import would commit.
    pub snapshots: Vec<CountedSnapshot>,
    /// Notes for the user: harmless contradictions in the dump.
    pub notes: Vec<String>,
    /// Set if the dump is cut or damaged.
    pub lost: Option<Loss>,
}
