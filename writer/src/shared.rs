//! The state shared by all threads of a writer: the tables, the end of the file, and the open snapshot.

use std::sync::Mutex;

use barrow_format::StringId;
use barrow_format::frame::NO_SNAPSHOT;

use crate::error::{Result, WriterError};
use crate::lock::lock;
use crate::options::{Options, Sync};
use crate::patches::Patches;
use crate::shapes::ShapeTable;
use crate::sink::Sink;
use crate::tables::{Counts, Tables};

/// Locks are taken in this order: the gathered results of a snapshot, tables, the remembered state for patches, shapes
/// or sink and shapes, the spill. The state is separate: it is locked together with the sink only.
pub(crate) struct Shared {
    /// Memory for objects and references: the budget without the memory of codecs.
    pub(crate) memory_budget_bytes: usize,
    /// Threads that encode; 0 if announcing threads do.
    pub(crate) threads: usize,
    pub(crate) sync: Sync,
    pub(crate) counts: Counts,
    state: Mutex<State>,
    pub(crate) tables: Mutex<Tables>,
    pub(crate) shapes: ShapeTable,
    pub(crate) sink: Mutex<Sink>,
    /// The state that the next snapshot is compared with, if patches are written.
    pub(crate) patches: Option<Patches>,
}

/// The snapshots so far.
#[derive(Debug, Default)]
struct State {
    committed: u32,
    is_open: bool,
    /// Offset of the last COMMIT frame.
    last_commit: Option<u64>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(sink: Sink, options: &Options) -> Result<Self> {
        let counts = Counts::default();
        let tables = Tables::new(options.compression, &counts)?;
        let memory_budget_bytes = budget_without_codecs(options);
        Ok(Shared {
            memory_budget_bytes,
            threads: options.threads,
            sync: options.sync,
            counts,
            state: Mutex::new(State::default()),
            tables: Mutex::new(tables),
            shapes: ShapeTable::new(),
            sink: Mutex::new(sink),
            patches: options.patches.then(|| Patches::new(options.compression, memory_budget_bytes)),
        })
    }

    /// Declares a row of a table, and writes the tables when enough rows wait.
    pub(crate) fn declare<T>(&self, row: impl FnOnce(&mut Tables, &Counts) -> Result<T>) -> Result<T> {
        let mut tables = lock(&self.tables);
        let declared = row(&mut tables, &self.counts)?;
        if tables.is_full() {
            tables.flush(&mut lock(&self.sink))?;
        }
        Ok(declared)
    }

    pub(crate) fn string(&self, text: &str) -> Result<StringId> {
        self.declare(|tables, counts| tables.string(text, counts))
    }

    /// Writes all rows of tables that are not in the file yet.
    pub(crate) fn flush_tables(&self) -> Result<()> {
        let mut tables = lock(&self.tables);
        let mut sink = lock(&self.sink);
        tables.flush(&mut sink)?;
        self.shapes.flush(&mut sink, tables.compressor())
    }

    /// Opens the next snapshot. Returns its number.
    pub(crate) fn open_snapshot(&self) -> Result<u32> {
        let mut state = lock(&self.state);
        if state.is_open {
            return Err(WriterError::SnapshotOpen);
        }
        if state.committed == NO_SNAPSHOT {
            let value = u64::from(state.committed);
            return Err(WriterError::OutOfRange { what: "number of snapshots", value, limit: value - 1 });
        }
        state.is_open = true;
        lock(&self.sink).begin_snapshot();
        Ok(state.committed)
    }

    /// Marks the open snapshot as committed; its COMMIT frame is at `offset`.
    pub(crate) fn committed(&self, offset: u64) {
        let mut state = lock(&self.state);
        state.committed += 1;
        state.last_commit = Some(offset);
    }

    /// Closes a snapshot; if it was not committed, its rows of the index are removed.
    pub(crate) fn close_snapshot(&self, snapshot: u32) {
        let mut state = lock(&self.state);
        state.is_open = false;
        lock(&self.sink).end_snapshot(snapshot, state.committed != snapshot);
    }

    pub(crate) fn has_open_snapshot(&self) -> bool {
        lock(&self.state).is_open
    }

    pub(crate) fn committed_snapshots(&self) -> u32 {
        lock(&self.state).committed
    }

    pub(crate) fn last_commit(&self) -> Option<u64> {
        lock(&self.state).last_commit
    }
}

/// Memory of a codec, in bytes: zstd at its usual levels.
const CODEC_BYTES: usize = 2 << 20;

/// The budget minus the codecs of all encoders, which take at most three quarters of it.
fn budget_without_codecs(options: &Options) -> usize {
    let budget = options.memory_budget_bytes;
    budget.saturating_sub(CODEC_BYTES.saturating_mul(options.threads.max(1))).max(budget / 4)
}
