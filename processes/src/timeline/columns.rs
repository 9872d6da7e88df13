//! Columns of blocks, chosen so that no blocks overlap and most are beside the process that started them.
//!
//! ```text
//!   0 1 2 3 4 5 6 7 8 9                     WIDE columns from one sibling to the next
//!   | make
//!   | | sh            | sh
//!   | | | gcc         | | gcc               a child is beside its parent, over the place of its parent's name
//! ```
//!
//! The end of a process is not known when it begins, so a layout without crossing lines may not exist. A block takes
//! the first free place to the right of its parent. The line to it crosses blocks only if nothing nearer is free.

use std::collections::BTreeSet;

/// Columns from one place for a child to the next.
const WIDE: u32 = 8;
/// Minimum width of a block: that of the name of a process.
const NARROW: u32 = 6;

/// The columns that are taken.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    taken: BTreeSet<u32>,
    /// Columns that are shown.
    room: u32,
}

impl Columns {
    pub(super) fn new(room: u32) -> Self {
        Columns { taken: BTreeSet::new(), room }
    }

    /// Takes a column to the right of the parent's, inside the room if possible.
    pub(super) fn take(&mut self, parent: Option<u32>) -> u32 {
        let first = parent.map_or(0, |parent| parent.saturating_add(1));
        let places = first..self.room.max(first.saturating_add(1));
        let beside = places.clone().step_by(WIDE as usize).find(|&at| self.is_free(at, parent));
        let column = beside.or_else(|| places.into_iter().find(|&at| self.is_free(at, parent))).unwrap_or_else(|| {
            let last = self.taken.last().map_or(0, |last| last.saturating_add(WIDE));
            last.max(self.room)
        });
        self.taken.insert(column);
        column
    }

    /// Gives a column back.
    pub(super) fn free(&mut self, column: u32) {
        self.taken.remove(&column);
    }

    /// Whether a block fits here and leaves room for the name in the one to its left. A child may cover its parent's
    /// name.
    fn is_free(&self, at: u32, parent: Option<u32>) -> bool {
        // The first one is always shown, however little room there is.
        let fits = at.saturating_add(NARROW) <= self.room || at == 0 && self.room > 0;
        let before = self.taken.range(..at).next_back().copied();
        let after = self.taken.range(at..).next();
        fits && before.is_none_or(|before| Some(before) == parent || at - before >= NARROW)
            && after.is_none_or(|after| after - at >= NARROW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_beside_their_parents_and_siblings_leave_room() {
        let mut columns = Columns::new(40);
        let make = columns.take(None);
        let shells: Vec<u32> = (0..4).map(|_| columns.take(Some(make))).collect();
        assert_eq!((make, &shells[..]), (0, &[1, 9, 17, 25][..]));
        let drivers: Vec<u32> = shells.iter().map(|&shell| columns.take(Some(shell))).collect();
        assert_eq!(drivers, [2, 10, 18, 26]);
        columns.free(9);
        columns.free(10);
        assert_eq!(columns.take(Some(make)), 9);
        assert_eq!(columns.take(Some(make)), 33);
        // The room is full.
        assert_eq!(columns.take(Some(make)), 41);
    }

    #[test]
    fn narrow_gaps_are_used_before_the_room_ends() {
        let mut columns = Columns::new(20);
        let taken: Vec<u32> = (0..5).map(|_| columns.take(None)).collect();
        assert_eq!(taken, [0, 8, 14, 22, 30]);
        assert_eq!(Columns::new(3).take(None), 0);
        assert_eq!(Columns::new(0).take(None), 0);
    }
}
