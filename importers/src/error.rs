//! Everything that can end an import early.

use barrow_writer::WriterError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a dump could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The dump cannot be opened or mapped.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The dump.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A compressed dump cannot be unpacked, since the temporary file cannot be written.
    #[error("cannot unpack into {}: {source}", folder.display())]
    Unpack {
        /// Where the temporary file was to be.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A compressed dump holds more than it may unpack to.
    #[error(
        "its {packed_bytes} bytes unpack to more than {limit} bytes, as no heap is known to do; `--max-unpacked SIZE` allows more"
    )]
    UnpacksToMore {
        /// The length of the compressed file.
        packed_bytes: u64,
        /// How much it may unpack to, in bytes.
        limit: u64,
    },
    /// The disk has no room for what a compressed dump holds.
    #[error(
        "cannot unpack into {}: it needs more than {unpacked_bytes} bytes, and of the {free} bytes that are free there {reserve} \
         are left to others; free some space, or write the recording to another disk",
        folder.display()
    )]
    NoRoom {
        /// Where the temporary file is.
        folder: PathBuf,
        /// How much was unpacked, in bytes.
        unpacked_bytes: u64,
        /// How much is free, in bytes.
        free: u64,
        /// How much stays free, in bytes.
        reserve: u64,
    },
    /// The first bytes are those of no known format.
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
    /// A file of another kind that is known all the same.
    #[error("{found}; {instead}")]
    OtherKind {
        /// What it is.
        found: &'static str,
        /// What can be imported instead.
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
        /// What is wrong, and where.
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
        /// What is wrong, and where.
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
        /// What is wrong, and where.
        damage: Damage,
    },
    /// The file of measured values holds none that can be used.
    #[error("no value: {reason}")]
    NoValues {
        /// Why, in a clause.
        reason: String,
    },
    /// Several logs are to become one recording, but do not say when they began.
    #[error("this {format} does not say when it began, so it cannot be joined with others; import it alone")]
    NoTime {
        /// What it is.
        format: &'static str,
    },
    /// The dumps of a series have different formats.
    #[error("this is a {found}, but the series began with a {expected}")]
    MixedFormats {
        /// The format of the dumps before.
        expected: &'static str,
        /// The format of this one.
        found: &'static str,
    },
    /// The dump holds more than a recording can.
    #[error("the dump holds {objects} objects; a snapshot has at most 4,294,967,294")]
    TooManyObjects {
        /// How many it holds.
        objects: u64,
    },
    /// The system refuses to start threads.
    #[error("cannot start threads: {message}")]
    Threads {
        /// What the system said.
        message: String,
    },
    /// [`Progress::cancelled`](crate::Progress::cancelled) returned true.
    #[error("cancelled")]
    Cancelled,
    /// The recording cannot be written.
    #[error(transparent)]
    Writer(#[from] WriterError),
}

