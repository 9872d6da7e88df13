//! Errors and damage that end an import early.

use barrow_writer::WriterError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The reason for which a dump could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The dump cannot be opened or mapped.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The dump.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A compressed dump cannot be unpacked, since the temporary file cannot be written.
    #[error("cannot unpack into {}: {source}", folder.display())]
    Unpack {
        /// The folder for the temporary file.
        folder: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A compressed dump holds more than it may unpack to.
    #[error(
        "its {packed_bytes} bytes unpack to more than {limit} bytes, as no heap is known to do; `--max-unpacked SIZE` allows more"
    )]
    UnpacksToMore {
        /// The length of the compressed file.
        packed_bytes: u64,
        /// The limit of unpacked bytes.
        limit: u64,
    },
    /// The disk has no room for what a compressed dump holds.
    #[error(
        "cannot unpack into {}: it needs more than {unpacked_bytes} bytes, and of the {free} bytes that are free there {reserve} \
         are left to others; free some space, or write the recording to another disk",
        folder.display()
    )]
    NoRoom {
        /// The folder of the temporary file.
        folder: PathBuf,
        /// Number of bytes unpacked.
        unpacked_bytes: u64,
        /// Number of free bytes.
        free: u64,
        /// Number of bytes that must stay free.
        reserve: u64,
    },
    /// The first bytes match no known format.
    #[error("not a dump that can be imported: it begins with {}", found.escape_ascii())]
    Unrecognised {
        /// The first bytes, at most sixteen.
        found: Vec<u8>,
    },
    /// A MoarVM dump of a version that is not known.
    #[error("a MoarVM heap dump of version {found}; this importer knows 1, 2 and 3; update barrow")]
    UnknownVersion {
        /// The version's digits.
        found: String,
    },
    /// A file of another known kind, which cannot be imported.
    #[error("{found}; {instead}")]
    OtherKind {
        /// The kind of the file.
        found: &'static str,
        /// Advice on a file to import instead.
        instead: &'static str,
    },
    /// A dump of a newer version of our script for CPython.
    #[error("a CPython heap dump of version {found}; this importer knows 1; update barrow")]
    UnknownPythonVersion {
        /// The version.
        found: u64,
    },
    /// The dump is cut or damaged before the end of its first snapshot.
    #[error("no whole snapshot: {damage}")]
    NoWholeSnapshot {
        /// The damage, with its offset.
        damage: Damage,
    },
    /// The dump is whole and empty.
    #[error("the dump of {length} bytes holds no snapshot")]
    NoSnapshot {
        /// The dump's length in bytes.
        length: u64,
    },
    /// The log is cut or damaged before the end of its first record.
    #[error("no process: {damage}")]
    NoWholeProcess {
        /// The damage, with its offset.
        damage: Damage,
    },
    /// The log is whole and empty.
    #[error("the log of {length} bytes holds no process")]
    NoProcess {
        /// The log's length in bytes.
        length: u64,
    },
    /// The file of measured values is cut or damaged before the end of its first value.
    #[error("no value: {damage}")]
    NoWholeValue {
        /// The damage, with its offset.
        damage: Damage,
    },
    /// The file of measured values holds none that can be used.
    #[error("no value: {reason}")]
    NoValues {
        /// The reason, as a clause.
        reason: String,
    },
    /// Several logs are to become one recording, but do not say when they began.
    #[error("this {format} does not say when it began, so it cannot be joined with others; import it alone")]
    NoTime {
        /// The name of the format.
        format: &'static str,
    },
    /// The dumps of a series have different formats.
    #[error("this is a {found}, but the series began with a {expected}")]
    MixedFormats {
        /// The format of the earlier dumps.
        expected: &'static str,
        /// The format of this one.
        found: &'static str,
    },
    /// The dump holds more than a recording can.
    #[error("the dump holds {objects} objects; a snapshot has at most 4,294,967,294")]
    TooManyObjects {
        /// Number of objects in the dump.
        objects: u64,
    },
    /// The system refuses to start threads.
    #[error("cannot start threads: {message}")]
    Threads {
        /// The error of the system.
        message: String,
    },
    /// [`Progress::cancelled`](crate::Progress::cancelled) returned true.
    #[error("cancelled")]
    Cancelled,
    /// The recording cannot be written.
    #[error(transparent)]
    Writer(#[from] WriterError),
}

