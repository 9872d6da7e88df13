//! Errors while a recording is written.

use barrow_format::FormatError;
use barrow_format::rows::Encoding;

/// The result of a call to the writer.
pub type Result<T, E = WriterError> = std::result::Result<T, E>;

/// The reason why the writer failed. Snapshots committed before stay readable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriterError {
    /// The file cannot be written, because the disk is full, for example.
    #[error("cannot {action}: {source}")]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The error of the system.
        source: std::io::Error,
    },
    /// An earlier failure left the stream in the middle of a section; nothing more can be appended. While the snapshot
    /// in which it happened is open, calls of all threads fail with [`WriterError::Io`] and its cause instead.
    #[error("an earlier write failed in the middle of a section; what was committed is readable, start a new file")]
    Broken,
    /// An earlier call for this snapshot failed, and reported the reason.
    #[error("the snapshot cannot be committed: an earlier call reported why, or an encoder panicked")]
    SnapshotFailed,
    /// The snapshot was committed and counts, but it may not be on the disk.
    #[error("the snapshot was committed, but waiting for the disk failed: {source}")]
    CommittedNotSynced {
        /// Totals of the snapshot.
        totals: barrow_format::commit::Totals,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The format cannot represent this.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Two announcements have the same number.
    #[error("object {object} was announced twice")]
    ObjectAnnouncedTwice {
        /// The object's number.
        object: u64,
    },
    /// The numbers of the announced objects leave a gap.
    #[error("object {object} was never announced, though {announced} objects were and later numbers are taken")]
    ObjectNeverAnnounced {
        /// The lowest missing number.
        object: u64,
        /// Number of announced objects.
        announced: u64,
    },
    /// The target of a reference is not an object.
    #[error("object {from} refers to object {target}, which was never announced ({announced} were)")]
    ReferenceToUnannounced {
        /// The object that holds the reference.
        from: u64,
        /// The target.
        target: u64,
        /// Number of announced objects.
        announced: u64,
    },
    /// The target of a root is not an object.
    #[error("a root refers to object {target}, which was never announced ({announced} were)")]
    RootToUnannounced {
        /// The target.
        target: u64,
        /// Number of announced objects.
        announced: u64,
    },
    /// A value the format has no room for.
    #[error("{what} is {value}, the limit is {limit}")]
    OutOfRange {
        /// The value's name.
        what: &'static str,
        /// The value.
        value: u64,
        /// The largest value allowed.
        limit: u64,
    },
    /// An id that this writer never returned.
    #[error("{what} {id} was never declared ({known} were)")]
    Undeclared {
        /// The table.
        what: &'static str,
        /// The id.
        id: u32,
        /// Number of rows of the table.
        known: u32,
    },
    /// A measured value is not a number, or infinite.
    #[error("the measured value {value} is no finite number")]
    NotFinite {
        /// The value.
        value: f64,
    },
    /// A reference was announced before any object, or after one that was refused.
    #[error("a reference was announced without the object that holds it")]
    ReferenceWithoutObject,
    /// A value was announced before any object, after one that was refused, or after a reference.
    #[error("a value was announced without the object that holds it, or after a reference of it")]
    ValueWithoutObject,
    /// A value is of another kind than its field.
    #[error("field {field} holds a value that is encoded as {announced:?}, but was declared as {}", declared_as(*declared))]
    WrongValue {
        /// The field.
        field: u32,
        /// The declared encoding of its values.
        declared: Option<Encoding>,
        /// The encoding of this value.
        announced: Encoding,
    },
    /// Only one snapshot can be open at a time.
    #[error("a snapshot is still open: commit or drop it first")]
    SnapshotOpen,
    /// A snapshot cannot be committed while shards are still announcing.
    #[error("{count} shards of the snapshot are not finished")]
    ShardsOpen {
        /// Number of those shards.
        count: usize,
    },
    /// A shard announced something after its snapshot was committed or given up.
    #[error("the snapshot has ended: it was committed or given up while this shard was open")]
    SnapshotEnded,
    /// A shard was dropped without being finished: perhaps its thread died.
    #[error("a shard of the snapshot was dropped without being finished; the snapshot is not recorded")]
    ShardAbandoned,
}

impl WriterError {
    pub(crate) fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> WriterError {
        move |source| WriterError::Io { action, source }
    }
}

fn declared_as(declared: Option<Encoding>) -> String {
    declared.map_or_else(|| "nothing".to_owned(), |encoding| format!("{encoding:?}"))
}
