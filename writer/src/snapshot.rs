//! A snapshot that is being recorded.

use std::marker::PhantomData;
use std::sync::Arc;

use barrow_format::commit::Totals;

use crate::collected::{Description, SnapshotResults};
use crate::encoders::Encoders;
use crate::error::Result;
use crate::shard::Shard;
use crate::shared::Shared;
use crate::threads::{ThreadDescription, Threads};

/// The properties of a snapshot apart from its objects.
#[derive(Debug, Clone, Default)]
pub struct SnapshotInfo {
    /// Time of the snapshot, in nanoseconds since the recording began.
    pub time_ns: Option<u64>,
    /// The collection after which it is taken.
    pub gc_number: Option<u64>,
    /// A name for people.
    pub label: Option<String>,
    /// Other facts that the runtime knows, such as its own totals.
    pub key_values: Vec<(String, String)>,
}

/// A snapshot that is being recorded. Dropping it abandons it: the file keeps the snapshots committed before.
///
/// It borrows its writer, so that the compiler prevents finishing a recording too early. A snapshot from
/// [`Writer::begin_owned_snapshot`](crate::Writer::begin_owned_snapshot) borrows nothing; the same mistake is an error at run time.
#[derive(Debug)]
pub struct Snapshot<'w> {
    shared: Arc<Shared>,
    encoders: Arc<Encoders>,
    collected: Arc<SnapshotResults>,
    threads: Threads,
    info: SnapshotInfo,
    /// Borrows the writer, unless it is an owned snapshot.
    writer: PhantomData<&'w ()>,
}

impl<'w> Snapshot<'w> {
    pub(crate) fn new(shared: &Arc<Shared>, encoders: &Arc<Encoders>, number: u32, info: SnapshotInfo) -> Self {
        let (shared, encoders) = (Arc::clone(shared), Arc::clone(encoders));
        let collected = Arc::new(SnapshotResults::new(number, shared.patches.is_some()));
        Snapshot { shared, encoders, collected, threads: Threads::new(), info, writer: PhantomData }
    }

    /// A shard for the calling thread, or for any other. Several may announce at once.
    #[must_use]
    pub fn shard(&self) -> Shard<'_> {
        Shard::new(&self.shared, &self.encoders, &self.collected)
    }

    /// The same without a borrow, for callers that the compiler cannot follow: the phases of a collector,
    /// handles of another language. If it outlives the snapshot, its calls end with
    /// [`WriterError::SnapshotEnded`].
    ///
    /// [`WriterError::SnapshotEnded`]: crate::WriterError::SnapshotEnded
    #[must_use]
    pub fn owned_shard(&self) -> Shard<'static> {
        Shard::new(&self.shared, &self.encoders, &self.collected)
    }

    /// Announces a thread of the recorded program, each once; any thread may do so, in any order. Rows wait in memory
    /// until a few thousand are there.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`] for more than 2^32 threads, [`WriterError::Io`].
    ///
    /// [`WriterError::OutOfRange`]: crate::WriterError::OutOfRange
    /// [`WriterError::Io`]: crate::WriterError::Io
    pub fn thread(&self, thread: &ThreadDescription<'_>) -> Result<()> {
        self.threads.announce(&self.shared, self.collected.snapshot, thread)
    }

    /// Commits the snapshot: the recording keeps it, even if the process dies. Returns its totals.
    ///
    /// # Errors
    /// [`WriterError::ShardsOpen`], [`WriterError::ShardAbandoned`]; invalid announcements
    /// ([`WriterError::ObjectAnnouncedTwice`], [`WriterError::ObjectNeverAnnounced`],
    /// [`WriterError::ReferenceToUnannounced`], [`WriterError::RootToUnannounced`]); or the file cannot be written. The
    /// snapshot is then abandoned, except with [`WriterError::CommittedNotSynced`]: then it counts.
    ///
    /// [`WriterError::CommittedNotSynced`]: crate::WriterError::CommittedNotSynced
    /// [`WriterError::ShardsOpen`]: crate::WriterError::ShardsOpen
    /// [`WriterError::ShardAbandoned`]: crate::WriterError::ShardAbandoned
    /// [`WriterError::ObjectAnnouncedTwice`]: crate::WriterError::ObjectAnnouncedTwice
    /// [`WriterError::ObjectNeverAnnounced`]: crate::WriterError::ObjectNeverAnnounced
    /// [`WriterError::ReferenceToUnannounced`]: crate::WriterError::ReferenceToUnannounced
    /// [`WriterError::RootToUnannounced`]: crate::WriterError::RootToUnannounced
    pub fn commit(self) -> Result<Totals> {
        self.collected.check_shards()?;
        self.encoders.drain();
        self.collected.check()?;
        let string = |text: &String| self.shared.string(text);
        let pairs = self.info.key_values.iter();
        let description = Description {
            time_ns: self.info.time_ns,
            gc_number: self.info.gc_number,
            label: self.info.label.as_ref().map(string).transpose()?,
            key_values: pairs.map(|(key, value)| Ok((string(key)?, string(value)?))).collect::<Result<_>>()?,
        };
        let threads = self.threads.finish(&self.shared, self.collected.snapshot)?;
        self.collected.write(&self.shared, description, threads)
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // Shards that outlive the snapshot append nothing from now on. Queued blocks are discarded; wait for that, so
        // that the next snapshot starts clean.
        self.collected.end();
        self.encoders.drain();
        self.shared.close_snapshot(self.collected.snapshot);
    }
}