/// A defect in the bytes of a dump; offsets count from the start of the dump.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The bytes end too early.
    #[error("the dump ends at byte {length} inside {inside}")]
    Ends {
        /// The dump's length in bytes.
        length: u64,
        /// The part that is cut.
        inside: &'static str,
    },
    /// All parts are whole, but the last one to be written is missing.
    #[error("the dump ends at byte {length} without {missing}, as after a kill")]
    Unfinished {
        /// The dump's length in bytes.
        length: u64,
        /// The missing part.
        missing: &'static str,
    },
    /// The bytes at an offset are not what the format requires there.
    #[error("{found} at byte {offset}, expected {expected}")]
    Unexpected {
        /// The content at the offset, in readable form.
        found: String,
        /// The offset.
        offset: u64,
        /// The requirement of the format.
        expected: &'static str,
    },
    /// A number is too large.
    #[error("{what} at byte {offset} is {value}, the limit is {limit}")]
    OutOfRange {
        /// The name of the field.
        what: &'static str,
        /// Its offset, or that of the column that holds it.
        offset: u64,
        /// Its value.
        value: u64,
        /// The largest allowed value, or the count it must stay below.
        limit: u64,
    },
    /// A collectable is of no known kind.
    #[error("a collectable at byte {offset} is of kind {kind}; kinds 1 to 11 are known")]
    UnknownKind {
        /// The kind.
        kind: u64,
        /// The offset of the collectable, or of the column of kinds.
        offset: u64,
    },
    /// Two numbers that must agree do not.
    #[error("{what} at byte {offset}: {expected} expected, {found} found")]
    Mismatch {
        /// The quantity that both numbers give.
        what: &'static str,
        /// The offset of that part of the dump.
        offset: u64,
        /// The number that follows from the rest of the dump.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// Measured values that are not finite numbers.
    #[error("{}: {first}", no_numbers(*count))]
    NoNumbers {
        /// Number of such values.
        count: u64,
        /// Description of the first one.
        first: String,
    },
    /// Impossible measured values, such as a time below 0.
    #[error("{}: {first}", impossible(*count))]
    Impossible {
        /// Number of such values.
        count: u64,
        /// Description of the first one.
        first: String,
    },
    /// Parts of a log that are torn or do not belong there. Everything before and after them was imported.
    #[error("{} left out, {bytes} bytes in all; the first is at byte {offset}: {reason}", left_out(*count, what))]
    LeftOut {
        /// The expected part, in the singular.
        what: &'static str,
        /// Number of parts left out.
        count: u64,
        /// Their total length in bytes.
        bytes: u64,
        /// The offset of the first one.
        offset: u64,
        /// The defect of the first one.
        reason: String,
    },
    /// Parts were left out, and the dump ends early.
    #[error("{left_out}; {end}")]
    LeftOutAndEnds {
        /// The parts left out.
        left_out: Box<Damage>,
        /// The damage at the end.
        end: Box<Damage>,
    },
    /// A compressed part does not decompress.
    #[error("{what} at byte {offset} cannot be decompressed: {message}")]
    Decompress {
        /// The column or table.
        what: &'static str,
        /// Its offset.
        offset: u64,
        /// The error of zstd.
        message: String,
    },
    /// A compressed dump does not unpack to its end.
    #[error("the {packing} stream is cut or damaged after {unpacked_bytes} unpacked bytes: {message}")]
    Unpack {
        /// The compression format.
        packing: &'static str,
        /// Number of bytes unpacked before the damage.
        unpacked_bytes: u64,
        /// The error of the decompressor.
        message: String,
    },
    /// Unpacking of a compressed dump ended early, because the unpacked bytes do not form a dump.
    #[error("what it unpacks to is no dump after byte {unpacked_bytes} at the latest; unpacking ended there")]
    Screened {
        /// Number of bytes unpacked.
        unpacked_bytes: u64,
    },
    /// Text that is not valid JSON.
    #[error("{what} at byte {offset} cannot be read: {message}")]
    Json {
        /// The table or metadata.
        what: &'static str,
        /// Its offset.
        offset: u64,
        /// The error of the parser.
        message: String,
    },
    /// Objects and references are whole, but names or other details of them are damaged.
    #[error("{damage}; objects and references are whole, {names} of their names are there")]
    Incomplete {
        /// The damage, with its offset.
        damage: Box<Damage>,
        /// Number of strings that were read.
        names: u64,
    },
    /// The snapshot cannot be represented in a recording.
    #[error("it cannot be recorded: {message}")]
    Unrecordable {
        /// The error of the writer.
        message: String,
    },
}

/// Damage to a dump, and the part that was imported nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The damage, with its offset.
    pub damage: Damage,
    /// The snapshot it is in, counted from 0; `None` if it is in none.
    pub snapshot: Option<u64>,
    /// The part that was imported.
    pub kept: Kept,
    /// The last imported snapshot is partial: it holds only the objects before the damage.
    pub is_last_partial: bool,
}

