//! Dumps whose objects are only counted: enough for questions about types and totals, and much sooner there than an
//! import.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use barrow_analyzer::{Recording, SOURCE_FORMAT, Totals, TypeId, TypeTotals};
use barrow_importers::{ImportError, TypeCount};
use barrow_writer::{Options, SnapshotInfo, Writer, WriterError};
use parking_lot::Mutex;

use crate::context::Context;
use crate::error::QueryError;
use crate::sources::opening::{self, OpenFile};
use crate::sources::{counted::CountedSnapshot, import_facts, importing, recognition};

/// A dump whose objects were counted.
struct CountedDump {
    snapshots: Vec<(SnapshotInfo, CountedSnapshot)>,
    notes: Vec<String>,
    damage: Option<String>,
}

/// Opens a dump, if its objects can be counted without an import.
///
/// # Errors
/// Those of the importer.
pub(crate) fn open(name: &str, context: &Context) -> Result<Option<OpenFile>, QueryError> {
    let (types, writer) = in_memory()?;
    let Some(counted) = count(name, &writer, context)? else { return Ok(None) };
    let mut snapshots = Vec::new();
    for (info, snapshot) in counted.snapshots {
        writer.begin_snapshot(info).and_then(barrow_writer::Snapshot::commit).map_err(unwritten)?;
        snapshots.push(snapshot);
    }
    if let Some(format) =
        recognition::first_bytes(Path::new(name)).ok().and_then(|bytes| barrow_importers::recognise(&bytes))
    {
        writer.own_fact(SOURCE_FORMAT, &format.to_string()).map_err(unwritten)?;
    }
    for (key, note) in import_facts::note_facts(&counted.notes) {
        writer.fact(&key, note).map_err(unwritten)?;
    }
    writer.finish().map_err(unwritten)?;
    Ok(Some(OpenFile {
        name: name.to_owned(),
        recording: Arc::new(Recording::from_bytes(types.take())?),
        damage: counted.damage,
        has_remarked: opening::remark(name, &counted.notes, context),
        counted: Some(snapshots),
    }))
}

/// A recording that holds nothing.
///
/// # Errors
/// None that a program can do anything about.
pub(crate) fn nothing() -> Result<Recording, QueryError> {
    let (types, writer) = in_memory()?;
    writer.finish().map_err(unwritten)?;
    Ok(Recording::from_bytes(types.take())?)
}

/// A writer without threads, and the memory that it writes to.
fn in_memory() -> Result<(Types, Writer), QueryError> {
    let types = Types::default();
    let options = Options { threads: 0, ..Options::default() };
    let writer = Writer::to_stream(Box::new(types.clone()), options).map_err(unwritten)?;
    Ok((types, writer))
}

fn unwritten(source: WriterError) -> QueryError {
    QueryError::Write { path: "memory".to_owned(), source }
}

/// Counts the snapshots of a dump; declares their types.
fn count(name: &str, writer: &Writer, context: &Context) -> Result<Option<CountedDump>, QueryError> {
    let path = Path::new(name);
    let meter = context.meter();
    let reading = importing::reading(path, context);
    let failed = |source| match source {
        ImportError::Cancelled => QueryError::Stopped,
        source => QueryError::Import { path: name.to_owned(), source },
    };
    if let Some(counted) = barrow_importers::snapshot_totals(path, writer, &reading, &meter).map_err(failed)? {
        let snapshot = |of: barrow_importers::CountedSnapshot| {
            (of.info, CountedSnapshot { types: by_type(&of.types), totals: Some(totals(&of.totals)) })
        };
        let snapshots = counted.snapshots.into_iter().map(snapshot).collect();
        let damage = counted.lost.map(|loss| loss.to_string());
        return Ok(Some(CountedDump { snapshots, notes: counted.notes, damage }));
    }
    let counted = barrow_importers::totals(path, writer, &reading, &meter).map_err(failed)?;
    Ok(counted.map(|counted| {
        let snapshot = CountedSnapshot { types: by_type(&counted.totals), totals: None };
        let damage = counted.lost.map(|loss| loss.to_string());
        CountedDump { snapshots: vec![(SnapshotInfo::default(), snapshot)], notes: counted.notes, damage }
    }))
}

fn by_type(counts: &[TypeCount]) -> Vec<TypeTotals> {
    let totals = |count: &TypeCount| TypeTotals {
        type_id: TypeId(count.type_id.0),
        objects: count.objects,
        heap_bytes: count.heap_bytes,
        unmanaged_bytes: count.unmanaged_bytes,
    };
    counts.iter().map(totals).collect()
}

/// The totals of the writer as those of the analyzer.
fn totals(totals: &barrow_importers::Totals) -> Totals {
    Totals {
        objects: totals.objects,
        references: totals.references,
        roots: totals.roots,
        heap_bytes: totals.heap_bytes,
        unmanaged_bytes: totals.unmanaged_bytes,
    }
}

/// A recording of types, in memory.
#[derive(Clone, Default)]
struct Types(Arc<Mutex<Vec<u8>>>);

impl Types {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Write for Types {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
