//! The writer itself: the file, the tables, the encoders, and one open snapshot at a time.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use barrow_format::frame::{NO_SNAPSHOT, SectionType};
use barrow_format::header::{Header, Trailer};
use barrow_format::index::encode_index;
use barrow_format::rows::{KeyValue, Kind, KindRole, Strength, StrengthClass, Type};
use barrow_format::{KindId, StrengthId, StringId, TypeId};

use crate::encoders::{Encoders, lock};
use crate::error::{Result, WriterError};
use crate::options::{Options, Sync};
use crate::shapes::ShapeTable;
use crate::sink::Sink;
use crate::snapshot::{Snapshot, SnapshotInfo};
use crate::tables::{Counts, Tables};

/// What all threads of a writer share. Locks are taken in the order of the fields.
pub(crate) struct Shared {
    pub(crate) memory_budget_bytes: usize,
    pub(crate) sync: Sync,
    pub(crate) counts: Counts,
    pub(crate) encoders: Encoders,
    pub(crate) tables: Mutex<Tables>,
    pub(crate) shapes: ShapeTable,
    pub(crate) sink: Mutex<Sink>,
    pub(crate) last_commit: Mutex<Option<u64>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    /// Writes all rows of tables that are not in the file yet.
    pub(crate) fn flush_tables(&self) -> Result<()> {
        let mut tables = lock(&self.tables);
        // Strings before shapes: a shape's names are then always in front of it.
        let mut sink = lock(&self.sink);
        tables.flush(&mut sink)?;
        self.shapes.flush(&mut sink, &mut tables)
    }
}

/// Describes a type, when it is declared.
#[derive(Debug, Clone, Copy)]
pub struct TypeDescription<'a> {
    /// The kind its objects are of.
    pub kind: KindId,
    /// Its name.
    pub name: &'a str,
    /// How its objects are laid out in memory, in the runtime's words.
    pub layout: Option<&'a str>,
    /// The type it is derived from.
    pub base: Option<TypeId>,
    /// The file it is declared in.
    pub file: Option<&'a str>,
    /// The line it is declared at.
    pub line: Option<u32>,
    /// What else the runtime knows: keys and values.
    pub attributes: &'a [(&'a str, &'a str)],
}

impl<'a> TypeDescription<'a> {
    /// A type of which only kind and name are known.
    #[must_use]
    pub fn new(kind: KindId, name: &'a str) -> Self {
        TypeDescription { kind, name, layout: None, base: None, file: None, line: None, attributes: &[] }
    }
}

