//! Heaps, the memory ceiling and threads, which sessions share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use barrow_analyzer::{Heap, LineRules, Memory, Progress, Recording, SnapshotId};
use barrow_processes::{Classes, Lanes, Plan, ProcessTree, Span, Step, Totals, critical_path};
use barrow_trials::Trials;
use parking_lot::{Mutex, MutexGuard, RwLock};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::ceiling::Ceiling;
use crate::error::QueryError;
use crate::removal::Removal;

/// The most threads: more would only start and end.
pub(crate) const MOST_THREADS: usize = 1024;
/// Further pools that are kept for questions that run at the same time: each has a stack for every thread. This is a
/// judgement.
const MOST_POOLS: usize = 8;
/// Sets of classes that are kept, with a number for each process in each: few files of rules are used in turn.
const MOST_CLASSES: usize = 4;
/// Files of lines that are kept: few are used in turn, and reading a small file again is no delay.
const MOST_LINES: usize = 4;
/// Stack of a worker thread: that of a main thread.
const STACK_BYTES: usize = 8 << 20;

/// Heaps, threads and a memory ceiling, shared by sessions. Questions of different sessions run at the same time.
///
/// A heap that was computed for one session serves the others as well, as long as it is kept: as many heaps are kept as
/// there are sessions, the least recently used go first.
pub struct Workspace {
    memory: Memory,
    max_memory: Option<u64>,
    /// `None`: the pool of the process, with a thread for each core.
    pool: RwLock<Option<Pool>>,
    /// Questions that run.
    running: Arc<AtomicUsize>,
    /// Held by a question that may go on while others end for want of memory.
    first: Mutex<()>,
    /// Pools in which no question runs, of as many threads.
    idle: Mutex<Vec<Pool>>,
    heaps: Mutex<Vec<CachedHeap>>,
    /// Rules for lines that were read, the last ones.
    lines: Mutex<Vec<Arc<LineRules>>>,
    /// The process tree that was read last.
    tree: Mutex<Option<Arc<ProcessTree>>>,
    /// Results about it.
    of_tree: Mutex<TreeResults>,
    /// The trials that were read last, with their recording.
    trials: Mutex<Option<(Arc<Recording>, Arc<Trials>)>>,
    sessions: AtomicUsize,
    /// Index files are written after the answers.
    keeps_later: AtomicBool,
}

/// Results about one process tree, kept until another tree is read.
#[derive(Default)]
struct TreeResults {
    tree: Option<Arc<ProcessTree>>,
    totals: Option<Arc<Totals>>,
    lanes: Option<Arc<Lanes>>,
    plan: Option<Arc<Plan>>,
    critical: Option<Arc<Lanes>>,
    /// By what they are made of.
    classes: Vec<(String, Arc<Classes>)>,
}

impl TreeResults {
    /// The same, without what is about another tree.
    fn about(&mut self, tree: &Arc<ProcessTree>) -> &mut Self {
        if !self.tree.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, tree)) {
            *self = TreeResults { tree: Some(Arc::clone(tree)), ..TreeResults::default() };
        }
        self
    }
}

#[derive(Clone)]
struct Pool {
    threads: usize,
    pool: Arc<ThreadPool>,
}

/// A question that runs, until it is dropped.
struct Running<'w>(&'w AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A heap, and what it is the heap of.
struct CachedHeap {
    excluded: Vec<Arc<Removal>>,
    heap: Arc<Heap>,
}

