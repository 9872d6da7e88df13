//! Immediate dominators by semidominators and nearest common ancestors (Semi-NCA).
//!
//! L. Georgiadis: Linear-Time Algorithms for Dominators and Related Problems, PhD thesis, Princeton
//! 2005, section 3.2; path compression as in T. Lengauer, R. Tarjan: A Fast Algorithm for Finding
//! Dominators in a Flowgraph, 1979.

use std::ops::{ControlFlow, RangeInclusive};

use super::hubs::Hubs;
use crate::columns::memory::Column;
use crate::columns::prefetch::prefetch;
use crate::error::Result;
use crate::graph::transposed::Transposed;
use crate::progress::check;
use crate::run::Run;

/// Steps between two checks for cancellation: a cancelled question ends within milliseconds.
const CHECK_STEPS: u32 = 1 << 16;

/// The late references of a depth-first search, by target.
#[derive(Clone, Copy)]
pub(super) struct LateReferences<'l> {
    /// The references to all targets except hubs.
    pub(super) by_target: &'l Transposed,
    /// The references to hubs.
    pub(super) hubs: &'l Hubs,
}

/// Turns `semi` from the lowest early source of each number into its semidominator.
///
/// Time: O(m log n) in the worst case, close to linear in heaps. Memory: 8 resident bytes per vertex. Sequential,
/// because each step depends on the links of the previous one.
///
/// # Errors
/// [`crate::AnalyzerError::Cancelled`], those of [`crate::Memory`].
pub(super) fn semidominators(
    parent: &[u32],
    semi: &mut [u32],
    late: LateReferences<'_>,
    last: u32,
    run: Run<'_>,
) -> Result<()> {
    let Run { memory, progress } = run;
    let LateReferences { by_target, hubs } = late;
    progress.begin("finding semidominators", last.into(), "objects");
    // The ancestor and the lowest semidominator on the path to it are adjacent in memory, because each step up needs
    // both. A vertex is linked when the loop has reached a lower number.
    let mut forest: Column<[u32; 2]> = memory.resident(last as usize + 1)?;
    let mut path = Vec::new();
    let mut hubs_below = hubs.by_falling_number().peekable();
    let announce = |forest: &mut &mut [[u32; 2]], source: u32| prefetch(forest, source as usize);
    by_target.rev_each(last, &mut &mut forest[..], announce, |forest, number, sources| {
        let mut least = semi[number as usize];
        for &source in sources {
            least = least.min(least_above(forest, source, number, &mut path));
        }
        if let Some(hub) = hubs_below.next_if(|hub| hub.number() == number) {
            hubs.each_source(hub, forest, |forest, source| {
                least = least.min(least_above(forest, source, number, &mut path));
                // No number is lower than that of the top.
                if least == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        semi[number as usize] = least;
        forest[number as usize] = [parent[number as usize], least];
        if number % CHECK_STEPS == 0 {
            check(progress)?;
            progress.advance(CHECK_STEPS.into());
        }
        Ok(())
    })
}

/// The lowest semidominator on the path from `vertex` to its root, in the forest of numbers above `current`. Afterwards
/// every vertex on the path is a child of the root.
#[inline(always)]
fn least_above(forest: &mut [[u32; 2]], vertex: u32, current: u32, path: &mut Vec<u32>) -> u32 {
    let [mut ancestor, mut least] = forest[vertex as usize];
    if ancestor <= current {
        return least;
    }
    path.clear();
    path.push(vertex);
    loop {
        let [above, label] = forest[ancestor as usize];
        if above <= current {
            least = label;
            break;
        }
        path.push(ancestor);
        ancestor = above;
    }
    // `ancestor` is a child of the root. The vertices below it take over the lowest semidominator above themselves.
    let root = forest[ancestor as usize][0];
    for &below in path.iter().rev() {
        let entry = &mut forest[below as usize];
        least = least.min(entry[1]);
        *entry = [root, least];
    }
    least
}

/// Budget of steps up the tree, per vertex. Heaps need less than two. A list of n objects that ends in an array of n
/// others, to which the root refers as well, would need n.
const STEPS: u64 = 16;

/// Turns `idom` from parents into immediate dominators. The immediate dominator is the nearest ancestor in the
/// dominator tree that is not higher than the semidominator.
///
/// Time: linear in heaps. If plain walks take too long, jump pointers limit each walk to the logarithm of its length
/// (E. Myers: An Applicative Random-Access Stack, 1983). Memory: none, or 8 bytes per vertex for jump pointers.
/// Sequential.
///
/// # Errors
/// [`crate::AnalyzerError::Cancelled`], those of [`crate::Memory`].
pub(super) fn immediate_dominators(idom: &mut [u32], semi: &[u32], last: u32, run: Run<'_>) -> Result<()> {
    let progress = run.progress;
    progress.begin("finding dominators", last.into(), "objects");
    let mut steps = 0;
    for number in 1..=last {
        let least = semi[number as usize];
        let mut dominator = idom[number as usize];
        while dominator > least {
            dominator = idom[dominator as usize];
            steps += 1;
            if steps > STEPS * u64::from(last) {
                return with_jumps(idom, semi, number..=last, run);
            }
        }
        idom[number as usize] = dominator;
        if number % CHECK_STEPS == 0 {
            check(progress)?;
            progress.advance(CHECK_STEPS.into());
        }
    }
    Ok(())
}

/// Computes the immediate dominators of `numbers`, with jumps over many ancestors at once.
fn with_jumps(idom: &mut [u32], semi: &[u32], numbers: RangeInclusive<u32>, run: Run<'_>) -> Result<()> {
    let Run { memory, progress } = run;
    let (first, last) = numbers.into_inner();
    let mut jumps: Column<[u32; 2]> = memory.with_room(last as usize + 1, 0)?;
    // The target of the jump, and the depth of the vertex.
    let jumps = &mut jumps[..];
    let link = |jumps: &mut [[u32; 2]], number: u32, dominator: u32| {
        let [near, depth] = jumps[dominator as usize];
        let [far, near_depth] = jumps[near as usize];
        let far_depth = jumps[far as usize][1];
        let is_even = depth - near_depth == near_depth - far_depth;
        jumps[number as usize] = [if is_even { far } else { dominator }, depth + 1];
    };
    for number in 1..=last {
        if number >= first {
            let least = semi[number as usize];
            let mut dominator = idom[number as usize];
            while dominator > least {
                let far = jumps[dominator as usize][0];
                dominator = if far > least { far } else { idom[dominator as usize] };
            }
            idom[number as usize] = dominator;
        }
        link(jumps, number, idom[number as usize]);
        if number % CHECK_STEPS == 0 {
            check(progress)?;
        }
    }
    Ok(())
}
