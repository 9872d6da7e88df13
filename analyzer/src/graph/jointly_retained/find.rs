//! Finding jointly retained objects: one walk over the dominator tree in preorder.
//!
//! The immediate dominator of an object comes before all its other referrers. So when a reference is processed, it is
//! known whether the dominator refers to the target itself. The subtree of an object, or of a keeper, directly follows
//! it.

use super::{GROUP, JointlyRetained, MANY, longest};
use crate::columns::lookup::Lookup;
use crate::columns::memory::{Column, Scratch};
use crate::columns::packed::{MAX_BYTES, PADDING, Packer, zigzag};
use crate::columns::prefetch::{Queue, prefetch};
use crate::columns::values::Values;
use crate::error::Result;
use crate::graph::adjacency::Adjacency;
use crate::graph::distances::Distances;
use crate::graph::dominators::{DominatorSlices, Dominators, PIECE};
use crate::graph::roots::Roots;
use crate::progress::check;
use crate::run::Run;

/// Positions whose targets are prefetched together: they fit into the nearest cache. This is a judgement.
const CHUNK: usize = 256;
/// Steps that may be in the queues.
const STEPS_AHEAD: usize = 2 * Queue::<Step>::LENGTH;
/// References between two checks for cancellation: a cancelled question ends within milliseconds.
const CHECK_REFERENCES: usize = 1 << 20;
/// Marks an object that is not jointly retained, in place of the end of an open subtree.
const NOT_JOINTLY: u32 = u32::MAX;

/// A step of the walk.
#[derive(Clone, Copy)]
struct Step {
    /// The current position of the walk.
    source: u32,
    /// The object referred to, later its position; `None` for the arrival at `source` itself.
    target: Option<u32>,
    /// The source comes before the target.
    is_before: bool,
}

/// The state of a position. Its numbers are adjacent in memory, because each access needs all of them.
type State = [u32; 4];

/// A walk over the tree.
struct Walk<'w> {
    tree: DominatorSlices<'w>,
    distances: &'w Distances,
    /// By position: its immediate dominator; the end of the last subtree whose references to it are irrelevant; the
    /// number of its keepers; the number of keepers before it.
    states: Column<State>,
    starts: Column<u64>,
    log: Packer<'w>,
    /// Steps whose targets are being prefetched, and steps whose states are.
    far: Queue<Step>,
    near: Queue<Step>,
}

/// Memory for finding jointly retained objects, with everything that is read: tree, distances, adjacency, states, and
/// the result.
const BYTES_PER_OBJECT: u64 = 60;
const BYTES_PER_REFERENCE: u64 = 7;

impl JointlyRetained {
    /// An estimate of the bytes needed to find them, including mapped ones.
    pub(crate) fn bytes_to_find(objects: u64, references: u64) -> u64 {
        objects.saturating_mul(BYTES_PER_OBJECT).saturating_add(references.saturating_mul(BYTES_PER_REFERENCE))
    }