impl CachedHeap {
    fn is(
        &self,
        recording: &Arc<Recording>,
        snapshot: SnapshotId,
        excluded: &[Arc<Removal>],
        lines: Option<&Arc<LineRules>>,
    ) -> bool {
        let have_same_lines = match (self.heap.line_rules(), lines) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        have_same_lines
            && self.heap.snapshot() == snapshot
            && Arc::ptr_eq(self.heap.recording(), recording)
            && self.excluded.len() == excluded.len()
            && self.excluded.iter().zip(excluded).all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

impl Workspace {
    /// The process tree of a recording: that which is kept, or else what `read` reads.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn process_tree(
        &self,
        recording: &Arc<Recording>,
        read: impl FnOnce() -> Result<ProcessTree, QueryError>,
    ) -> Result<Arc<ProcessTree>, QueryError> {
        let is_it = |tree: &&Arc<ProcessTree>| Arc::ptr_eq(tree.recording(), recording);
        if let Some(tree) = self.tree.lock().as_ref().filter(is_it) {
            return Ok(Arc::clone(tree));
        }
        // It may be read in parallel: no thread that waits for a part of it may hold the lock.
        let tree = Arc::new(read()?);
        let mut kept = self.tree.lock();
        if let Some(tree) = kept.as_ref().filter(is_it) {
            return Ok(Arc::clone(tree));
        }
        *kept = Some(Arc::clone(&tree));
        Ok(tree)
    }

    /// The trials of a recording.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn trials(
        &self,
        recording: &Arc<Recording>,
        progress: &dyn Progress,
    ) -> Result<Arc<Trials>, QueryError> {
        let mut kept = self.trials.lock();
        if let Some((_, trials)) = kept.as_ref().filter(|(of, _)| Arc::ptr_eq(of, recording)) {
            return Ok(Arc::clone(trials));
        }
        let trials = Arc::new(Trials::of(recording, progress)?);
        *kept = Some((Arc::clone(recording), Arc::clone(&trials)));
        Ok(trials)
    }

    /// The totals of a process tree.
    pub(crate) fn process_totals(&self, tree: &Arc<ProcessTree>) -> Arc<Totals> {
        let mut kept = self.of_tree.lock();
        Arc::clone(kept.about(tree).totals.get_or_insert_with(|| Arc::new(Totals::of(tree))))
    }

    /// The lanes of a process tree.
    pub(crate) fn process_lanes(&self, tree: &Arc<ProcessTree>) -> Arc<Lanes> {
        let mut kept = self.of_tree.lock();
        Arc::clone(kept.about(tree).lanes.get_or_insert_with(|| Arc::new(Lanes::of(tree))))
    }

    /// A process tree as jobs that can be replayed.
    pub(crate) fn process_plan(&self, tree: &Arc<ProcessTree>) -> Arc<Plan> {
        let totals = self.process_totals(tree);
        let mut kept = self.of_tree.lock();
        Arc::clone(kept.about(tree).plan.get_or_insert_with(|| Arc::new(Plan::of(tree, &totals))))
    }

    /// The critical path of a process tree, as a lane.
    pub(crate) fn process_critical(&self, tree: &Arc<ProcessTree>) -> Arc<Lanes> {
        let mut kept = self.of_tree.lock();
        Arc::clone(kept.about(tree).critical.get_or_insert_with(|| {
            let steps = critical_path(tree).into_iter();
            let span = |step: Step| Span { image: step.image, began_ns: step.from_ns, ended_ns: step.to_ns };
            Arc::new(Lanes::of_path(steps.map(span).collect()))
        }))
    }

