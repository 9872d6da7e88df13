//! The writer itself: the start, the declarations and the end of a recording.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{Error, ErrorKind, Seek, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use barrow_format::frame::{NO_SNAPSHOT, SectionType};
use barrow_format::header::{Header, Trailer};
use barrow_format::index::encode_index;
use barrow_format::rows::{
    Encoding, Field, KeyValue, Kind, KindRole, Site, Strength, StrengthClass, Type, WordPlace, WordValues,
};
use barrow_format::{FieldId, KindId, SiteId, StrengthId, StringId, TypeId};

use crate::encoders::Encoders;
use crate::error::{Result, WriterError};
use crate::lock::lock;
use crate::options::{Options, Sync};
use crate::shared::Shared;
use crate::shortened::Shortened;
use crate::sink::Sink;
use crate::snapshot::{Snapshot, SnapshotInfo};
use crate::tables::{Counts, Tables};
use crate::word::Word;

/// Describes a type for its declaration.
#[derive(Debug, Clone, Copy)]
pub struct TypeDescription<'a> {
    /// The kind its objects are of.
    pub kind: KindId,
    /// Its name.
    pub name: &'a str,
    /// The memory layout of its objects, in the runtime's words.
    pub layout: Option<&'a str>,
    /// The type it is derived from.
    pub base: Option<TypeId>,
    /// The file it is declared in.
    pub file: Option<&'a str>,
    /// The line it is declared at.
    pub line: Option<u32>,
    /// Other facts that the runtime knows: keys and values.
    pub attributes: &'a [(&'a str, &'a str)],
}

impl<'a> TypeDescription<'a> {
    /// A type with only a kind and a name.
    #[must_use]
    pub fn new(kind: KindId, name: &'a str) -> Self {
        TypeDescription { kind, name, layout: None, base: None, file: None, line: None, attributes: &[] }
    }
}

/// Describes an allocation site for its declaration.
#[derive(Debug, Clone, Copy, Default)]
pub struct SiteDescription<'a> {
    /// The function that allocates.
    pub function: Option<&'a str>,
    /// The file it is in.
    pub file: Option<&'a str>,
    /// The line in it.
    pub line: Option<u32>,
    /// The column of that line.
    pub column: Option<u32>,
    /// The call site of the function.
    pub caller: Option<SiteId>,
    /// Other facts that the runtime knows: keys and values.
    pub attributes: &'a [(&'a str, &'a str)],
}

/// Totals of a finished recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// Committed snapshots.
    pub snapshots: u32,
    /// The file's length, in bytes.
    pub bytes: u64,
}

/// Writes one recording. Any thread may declare and announce; see the crate's documentation.
#[derive(Debug)]
pub struct Writer {
    pub(crate) shared: Arc<Shared>,
    encoders: Arc<Encoders>,
    created_ns: u64,
}

impl Writer {
    /// Begins a recording in a new file; an existing one is replaced.
    ///
    /// # Errors
    /// [`WriterError::Io`], or [`WriterError::Format`] for a compression level that does not exist.
    pub fn create(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let file = File::create(path).map_err(WriterError::io("create the recording"))?;
        Self::new(Sink::file(file), &options)
    }

    /// Begins a recording in an open file: an empty one, or a pipe or socket. Nothing is removed from the latter after
    /// a failure, as with [`Writer::to_stream`].
    ///
    /// # Errors
    /// As for [`Writer::create`]; [`WriterError::Io`] with [`ErrorKind::InvalidInput`] if the file is not empty.
    pub fn to_file(mut file: File, options: Options) -> Result<Self> {
        let action = "begin the recording";
        let metadata = file.metadata().map_err(WriterError::io(action))?;
        if !metadata.is_file() {
            return Self::to_stream(Box::new(file), options);
        }
        if metadata.len() > 0 {
            let source = Error::new(ErrorKind::InvalidInput, format!("the file holds {} bytes", metadata.len()));
            return Err(WriterError::Io { action, source });
        }
        file.rewind().map_err(WriterError::io(action))?;
        Self::new(Sink::file(file), &options)
    }

    /// Begins a recording on a stream: a pipe, a socket, a buffer.
    ///
    /// # Errors
    /// As for [`Writer::create`].
    pub fn to_stream(stream: Box<dyn Write + Send>, options: Options) -> Result<Self> {
        Self::new(Sink::stream(stream), &options)
    }

    fn new(mut sink: Sink, options: &Options) -> Result<Self> {
        let uuid = options.uuid.unwrap_or_else(random_uuid);
        let created_ns = options.created_ns.unwrap_or_else(now_ns);
        let header = Header::new(uuid, created_ns);
        sink.append(&header.encode())?;
        let shared = Arc::new(Shared::new(sink, options)?);
        let encoders = Encoders::start(&shared, options)?;
        Ok(Writer { shared, encoders, created_ns })
    }

