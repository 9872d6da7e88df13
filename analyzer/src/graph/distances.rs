//! Distances from the roots by breadth-first search, with the predecessors on shortest paths.
//!
//! ```text
//!   level 0   the roots' targets
//!   level 1   their targets, unless these have a level       each thread processes pieces of a level;
//!   …                                                        the lowest parent wins, in any order
//! ```

use std::sync::atomic::Ordering;

use barrow_format::{ObjectId, SnapshotId};
use rayon::prelude::*;

use crate::columns::atomic::atomics;
use crate::columns::memory::Column;
use crate::columns::values::Values;
use crate::error::Result;
use crate::graph::adjacency::{Adjacency, AdjacencyView};
use crate::graph::frontier::Frontier;
use crate::graph::object_set::ObjectSet;
use crate::graph::shared_rows::VisitedRows;
use crate::progress::{Progress, check};
use crate::run::Run;

/// Represents "no object": the parent of unreachable objects and of root targets.
const NONE: u32 = u32::MAX;
/// Objects of a level that one thread processes at a time: levels are short at first, and threads share the long ones
/// evenly. This is a judgement.
const PIECE: usize = 1 << 12;

/// The distance of each object from the nearest root, and its predecessor on a shortest path.
#[derive(Debug)]
pub struct Distances {
    /// By object: the bitwise complement of its distance; 0, the initial value of columns, if it is unreachable.
    pub(crate) distance: Values<u32>,
    /// By object: the bitwise complement of its predecessor; 0 for root targets and unreachable objects.
    pub(crate) parent: Values<u32>,
}

/// Limits of a search.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bounds<'a> {
    /// Objects that no path may pass.
    pub(crate) avoid: Option<&'a ObjectSet>,
    /// The search ends after the level of this object.
    pub(crate) until: Option<ObjectId>,
}

impl Distances {
    /// Searches from `roots`, in parallel on the current pool. If an object has several shortest paths, the one through
    /// the predecessor with the lowest number is kept, for any number of threads.
    ///
    /// Time: linear. Memory: 8 bytes and two bits per object, and two levels.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub(crate) fn find(
        snapshot: SnapshotId,
        adjacency: &Adjacency,
        roots: &[ObjectId],
        bounds: Bounds<'_>,
        run: Run<'_>,
    ) -> Result<Self> {
        let Run { memory, progress } = run;
        let (objects, ephemerons) = (adjacency.objects(), adjacency.ephemerons());
        progress.begin("measuring distances", objects as u64, "objects");
        let mut distance: Column<u32> = memory.column(objects)?;
        let mut parent: Column<u32> = memory.column(objects)?;
        let avoided = |object: ObjectId| bounds.avoid.is_some_and(|avoid| avoid.contains(object));
        let avoid = bounds.avoid.cloned().unwrap_or_else(|| ObjectSet::new(snapshot, objects as u64));
        let mut frontier = Frontier::new(avoid);
        let mut level: Vec<u32> = roots.iter().filter(|&&root| frontier.seen.insert(root)).map(|root| root.0).collect();
        let (mut steps, mut is_listed) = (0, true);
        let graph = Graph { view: adjacency.view(), rows: &adjacency.visited_rows() };
        loop {
            frontier.sort(&mut level, is_listed);
            if level.is_empty() {
                break;
            }
            level.iter().for_each(|&object| distance[object as usize] = !steps);
            progress.advance(level.len() as u64);
            check(progress)?;
            if bounds.until.is_some_and(|target| distance[target.index()] == !steps) {
                break;
            }
            is_listed = !frontier.is_large(level.len());
            let mut next = if is_listed || rayon::current_num_threads() > 1 {
                next_level(graph, &level, &mut frontier.seen, &mut parent, progress)?
            } else {
                reach_next_level(graph, &level, &mut frontier.seen, &mut parent, progress)?;
                Vec::new()
            };
            if !ephemerons.is_empty() {
                // The values of ephemerons that became alive with this level belong to the next level.
                let mut values = Vec::new();
                let is_reached = |object: ObjectId| !distance[object.index()] <= steps && !avoided(object);
                for &object in &level {
                    ephemerons.completed(ObjectId(object), is_reached, |ephemeron| values.push(*ephemeron));
                }
                values.sort_unstable_by_key(|ephemeron| ephemeron.source);
                for ephemeron in values {
                    if frontier.seen.insert(ephemeron.value) {
                        next.push(ephemeron.value.0);
                        parent[ephemeron.value.index()] = !ephemeron.source.0;
                    }
                }
            }
            level = next;
            steps += 1;
        }
        Ok(Distances { distance: distance.into(), parent: parent.into() })
    }

    /// From columns of an index file, if their lengths fit. Their parents must be valid objects.
    pub(crate) fn of_columns(objects: u64, distance: Values<u32>, parent: Values<u32>) -> Option<Self> {
        let fits = distance.len() as u64 == objects && parent.len() as u64 == objects;
        fits.then_some(Distances { distance, parent })
    }

    /// The number of references between the nearest root and an object; `None` if it is unreachable. The target of a
    /// root has distance 0.
    #[must_use]
    pub fn distance(&self, object: ObjectId) -> Option<u32> {
        distance_of(self.distance[object.index()])
    }

    /// The predecessor of an object on a shortest path; `None` for root targets and unreachable objects.
    #[must_use]
    pub fn parent_of(&self, object: ObjectId) -> Option<ObjectId> {
        Some(!self.parent[object.index()]).filter(|&parent| parent != NONE).map(ObjectId)
    }

    /// The objects of a shortest path, from a root target to `object`; empty if the object is unreachable.
    #[must_use]
    pub fn path(&self, object: ObjectId) -> Vec<ObjectId> {
        path_over(object, |object| Some((self.distance[object.index()], self.parent[object.index()])))
            .unwrap_or_default()
    }
}

