//! Groups of rows, and how the references of giants are divided among blocks.

use std::collections::BTreeMap;
use std::ops::Range;

/// No row, or no object.
pub const NO_ROW: u32 = u32::MAX;

/// The rows that began in one block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowGroup {
    /// Its rows; of a continuation, the row that is continued.
    pub rows: Range<u32>,
    /// The number of this block among those of its first row: 0 is the first, others are continuations.
    pub part: usize,
    /// No row of it lives.
    pub is_gone: bool,
}

/// For each row with continuations, the number of its references in each of its blocks.
///
/// Memory: some 50 bytes per giant, of which there are few: each has more references than fit into a block.
#[derive(Debug, Clone, Default)]
pub struct Divisions(BTreeMap<u32, Vec<u32>>);

impl Divisions {
    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The references of a row in each of its blocks; `None` if it has no continuations.
    #[must_use]
    pub fn of(&self, row: u32) -> Option<&[u32]> {
        self.0.get(&row).map(Vec::as_slice)
    }

    /// The references of a row in its first block; `None` if it has no continuations.
    #[must_use]
    pub fn in_first_block(&self, row: u32) -> Option<u32> {
        self.of(row)?.first().copied()
    }

    /// Sets the references of a row in each of its blocks.
    pub fn insert(&mut self, row: u32, references: Vec<u32>) {
        self.0.insert(row, references);
    }

    /// Adds a continuation to a row that has `in_first` references in its first block. Returns its [`RowGroup::part`].
    pub fn add(&mut self, row: u32, in_first: u32, references: u32) -> usize {
        let division = self.0.entry(row).or_insert_with(|| vec![in_first]);
        division.push(references);
        division.len() - 1
    }

    /// Removes rows that are not alive.
    pub fn retain(&mut self, is_alive: impl Fn(u32) -> bool) {
        self.0.retain(|&row, _| is_alive(row));
    }

    /// Adds those of new rows.
    pub fn extend(&mut self, more: Divisions) {
        self.0.extend(more.0);
    }
}

/// Removes giants that have changed, and returns their rows. An object that refers to such a giant has changed as well,
/// so giants are compared again until all that are left are unchanged.
///
/// # Errors
/// Those of `is_same`.
pub fn separate_changed<S, E>(
    state: &mut S,
    mut giants: Vec<u32>,
    is_same: impl Fn(&mut S, u32) -> Result<bool, E>,
    separate: impl Fn(&mut S, u32),
) -> Result<(), E> {
    loop {
        let (mut same, mut changed) = (Vec::new(), Vec::new());
        for giant in giants {
            let giants = if is_same(state, giant)? { &mut same } else { &mut changed };
            giants.push(giant);
        }
        if changed.is_empty() {
            return Ok(());
        }
        changed.into_iter().for_each(|giant| separate(state, giant));
        giants = same;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_giant_that_changed_changes_those_that_refer_to_it() {
        // Each giant refers to the one before; the first has changed.
        let mut separated = vec![false; 4];
        let is_same = |separated: &mut Vec<bool>, giant: u32| {
            Ok::<_, ()>(giant == 3 || (giant > 0 && !separated[giant as usize - 1]))
        };
        separate_changed(&mut separated, vec![2, 3, 1, 0], is_same, |separated, giant| {
            separated[giant as usize] = true;
        })
        .unwrap();
        assert_eq!(separated, [true, true, true, false]);
    }

    #[test]
    fn continuations_are_numbered_from_1() {
        let mut divisions = Divisions::default();
        assert_eq!((divisions.add(7, 100, 50), divisions.add(7, 100, 20)), (1, 2));
        assert_eq!(divisions.of(7), Some(&[100, 50, 20][..]));
        assert_eq!((divisions.in_first_block(7), divisions.in_first_block(8)), (Some(100), None));
        divisions.retain(|row| row != 7);
        assert!(divisions.is_empty());
    }
}
