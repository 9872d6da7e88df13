//! The threads that turn announced blocks into frames, outside of the announcing threads.
//!
//! ```text
//!   shard ─┐                     ┌─ encoder ─┐
//!   shard ─┼─▶ queue (bounded) ─▶┼─ encoder ─┼─▶ sink
//!   shard ─┘   by bytes          └─ encoder ─┘
//! ```

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use barrow_format::block::{BlockColumns, Encoder};
use barrow_format::codec::Compression;
use barrow_format::frame::{SectionType, encode_frame};

use crate::announced::Announced;
use crate::error::{Result, WriterError};
use crate::shapes::Shaper;
use crate::snapshot::{Collected, Encoded};
use crate::writer::Shared;

/// Encoding takes about this many times the memory of what was announced: the columns, their varints
/// and their compressed bytes.
const COST_FACTOR: usize = 2;
/// Emptied blocks that are kept for reuse.
const SPARES: usize = 4;

type Job = (Arc<Collected>, Announced);

/// The pool of encoding threads, and the gate that bounds what waits for them.
#[derive(Debug)]
pub(crate) struct Encoders {
    compression: Compression,
    /// Bytes that blocks in the queue and in encoding may take.
    budget_bytes: usize,
    jobs: Mutex<Option<Sender<Job>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Encoders that announcing threads use where there are no others.
    own: Mutex<Vec<Bench>>,
    waiting: Mutex<usize>,
    drained: Condvar,
    spares: Mutex<Vec<Announced>>,
}

/// What one encoder works with.
struct Bench {
    encoder: Encoder,
    shaper: Shaper,
    columns: BlockColumns,
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").finish_non_exhaustive()
    }
}

impl Bench {
    fn new(compression: Compression) -> Result<Self> {
        Ok(Bench { encoder: Encoder::new(compression)?, shaper: Shaper::default(), columns: BlockColumns::default() })
    }

    /// Encodes one block and appends its frame.
    fn encode(&mut self, shared: &Shared, collected: &Collected, block: &mut Announced) -> Result<()> {
        self.shaper.shape(block, &shared.shapes, &shared.counts, &mut self.columns)?;
        let summary = Encoded::count(block, &self.columns);
        let (directory, body) = self.encoder.encode(&mut self.columns)?;
        let mut frame = encode_frame(SectionType::BLOCK, collected.snapshot, 0, &directory, body);
        if shared.shapes.is_full() {
            shared.flush_tables()?;
        }
        let offset = lock(&shared.sink).append_frame(&mut frame)?;
        collected.add(summary, block, offset, frame.len() as u64);
        Ok(())
    }
}

impl Encoders {
    pub(crate) fn new(compression: Compression, budget_bytes: usize) -> Result<Self> {
        Ok(Encoders {
            compression,
            budget_bytes,
            jobs: Mutex::new(None),
            threads: Mutex::new(Vec::new()),
            // One is made at once, so that a bad compression level is found out now.
            own: Mutex::new(vec![Bench::new(compression)?]),
            waiting: Mutex::new(0),
            drained: Condvar::new(),
            spares: Mutex::new(Vec::new()),
        })
    }

    /// Starts the threads; they live as long as the writer.
    pub(crate) fn start(shared: &Arc<Shared>, threads: usize) -> Result<()> {
        if threads == 0 {
            return Ok(());
        }
        let (sender, receiver) = channel::<Job>();
        let receiver = Arc::new(Mutex::new(receiver));
        *lock(&shared.encoders.jobs) = Some(sender);
        for number in 0..threads {
            let (weak, receiver) = (Arc::downgrade(shared), Arc::clone(&receiver));
            let mut bench = Bench::new(shared.encoders.compression)?;
            let thread = std::thread::Builder::new()
                .name(format!("barrow-encoder-{number}"))
                .spawn(move || {
                    while let Some((collected, block)) = next_job(&receiver) {
                        let Some(shared) = weak.upgrade() else { break };
                        shared.encoders.work(&mut bench, &shared, &collected, block);
                    }
                })
                .map_err(WriterError::io("start an encoder thread"))?;
            lock(&shared.encoders.threads).push(thread);
        }
        Ok(())
    }

    /// An empty block, if possible one whose memory was used before.
    pub(crate) fn spare(&self) -> Announced {
        lock(&self.spares).pop().unwrap_or_default()
    }

    /// Hands a block to the encoders; waits while they have as much as the budget allows.
    pub(crate) fn submit(&self, shared: &Arc<Shared>, collected: &Arc<Collected>, block: Announced) -> Result<()> {
        let mut block = block;
        block.sequence = collected.next_sequence();
        let cost = cost(&block);
        let jobs = lock(&self.jobs).clone();
        self.enter(cost);
        let Some(jobs) = jobs else {
            let bench = lock(&self.own).pop();
            let mut bench = match bench {
                Some(bench) => bench,
                None => Bench::new(self.compression)?,
            };
            self.work(&mut bench, shared, collected, block);
            lock(&self.own).push(bench);
            return collected.check();
        };
        jobs.send((Arc::clone(collected), block)).map_err(|_| WriterError::Broken)
    }

    fn work(&self, bench: &mut Bench, shared: &Shared, collected: &Collected, mut block: Announced) {
        let cost = cost(&block);
        if collected.check().is_ok()
            && let Err(error) = bench.encode(shared, collected, &mut block)
        {
            collected.fail(error);
        }
        let mut spares = lock(&self.spares);
        if spares.len() < SPARES {
            spares.push(block);
        }
        drop(spares);
        *lock(&self.waiting) -= cost;
        self.drained.notify_all();
    }

    fn enter(&self, cost: usize) {
        let mut waiting = lock(&self.waiting);
        while *waiting > 0 && *waiting + cost > self.budget_bytes {
            waiting = self.drained.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        *waiting += cost;
    }

    /// Waits until no block is queued or being encoded.
    pub(crate) fn drain(&self) {
        let mut waiting = lock(&self.waiting);
        while *waiting > 0 {
            waiting = self.drained.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the threads.
    pub(crate) fn stop(&self) {
        lock(&self.jobs).take();
        for thread in lock(&self.threads).drain(..) {
            // A panic of an encoder was a bug and has been printed; nothing it did was committed.
            let _ = thread.join();
        }
    }
}

fn next_job(receiver: &Mutex<Receiver<Job>>) -> Option<Job> {
    lock(receiver).recv().ok()
}

fn cost(block: &Announced) -> usize {
    // What was announced may have been swapped out for its columns: the larger part stays.
    COST_FACTOR * (24 * block.types.len() + 12 * block.labels.len())
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked while holding a lock left whole values behind: each critical section
    // ends with its value consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