/// What a finished recording holds.
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
    shared: Arc<Shared>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    committed: u32,
    is_open: bool,
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
        sink.append(&Header::new(uuid, created_ns).encode())?;
        let counts = Counts::default();
        let tables = Tables::new(options.compression, &counts)?;
        let shared = Arc::new(Shared {
            memory_budget_bytes: options.memory_budget_bytes,
            sync: options.sync,
            counts,
            encoders: Encoders::new(options.compression, options.memory_budget_bytes / 2)?,
            tables: Mutex::new(tables),
            shapes: ShapeTable::new(),
            sink: Mutex::new(sink),
            last_commit: Mutex::new(None),
        });
        Encoders::start(&shared, options.threads)?;
        Ok(Writer { shared, state: Mutex::new(State::default()) })
    }

    /// The number of a string; the same text gives the same number again.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`] for a string of more than 1 MiB; [`WriterError::Io`].
    pub fn string(&self, text: &str) -> Result<StringId> {
        self.declare(|tables, counts| tables.string(text, counts))
    }

    /// Declares a kind of object, by its name in the singular.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn kind(&self, name: &str, role: KindRole) -> Result<KindId> {
        self.declare(|tables, counts| {
            let name = tables.string(name, counts)?;
            tables.kind(&Kind { name, role }, counts)
        })
    }

    /// Declares a strength of references. [`StrengthId::STRONG`] is there from the beginning.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn strength(&self, name: &str, class: StrengthClass) -> Result<StrengthId> {
        self.declare(|tables, counts| {
            let name = tables.string(name, counts)?;
            tables.strength(&Strength { name, class }, counts)
        })
    }

    /// Declares a type. Each call makes a new one: keep the number with the runtime's own type.
    ///
    /// # Errors
    /// [`WriterError::Undeclared`] for an unknown kind or base, [`WriterError::OutOfRange`],
    /// [`WriterError::Io`].
    pub fn declare_type(&self, description: &TypeDescription<'_>) -> Result<TypeId> {
        Counts::check("kind", description.kind.0, &self.shared.counts.kinds)?;
        if let Some(base) = description.base {
            Counts::check("base type", base.0, &self.shared.counts.types)?;
        }
        self.declare(|tables, counts| {
            let mut optional = |text: Option<&str>| text.map(|text| tables.string(text, counts)).transpose();
            let (layout, file) = (optional(description.layout)?, optional(description.file)?);
            let mut attributes = Vec::with_capacity(description.attributes.len());
            for (key, value) in description.attributes {
                attributes.push((tables.string(key, counts)?, tables.string(value, counts)?));
            }
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

    /// Records a fact about the whole file: producer, runtime, host and so on.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn fact(&self, key: &str, value: &str) -> Result<()> {
        self.declare(|tables, counts| {
            let fact = KeyValue { key: tables.string(key, counts)?, value: tables.string(value, counts)? };
            tables.fact(&fact)
        })
    }

    fn declare<T>(&self, row: impl FnOnce(&mut Tables, &Counts) -> Result<T>) -> Result<T> {
        let mut tables = lock(&self.shared.tables);
        let declared = row(&mut tables, &self.shared.counts)?;
        if tables.is_full() {
            tables.flush_full(&mut lock(&self.shared.sink))?;
        }
        Ok(declared)
    }

    /// Begins a snapshot.
    ///
    /// # Errors
    /// [`WriterError::SnapshotOpen`] if one is being recorded.
    pub fn begin_snapshot(&self, info: SnapshotInfo) -> Result<Snapshot<'_>> {
        let mut state = lock(&self.state);
        if state.is_open {
            return Err(WriterError::SnapshotOpen);
        }
        if state.committed == NO_SNAPSHOT {
            let value = u64::from(state.committed);
            return Err(WriterError::OutOfRange { what: "number of snapshots", value, limit: value - 1 });
        }
        state.is_open = true;
        Ok(Snapshot::new(self, state.committed, info))
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn committed(&self) {
        lock(&self.state).committed += 1;
    }

    /// A snapshot has ended; if it was not committed, what it left in the index goes.
    pub(crate) fn close_snapshot(&self, snapshot: u32) {
        let mut state = lock(&self.state);
        state.is_open = false;
        if state.committed == snapshot {
            lock(&self.shared.sink).forget(snapshot);
        }
    }

    /// Writes the trailing index. Without it the recording is readable all the same, as after a crash.
    ///
    /// # Errors
    /// [`WriterError::Io`], [`WriterError::Broken`].
    pub fn finish(self) -> Result<Finished> {
        self.shared.encoders.stop();
        self.shared.flush_tables()?;
        let mut sink = lock(&self.shared.sink);
        let index_offset = sink.length();
        let body = encode_index(sink.index());
        sink.append_section(SectionType::INDEX, NO_SNAPSHOT, 1, &[], &body)?;
        let trailer = Trailer { index_offset, index_length: sink.length() - index_offset };
        sink.append(&trailer.encode())?;
        sink.sync_if(self.shared.sync == Sync::AtCommit)?;
        Ok(Finished { snapshots: lock(&self.state).committed, bytes: sink.length() })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.encoders.stop();
    }
}

/// Sixteen bytes that no other recording has: the standard library seeds its hashers at random.
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
