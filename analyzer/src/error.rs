//! Errors of the analyzer.

use std::path::PathBuf;

use barrow_format::{FormatError, ObjectId, SnapshotId};

/// The result of a question.
pub type Result<T, E = AnalyzerError> = std::result::Result<T, E>;

/// What a recording tells of the fields of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownFields {
    /// All that its source has.
    All,
    /// What fields hold was not recorded.
    WithoutContents,
    /// No reference has a name that the program gave it.
    WithoutNames,
    /// Fields that hold numbers look as if there were none.
    WithoutNumbers,
}

/// The reason why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalyzerError {
    /// The file cannot be opened, mapped or written.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The attempted action, such as `open`.
        action: &'static str,
        /// The error that the system returned.
        source: std::io::Error,
    },
    /// The file is not a recording, or one that this version cannot read.
    #[error(transparent)]
    Unreadable(FormatError),
    /// A section is damaged.
    #[error("{section} at byte {offset}: {source}")]
    Section {
        /// Its type's name.
        section: &'static str,
        /// Where its frame starts in the file.
        offset: u64,
        /// The damage.
        source: FormatError,
    },
    /// The recording holds no snapshot with this number.
    #[error("there is no snapshot {snapshot}; the recording has {count}{range}", range = range(*.first, *.last))]
    NoSnapshot {
        /// The requested number.
        snapshot: SnapshotId,
        /// The number of snapshots in the recording.
        count: usize,
        /// The first snapshot of the recording.
        first: Option<SnapshotId>,
        /// The last snapshot of the recording.
        last: Option<SnapshotId>,
    },
    /// No object has a field or a reference of this name.
    #[error("{}", no_field(name, path.as_deref(), near.as_deref(), *known))]
    NoField {
        /// The requested name.
        name: String,
        /// The path that contains the name; `None` if the name is the whole path.
        path: Option<String>,
        /// The field that was probably meant.
        near: Option<String>,
        /// What the recording tells of the fields of objects.
        known: KnownFields,
    },
    /// The numbers in fields were replaced by others, so they cannot be measured.
    #[error(
        "numbers in fields were replaced when this recording was redacted: they cannot be compared by size, or counted with; `redact --keep numbers` keeps them"
    )]
    ReplacedNumbers,
    /// The recording does not tell which memory objects hold outside the managed heap.
    #[error(
        "unmanaged sizes are unknown: dumps of JVMs and of Android do not tell them; `summary` adds up direct buffers and mapped files"
    )]
    NoUnmanagedSizes,
    /// No type records the number of elements in its objects, or the number of their slots.
    #[error("{}", no_elements(*has_contents))]
    NoElements {
        /// The contents of fields were recorded.
        has_contents: bool,
    },
    /// No type says where maps have their keys.
    #[error(
        "what maps hold under a key cannot be known: no type of this recording says where maps have their keys and values"
    )]
    NoKeys,
    /// The fields of this name hold nothing that can be compared with the operand.
    #[error("`.{name}` holds {held}, and cannot be compared with that")]
    OtherValues {
        /// The name of the fields.
        name: String,
        /// Their contents, in words.
        held: &'static str,
    },
    /// The snapshot holds no object with this number.
    #[error("there is no object {object} in snapshot {snapshot}, which holds {count} objects, 0 to {}", count.saturating_sub(1))]
    NoObject {
        /// The requested number.
        object: ObjectId,
        /// The snapshot.
        snapshot: SnapshotId,
        /// The number of objects in the snapshot.
        count: u64,
    },
    /// An expression names objects of another snapshot.
    #[error("the expression names objects of snapshot {named}; this question is about {asked}")]
    OtherSnapshot {
        /// The snapshot of the named objects.
        named: SnapshotId,
        /// The snapshot that the question is about.
        asked: SnapshotId,
    },
    /// The answer needs more memory than it may use.
    #[error(
        "this needs about {} MiB of memory, and may use {} MiB; raise the limit to {} MiB",
        needed_bytes >> 20, limit_bytes >> 20, (needed_bytes >> 20) + MARGIN_MIB
    )]
    MemoryCeiling {
        /// The memory needed, in bytes.
        needed_bytes: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The process held more memory than it may use when the answer was given up.
    #[error("{}", exceeded(*held_bytes, *needed_bytes, *limit_bytes))]
    MemoryExceeded {
        /// The memory that the process held, in bytes.
        held_bytes: u64,
        /// The memory that it would hold at the end of its phase, in bytes, extrapolated from the part already done.
        needed_bytes: Option<u64>,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The disk for temporary files has no room.
    #[error(
        "{} has {} MiB left, too little for {} MiB more of temporary files; \
         raise the memory limit, or set TMPDIR to a folder on another disk",
        folder.display(), free_bytes >> 20, (needed_bytes >> 20) + 1
    )]
    TemporaryRoom {
        /// The folder for temporary files.
        folder: PathBuf,
        /// The room needed, in bytes.
        needed_bytes: u64,
        /// The free room, in bytes.
        free_bytes: u64,
    },
    /// The graph has more references than this version can store.
    #[error("more than 2^32 references lead to 4096 neighbouring objects; this version cannot lay them out")]
    TooManyReferences,
    /// The system cannot provide memory.
    #[error("cannot have {} MiB of memory: {source}", bytes >> 20)]
    Allocation {
        /// The number of bytes requested.
        bytes: u64,
        /// The error that the system returned.
        source: std::io::Error,
    },
    /// A file of rules for lines is wrong.
    #[error("{file}, line {line}: {what}")]
    LineRules {
        /// The file, as it was named.
        file: String,
        /// The line, from 1.
        line: usize,
        /// A clause.
        what: String,
    },
    /// The caller cancelled the question.
    #[error("stopped")]
    Cancelled,
}

