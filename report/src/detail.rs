//! The amount of each answer that a report shows: less and less until it fits.

/// Rows of each section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Detail {
    /// Snapshots with a row of their own.
    pub(crate) snapshots: usize,
    /// Paths that grow.
    pub(crate) growth: usize,
    /// Suspects.
    pub(crate) suspects: usize,
    /// Types.
    pub(crate) types: usize,
    /// Changes.
    pub(crate) changes: usize,
    /// Places of the dominator tree.
    pub(crate) cells: usize,
}

impl Detail {
    /// The detail of a report that need not be shortened.
    pub(crate) const FULL: Detail =
        Detail { snapshots: 200, growth: 40, suspects: 20, types: 60, changes: 40, cells: 800 };

    /// About half of it; `None` if that would be nothing.
    pub(crate) fn less(self) -> Option<Detail> {
        let less = Detail {
            snapshots: half(self.snapshots),
            growth: half(self.growth),
            suspects: half(self.suspects),
            types: half(self.types),
            changes: half(self.changes),
            cells: half(self.cells),
        };
        (less != self).then_some(less)
    }
}

fn half(rows: usize) -> usize {
    rows.div_ceil(2).max(1)
}