impl Loss {
    /// The loss of a dump of `length` bytes of which `kept` was imported.
    ///
    /// # Errors
    /// Those of the system, and dumps without any whole snapshot, process or value.
    pub(crate) fn of(end: Result<(), Stop>, kept: Kept, length: u64) -> Result<Option<Self>, ImportError> {
        match (end, kept) {
            (Err(Stop::Import(error)), _) => Err(error),
            (Ok(()), Kept::Snapshots(0)) => Err(ImportError::NoSnapshot { length }),
            (Ok(()), Kept::Processes(0)) => Err(ImportError::NoProcess { length }),
            (Ok(()), Kept::Values(0)) => Err(ImportError::NoValues { reason: "it lists none".to_owned() }),
            (Ok(()), _) => Ok(None),
            (Err(Stop::Damage(damage, _)), Kept::Snapshots(0)) => Err(ImportError::NoWholeSnapshot { damage }),
            (Err(Stop::Damage(damage, _)), Kept::Processes(0)) => Err(ImportError::NoWholeProcess { damage }),
            (Err(Stop::Damage(damage, _)), Kept::Values(0)) => Err(ImportError::NoWholeValue { damage }),
            (Err(Stop::Damage(damage, snapshot)), _) => {
                Ok(Some(Loss { damage, snapshot, kept, is_last_partial: false }))
            }
            (Err(Stop::Partial(damage)), _) => Ok(Some(Loss::partial(damage, kept))),
        }
    }

    /// A loss after which the last imported snapshot holds everything before the damage.
    pub(crate) fn partial(damage: Damage, kept: Kept) -> Self {
        Loss { damage, snapshot: None, kept, is_last_partial: true }
    }
}

impl Damage {
    /// Combines this damage with `end`, the early end of the same dump.
    pub(crate) fn and_ends(self, end: Damage) -> Damage {
        Damage::LeftOutAndEnds { left_out: Box::new(self), end: Box::new(end) }
    }

    /// Combines this damage with that of the stream that the dump was unpacked from, which explains an early end of
    /// the dump.
    pub(crate) fn and_stream(self, stream: Damage) -> Damage {
        match self {
            Damage::Ends { .. } | Damage::Unfinished { .. } => stream,
            Damage::LeftOutAndEnds { left_out, .. } => left_out.and_ends(stream),
            other => other.and_ends(stream),
        }
    }
}

/// Number of snapshots, processes or values imported from a damaged dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Snapshots of a heap.
    Snapshots(u64),
    /// Processes of a log.
    Processes(u64),
    /// Measured values.
    Values(u64),
}

fn impossible(count: u64) -> String {
    match count {
        1 => "1 value cannot be and was left out".to_owned(),
        _ => format!("{count} values cannot be and were left out; the first"),
    }
}

fn no_numbers(count: u64) -> String {
    match count {
        1 => "1 value is no finite number and was left out".to_owned(),
        _ => format!("{count} values are no finite numbers and were left out; the first"),
    }
}

fn left_out(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what} was") } else { format!("{count} {what}s were") }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.damage)?;
        if let Some(snapshot) = self.snapshot {
            write!(f, ", in snapshot {snapshot}")?;
        }
        if let (Damage::LeftOut { .. }, Kept::Snapshots(_)) = (&self.damage, self.kept) {
            return write!(f, "; everything else was imported");
        }
        if self.is_last_partial {
            let kept = match self.damage {
                Damage::LeftOut { .. } => "else",
                Damage::LeftOutAndEnds { .. } => "else before that",
                _ => "before that",
            };
            return write!(f, "; everything {kept} was imported");
        }
        match self.kept {
            Kept::Snapshots(1) => write!(f, "; 1 whole snapshot was imported"),
            Kept::Snapshots(count) => write!(f, "; {count} whole snapshots were imported"),
            Kept::Values(1) => write!(f, "; 1 value was imported"),
            Kept::Values(count) => write!(f, "; {count} values were imported"),
            Kept::Processes(1) => write!(f, "; 1 process was imported"),
            Kept::Processes(count) => write!(f, "; {count} processes were imported"),
        }
    }
}

/// The reason for which an importer ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The dump is bad from here on. The number is that of the snapshot, if the damage is inside one.
    Damage(Damage, Option<u64>),
    /// The dump is bad from here on; the last snapshot, which was committed, holds everything before.
    Partial(Damage),
    /// The import has failed.
    Import(ImportError),
}

impl Stop {
    /// Adds the number of the snapshot to damage that has none.
    pub(crate) fn in_snapshot(self, number: u64) -> Stop {
        match self {
            Stop::Damage(damage, None) => Stop::Damage(damage, Some(number)),
            other => other,
        }
    }
}

impl From<Damage> for Stop {
    fn from(damage: Damage) -> Self {
        Stop::Damage(damage, None)
    }
}

impl From<ImportError> for Stop {
    fn from(error: ImportError) -> Self {
        Stop::Import(error)
    }
}

impl From<WriterError> for Stop {
    /// Values that the writer refuses are damage of the dump; everything else is a failure.
    fn from(error: WriterError) -> Self {
        match error {
            WriterError::Format(_)
            | WriterError::OutOfRange { .. }
            | WriterError::ObjectAnnouncedTwice { .. }
            | WriterError::ObjectNeverAnnounced { .. }
            | WriterError::ReferenceToUnannounced { .. }
            | WriterError::RootToUnannounced { .. } => {
                Stop::Damage(Damage::Unrecordable { message: error.to_string() }, None)
            }
            _ => Stop::Import(ImportError::Writer(error)),
        }
    }
}
