//! Threads of the recorded program: announced one by one while a snapshot is recorded, written in chunks.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use barrow_format::StringId;
use barrow_format::frame::SectionType;
use barrow_format::rows::{Thread, encode_raw_chunk};

use crate::error::Result;
use crate::shared::{Shared, lock};
use crate::tables::Pending;

/// Describes a thread of the recorded program. Its counters began with it, and never fall.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadDescription<'a> {
    /// The runtime's number for it: the same in every snapshot, and of no other thread of this one.
    pub id: u64,
    /// Its name.
    pub name: Option<&'a str>,
    /// What it does, in the runtime's word: running, waiting.
    pub state: Option<&'a str>,
    /// What it allocated, in bytes. Below 2^64 - 1, like the other counters.
    pub allocated_bytes: Option<u64>,
    /// How many objects it allocated.
    pub allocated_objects: Option<u64>,
    /// The processor time it used, in nanoseconds.
    pub cpu_time_ns: Option<u64>,
    /// The thread's roots are those with this label, and those whose label continues it with `: ` and more text, such as a
    /// frame. No other thread of the snapshot may have it.
    pub root_label: Option<&'a str>,
    /// What else the runtime knows: keys and values.
    pub attributes: &'a [(&'a str, &'a str)],
}

impl ThreadDescription<'_> {
    /// A thread of which only the number is known.
    #[must_use]
    pub fn new(id: u64) -> Self {
        ThreadDescription { id, ..ThreadDescription::default() }
    }
}

/// The threads of one snapshot that are not in the file yet.
#[derive(Debug)]
pub(crate) struct Threads {
    pending: Mutex<Pending>,
}

impl Threads {
    pub(crate) const fn new() -> Self {
        Threads { pending: Mutex::new(Pending::new()) }
    }

    /// Lets the row of a thread wait, and writes a chunk of them when enough do.
    pub(crate) fn announce(&self, shared: &Shared, snapshot: u32, thread: &ThreadDescription<'_>) -> Result<()> {
        let row = row(shared, thread)?;
        let mut pending = lock(&self.pending);
        pending.push(&row)?;
        if pending.is_full() { flush(&mut pending, shared, snapshot) } else { Ok(()) }
    }

    /// Writes what waits. If there is nothing, and a snapshot that was given up has left threads with the number of
    /// this one, a chunk without rows says that they are not of this one.
    pub(crate) fn finish(&self, shared: &Shared, snapshot: u32) -> Result<()> {
        let mut pending = lock(&self.pending);
        let is_empty = pending.is_empty();
        flush(&mut pending, shared, snapshot)?;
        // Relaxed: it was set under the lock of the tables, which this thread has taken just now or takes below.
        if is_empty && shared.threads_since_commit.load(Ordering::Relaxed) {
            let (directory, body) = encode_raw_chunk(0, 0, &[], lock(&shared.tables).compressor())?;
            lock(&shared.sink).append_section(SectionType::THREADS, snapshot, 0, &directory, &body)?;
        }
        Ok(())
    }
}

fn row(shared: &Shared, thread: &ThreadDescription<'_>) -> Result<Thread> {
    let text = |text: &str| shared.string(text);
    let optional = |of: Option<&str>| of.map(text).transpose();
    let pair = |&(key, value): &(&str, &str)| -> Result<(StringId, StringId)> { Ok((text(key)?, text(value)?)) };
    Ok(Thread {
        id: thread.id,
        name: optional(thread.name)?,
        state: optional(thread.state)?,
        allocated_bytes: thread.allocated_bytes,
        allocated_objects: thread.allocated_objects,
        cpu_time_ns: thread.cpu_time_ns,
        root_label: optional(thread.root_label)?,
        attributes: thread.attributes.iter().map(pair).collect::<Result<_>>()?,
    })
}

fn flush(pending: &mut Pending, shared: &Shared, snapshot: u32) -> Result<()> {
    let mut tables = lock(&shared.tables);
    if !pending.flush::<Thread>(snapshot, &mut lock(&shared.sink), tables.compressor())?.is_empty() {
        shared.threads_since_commit.store(true, Ordering::Relaxed);
    }
    Ok(())
}
