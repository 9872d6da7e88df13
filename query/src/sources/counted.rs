//! Snapshots whose objects were only counted.

use barrow_analyzer::{Totals, TypeTotals};

/// The counts of a snapshot after a pass over its dump.
#[derive(Debug, Clone)]
pub(crate) struct CountedSnapshot {
    /// The types with objects, by id.
    pub(crate) types: Vec<TypeTotals>,
    /// All totals; `None` if references and roots were not counted.
    pub(crate) totals: Option<Totals>,
}

impl CountedSnapshot {
    /// All totals, with 0 where they are not known.
    pub(crate) fn totals(&self) -> Totals {
        let sum = |of: fn(&TypeTotals) -> u64| self.types.iter().map(of).fold(0, u64::wrapping_add);
        self.totals.unwrap_or(Totals {
            objects: sum(|row| row.objects),
            references: 0,
            roots: 0,
            heap_bytes: sum(|row| row.heap_bytes),
            unmanaged_bytes: sum(|row| row.unmanaged_bytes),
        })
    }
}