/// What is wrong with the bytes of a dump; offsets count from its start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The bytes end too early.
    #[error("the dump ends at byte {length} inside {inside}")]
    Ends {
        /// The dump's length in bytes.
        length: u64,
        /// What is cut.
        inside: &'static str,
    },
    /// All parts are whole, but the one that is written last is missing.
    #[error("the dump ends at byte {length} without {missing}, as after a kill")]
    Unfinished {
        /// The dump's length in bytes.
        length: u64,
        /// What should have followed.
        missing: &'static str,
    },
    /// The bytes at an offset are not what the format requires there.
    #[error("{found} at byte {offset}, expected {expected}")]
    Unexpected {
        /// What is there, in readable form.
        found: String,
        /// Where.
        offset: u64,
        /// What the format requires there.
        expected: &'static str,
    },
    /// A number is too large.
    #[error("{what} at byte {offset} is {value}, the limit is {limit}")]
    OutOfRange {
        /// The name of the field.
        what: &'static str,
        /// Where it is, or where the column starts that it is in.
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
        /// Where the collectable is, or where the column of kinds starts.
        offset: u64,
    },
    /// Two numbers that must agree do not.
    #[error("{what} at byte {offset}: {expected} expected, {found} found")]
    Mismatch {
        /// What the numbers count.
        what: &'static str,
        /// Where that part of the dump starts.
        offset: u64,
        /// What the rest of the dump says.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// Measured values are no numbers, or infinite.
    #[error("{}: {first}", no_numbers(*count))]
    NoNumbers {
        /// How many there are.
        count: u64,
        /// Which is the first of them.
        first: String,
    },
    /// Measured values that nothing can have, such as a time below 0.
    #[error("{}: {first}", impossible(*count))]
    Impossible {
        /// How many there are.
        count: u64,
        /// What the first of them is.
        first: String,
    },
    /// Parts of a log are torn, or are no part of one. What precedes and follows them was imported.
    #[error("{} left out, {bytes} bytes in all; the first is at byte {offset}: {reason}", left_out(*count, what))]
    LeftOut {
        /// What they should have been, in the singular.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// Their length, in bytes.
        bytes: u64,
        /// Where the first of them is.
        offset: u64,
        /// What is wrong with the first of them.
        reason: String,
    },
    /// Parts were left out, and then the dump ends early.
    #[error("{left_out}; {end}")]
    LeftOutAndEnds {
        /// What was left out.
        left_out: Box<Damage>,
        /// How the dump ends.
        end: Box<Damage>,
    },
    /// A compressed part does not decompress.
    #[error("{what} at byte {offset} cannot be decompressed: {message}")]
    Decompress {
        /// The column or table.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// What zstd said.
        message: String,
    },
    /// A compressed dump does not unpack to its end.
    #[error("the {packing} stream is cut or damaged after {unpacked_bytes} unpacked bytes: {message}")]
    Unpack {
        /// How it is compressed.
        packing: &'static str,
        /// How much was unpacked before, in bytes.
        unpacked_bytes: u64,
        /// What the decompressor said.
        message: String,
    },
    /// Unpacking of a compressed dump ended early, because the unpacked bytes are no dump.
    #[error("what it unpacks to is no dump after byte {unpacked_bytes} at the latest; unpacking ended there")]
    Screened {
        /// How much was unpacked, in bytes.
        unpacked_bytes: u64,
    },
    /// Text that is not valid JSON.
    #[error("{what} at byte {offset} cannot be read: {message}")]
    Json {
        /// The table or metadata.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// What the parser said.
        message: String,
    },
    /// Objects and references are whole, but names or other details of them are damaged.
    #[error("{damage}; objects and references are whole, {names} of their names are there")]
    Incomplete {
        /// What is wrong, and where.
        damage: Box<Damage>,
        /// How many strings were there.
        names: u64,
    },
    /// The snapshot holds something that a recording cannot.
    #[error("it cannot be recorded: {message}")]
    Unrecordable {
        /// What the writer said.
        message: String,
    },
}

/// What was lost of a dump that is cut or damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// What is wrong, and where.
    pub damage: Damage,
    /// The snapshot it is in, counted from 0; `None` if it is in none.
    pub snapshot: Option<u64>,
    /// What was imported.
    pub kept: Kept,
    /// Whether the last of them holds only the objects before the damage.
    pub is_last_partial: bool,
}

impl Loss {
    /// The last of the imported snapshots holds everything before the damage.
    pub(crate) fn partial(damage: Damage, kept: Kept) -> Self {
        Loss { damage, snapshot: None, kept, is_last_partial: true }
    }
}

impl Damage {
    /// The same, where the dump ends early as well.
    pub(crate) fn and_ends(self, end: Damage) -> Damage {
        Damage::LeftOutAndEnds { left_out: Box::new(self), end: Box::new(end) }
    }

    /// The same of a dump whose stream ends as `stream` says: that is why the dump ends early, if it does.
    pub(crate) fn and_stream(self, stream: Damage) -> Damage {
        match self {
            Damage::Ends { .. } | Damage::Unfinished { .. } => stream,
            Damage::LeftOutAndEnds { left_out, .. } => left_out.and_ends(stream),
            other => other.and_ends(stream),
        }
    }
}

/// How much of a damaged dump was imported.
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
    /// The dump is bad from here on; the number is that of the snapshot, if it is in one.
    Damage(Damage, Option<u64>),
    /// The dump is bad from here on; everything before is in the last snapshot, which was committed.
    Partial(Damage),
    /// The import has failed.
    Import(ImportError),
}

impl Stop {
    /// The same, inside snapshot `number`.
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
    /// What the writer refuses because of the dump's numbers is damage; everything else is a failure.
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