    /// Finds them along the dominator tree, whose columns must be whole and exact. `adjacency` holds the retaining
    /// references.
    ///
    /// Time: linear. Sequential. Memory: 16 bytes per position, and the result.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub(crate) fn find(
        dominators: &Dominators,
        adjacency: &Adjacency,
        roots: &Roots,
        distances: &Distances,
        run: Run<'_>,
    ) -> Result<Self> {
        let Run { memory, progress } = run;
        let tree = dominators.columns();
        let (positions, count) = (tree.vertex, tree.vertex.len());
        progress.begin("finding shared objects", count as u64, "objects");
        let mut states: Column<State> = memory.column(count)?;
        for (states, idoms) in states.chunks_mut(PIECE).zip(tree.idom.chunks(PIECE)) {
            check(progress)?;
            states.iter_mut().zip(idoms).for_each(|(state, &idom)| state[0] = idom);
        }
        for target in roots.targets() {
            states[tree.position[target.index()] as usize][1] = NOT_JOINTLY;
        }
        let starts = memory.column(count.div_ceil(GROUP) + 1)?;
        let mut bytes: Scratch<u8> = memory.scratch(adjacency.references() as usize * MAX_BYTES + count + PADDING)?;
        let (log, growth) = bytes.parts();
        let log = Packer::new(log, longest(count));
        let mut walk = Walk { tree, distances, states, starts, log, far: Queue::new(), near: Queue::new() };
        let view = adjacency.view();
        let mut objects = Vec::new();
        let mut references = 0;
        for (chunk, vertices) in positions.chunks(CHUNK).enumerate() {
            check(progress)?;
            progress.advance(vertices.len() as u64);
            let is_object = |vertex: u32| (vertex as usize) < adjacency.objects();
            objects.clear();
            objects.extend(vertices.iter().copied().filter(|&vertex| is_object(vertex)));
            let mut targets_of = view.scattered(&objects);
            for (source, &vertex) in ((chunk * CHUNK) as u32..).zip(vertices) {
                walk.step(Some(Step { source, target: None, is_before: false }));
                // Groups of roots refer only to roots, and the top only to groups.
                let targets = if is_object(vertex) { targets_of.next() } else { None };
                let most = targets.as_ref().map_or(0, |(_, targets)| targets.bytes_left());
                growth.reach(walk.log.position() + (most + STEPS_AHEAD) * MAX_BYTES + PADDING)?;
                for target in targets.into_iter().flat_map(|(_, targets)| targets) {
                    references += 1;
                    if references % CHECK_REFERENCES == 0 {
                        check(progress)?;
                    }
                    walk.step(Some(Step { source, target: Some(target), is_before: false }));
                }
            }
        }
        (0..STEPS_AHEAD).for_each(|_| walk.step(None));
        walk.log.put(0);
        let Walk { states, mut starts, log, .. } = walk;
        let end = log.position();
        starts[count.div_ceil(GROUP)] = end as u64;
        let bytes = bytes.into_column(end + PADDING);
        let mut counts: Column<[u8; 2]> = memory.column(count)?;
        let mut many = Vec::new();
        for (position, (counts, &[_, _, keepers, before])) in (0..).zip(counts.iter_mut().zip(&states[..])) {
            if (position as usize).is_multiple_of(PIECE) {
                check(progress)?;
            }
            *counts = [keepers, before].map(|count| count.min(MANY) as u8);
            if keepers >= MANY {
                many.push([position, keepers, before]);
            }
        }
        let (counts, starts, kept) = (Values::from(counts), Values::from(starts), Values::from(bytes));
        let (counts, starts, kept) = (Lookup::Whole(counts), Lookup::Whole(starts), Lookup::Whole(kept));
        Ok(JointlyRetained { counts, many, starts, kept, longest: longest(count) })
    }
}

impl Walk<'_> {
    /// Enqueues a step, and processes the one whose prefetches have completed.
    #[inline(always)]
    fn step(&mut self, step: Option<Step>) {
        if let Some(Step { target: Some(object), .. }) = step {
            prefetch(self.tree.position, object as usize);
            prefetch(&self.distances.distance, object as usize);
        }
        let located = self.far.exchange(step).map(|step| self.locate(step));
        if let Some(step) = self.near.exchange(located) {
            self.take(step);
        }
    }

    fn locate(&self, step: Step) -> Step {
        let Some(object) = step.target else { return step };
        // Distances are stored as their bitwise complements.
        let order = |object: u32| (!self.distances.distance[object as usize], object);
        let is_before = order(self.tree.vertex[step.source as usize]) < order(object);
        let position = self.tree.position[object as usize];
        prefetch(&self.states, position as usize);
        Step { target: Some(position), is_before, ..step }
    }

    fn take(&mut self, Step { source, target, is_before }: Step) {
        let end = source + self.tree.extent[source as usize];
        let Some(target) = target else {
            if source > 0 {
                self.log.put(0);
            }
            if (source as usize).is_multiple_of(GROUP) {
                self.starts[source as usize / GROUP] = self.log.position() as u64;
            }
            // Objects that an object dominates do not count as its keepers.
            let open_until = &mut self.states[source as usize][1];
            *open_until = if *open_until == NOT_JOINTLY { NOT_JOINTLY } else { end };
            return;
        };
        let [idom, open_until, keepers, before] = &mut self.states[target as usize];
        if *idom == source {
            *open_until = NOT_JOINTLY;
        } else if source >= *open_until {
            *open_until = end;
            *keepers += 1;
            *before += u32::from(is_before);
            let difference = zigzag(i64::from(target) - i64::from(source));
            self.log.put(difference << 1 | u64::from(is_before));
        }
    }
}
