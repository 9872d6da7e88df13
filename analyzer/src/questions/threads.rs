//! Threads of the recorded program: what each has done, and which roots are its.
//!
//! ```text
//!   THREADS                                        ROOTS
//!   7  worker  waiting  allocated 12 MiB  "main" ──▶ label "main", or "main: run (job.rb:3)"
//!   │                                              label "thread 9", or any of the category `thread`: a
//!   └─ the same number in the snapshot before      thread as well, of which no more is known
//! ```
//!
//! **What a thread retains** is what would be unreachable without its roots *and* its thread object: the stack with all
//! that only it names, the thread object with its locals, and what these hold together. The thread object counts as a
//! part of the thread although others know it, such as its group or a pool. So it is found as the retained size of
//! a vertex that stands for both: a group of roots with the thread object in it, to which no reference of an object leads. One
//! computation of dominators tells it for all threads.

use std::collections::HashMap;

use barrow_format::codec::Decompressor;
use barrow_format::frame::SectionType;
use barrow_format::rows::{Chunk, Root, Thread};
use barrow_format::{FormatError, ObjectId, SnapshotId, StringId};

use crate::error::{AnalyzerError, Result};
use crate::file::recording::Recording;
use crate::file::tables::{TableRoom, Tables, below};
use crate::graph::dominators::{GroupRetained, resident_bytes};
use crate::graph::object_set::ObjectSet;
use crate::graph::roots::Roots;
use crate::graph::rows::{Follow, Rows};
use crate::graph::without::Without;
use crate::heap::Heap;
use crate::progress::Progress;

/// What a label of a root begins with if the category does not say that it is a thread's.
const THREAD_LABEL: &str = "thread ";
/// The category whose labels name threads.
const THREAD_CATEGORY: &str = "thread";
/// What stands between the label of a thread and that of one of its frames.
const FRAME_SEPARATOR: &str = ": ";
/// The label of a thread itself may have as many: a text can be long, and is looked at once for each.
const MOST_SEPARATORS: usize = 8;

/// The threads that a recording has of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Threads {
    rows: Vec<Thread>,
}

/// What a thread has done since the snapshot before, or since it began if it was not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadChange {
    /// It began after the snapshot before.
    pub is_new: bool,
    /// What it allocated, in bytes.
    pub allocated_bytes: Option<u64>,
    /// How many objects it allocated.
    pub allocated_objects: Option<u64>,
    /// The processor time it used, in nanoseconds.
    pub cpu_time_ns: Option<u64>,
}

/// The roots of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadRoots {
    /// Its row in [`Threads::rows`]; `None` if only its roots tell of it.
    pub row: Option<usize>,
    /// The label that all its roots begin with.
    pub label: StringId,
    /// How many there are.
    pub roots: u64,
    /// The object that is the thread itself, if the recording tells: the only root of the category `thread` that its label
    /// names.
    pub object: Option<ObjectId>,
    /// What would be unreachable without its roots and its object.
    pub retained: GroupRetained,
}

impl Threads {
    /// Reads the threads of a snapshot; there are none if it has no THREADS.
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
            let push = |thread: Thread| {
                check(&thread, strings)?;
                rows.push(thread);
                Ok(())
            };
            chunk.for_each(&mut decompressor, push).map_err(&at)?;
        }
        Ok(Threads { rows })
    }

    /// All of them, in the order of the recording.
    #[must_use]
    pub fn rows(&self) -> &[Thread] {
        &self.rows
    }

    /// For each thread what it has done since `before`; `None` where that cannot be told, since its number stands twice
    /// in one of the snapshots.
    #[must_use]
    pub fn since(&self, before: &Threads) -> Vec<Option<ThreadChange>> {
        let (now, before) = (by_id(&self.rows), by_id(&before.rows));
        let change = |row: &Thread| {
            now.get(&row.id)?.as_ref()?;
            match before.get(&row.id) {
                Some(None) => None,
                Some(Some(old)) => change(old, row).or_else(|| Some(began(row))),
                None => Some(began(row)),
            }
        };
        self.rows.iter().map(change).collect()
    }

    /// How many threads of `before` are not there any more, or have left their number to another.
    #[must_use]
    pub fn ended_since(&self, before: &Threads) -> u64 {
        let (now, known) = (by_id(&self.rows), by_id(&before.rows));
        let is_gone = |row: &&Thread| match (known.get(&row.id), now.get(&row.id)) {
            (_, None) => true,
            (Some(Some(old)), Some(Some(new))) => change(old, new).is_none(),
            _ => false,
        };
        before.rows.iter().filter(is_gone).count() as u64
    }
}

impl Heap {
    /// The roots of each thread, by the labels that `threads` have, and those of threads of which only roots tell:
    /// with a label that begins with `thread `, or of the category `thread`. Threads without roots are left out, and so
    /// are those that share a label. By row, then by the first root. Whether retained sizes are exact comes with them: if
    /// not, they are lower bounds, see [`crate::Dominators::is_exact`].
    ///
    /// Time and memory: as to find dominators, which is done anew for threads unless an index file has the answer.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub fn thread_roots(&self, threads: &Threads, progress: &dyn Progress) -> Result<(Vec<ThreadRoots>, bool)> {
        let tables = self.recording().tables()?;
        let roots = self.roots()?.rows();
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
        if found.is_empty() {
            return Ok((found, true));
        }
        let objects = thread_objects(roots, &places, &found, tables);
        found.iter_mut().zip(objects).for_each(|(thread, object)| thread.object = object);
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

