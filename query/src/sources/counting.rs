//! Dumps whose objects are only counted: enough for one question about types, and much sooner there
//! than an import.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use barrow_analyzer::{Recording, TypeTotals};
use barrow_importers::{Counted, ImportError};
use barrow_writer::{Options, SnapshotInfo, Writer};

use crate::context::Context;
use crate::error::QueryError;
use crate::sources::cache;
use crate::sources::importing;
use crate::sources::opening::OpenFile;

/// Opens a dump that was never imported, if its objects can be counted without that.
///
/// # Errors
/// Those of the importer.
pub(crate) fn open(name: &str, context: &Context) -> Result<Option<OpenFile>, QueryError> {
    let path = Path::new(name);
    if !path.is_file() || cache::holds(path, context) {
        return Ok(None);
    }
    let types = Types::default();
    let unwritten = |source| QueryError::Write { path: "memory".to_owned(), source };
    let options = Options { threads: 0, ..Options::default() };
    let writer = Writer::to_stream(Box::new(types.clone()), options).map_err(unwritten)?;
    let meter = context.meter();
    let counted = barrow_importers::totals(path, &writer, &importing::reading(path, context), &meter);
    let counted = counted.map_err(|source| match source {
        ImportError::Cancelled => QueryError::Stopped,
        source => QueryError::Import { path: name.to_owned(), source },
    })?;
    drop(meter);
    let Some(Counted { totals, lost }) = counted else { return Ok(None) };
    writer.begin_snapshot(SnapshotInfo::default()).and_then(barrow_writer::Snapshot::commit).map_err(unwritten)?;
    writer.finish().map_err(unwritten)?;
    let totals = totals.iter().map(|count| TypeTotals {
        type_id: barrow_analyzer::TypeId(count.type_id.0),
        objects: count.objects,
        heap_bytes: count.heap_bytes,
        unmanaged_bytes: count.unmanaged_bytes,
    });
    Ok(Some(OpenFile {
        name: name.to_owned(),
        recording: Arc::new(Recording::from_bytes(types.take())?),
        damage: lost.map(|loss| loss.to_string()),
        counted: Some(totals.collect()),
    }))
}

/// A recording of types, in memory.
#[derive(Clone, Default)]
struct Types(Arc<Mutex<Vec<u8>>>);

impl Types {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Types {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
