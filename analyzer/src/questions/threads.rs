//! Threads of the recorded program: their activity, their roots and the objects that they retain.
//!
//! ```text
//!   THREADS                                        ROOTS
//!   7  worker  waiting  allocated 12 MiB  "main" ──▶ label "main", or "main: run (job.rb:3)"
//!   │                                              label "thread 9", or any label of the category `thread`:
//!   └─ compared by id with the previous snapshot   a thread as well, known by its roots only
//!   8  worker, 9  worker, both of the label "worker" ──▶ one more, known by its roots only: what they have together
//! ```
//!
//! **A thread retains** the objects that would be unreachable without its roots *and* its thread object: those held by its
//! stack, by its thread-local variables, or by both together. The thread object belongs to the thread even if others refer
//! to it, such as a thread pool. To compute this, the roots of each thread form a root category of their own that includes
//! the thread object, and references from objects to thread objects are excluded. The retained size of that category in the
//! dominator tree is the answer. One computation of dominators covers all threads, and it leaves out what other roots reach.

use std::collections::HashMap;

use barrow_format::codec::Decompressor;
use barrow_format::frame::SectionType;
use barrow_format::rows::{Chunk, Root, Thread};
use barrow_format::{FormatError, ObjectId, SnapshotId, StringId};

use crate::error::{AnalyzerError, Result};
use crate::file::recording::Recording;
use crate::file::tables::{TableRoom, Tables, below};
use crate::graph::adjacency::{Adjacency, Follow};
use crate::graph::dominators::{Dominators, GroupRetained, resident_bytes};
use crate::graph::exclusion::Exclusion;
use crate::graph::object_set::ObjectSet;
use crate::graph::reachable::reachable;
use crate::graph::roots::Roots;
use crate::heap::Heap;
use crate::progress::Progress;

/// The prefix of root labels that name a thread in other categories.
const THREAD_LABEL: &str = "thread ";
/// The category whose labels name threads.
const THREAD_CATEGORY: &str = "thread";
/// The separator between the label of a thread and that of one of its frames.
const FRAME_SEPARATOR: &str = ": ";
/// The category of roots that belong to no thread, or to one that was not asked for.
pub(super) const OTHER_ROOTS: StringId = StringId(u32::MAX);
/// The maximum number of separators that are tried in a label, since labels can be long and each takes a lookup.
const MOST_SEPARATORS: usize = 8;

/// The threads of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Threads {
    rows: Vec<Thread>,
}

/// The activity of a thread since the previous snapshot, or since it started if it is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadChange {
    /// It started after the previous snapshot.
    pub is_new: bool,
    /// The bytes it allocated.
    pub allocated_bytes: Option<u64>,
    /// The number of objects it allocated.
    pub allocated_objects: Option<u64>,
    /// The processor time it used, in nanoseconds.
    pub cpu_time_ns: Option<u64>,
}

/// The roots of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadRoots {
    /// Its row in [`Threads::rows`]; `None` if it is known by its roots only, or if several rows have its label: then
    /// these are the roots of all of them.
    pub row: Option<usize>,
    /// The label that all its roots start with.
    pub label: StringId,
    /// The number of its roots.
    pub roots: u64,
    /// The thread object: the only root of the category `thread` with its label; `None` if there is not exactly one.
    pub object: Option<ObjectId>,
    /// The objects that would be unreachable without its roots and its thread object.
    pub retained: GroupRetained,
}

impl Threads {
    /// Reads the threads of a snapshot. The result is empty without a THREADS section.
    ///
    /// # Errors
    /// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`].
    pub fn read(recording: &Recording, snapshot: SnapshotId) -> Result<Self> {
        let commit = recording.commit(snapshot)?;
        let strings = commit.tables.strings;
        let mut decompressor = Decompressor::new();
        let mut room = TableRoom::new(recording.bytes());
        let mut rows: Vec<Thread> = Vec::new();
        for &offset in &commit.threads {
            let at = AnalyzerError::section("THREADS", offset);
            let frame = recording.frame(SectionType::THREADS, Some(snapshot), offset)?;
            let chunk = frame.directory().and_then(|directory| Chunk::parse(directory, frame.body()?)).map_err(&at)?;
            if chunk.first != rows.len() as u64 {
                let (stored, found) = (chunk.first, rows.len() as u64);
                return Err(at(FormatError::Mismatch { what: "first row of a table chunk", stored, found }));
            }
            room.take(SectionType::THREADS, &chunk).map_err(&at)?;
            let read = chunk.for_each(&mut decompressor, |thread| {
                check(&thread, strings)?;
                rows.push(thread);
                Ok(())
            });
            read.map_err(&at)?;
        }
        Ok(Threads { rows })
    }