    /// What each thread retains, objects and bytes, and last 1 if that is exact. `places` has the thread of each root.
    fn retained_by_threads(
        &self,
        found: &[ThreadRoots],
        places: &[Option<usize>],
        progress: &dyn Progress,
    ) -> Result<Vec<u64>> {
        // Only numbers of groups: no string is looked up by them.
        let group = |place: Option<usize>| StringId(place.map_or(u32::MAX, |place| place as u32));
        let mut threads = ObjectSet::new(self.snapshot(), self.object_count());
        let mut owners: HashMap<ObjectId, usize> = HashMap::new();
        for (place, thread) in found.iter().enumerate() {
            let Some(object) = thread.object else { continue };
            threads.insert(object);
            owners.insert(object, place);
        }
        // Whoever else names a thread object as a root keeps only a part of the thread alive.
        let rows = self.roots()?.rows().iter().zip(places);
        let regrouped = rows.map(|(root, &place)| {
            let place = owners.get(&root.target).copied().or(place);
            Root { category: group(place), label: None, ..*root }
        });
        let roots = Roots::of(regrouped.collect());
        let without = Without::referred_to_by_roots_only(self.overlay().map(|without| &**without), threads);
        self.memory().require(resident_bytes(self.object_count()))?;
        let references =
            Rows::build(self.recording(), self.snapshot(), Follow::Retaining, Some(&without), self.memory(), progress)?;
        let dominators = self.find_dominators(references, &roots, progress)?;
        let retained = (0..found.len()).map(|place| dominators.group_retained(group(Some(place))));
        let columns = retained.flat_map(|retained| [retained.objects, retained.bytes]);
        Ok(columns.chain([dominators.is_exact().into()]).collect())
    }
}

/// The object that is each thread: the only root of the category `thread` with its label.
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
    // What is told to be two threads is none.
    objects.into_iter().map(|object| object.flatten().filter(|object| threads_of[object] == 1)).collect()
}

/// Which labels of roots are whose.
struct Labels<'r> {
    /// Row and label of each thread.
    owners: Vec<(Option<usize>, StringId)>,
    /// The thread that a text names; nobody if it names several.
    by_text: HashMap<&'r str, Option<usize>>,
}

impl<'r> Labels<'r> {
    fn of(threads: &Threads, roots: &[Root], tables: &'r Tables) -> Self {
        let mut labels = Labels { owners: Vec::new(), by_text: HashMap::new() };
        for (row, thread) in threads.rows.iter().enumerate() {
            let Some(label) = thread.root_label else { continue };
            let owner = labels.owners.len();
            labels.owners.push((Some(row), label));
            labels.by_text.entry(tables.string(label)).and_modify(|of| *of = None).or_insert(Some(owner));
        }
        for root in roots {
            let Some(label) = root.label else { continue };
            let (category, text) = (tables.string(root.category), tables.string(label));
            let is_thread =
                category == THREAD_CATEGORY || (text.starts_with(THREAD_LABEL) && !text.contains(FRAME_SEPARATOR));
            if is_thread && labels.named(text).is_none() {
                labels.by_text.insert(text, Some(labels.owners.len()));
                labels.owners.push((None, label));
            }
        }
        labels
    }

    /// The longest part of a label that names a thread, if one does.
    fn named(&self, text: &str) -> Option<Option<usize>> {
        let ends = text.match_indices(FRAME_SEPARATOR).map(|(end, _)| end).take(MOST_SEPARATORS);
        let parts = ends.map(|end| &text[..end]).chain([text]);
        parts.filter_map(|part| self.by_text.get(part).copied()).last()
    }

    fn owner(&self, root: &Root, tables: &Tables) -> Option<usize> {
        self.named(tables.string(root.label?)).flatten()
    }
}

/// Checks the strings that a thread names.
fn check(thread: &Thread, strings: u32) -> Result<(), FormatError> {
    let attributes = thread.attributes.iter().flat_map(|&(key, value)| [key, value]);
    let mut texts = [thread.name, thread.state, thread.root_label].into_iter().flatten().chain(attributes);
    texts.try_for_each(|text| below("string of a thread", text.0, strings))
}

/// Threads by number; nothing for one that stands twice.
fn by_id(rows: &[Thread]) -> HashMap<u64, Option<&Thread>> {
    let mut by_id = HashMap::with_capacity(rows.len());
    for row in rows {
        by_id.entry(row.id).and_modify(|known| *known = None).or_insert(Some(row));
    }
    by_id
}

/// What a thread did in between; `None` if a counter fell, so that it is another thread.
fn change(old: &Thread, new: &Thread) -> Option<ThreadChange> {
    // The outer option is for a counter that fell, the inner one for what is not known.
    let since = |old: Option<u64>, new: Option<u64>| match (old, new) {
        (Some(old), Some(new)) => new.checked_sub(old).map(Some),
        _ => Some(None),
    };
    Some(ThreadChange {
        is_new: false,
        allocated_bytes: since(old.allocated_bytes, new.allocated_bytes)?,
        allocated_objects: since(old.allocated_objects, new.allocated_objects)?,
        cpu_time_ns: since(old.cpu_time_ns, new.cpu_time_ns)?,
    })
}

/// What a thread did that was not there before.
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
            // It allocated less than it had: another thread has its number.
            change(true, 4, Some(20)),
            None,
        ];
        assert_eq!(now.since(&before), expected);
        assert_eq!(now.ended_since(&before), 1);
        assert_eq!(threads(&[(2, 60, None)]).ended_since(&before), 4);
    }
}
