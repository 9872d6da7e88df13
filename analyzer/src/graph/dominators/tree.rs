//! The dominator tree in preorder: every subtree is a range.

use std::sync::atomic::Ordering;

use rayon::prelude::*;

use crate::columns::atomic::atomics;
use crate::columns::memory::Column;
use crate::error::{AnalyzerError, Result};
use crate::progress::check;
use crate::run::Run;

/// Steps between two checks for cancellation: a cancelled question ends within milliseconds.
const CHECK_STEPS: usize = 1 << 16;

/// The tree by position in preorder. Position 0 is the top.
pub(super) struct Preorder {
    /// By object: its position; 0 if it is unreachable.
    pub(super) position: Column<u32>,
    /// By group of roots: its position.
    pub(super) group_position: Vec<u32>,
    /// By position: the vertex.
    pub(super) vertex: Column<u32>,
    /// By position: the number of positions in its subtree, itself included.
    pub(super) extent: Column<u32>,
    /// By position: the position of its immediate dominator.
    pub(super) idom: Column<u32>,
}

impl Preorder {
    /// Lays out the tree that `idom` describes. It holds the number of each vertex's immediate dominator, which is
    /// lower than the vertex's own. `object_number` and `group_number` are overwritten.
    ///
    /// Time: linear. Memory: 24 bytes per vertex, of which 16 remain. Sequential, except for the last pass.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub(super) fn of(
        mut object_number: Column<u32>,
        mut group_number: Vec<u32>,
        idom: Column<u32>,
        last: u32,
        run: Run<'_>,
    ) -> Result<Self> {
        let Run { memory, progress } = run;
        progress.begin("laying out the tree", u64::from(last) + 1, "objects");
        let count = last as usize + 1;
        // Position and extent are adjacent in memory, because a vertex is placed by both of its dominator.
        let mut placed: Column<[u32; 2]> = memory.with_room(count, 0)?;
        let places = &mut placed[..];
        places.iter_mut().for_each(|[_, extent]| *extent = 1);
        for at in (1..count).rev() {
            if at % CHECK_STEPS == 0 {
                check(progress)?;
            }
            places[idom[at] as usize][1] += places[at][1];
        }
        check(progress)?;
        let mut extent = memory.column(count)?;
        let mut idom_position = memory.column(count)?;
        {
            let (extents, idoms): (&mut [u32], &mut [u32]) = (&mut extent, &mut idom_position);
            // Each entry of `places` changes from (0, extent) to (position, next free position below it).
            extents[0] = places[0][1];
            places[0] = [0, 1];
            for at in 1..count {
                if at % CHECK_STEPS == 0 {
                    check(progress)?;
                }
                let own = places[at][1];
                let dominator = &mut places[idom[at] as usize];
                let [above, position] = *dominator;
                dominator[1] += own;
                places[at] = [position, position + 1];
                extents[position as usize] = own;
                idoms[position as usize] = above;
            }
        }
        drop(idom);
        check(progress)?;
        let mut vertex: Column<u32> = memory.column(count)?;
        vertex[0] = u32::MAX;
        let (places, vertices) = (&placed[..], atomics(&mut vertex));
        let place = |id: u32, number: &mut u32| {
            *number = places[*number as usize][0];
            if *number != 0 {
                // Each vertex has its own position.
                vertices[*number as usize].store(id, Ordering::Relaxed);
            }
        };
        let objects = object_number.len() as u32;
        object_number.par_chunks_mut(CHECK_STEPS).enumerate().try_for_each(|(piece, numbers)| {
            check(progress)?;
            (piece as u32 * CHECK_STEPS as u32..).zip(numbers).for_each(|(id, number)| place(id, number));
            Ok::<_, AnalyzerError>(())
        })?;
        (objects..).zip(&mut group_number).for_each(|(id, number)| place(id, number));
        Ok(Preorder { position: object_number, group_position: group_number, vertex, extent, idom: idom_position })
    }
}
