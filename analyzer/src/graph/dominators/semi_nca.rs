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

/// Steps between looks at whether to stop.
const CHECK_STEPS: u32 = 1 << 16;

/// The late references of a depth-first search, by target.
#[derive(Clone, Copy)]
pub(super) struct LateReferences<'l> {
    /// Those of all targets but hubs.
    pub(super) by_target: &'l Transposed,
    /// Those of hubs.
    pub(super) hubs: &'l Hubs,
}

/// Makes `semi`, which holds the least early source of each number, hold its semidominator.
///
/// Time: O(m log n) in the worst case, close to linear in heaps. Memory: 8 bytes a vertex that must be
/// resident. Sequential: each step needs what the one before linked.
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
    // Side by side, since each step up needs both: the ancestor, and the least semidominator on the
    // way to it. A vertex is linked once the walk is at a lesser number.
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
                // Nothing is less than the place that all roots are held from.
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

/// The least semidominator from `vertex` up to its root in the forest of numbers above `current`;
/// every vertex on the way is then right below the root.
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
    // `ancestor` is the root's child; what is below it hears of the least above itself.
    let root = forest[ancestor as usize][0];
    for &below in path.iter().rev() {
        let entry = &mut forest[below as usize];
        least = least.min(entry[1]);
        *entry = [root, least];
    }
    least
}

/// A budget of steps up the tree, for each vertex. Heaps take less than two; a list of n objects that
/// ends in an array of n others, which the root refers to as well, would take n.
const STEPS: u64 = 16;

/// Makes `idom`, which holds parents, hold immediate dominators: the nearest ancestor in the tree of
/// dominators that is not greater than the semidominator.
///
/// Time: linear in heaps; where plain walks are too long, jumps bound each one by the logarithm of
/// its length (E. Myers: An Applicative Random-Access Stack, 1983). Memory: none, or 8 bytes a vertex
/// for jumps. Sequential.
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

/// Goes on from `first`, with jumps over many ancestors at once.
fn with_jumps(idom: &mut [u32], semi: &[u32], numbers: RangeInclusive<u32>, run: Run<'_>) -> Result<()> {
    let Run { memory, progress } = run;
    let (first, last) = numbers.into_inner();
    let mut jumps: Column<[u32; 2]> = memory.with_room(last as usize + 1, 0)?;
    // Where to, and how deep the vertex is.
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
