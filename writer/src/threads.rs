//! Threads of the recorded program: announced one by one while a snapshot is recorded, written in chunks.

use std::sync::Mutex;

use barrow_format::rows::Thread;

use crate::error::Result;
use crate::lock::lock;
use crate::shared::Shared;
use crate::tables::Pending;

/// Describes a thread of the recorded program. Its counters start with the thread, and never fall.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadDescription<'a> {
    /// The runtime's number for it: the same in every snapshot, and of no other thread of this one.
    pub id: u64,
    /// Its name.
    pub name: Option<&'a str>,
    /// Its state in the runtime's words: running, waiting.
    pub state: Option<&'a str>,
    /// Memory it allocated, in bytes. Below 2^64 - 1, like the other counters.
    pub allocated_bytes: Option<u64>,
    /// Number of objects it allocated.
    pub allocated_objects: Option<u64>,
    /// The processor time it used, in nanoseconds.
    pub cpu_time_ns: Option<u64>,
    /// The label of the thread's roots: those with this label, and those whose label continues it with `: ` and more
    /// text, such as a frame. No other thread of the snapshot may have it.
    pub root_label: Option<&'a str>,
    /// Other facts that the runtime knows: keys and values.
    pub attributes: &'a [(&'a str, &'a str)],
}

impl ThreadDescription<'_> {
    /// A thread with only a number.
    #[must_use]
    pub fn new(id: u64) -> Self {
        ThreadDescription { id, ..ThreadDescription::default() }
    }
}

/// The threads of one snapshot.
#[derive(Debug)]
pub(crate) struct Threads {
    announced: Mutex<Announced>,
}

/// Rows that are not in the file yet, and the offsets of the chunks of the others.
#[derive(Debug)]
struct Announced {
    pending: Pending,
    offsets: Vec<u64>,
}

impl Threads {
    pub(crate) const fn new() -> Self {
        Threads { announced: Mutex::new(Announced { pending: Pending::new(), offsets: Vec::new() }) }
    }

    /// Adds the row of a thread, and writes a chunk of rows when enough wait.
    pub(crate) fn announce(&self, shared: &Shared, snapshot: u32, thread: &ThreadDescription<'_>) -> Result<()> {
        let row = row(shared, thread)?;
        let mut announced = lock(&self.announced);
        announced.pending.push(&row)?;
        if announced.pending.is_full() { announced.flush(shared, snapshot) } else { Ok(()) }
    }

    /// Writes the waiting rows. Returns the offsets of all chunks of the snapshot.
    pub(crate) fn finish(&self, shared: &Shared, snapshot: u32) -> Result<Vec<u64>> {
        let mut announced = lock(&self.announced);
        announced.flush(shared, snapshot)?;
        Ok(std::mem::take(&mut announced.offsets))
    }
}

impl Announced {
    fn flush(&mut self, shared: &Shared, snapshot: u32) -> Result<()> {
        let mut tables = lock(&shared.tables);
        let written = self.pending.flush::<Thread>(snapshot, &mut lock(&shared.sink), tables.compressor())?;
        self.offsets.extend(written);
        Ok(())
    }
}

fn row(shared: &Shared, thread: &ThreadDescription<'_>) -> Result<Thread> {
    let [name, state, root_label] =
        [thread.name, thread.state, thread.root_label].map(|text| text.map(|text| shared.string(text)).transpose());
    let attributes = thread.attributes.iter().map(|(key, value)| Ok((shared.string(key)?, shared.string(value)?)));
    Ok(Thread {
        id: thread.id,
        name: name?,
        state: state?,
        allocated_bytes: thread.allocated_bytes,
        allocated_objects: thread.allocated_objects,
        cpu_time_ns: thread.cpu_time_ns,
        root_label: root_label?,
        attributes: attributes.collect::<Result<_>>()?,
    })
}
