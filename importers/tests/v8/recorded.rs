//! A recording after an import, read back with the analyzer.

use barrow_analyzer::{
    FieldPath, Heap, Held, IndexPlace, KindRole, Label, Memory, ObjectId, ObjectSet, Recording, SiteId, SnapshotId,
    StrengthClass, Totals,
};
use barrow_importers::{Contents, ImportError, ImportOptions, Imported, Series, Silent, import, import_bytes};
use barrow_testdata::Shelf;
use barrow_writer::{Options, Writer};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

/// An object, in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Described {
    pub(crate) kind: String,
    pub(crate) role: KindRole,
    /// Its constructor's name.
    pub(crate) name: String,
    pub(crate) own_name: Option<String>,
    pub(crate) place: Option<(String, u32)>,
    pub(crate) size: u64,
    pub(crate) serial: Option<u64>,
    /// The site, and the sites that called it.
    pub(crate) site: Vec<String>,
    /// Label, class of the strength, target.
    pub(crate) references: Vec<(String, StrengthClass, u32)>,
}

/// An import and the recording it made.
pub(crate) struct Recorded {
    pub(crate) imported: Imported,
    pub(crate) recording: Arc<Recording>,
}

fn recorded(import: impl FnOnce(&Writer) -> Result<Imported, ImportError>) -> Result<Recorded, ImportError> {
    let shelf = Shelf::default();
    let options = Options::without_threads();
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).expect("writing to memory");
    let imported = import(&writer)?;
    writer.finish().expect("writing to memory");
    let bytes = shelf.take();
    let recording = Recording::from_bytes(bytes).expect("a whole recording");
    Ok(Recorded { imported, recording: Arc::new(recording) })
}

/// Imports a dump and opens the recording.
pub(crate) fn record(dump: &[u8]) -> Result<Recorded, ImportError> {
    recorded(|writer| import_bytes(dump, writer, &Silent))
}

/// Likewise, of a file and with `threads` threads.
pub(crate) fn record_file(path: &Path, threads: usize) -> Result<Recorded, ImportError> {
    record_contents(path, threads, Contents::All)
}

/// Likewise, with these contents.
pub(crate) fn record_contents(path: &Path, threads: usize, contents: Contents) -> Result<Recorded, ImportError> {
    let threads = NonZero::new(threads).expect("not 0");
    let options = ImportOptions { threads, contents, ..ImportOptions::default() };
    recorded(|writer| import(path, writer, &options, &Silent))
}

/// Imports several files as one recording.
pub(crate) fn record_series(paths: &[std::path::PathBuf]) -> Recorded {
    let import_all = |writer: &Writer| {
        let options = ImportOptions::default();
        let mut series = Series::new(writer, &options, &Silent);
        let mut last = None;
        for path in paths {
            last = Some(series.import(path)?);
        }
        Ok(last.expect("a dump"))
    };
    recorded(import_all).expect("whole snapshots")
}

impl Recorded {
    pub(crate) fn totals(&self) -> Totals {
        self.recording.snapshot(SnapshotId(0)).expect("the snapshot").totals
    }

    pub(crate) fn heap(&self) -> Heap {
        Heap::new(Arc::clone(&self.recording), SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited())
            .expect("a heap")
    }

    /// The value of a field for each object.
    pub(crate) fn held(&self, field: &str) -> Vec<Held> {
        let (heap, count) = (self.heap(), self.totals().objects);
        let all = ObjectSet::from_sorted(SnapshotId(0), count, (0..count as u32).map(ObjectId));
        let path = FieldPath::parse(field).expect("a path");
        heap.field_column(&all, &path, &barrow_analyzer::Silent).expect("a field")
    }

    /// All objects.
    pub(crate) fn objects(&self) -> Vec<Described> {
        let tables = self.recording.tables().expect("tables");
        let mut described = Vec::new();
        barrow_analyzer::walk(&self.recording, SnapshotId(0), &barrow_analyzer::Silent, |object, references| {
            let (type_id, kind) = (object.type_id, tables.type_kind(object.type_id));
            let label = |label| match label {
                Label::Unknown => "?".to_string(),
                Label::Index(index) => format!("[{index}]"),
                Label::Name(name) => tables.string(name).to_string(),
            };
            let references = references.iter().map(|reference| {
                (label(reference.label), tables.strength_class(reference.strength), reference.target.0)
            });
            described.push(Described {
                kind: tables.kind_name(kind).to_string(),
                role: tables.kind_role(kind),
                name: tables.type_name(type_id).to_string(),
                place: tables.type_file(type_id).map(str::to_owned).zip(tables.type_line(type_id)),
                size: object.shallow_bytes,
                serial: object.serial,
                own_name: object.name.map(|name| tables.string(name).to_owned()),
                site: self.site(object.site),
                references: references.collect(),
            });
            Ok(())
        })
        .expect("a walk");
        described
    }

    fn site(&self, site: Option<SiteId>) -> Vec<String> {
        let mut titles = Vec::new();
        let mut next = site;
        while let Some(site) = next {
            let details = self.recording.site(site).expect("sites").expect("a site that was declared");
            titles.push(format!("{}, column {:?}", details.title().unwrap_or_default(), details.column));
            next = details.caller;
        }
        titles
    }
}
