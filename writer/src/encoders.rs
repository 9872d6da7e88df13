//! The threads that turn announced blocks into frames. Without any, announcing threads do it.
//!
//! ```text
//!   shard ─┐                     ┌─ encoder ─┐
//!   shard ─┼─▶ queue (bounded) ─▶┼─ encoder ─┼─▶ sink
//!   shard ─┘   by bytes          └─ encoder ─┘
//! ```

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use barrow_format::block::{BlockColumns, Encoder};
use barrow_format::codec::Compression;
use barrow_format::frame::{SectionType, encode_frame};

use crate::announced::Announced;
use crate::collected::{EncodedBlock, SnapshotResults};
use crate::error::{Result, WriterError};
use crate::gate::{Gate, Pass};
use crate::lock::lock;
use crate::options::Options;
use crate::shapes::Shaper;
use crate::shared::Shared;

/// The share of the memory budget for emptied blocks that are kept for reuse.
const SPARES_PART: usize = 16;

/// The pool of encoding threads; the gate bounds their queue.
#[derive(Debug)]
pub(crate) struct Encoders {
    shared: Arc<Shared>,
    compression: Compression,
    /// The queue of jobs; `None` if announcing threads encode, and at the end.
    jobs: Mutex<Option<Sender<Job>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Encoders for announcing threads, if there are no encoding threads.
    own: Mutex<Vec<Bench>>,
    gate: Arc<Gate>,
    spares: Arc<Mutex<Vec<Announced>>>,
}

/// A block on its way to an encoder. If it is dropped before it was encoded, because an encoder panicked, its snapshot
/// cannot be committed.
#[derive(Debug)]
struct Job {
    collected: Arc<SnapshotResults>,
    block: Announced,
    is_done: bool,
    /// Dropped last, so that a thread that waits at the gate then sees the failure.
    _pass: Pass,
}

impl Drop for Job {
    fn drop(&mut self) {
        if !self.is_done {
            self.collected.fail(WriterError::SnapshotFailed);
        }
    }
}

/// The buffers of one encoder.
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

    /// Encodes a block unless its snapshot has failed or ended, and keeps its memory for the next. Without encoding
    /// threads, the shard that announced it takes it back at once.
    fn work(&mut self, shared: &Shared, spares: &Mutex<Vec<Announced>>, mut job: Job) {
        if !job.collected.is_over()
            && let Err(error) = self.encode(shared, &Arc::clone(&job.collected), &mut job.block)
        {
            job.collected.fail(error);
        }
        job.is_done = true;
        job.block.clear();
        let mut spares = lock(spares);
        let kept: usize = spares.iter().map(Announced::allocated_bytes).sum();
        let is_within_part = kept + job.block.allocated_bytes() <= shared.memory_budget_bytes / SPARES_PART;
        if is_within_part || shared.threads == 0 {
            spares.push(std::mem::take(&mut job.block));
        }
    }

    /// Encodes one block and appends its frame.
    fn encode(&mut self, shared: &Shared, collected: &SnapshotResults, block: &mut Announced) -> Result<()> {
        self.shaper.shape(block, &shared.shapes, &shared.counts, &mut self.columns)?;
        let summary = EncodedBlock::count(block, &self.columns);
        let (directory, body) = self.encoder.encode(&mut self.columns)?;
        let mut frame = encode_frame(SectionType::BLOCK, collected.snapshot, 0, &directory, body);
        if shared.shapes.is_full() {
            shared.flush_tables()?;
        }
        let offset = collected.append(shared, &mut frame)?;
        collected.add(summary, block, offset, frame.len() as u64);
        Ok(())
    }
}

impl Encoders {
    /// Starts the threads; they live until [`Encoders::stop`].
    pub(crate) fn start(shared: &Arc<Shared>, options: &Options) -> Result<Arc<Self>> {
        // The rest is for the blocks of shards, the buffers of encoders and the spares; see `share_bytes`.
        let budget_bytes = shared.memory_budget_bytes / 8 * 3;
        let gate = Gate::new(budget_bytes);
        let encoders = Arc::new(Encoders {
            shared: Arc::clone(shared),
            compression: options.compression,
            jobs: Mutex::new(None),
            threads: Mutex::new(Vec::new()),
            own: Mutex::new(Vec::new()),
            gate: Arc::new(gate),
            spares: Arc::new(Mutex::new(Vec::new())),
        });
        if options.threads == 0 {
            // One is made at once, so that an invalid compression level is detected now.
            lock(&encoders.own).push(Bench::new(options.compression)?);
            return Ok(encoders);
        }
        let (sender, receiver) = channel::<Job>();
        let receiver = Arc::new(Mutex::new(receiver));
        for number in 0..options.threads {
            let (shared, receiver) = (Arc::clone(shared), Arc::clone(&receiver));
            let spares = Arc::clone(&encoders.spares);
            let mut bench = Bench::new(options.compression)?;
            let thread = std::thread::Builder::new()
                .name(format!("barrow-encoder-{number}"))
                .spawn(move || {
                    while let Some(job) = next_job(&receiver) {
                        bench.work(&shared, &spares, job);
                    }
                })
                .map_err(WriterError::io("start an encoder thread"))?;
            lock(&encoders.threads).push(thread);
        }
        *lock(&encoders.jobs) = Some(sender);
        Ok(encoders)
    }

    /// An empty block, preferably one with memory from an earlier use.
    pub(crate) fn spare(&self) -> Announced {
        lock(&self.spares).pop().unwrap_or_default()
    }

    /// Hands a block to the encoders; waits while their queue exceeds the budget.
    pub(crate) fn submit(&self, collected: &Arc<SnapshotResults>, mut block: Announced) -> Result<()> {
        block.sequence = collected.next_sequence();
        let jobs = lock(&self.jobs).clone();
        let pass = self.gate.enter(block.allocated_bytes());
        let job = Job { collected: Arc::clone(collected), block, is_done: false, _pass: pass };
        if let Some(jobs) = jobs {
            // If all encoders are gone, the job fails its snapshot as it is dropped.
            drop(jobs.send(job));
            return collected.check();
        }
        let bench = lock(&self.own).pop();
        let mut bench = bench.map_or_else(|| Bench::new(self.compression), Ok)?;
        bench.work(&self.shared, &self.spares, job);
        lock(&self.own).push(bench);
        collected.check()
    }

    /// Waits until no block is queued or being encoded.
    pub(crate) fn drain(&self) {
        self.gate.wait_until_empty();
    }

    /// Ends the threads.
    pub(crate) fn stop(&self) {
        lock(&self.jobs).take();
        for thread in lock(&self.threads).drain(..) {
            // A panic of an encoder was a bug and has been printed; its work was not committed.
            let _ = thread.join();
        }
    }
}

fn next_job(receiver: &Mutex<Receiver<Job>>) -> Option<Job> {
    lock(receiver).recv().ok()
}