    /// All threads in the order of the recording.
    #[must_use]
    pub fn rows(&self) -> &[Thread] {
        &self.rows
    }

    /// The activity of each thread since `before`; `None` if its id occurs twice in one of the snapshots.
    #[must_use]
    pub fn since(&self, before: &Threads) -> Vec<Option<ThreadChange>> {
        let (now, before) = (by_id(&self.rows), by_id(&before.rows));
        let changes = self.rows.iter().map(|row| {
            now.get(&row.id)?.as_ref()?;
            match before.get(&row.id) {
                Some(None) => None,
                Some(Some(old)) => change(old, row).or_else(|| Some(began(row))),
                None => Some(began(row)),
            }
        });
        changes.collect()
    }

    /// The number of threads of `before` that ended, including those whose id another thread has now.
    #[must_use]
    pub fn ended_since(&self, before: &Threads) -> u64 {
        let (now, known) = (by_id(&self.rows), by_id(&before.rows));
        let ended = before.rows.iter().filter(|row| match (known.get(&row.id), now.get(&row.id)) {
            (_, None) => true,
            (Some(Some(old)), Some(Some(new))) => change(old, new).is_none(),
            _ => false,
        });
        ended.count() as u64
    }
}

impl Heap {
    /// The roots of each thread of `threads` by label, and those of threads known by their roots only: with a label
    /// that starts with `thread `, or in the category `thread`. Threads without roots are omitted, and threads that
    /// share a label are one, see [`ThreadRoots::row`]. The order is that of rows, then of first roots. The flag says
    /// whether retained sizes are exact; otherwise they are lower bounds, see [`crate::Dominators::is_exact`].
    ///
    /// Time and memory: those of computing dominators, unless an index file has the answer.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub fn thread_roots(&self, threads: &Threads, progress: &dyn Progress) -> Result<(Vec<ThreadRoots>, bool)> {
        let tables = self.recording().tables()?;
        let roots = self.roots()?.rows();
        let (mut found, places) = find_threads(threads, roots, tables);
        if found.is_empty() {
            return Ok((found, true));
        }
        let kept = self.kept_threads().filter(|kept| kept.len() == 2 * found.len() + 1);
        let retained = match kept {
            Some(kept) => kept,
            None => {
                let retained = self.retained_by_threads(&found, &places, progress)?;
                self.keep_threads(&retained, progress)?;
                retained
            }
        };
        let (sums, rest) = retained.as_chunks::<2>();
        let is_exact = rest == [1];
        for (thread, &[objects, bytes]) in found.iter_mut().zip(sums) {
            thread.retained = GroupRetained { objects, bytes };
        }
        found.sort_by_key(|thread| thread.row.unwrap_or(usize::MAX));
        Ok((found, is_exact))
    }

    /// The objects and bytes retained by each thread, followed by 1 if these are exact, else 0. `places` holds the thread of
    /// each root.
    fn retained_by_threads(
        &self,
        found: &[ThreadRoots],
        places: &[Option<usize>],
        progress: &dyn Progress,
    ) -> Result<Vec<u64>> {
        let (roots, exclusion) = self.roots_by_thread(found, places, |place, _| StringId(place as u32))?;
        let references = self.references_of_threads(&exclusion, progress)?;
        let (of_others, mut of_threads): (Vec<Root>, Vec<Root>) =
            roots.rows().iter().partition(|root| root.category == OTHER_ROOTS);
        // No thread retains what other roots reach, which is nearly always the most: dominators are needed of the rest.
        // An ephemeron may connect the two.
        let shared = if of_others.is_empty() || !references.ephemerons().is_empty() {
            None
        } else {
            let targets = Roots::of(of_others).targets();
            let shared = reachable(self.snapshot(), &references, &targets, None, progress)?;
            Some(shared).filter(|shared| shared.len() > self.object_count() / 2)
        };
        let dominators = match shared {
            None => self.find_dominators(references, &roots, progress)?,
            Some(shared) => {
                drop(references);
                of_threads.retain(|root| !shared.contains(root.target));
                let references = self.references_of_threads(&exclusion.freeing(&shared), progress)?;
                self.find_dominators(references, &Roots::of(of_threads), progress)?
            }
        };
        let mut columns = vec![0; 2 * found.len()];
        for (category, retained) in dominators.retained_by_groups().filter(|&(category, _)| category != OTHER_ROOTS) {
            columns[2 * category.index()..][..2].copy_from_slice(&[retained.objects, retained.bytes]);
        }
        columns.push(dominators.is_exact().into());
        Ok(columns)
    }

    /// Dominators where the roots of threads are in categories of their own. `category` gets the place of the thread, and
    /// the number of the root among [`Roots::rows`], or `None` for the thread object: that is a root of its thread, and
    /// nothing else refers to it.
    pub(super) fn dominators_of_threads(
        &self,
        found: &[ThreadRoots],
        places: &[Option<usize>],
        category: impl Fn(usize, Option<usize>) -> StringId,
        progress: &dyn Progress,
    ) -> Result<Dominators> {
        let (roots, exclusion) = self.roots_by_thread(found, places, category)?;
        self.find_dominators(self.references_of_threads(&exclusion, progress)?, &roots, progress)
    }

    fn references_of_threads(&self, exclusion: &Exclusion, progress: &dyn Progress) -> Result<Adjacency> {
        self.memory().require(resident_bytes(self.object_count()))?;
        Adjacency::build(self.recording(), self.snapshot(), Follow::Retaining, Some(exclusion), self.run(progress))
    }

    /// The roots of threads in categories of their own, and what is excluded so that only these refer to thread objects.
    fn roots_by_thread(
        &self,
        found: &[ThreadRoots],
        places: &[Option<usize>],
        // These ids only distinguish categories: no string is looked up by them.
        category: impl Fn(usize, Option<usize>) -> StringId,
    ) -> Result<(Roots, Exclusion)> {
        let mut threads = ObjectSet::new(self.snapshot(), self.object_count());
        let mut owners: HashMap<ObjectId, usize> = HashMap::new();
        for (place, thread) in found.iter().enumerate() {
            let Some(object) = thread.object else { continue };
            threads.insert(object);
            owners.insert(object, place);
        }
        // Another root that refers to a thread object keeps only a part of that thread alive.
        let rows = self.roots()?.rows().iter().zip(places).enumerate();
        let by_thread = rows.map(|(number, (root, &place))| {
            let category = match (owners.get(&root.target), place) {
                (Some(&owner), _) => category(owner, None),
                (None, Some(place)) => category(place, Some(number)),
                (None, None) => OTHER_ROOTS,
            };
            Root { category, label: None, ..*root }
        });
        let roots = Roots::of(by_thread.collect());
        let exclusion = Exclusion::referred_to_by_roots_only(self.exclusion().map(|exclusion| &**exclusion), threads);
        Ok((roots, exclusion))
    }
}