/// Decodes a value of the distance column.
pub(crate) fn distance_of(value: u32) -> Option<u32> {
    Some(!value).filter(|&distance| distance != NONE)
}

/// The objects of a shortest path to `object`. `look_up` returns the values of the distance and parent columns; `None`
/// if `look_up` fails.
pub(crate) fn path_over(
    object: ObjectId,
    mut look_up: impl FnMut(ObjectId) -> Option<(u32, u32)>,
) -> Option<Vec<ObjectId>> {
    let mut path = Vec::new();
    let mut next = object.0;
    // The distance must decrease at every step. So the walk ends even in a wrong index file.
    let mut above = NONE;
    while next != NONE {
        let (distance, parent) = look_up(ObjectId(next)).map(|(distance, parent)| (!distance, !parent))?;
        if distance >= above {
            break;
        }
        path.push(ObjectId(next));
        (above, next) = (distance, parent);
    }
    path.reverse();
    Some(path)
}

/// The references that a search follows.
#[derive(Clone, Copy)]
struct Graph<'g> {
    view: AdjacencyView<'g>,
    /// Rows whose targets have been reached from a lower object.
    rows: &'g VisitedRows,
}

/// As [`next_level`] on one thread, but without listing the new objects: a large level is read from the bit set.
fn reach_next_level(
    graph: Graph<'_>,
    level: &[u32],
    seen: &mut ObjectSet,
    parent: &mut [u32],
    progress: &dyn Progress,
) -> Result<()> {
    let Graph { view, rows } = graph;
    for piece in level.chunks(PIECE) {
        check(progress)?;
        for &object in piece {
            let own = parent[object as usize];
            for target in view.new_targets(object, rows) {
                // Branch-free, because whether a target is new is unpredictable. If it is not, the parent of `object`
                // is written again.
                let is_new = seen.insert(ObjectId(target));
                let (child, value) = if is_new { (target, !object) } else { (object, own) };
                parent[child as usize] = value;
            }
        }
    }
    Ok(())
}

/// The unseen targets of `level`, which is sorted. The parent of each is the lowest object of `level` that refers to
/// it.
fn next_level(
    graph: Graph<'_>,
    level: &[u32],
    seen: &mut ObjectSet,
    parent: &mut [u32],
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    let Graph { view, rows } = graph;
    let mut next = Vec::new();
    if level.len() <= PIECE || rayon::current_num_threads() == 1 {
        for piece in level.chunks(PIECE) {
            check(progress)?;
            for (object, targets) in view.new_scattered(piece, rows) {
                for target in targets {
                    if seen.insert(ObjectId(target)) {
                        // The first object that reaches it is the lowest, as levels are sorted.
                        parent[target as usize] = !object;
                        next.push(target);
                    }
                }
            }
        }
        return Ok(next);
    }
    // Relaxed is sufficient: the end of the parallel loop separates levels. Within a level only the lowest parent
    // counts; its complement is the greatest value.
    let parent = atomics(parent);
    let claim = |target: u32, object: u32| {
        let parent = &parent[target as usize];
        parent.load(Ordering::Relaxed) < !object && parent.fetch_max(!object, Ordering::Relaxed) == 0
    };
    let pieces = level.par_chunks(PIECE).map(|piece| {
        check(progress)?;
        let mut found = Vec::with_capacity(PIECE);
        for (object, targets) in view.new_scattered(piece, rows) {
            for target in targets {
                if !seen.contains(ObjectId(target)) && claim(target, object) {
                    found.push(target);
                }
            }
        }
        Ok(found)
    });
    for mut found in pieces.collect::<Result<Vec<Vec<u32>>>>()? {
        found.iter().for_each(|&object| _ = seen.insert(ObjectId(object)));
        next.append(&mut found);
    }
    Ok(next)
}
