//! A recording after an import, read back with the analyzer.

use barrow_analyzer::{KindRole, Label, ObjectId, Recording, SnapshotId, Totals};
use barrow_importers::{ImportError, ImportOptions, Imported, Silent, import_bytes};
use barrow_testdata::Shelf;
use barrow_writer::{Options, Writer};
use std::num::NonZero;

/// An object, in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Described {
    pub(crate) kind: String,
    pub(crate) role: KindRole,
    pub(crate) name: String,
    pub(crate) layout: Option<String>,
    pub(crate) source: Option<(String, u32)>,
    pub(crate) sizes: (u64, u64),
    pub(crate) reference_count: u64,
    /// Only of every `step`th object.
    pub(crate) references: Vec<(String, u32)>,
}

/// An import and the recording it made.
pub(crate) struct Recorded {
    pub(crate) imported: Imported,
    pub(crate) recording: Recording,
}

/// Imports a dump and opens the recording.
pub(crate) fn record(dump: &[u8]) -> Result<Recorded, ImportError> {
    record_by(|writer| import_bytes(dump, writer, &Silent))
}

/// The same with a number of threads.
pub(crate) fn record_with(dump: &[u8], threads: NonZero<usize>) -> Result<Recorded, ImportError> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), dump).expect("written");
    let options = ImportOptions { threads, ..ImportOptions::default() };
    record_by(|writer| barrow_importers::import(file.path(), writer, &options, &Silent))
}

fn record_by(import: impl FnOnce(&Writer) -> Result<Imported, ImportError>) -> Result<Recorded, ImportError> {
    let shelf = Shelf::default();
    let options = Options::without_threads();
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).expect("writing to memory");
    let imported = import(&writer)?;
    writer.finish().expect("writing to memory");
    let bytes = shelf.take();
    Ok(Recorded { imported, recording: Recording::from_bytes(bytes).expect("a whole recording") })
}

impl Recorded {
    pub(crate) fn totals(&self, snapshot: u32) -> Totals {
        self.recording.snapshot(SnapshotId(snapshot)).expect("the snapshot").totals
    }

    /// All objects of a snapshot, and the references of every `step`th.
    pub(crate) fn objects(&self, snapshot: u32, step: usize) -> Vec<Described> {
        let snapshot = SnapshotId(snapshot);
        let count = self.recording.snapshot(snapshot).expect("the snapshot").totals.objects as u32;
        let ids = (0..count).map(ObjectId).collect::<Vec<_>>();
        let details = barrow_analyzer::objects(&self.recording, snapshot, &ids).expect("objects");
        let tables = self.recording.tables().expect("tables");
        let describe = |(id, object): (&ObjectId, &barrow_analyzer::ObjectDetails)| {
            let (type_id, kind) = (object.type_id, tables.type_kind(object.type_id));
            Described {
                kind: tables.kind_name(kind).to_string(),
                role: tables.kind_role(kind),
                name: tables.type_name(type_id).to_string(),
                layout: tables.type_layout(type_id).map(str::to_string),
                source: tables
                    .type_line(type_id)
                    .map(|line| (tables.type_file(type_id).unwrap_or_default().to_string(), line)),
                sizes: (object.shallow_bytes, object.unmanaged_bytes),
                reference_count: object.references,
                references: if id.index() % step == 0 { self.references(snapshot, *id) } else { Vec::new() },
            }
        };
        ids.iter().zip(&details).map(describe).collect()
    }

    fn references(&self, snapshot: SnapshotId, id: ObjectId) -> Vec<(String, u32)> {
        let tables = self.recording.tables().expect("tables");
        let outgoing = barrow_analyzer::outgoing(&self.recording, snapshot, id).expect("references");
        let label = |label| match label {
            Label::Unknown => "?".to_string(),
            Label::Index(index) => format!("[{index}]"),
            Label::Name(name) => tables.string(name).to_string(),
        };
        outgoing.iter().map(|reference| (label(reference.label), reference.target.0)).collect()
    }
}
