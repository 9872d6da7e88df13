//! Removing the vertices of shared rows from the dominator tree.
//!
//! A shared row is a vertex of the search. It is on every path from the objects that share it to their targets, and
//! changes nothing else. So the immediate dominator of an object is the nearest object, or group of roots, above it in
//! the tree with rows.

use rayon::prelude::*;

use crate::columns::memory::Column;
use crate::error::{AnalyzerError, Result};
use crate::progress::{Progress, check};

/// Steps between two checks for cancellation: a cancelled question ends within milliseconds.
const CHECK_STEPS: usize = 1 << 16;

/// The depth-first numbers of all vertices; 0 for those that were not visited.
pub(super) struct Numbers<'n> {
    pub(super) objects: &'n mut [u32],
    pub(super) groups: &'n mut [u32],
    pub(super) rows: &'n [u32],
}

impl Numbers<'_> {
    /// Numbers the objects and groups without gaps, in the same order, and makes the nearest of them above each its
    /// immediate dominator. `idom` holds immediate dominators by number. Returns the highest number.
    ///
    /// Time: linear, and half of it in parallel; none if there are no rows. Memory: `scratch`, which has a place for each number.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(super) fn without_rows(
        &mut self,
        idom: &mut [u32],
        mut scratch: Column<u32>,
        last: u32,
        progress: &dyn Progress,
    ) -> Result<u32> {
        const ROW: u32 = u32::MAX;
        let mut visited = self.rows.iter().filter(|&&number| number != 0).peekable();
        if visited.peek().is_none() {
            return Ok(last);
        }
        // By number: the new number, and for a row that of its nearest dominator that is no row.
        let new = &mut scratch[..=last as usize];
        new.fill(0);
        visited.for_each(|&number| new[number as usize] = ROW);
        let mut count = 0;
        for number in 1..new.len() {
            if number.is_multiple_of(CHECK_STEPS) {
                check(progress)?;
            }
            // Dominators have lower numbers, so those of this one are known.
            let above = new[idom[number] as usize];
            if new[number] == ROW {
                new[number] = above;
            } else {
                count += 1;
                new[number] = count;
                idom[count as usize] = above;
            }
        }
        let new = &*new;
        self.objects.par_chunks_mut(CHECK_STEPS).try_for_each(|numbers| {
            check(progress)?;
            numbers.iter_mut().for_each(|number| *number = new[*number as usize]);
            Ok::<_, AnalyzerError>(())
        })?;
        self.groups.iter_mut().for_each(|number| *number = new[*number as usize]);
        Ok(count)
    }
}