    /// Start of the recording, in nanoseconds since 1970: times in it count from there.
    #[must_use]
    pub fn created_ns(&self) -> u64 {
        self.created_ns
    }

    /// The number of a string; the same text has the same number, unless the texts in between were more than 16 MiB:
    /// keep the numbers of frequent names.
    ///
    /// A text of more than [`MAX_TEXT_BYTES`](crate::MAX_TEXT_BYTES), 1 MiB, is shortened here and in all other calls,
    /// and ends with a mark: `… (123 bytes left out)`.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`] for more than 2^32 strings; [`WriterError::Io`].
    pub fn string(&self, text: &str) -> Result<StringId> {
        self.shared.string(text)
    }

    /// The number of texts shortened so far, and the number of bytes left out of them.
    #[must_use]
    pub fn shortened(&self) -> Shortened {
        lock(&self.shared.tables).shortened()
    }

    /// Declares a kind of object, by its name in the singular.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn kind(&self, name: &str, role: KindRole) -> Result<KindId> {
        self.shared.declare(|tables, counts| {
            let name = tables.string(name, counts)?;
            tables.kind(&Kind { name, role }, counts)
        })
    }

    /// Declares a strength of references. [`StrengthId::STRONG`] exists from the beginning.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn strength(&self, name: &str, class: StrengthClass) -> Result<StrengthId> {
        self.shared.declare(|tables, counts| {
            let name = tables.string(name, counts)?;
            tables.strength(&Strength { name, class }, counts)
        })
    }

    /// Declares a type. Each call makes a new one: store the number with the runtime's own type.
    ///
    /// # Errors
    /// [`WriterError::Undeclared`] for an unknown kind or base, [`WriterError::OutOfRange`],
    /// [`WriterError::Io`].
    pub fn declare_type(&self, description: &TypeDescription<'_>) -> Result<TypeId> {
        Counts::check("kind", description.kind.0, &self.shared.counts.kinds)?;
        if let Some(base) = description.base {
            Counts::check("base type", base.0, &self.shared.counts.types)?;
        }
        self.shared.declare(|tables, counts| {
            let mut optional = |text: Option<&str>| text.map(|text| tables.string(text, counts)).transpose();
            let (layout, file) = (optional(description.layout)?, optional(description.file)?);
            let attributes = pairs(description.attributes, tables, counts)?;
            let row = Type {
                kind: description.kind,
                name: tables.string(description.name, counts)?,
                layout,
                base: description.base,
                file,
                line: description.line,
                attributes,
            };
            tables.declare_type(&row, counts)
        })
    }

    /// Declares a field. Objects of the type and of those derived from it have it; if it is optional, only those for
    /// which a value is announced. A field of [`Encoding::Reference`] has no values: its value in an object is the
    /// reference with its name, or null. Each call makes a new one: store the number with the runtime's own field.
    ///
    /// # Errors
    /// [`WriterError::Undeclared`] for an unknown type, [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn field(&self, type_id: TypeId, name: &str, encoding: Encoding, is_optional: bool) -> Result<FieldId> {
        Counts::check("type", type_id.0, &self.shared.counts.types)?;
        self.shared.declare(|tables, counts| {
            let name = tables.string(name, counts)?;
            tables.field(&Field { type_id, name, encoding, is_optional }, counts)
        })
    }

    /// Declares an allocation site. Each call makes a new one, numbered from 1: store the number with the runtime's
    /// own.
    ///
    /// # Errors
    /// [`WriterError::Undeclared`] for an unknown caller, [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn site(&self, description: &SiteDescription<'_>) -> Result<SiteId> {
        if let Some(caller) = description.caller {
            // Site 0 is none; it was never declared.
            let row = caller.0.checked_sub(1).unwrap_or(u32::MAX);
            Counts::check("calling site", row, &self.shared.counts.sites).map_err(|error| match error {
                WriterError::Undeclared { what, known, .. } => WriterError::Undeclared { what, id: caller.0, known },
                other => other,
            })?;
        }
        self.shared.declare(|tables, counts| {
            let mut optional = |text: Option<&str>| text.map(|text| tables.string(text, counts)).transpose();
            let (function, file) = (optional(description.function)?, optional(description.file)?);
            let attributes = pairs(description.attributes, tables, counts)?;
            let SiteDescription { line, column, caller, .. } = *description;
            tables.site(&Site { function, file, line, column, caller, attributes }, counts)
        })
    }

    /// Records a fact about the whole file: producer, runtime, host and so on.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn fact(&self, key: &str, value: &str) -> Result<()> {
        self.shared.declare(|tables, counts| {
            let fact = KeyValue { key: tables.string(key, counts)?, value: tables.string(value, counts)? };
            tables.fact(&fact)
        })
    }

    /// Begins a snapshot.
    ///
    /// # Errors
    /// [`WriterError::SnapshotOpen`] if one is being recorded.
    pub fn begin_snapshot(&self, info: SnapshotInfo) -> Result<Snapshot<'_>> {
        let number = self.shared.open_snapshot()?;
        Ok(Snapshot::new(&self.shared, &self.encoders, number, info))
    }

    /// Begins a snapshot that does not borrow the writer, for callers that the compiler cannot follow: the
    /// phases of a collector, handles of another language. It may even outlive the writer, which encodes
    /// in the announcing threads then.
    ///
    /// # Errors
    /// As for [`Writer::begin_snapshot`].
    pub fn begin_owned_snapshot(&self, info: SnapshotInfo) -> Result<Snapshot<'static>> {
        let number = self.shared.open_snapshot()?;
        Ok(Snapshot::new(&self.shared, &self.encoders, number, info))
    }

    /// Returns whether a snapshot is open: begun, and neither committed nor abandoned.
    #[must_use]
    pub fn has_open_snapshot(&self) -> bool {
        self.shared.has_open_snapshot()
    }

    /// Writes the trailing index. Without it the recording is still readable, as after a crash.
    ///
    /// # Errors
    /// [`WriterError::Io`], [`WriterError::Broken`]; [`WriterError::SnapshotOpen`] if an owned snapshot is
    /// still open.
    pub fn finish(self) -> Result<Finished> {
        if self.has_open_snapshot() {
            return Err(WriterError::SnapshotOpen);
        }
        self.encoders.stop();
        self.shared.flush_tables()?;
        let mut sink = lock(&self.shared.sink);
        let index_offset = sink.length();
        let body = encode_index(sink.index());
        sink.append_section(SectionType::INDEX, NO_SNAPSHOT, 1, &[], &body)?;
        let trailer = Trailer { index_offset, index_length: sink.length() - index_offset };
        sink.append(&trailer.encode())?;
        sink.sync_if(self.shared.sync == Sync::AtCommit)?;
        Ok(Finished { snapshots: self.shared.committed_snapshots(), bytes: sink.length() })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.encoders.stop();
    }
}