/// The threads that roots name, and for each root the place of its thread among them.
pub(super) fn find_threads(
    threads: &Threads,
    roots: &[Root],
    tables: &Tables,
) -> (Vec<ThreadRoots>, Vec<Option<usize>>) {
    let labels = Labels::of(threads, roots, tables);
    let mut place_of_owner = HashMap::new();
    let mut found: Vec<ThreadRoots> = Vec::new();
    let mut places = Vec::with_capacity(roots.len());
    for root in roots {
        let place = labels.owner(root, tables).map(|owner| {
            *place_of_owner.entry(owner).or_insert_with(|| {
                let (row, label) = labels.owners[owner];
                found.push(ThreadRoots { row, label, roots: 0, object: None, retained: GroupRetained::default() });
                found.len() - 1
            })
        });
        if let Some(place) = place {
            found[place].roots += 1;
        }
        places.push(place);
    }
    let objects = thread_objects(roots, &places, &found, tables);
    found.iter_mut().zip(objects).for_each(|(thread, object)| thread.object = object);
    (found, places)
}

/// The thread object of each thread: the only root of the category `thread` with its label.
fn thread_objects(
    roots: &[Root],
    places: &[Option<usize>],
    found: &[ThreadRoots],
    tables: &Tables,
) -> Vec<Option<ObjectId>> {
    let mut objects: Vec<Option<Option<ObjectId>>> = vec![None; found.len()];
    for (root, place) in roots.iter().zip(places) {
        let Some(place) = *place else { continue };
        if tables.string(root.category) == THREAD_CATEGORY && root.label == Some(found[place].label) {
            let object = &mut objects[place];
            *object = Some(if object.is_none() { Some(root.target) } else { None });
        }
    }
    let mut threads_of: HashMap<ObjectId, u32> = HashMap::new();
    objects.iter().flatten().flatten().for_each(|&object| *threads_of.entry(object).or_default() += 1);
    // An object claimed by two threads belongs to neither.
    objects.into_iter().map(|object| object.flatten().filter(|object| threads_of[object] == 1)).collect()
}

/// Finds the thread of a root by its label.
struct Labels<'r> {
    /// Row and label of each thread; no row if several have the label.
    owners: Vec<(Option<usize>, StringId)>,
    /// The index of the owner that a text names.
    by_text: HashMap<&'r str, usize>,
}

