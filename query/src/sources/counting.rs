//! Dumps whose objects are only counted: enough for questions about types and totals, and much sooner there than an
//! import.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use barrow_analyzer::{Recording, SOURCE_FORMAT, Totals, TypeId, TypeTotals};
use barrow_importers::{ImportError, Series, TypeCount};
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

/// Opens dumps, in this order, if the objects of all of them can be counted without an import.
///
/// # Errors
/// Those of the importer.
pub(crate) fn open(name: &str, sources: &[&Path], context: &Context) -> Result<Option<OpenFile>, QueryError> {
    let (types, writer) = in_memory()?;
    let meter = context.meter();
    let Some(&first) = sources.first() else { return Ok(None) };
    let reading = importing::reading(first, context);
    let mut series = Series::new(&writer, &reading, &meter);
    let (mut snapshots, mut notes, mut damage) = (Vec::new(), Vec::new(), Vec::new());
    for &source in sources {
        let failed = |error| match error {
            ImportError::Cancelled => QueryError::Stopped,
            error => QueryError::Import { path: source.display().to_string(), source: error },
        };
        let Some(counted) = count(source, &mut series, sources.len() > 1).map_err(failed)? else { return Ok(None) };
        for (info, snapshot) in counted.snapshots {
            writer.begin_snapshot(info).and_then(barrow_writer::Snapshot::commit).map_err(unwritten)?;
            snapshots.push(snapshot);
        }
        notes.extend(counted.notes);
        damage.extend(counted.damage);
    }
    if let Some(format) = recognition::first_bytes(first).ok().and_then(|bytes| barrow_importers::recognise(&bytes)) {
        writer.own_fact(SOURCE_FORMAT, &format.to_string()).map_err(unwritten)?;
    }
    for (key, note) in import_facts::note_facts(&notes) {
        writer.fact(&key, note).map_err(unwritten)?;
    }
    drop(series);
    writer.finish().map_err(unwritten)?;
    Ok(Some(OpenFile {
        name: name.to_owned(),
        recording: Arc::new(Recording::from_bytes(types.take())?),
        damage: (!damage.is_empty()).then(|| damage.join("; ")),
        has_remarked: opening::remark(name, &notes, context),
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
    let options = Options::without_threads();
    let writer = Writer::to_stream(Box::new(types.clone()), options).map_err(unwritten)?;
    Ok((types, writer))
}

fn unwritten(source: WriterError) -> QueryError {
    QueryError::Write { path: "memory".to_owned(), source }
}

/// Counts the snapshots of a dump, which may be one of several; declares their types.
fn count(source: &Path, series: &mut Series<'_>, is_one_of: bool) -> Result<Option<CountedDump>, ImportError> {
    if let Some(counted) = series.snapshot_totals(source)? {
        let snapshot = |of: barrow_importers::CountedSnapshot| {
            (of.info, CountedSnapshot { types: by_type(&of.types), totals: Some(totals(&of.totals)) })
        };
        let snapshots = counted.snapshots.into_iter().map(snapshot).collect();
        let damage = counted.lost.map(|loss| loss.to_string());
        return Ok(Some(CountedDump { snapshots, notes: counted.notes, damage }));
    }
    let Some(counted) = series.totals(source)? else { return Ok(None) };
    let info = if is_one_of { series.info(source)? } else { SnapshotInfo::default() };
    let snapshot = CountedSnapshot { types: by_type(&counted.totals), totals: None };
    let damage = counted.lost.map(|loss| loss.to_string());
    Ok(Some(CountedDump { snapshots: vec![(info, snapshot)], notes: counted.notes, damage }))
}

fn by_type(counts: &[TypeCount]) -> Vec<TypeTotals> {
    let totals = |count: &TypeCount| TypeTotals {
        type_id: TypeId(count.type_id.0),
        objects: count.objects,
        heap_bytes: count.heap_bytes,
        unmanaged_bytes: count.unmanaged_bytes,
    };
    let mut types: Vec<TypeTotals> = counts.iter().map(totals).collect();
    // Types that an earlier dump has declared have smaller numbers.
    types.sort_by_key(|totals| totals.type_id);
    types
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