    /// The classes of a process tree; `key` says what they are made of, and `make` makes them.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn classes(
        &self,
        tree: &Arc<ProcessTree>,
        key: &str,
        make: impl FnOnce() -> Result<Classes, QueryError>,
    ) -> Result<Arc<Classes>, QueryError> {
        if let Some((_, classes)) = self.of_tree.lock().about(tree).classes.iter().find(|(of, _)| of == key) {
            return Ok(Arc::clone(classes));
        }
        // They are made in parallel: no thread that waits for a part of it may hold the lock.
        let classes = Arc::new(make()?);
        let mut kept = self.of_tree.lock();
        let kept = &mut kept.about(tree).classes;
        if kept.len() >= MOST_CLASSES {
            kept.remove(0);
        }
        kept.push((key.to_owned(), Arc::clone(&classes)));
        Ok(classes)
    }

    /// A workspace without heaps. `max_memory` is a ceiling in bytes for what the questions of all sessions compute
    /// together; `None` is three quarters of the memory that is free now ([`Memory::usual`]). What does not fit goes to
    /// temporary files. `threads` bounds the threads that work on them: `None` is one per core.
    ///
    /// # Errors
    /// [`QueryError::Usage`] for 0 threads or more than 1,024; [`QueryError::Threads`] if they cannot be started.
    pub fn new(max_memory: Option<u64>, threads: Option<usize>) -> Result<Arc<Self>, QueryError> {
        let memory = max_memory.map_or_else(Memory::usual, Memory::limited);
        let pool = RwLock::new(threads.map(pool).transpose()?);
        let (running, idle) = (Arc::default(), Mutex::default());
        let sessions = AtomicUsize::new(0);
        Ok(Arc::new(Workspace {
            memory,
            max_memory,
            pool,
            running,
            first: Mutex::default(),
            idle,
            heaps: Mutex::default(),
            lines: Mutex::default(),
            tree: Mutex::default(),
            of_tree: Mutex::default(),
            trials: Mutex::default(),
            sessions,
            keeps_later: AtomicBool::new(false),
        }))
    }

    /// Bounds the threads from the next question on.
    ///
    /// # Errors
    /// As for [`Workspace::new`].
    pub fn set_threads(&self, threads: usize) -> Result<(), QueryError> {
        let pool = pool(threads)?;
        *self.pool.write() = Some(pool);
        self.idle.lock().clear();
        Ok(())
    }

    /// The most threads that work, if that is bounded.
    #[must_use]
    pub fn threads(&self) -> Option<usize> {
        self.pool.read().as_ref().map(|pool| pool.threads)
    }

    /// From now on answers do not wait until what they computed is in an index file: it is written by
    /// [`Workspace::keep_index`], which has to be called after each answer. It must be called, or the next process computes
    /// the same again.
    pub fn keep_index_later(&self) {
        // Relaxed, here and below: it orders no other memory.
        self.keeps_later.store(true, Ordering::Relaxed);
    }

    /// Returns whether index files are written after the answers.
    pub(crate) fn keeps_later(&self) -> bool {
        self.keeps_later.load(Ordering::Relaxed)
    }

    /// The heaps with something to write to their index files.
    pub(crate) fn owing(&self) -> Vec<Arc<Heap>> {
        let heaps = self.heaps.lock();
        heaps.iter().map(|kept| &kept.heap).filter(|heap| heap.owes_index()).cloned().collect()
    }

    /// Writes to index files what questions have computed since [`Workspace::keep_index_later`]. Questions that are asked
    /// meanwhile need not wait.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub fn keep_index(&self, progress: &dyn Progress) -> Result<(), QueryError> {
        let owing = self.owing();
        self.run(|| Ok(owing.iter().try_for_each(|heap| heap.keep_index(progress))?))
    }

    /// The ceiling, in bytes, if one was given.
    #[must_use]
    pub fn max_memory(&self) -> Option<u64> {
        self.max_memory
    }

    /// The account that all heaps share.
    pub(crate) fn memory(&self) -> Memory {
        self.memory.clone()
    }

    /// Works with the threads of the workspace. Questions that run at the same time have threads of their own: in one
    /// pool, a short one would wait for the parts of a long one.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        if rayon::current_thread_index().is_some() {
            return work();
        }
        // Relaxed: the count orders no other memory.
        let is_alone = self.running.fetch_add(1, Ordering::Relaxed) == 0;
        let _ended = Running(&self.running);
        match if is_alone { None } else { self.further() } {
            Some(further) => {
                let done = further.pool.install(work);
                self.keep_idle(further);
                done
            }
            None => {
                let pool = self.pool.read().clone();
                match pool {
                    Some(Pool { pool, .. }) => pool.install(work),
                    None => work(),
                }
            }
        }
    }

    /// A pool in which no question runs; `None` if no further threads can be started.
    fn further(&self) -> Option<Pool> {
        let idle = self.idle.lock().pop();
        idle.or_else(|| pool(self.threads().unwrap_or_else(rayon::current_num_threads)).ok())
    }

    fn keep_idle(&self, further: Pool) {
        let is_current = further.threads == self.threads().unwrap_or_else(rayon::current_num_threads);
        let mut idle = self.idle.lock();
        if is_current && idle.len() < MOST_POOLS {
            idle.push(further);
        }
    }

    /// The rules for lines in a file with this text: those that were read before, or what `read` reads.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn line_rules(
        &self,
        (file, text): (&str, &str),
        read: impl FnOnce() -> Result<LineRules, QueryError>,
    ) -> Result<Arc<LineRules>, QueryError> {
        let mut kept = self.lines.lock();
        if let Some(rules) = kept.iter().find(|rules| rules.file() == file && rules.text() == text) {
            return Ok(Arc::clone(rules));
        }
        let rules = Arc::new(read()?);
        if kept.len() >= MOST_LINES {
            kept.remove(0);
        }
        kept.push(Arc::clone(&rules));
        Ok(rules)
    }

    /// A heap that is kept.
    pub(crate) fn kept(
        &self,
        recording: &Arc<Recording>,
        snapshot: SnapshotId,
        excluded: &[Arc<Removal>],
        lines: Option<&Arc<LineRules>>,
    ) -> Option<Arc<Heap>> {
        let mut heaps = self.heaps.lock();
        let at = heaps.iter().position(|kept| kept.is(recording, snapshot, excluded, lines))?;
        let kept = heaps.remove(at);
        let heap = Arc::clone(&kept.heap);
        heaps.push(kept);
        Some(heap)
    }

    /// Drops heaps until there is room for another one. What they have to write is written first, since no call of
    /// [`Workspace::keep_index`] would find them any more.
    pub(crate) fn make_room(&self, progress: &dyn Progress) {
        for heap in self.keep_heaps(self.sessions.load(Ordering::Relaxed).max(1) - 1) {
            // Then it is computed again when it is needed.
            let _ = heap.keep_index(progress);
        }
    }

    /// Keeps only the `most` heaps that were used last. Returns the others.
    fn keep_heaps(&self, most: usize) -> Vec<Arc<Heap>> {
        let mut heaps = self.heaps.lock();
        let beyond = heaps.len().saturating_sub(most);
        heaps.drain(..beyond).map(|kept| kept.heap).collect()
    }

    /// Keeps a heap. One that another session has computed meanwhile is used instead.
    pub(crate) fn keep(&self, heap: Arc<Heap>, excluded: &[Arc<Removal>], progress: &dyn Progress) -> Arc<Heap> {
        if let Some(kept) = self.kept(heap.recording(), heap.snapshot(), excluded, heap.line_rules()) {
            return kept;
        }
        self.make_room(progress);
        let mut heaps = self.heaps.lock();
        heaps.push(CachedHeap { excluded: excluded.to_vec(), heap: Arc::clone(&heap) });
        heap
    }

    /// Returns whether several sessions share the memory.
    pub(crate) fn is_shared(&self) -> bool {
        self.sessions.load(Ordering::Relaxed) > 1
    }

    /// Drops every heap that no running question uses, where several sessions share the memory. Returns whether there was
    /// one.
    pub(crate) fn drop_idle(&self) -> bool {
        if !self.is_shared() {
            return false;
        }
        let mut heaps = self.heaps.lock();
        let before = heaps.len();
        heaps.retain(|kept| Arc::strong_count(&kept.heap) > 1);
        heaps.len() < before
    }

    /// The ceiling of the account, for the questions of a session.
    pub(crate) fn ceiling(&self) -> Ceiling {
        Ceiling::new(self.memory(), Arc::clone(&self.running))
    }

    /// Returns whether several questions run.
    pub(crate) fn runs_several(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 1
    }

    /// The turn of a question that ended for want of memory: then others end before it. `None` if others have it.
    pub(crate) fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        self.first.try_lock()
    }

    /// Drops what is kept and used by no running question, except heaps. Returns whether there was something.
    pub(crate) fn forget(&self) -> bool {
        let trials = self.trials.lock().take();
        let tree = self.tree.lock().take();
        let of_tree = std::mem::take(&mut *self.of_tree.lock());
        trials.is_some() || tree.is_some() || of_tree.tree.is_some()
    }

    /// Counts a session.
    pub(crate) fn enter(&self) {
        self.sessions.fetch_add(1, Ordering::Relaxed);
    }

    /// A session ended.
    pub(crate) fn leave(&self) {
        self.sessions.fetch_sub(1, Ordering::Relaxed);
        drop(self.keep_heaps(self.sessions.load(Ordering::Relaxed)));
    }
}

fn pool(threads: usize) -> Result<Pool, QueryError> {
    if threads == 0 {
        return Err(QueryError::usage("at least one thread has to work"));
    }
    if threads > MOST_THREADS {
        return Err(QueryError::usage(format!("{threads} threads are too many; at most {MOST_THREADS} may work")));
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
    Ok(Pool { threads, pool: Arc::new(pool.map_err(QueryError::threads)?) })
}