/// Keys and values as strings of the recording.
fn pairs(attributes: &[(&str, &str)], tables: &mut Tables, counts: &Counts) -> Result<Vec<(StringId, StringId)>> {
    attributes.iter().map(|(key, value)| Ok((tables.string(key, counts)?, tables.string(value, counts)?))).collect()
}

/// Sixteen bytes that are unique to this recording: the standard library seeds its hashers at random.
fn random_uuid() -> [u8; 16] {
    let mut uuid = [0; 16];
    for half in uuid.chunks_mut(8) {
        let random = RandomState::new().hash_one(now_ns());
        half.copy_from_slice(&random.to_le_bytes());
    }
    uuid
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(0)
}

impl Writer {
    /// Marks a word and returns its number, as [`Writer::string`] does. A word that is passed as a text elsewhere, such as the
    /// name of a metric, is marked by a call before or after. Marking it again changes nothing.
    ///
    /// # Errors
    /// As for [`Writer::string`].
    pub fn word(&self, word: impl Into<Word>) -> Result<StringId> {
        let word = word.into();
        self.shared.declare(|tables, counts| tables.word(word, counts))
    }

    /// Marks a word and returns its text.
    ///
    /// # Errors
    /// As for [`Writer::string`].
    pub fn marked(&self, word: impl Into<Word>) -> Result<&'static str> {
        let word = word.into();
        self.word(word)?;
        Ok(word.text())
    }

    /// Records a fact about the whole file whose key is a word of the caller's.
    ///
    /// # Errors
    /// As for [`Writer::fact`].
    pub fn own_fact(&self, key: impl Into<Word>, value: &str) -> Result<()> {
        self.fact(self.marked(key)?, value)
    }

    /// Marks a text as it is marked in a recording that the caller writes again. Only what WORDS of that recording names may be
    /// marked so.
    ///
    /// # Errors
    /// As for [`Writer::string`].
    pub fn copy_word(&self, text: &str, place: WordPlace, values: WordValues) -> Result<()> {
        self.shared.declare(|tables, counts| tables.copy_word(text, place, values, counts))
    }
}