/// The margin of an advised limit, in MiB: columns grow in steps, and small ones follow that were not yet asked for.
const MARGIN_MIB: u64 = 5;

fn exceeded(held_bytes: u64, needed_bytes: Option<u64>, limit_bytes: u64) -> String {
    let (held, limit) = (held_bytes >> 20, limit_bytes >> 20);
    match needed_bytes.map(|bytes| bytes.div_ceil(1 << 20)) {
        Some(needed) => format!(
            "this needs at least about {needed} MiB of memory, by the {held} MiB that it held when it was given up, and \
             may use {limit} MiB; raise the limit"
        ),
        None => format!(
            "this needs more than the {limit} MiB of memory that it may use; {held} MiB were held when it was given up; \
             raise the limit"
        ),
    }
}

fn no_field(name: &str, path: Option<&str>, near: Option<&str>, known: KnownFields) -> String {
    let whole = path.map_or_else(|| format!(".{name}"), str::to_owned);
    let place = path.map_or_else(String::new, |path| format!(" as in `{path}`"));
    let near = near.map_or_else(String::new, |near| format!("; did you mean `.{near}`?"));
    match known {
        KnownFields::WithoutContents => format!(
            "what `{whole}` holds is not known: this was recorded without contents; import or record it again \
             without `--contents none`"
        ),
        KnownFields::WithoutNames => format!(
            "whether an object has `.{name}`{place} is not known: no reference of this recording has a name that the program \
             gave it, as in dumps of Ruby before 3.2, which also do not tell the keys of a hash from its values{near}"
        ),
        KnownFields::WithoutNumbers => format!(
            "no object has a field or a reference `.{name}`{place}, unless it holds numbers, which this snapshot of V8 lacks; \
             `exposeNumericValues` includes them{near}"
        ),
        KnownFields::All => {
            format!("no object has a field or a reference `.{name}`{place}, as far as this is recorded{near}")
        }
    }
}

fn no_elements(has_contents: bool) -> &'static str {
    match has_contents {
        true => "no type says how many elements its objects hold and have room for, as far as this is recorded",
        false => {
            "how many elements objects hold is not known: this was recorded without contents; import or record it again \
             without `--contents none`"
        }
    }
}

fn range(first: Option<SnapshotId>, last: Option<SnapshotId>) -> String {
    match (first, last) {
        (Some(first), Some(last)) => format!(", {first} to {last}"),
        _ => String::new(),
    }
}

impl AnalyzerError {
    pub(crate) fn io(path: &std::path::Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| AnalyzerError::Io { path: path.to_owned(), action, source }
    }

    pub(crate) fn section(section: &'static str, offset: u64) -> impl Fn(FormatError) -> Self {
        move |source| AnalyzerError::Section { section, offset, source }
    }
}