impl<'r> Labels<'r> {
    fn of(threads: &Threads, roots: &[Root], tables: &'r Tables) -> Self {
        let mut labels = Labels { owners: Vec::new(), by_text: HashMap::new() };
        for (row, thread) in threads.rows.iter().enumerate() {
            let Some(label) = thread.root_label else { continue };
            let next = labels.owners.len();
            let owner = *labels.by_text.entry(tables.string(label)).or_insert(next);
            match labels.owners.get_mut(owner) {
                Some((row, _)) => *row = None,
                None => labels.owners.push((Some(row), label)),
            }
        }
        for root in roots {
            let Some(label) = root.label else { continue };
            let (category, text) = (tables.string(root.category), tables.string(label));
            let is_thread =
                category == THREAD_CATEGORY || (text.starts_with(THREAD_LABEL) && !text.contains(FRAME_SEPARATOR));
            if is_thread && labels.named(text).is_none() {
                labels.by_text.insert(text, labels.owners.len());
                labels.owners.push((None, label));
            }
        }
        labels
    }

    /// The thread named by the longest prefix of a label that names any.
    fn named(&self, text: &str) -> Option<usize> {
        let ends = text.match_indices(FRAME_SEPARATOR).map(|(end, _)| end).take(MOST_SEPARATORS);
        let parts = ends.map(|end| &text[..end]).chain([text]);
        parts.filter_map(|part| self.by_text.get(part).copied()).last()
    }

    fn owner(&self, root: &Root, tables: &Tables) -> Option<usize> {
        self.named(tables.string(root.label?))
    }
}

/// Checks the string ids of a thread.
fn check(thread: &Thread, strings: u32) -> Result<(), FormatError> {
    let attributes = thread.attributes.iter().flat_map(|&(key, value)| [key, value]);
    let mut texts = [thread.name, thread.state, thread.root_label].into_iter().flatten().chain(attributes);
    texts.try_for_each(|text| below("string of a thread", text.0, strings))
}

/// Threads by id; `None` for an id that occurs twice.
fn by_id(rows: &[Thread]) -> HashMap<u64, Option<&Thread>> {
    let mut by_id = HashMap::with_capacity(rows.len());
    for row in rows {
        by_id.entry(row.id).and_modify(|known| *known = None).or_insert(Some(row));
    }
    by_id
}

/// The increase of a counter. The outer option is `None` if the counter fell, the inner one if it was not recorded.
fn since(old: Option<u64>, new: Option<u64>) -> Option<Option<u64>> {
    match (old, new) {
        (Some(old), Some(new)) => new.checked_sub(old).map(Some),
        _ => Some(None),
    }
}

/// The activity of a thread between two snapshots; `None` if a counter fell, which means that it is another thread.
fn change(old: &Thread, new: &Thread) -> Option<ThreadChange> {
    Some(ThreadChange {
        is_new: false,
        allocated_bytes: since(old.allocated_bytes, new.allocated_bytes)?,
        allocated_objects: since(old.allocated_objects, new.allocated_objects)?,
        cpu_time_ns: since(old.cpu_time_ns, new.cpu_time_ns)?,
    })
}

/// The activity of a new thread.
fn began(row: &Thread) -> ThreadChange {
    let Thread { allocated_bytes, allocated_objects, cpu_time_ns, .. } = *row;
    ThreadChange { is_new: true, allocated_bytes, allocated_objects, cpu_time_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(rows: &[(u64, u64, Option<u64>)]) -> Threads {
        let row = |&(id, bytes, cpu_time_ns): &(u64, u64, Option<u64>)| Thread {
            id,
            allocated_bytes: Some(bytes),
            cpu_time_ns,
            ..Thread::default()
        };
        Threads { rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn counters_are_compared_by_thread() {
        let before = threads(&[(1, 100, Some(5)), (2, 50, None), (3, 9, Some(9)), (4, 1, None), (4, 2, None)]);
        let now = threads(&[(2, 60, Some(7)), (1, 100, Some(8)), (5, 7, Some(1)), (3, 4, Some(20)), (4, 3, None)]);
        let change = |is_new, bytes, cpu_time_ns| {
            Some(ThreadChange { is_new, allocated_bytes: Some(bytes), allocated_objects: None, cpu_time_ns })
        };
        let expected = [
            change(false, 10, None),
            change(false, 0, Some(3)),
            change(true, 7, Some(1)),
            // The counter fell, so another thread has this id now.
            change(true, 4, Some(20)),
            None,
        ];
        assert_eq!(now.since(&before), expected);
        assert_eq!(now.ended_since(&before), 1);
        assert_eq!(threads(&[(2, 60, None)]).ended_since(&before), 4);
    }
}
