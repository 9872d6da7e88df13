//! A recording after an import, in words.

use barrow_analyzer::{
    Entry, EntryKey, FieldPath, FieldValue, Heap, Held, IndexPlace, KindRole, Label, Memory, ObjectDetails, ObjectId,
    ObjectSet, Recording, Reference, Roots, SnapshotId, StrengthClass, Totals, objects, walk,
};
use barrow_importers::{Contents, ImportError, ImportOptions, Imported, Silent, import};
use barrow_testdata::Shelf;
use barrow_writer::{Options, Writer};
use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

const FIRST: SnapshotId = SnapshotId(0);

/// An import and the recording it made.
pub(crate) struct Recorded {
    pub(crate) imported: Imported,
    pub(crate) recording: Recording,
}

/// Imports a dump with one thread, and opens the recording.
pub(crate) fn record(dump: &str) -> Result<Recorded, ImportError> {
    record_bytes(dump.as_bytes(), 1)
}

/// Imports a dump.
pub(crate) fn record_bytes(dump: &[u8], threads: usize) -> Result<Recorded, ImportError> {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(dump).expect("written");
    record_file(file.path(), threads)
}

/// Imports a file, which may be compressed.
pub(crate) fn record_file(path: &Path, threads: usize) -> Result<Recorded, ImportError> {
    record_contents(path, threads, Contents::All)
}

/// Imports a file with a part of its contents.
pub(crate) fn record_contents(path: &Path, threads: usize, contents: Contents) -> Result<Recorded, ImportError> {
    let shelf = Shelf::default();
    let options = Options::without_threads();
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).expect("writing to memory");
    let wishes =
        ImportOptions { threads: NonZero::new(threads).expect("threads"), contents, ..ImportOptions::default() };
    let imported = import(path, &writer, &wishes, &Silent)?;
    writer.finish().expect("writing to memory");
    Ok(Recorded { imported, recording: Recording::from_bytes(shelf.take()).expect("a whole recording") })
}

impl Recorded {
    /// The snapshot as a graph.
    pub(crate) fn into_heap(self) -> Heap {
        let recording = Arc::new(self.recording);
        Heap::new(recording, FIRST, &IndexPlace::Nowhere, Memory::unlimited()).expect("a snapshot")
    }

    pub(crate) fn totals(&self) -> Totals {
        self.recording.snapshot(FIRST).expect("the snapshot").totals
    }

    /// Every object as a line: `string String 40+15 @0x10 "text" at a.rb:3 read [class 2, ? 5, weak referent 6]`.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        walk(&self.recording, FIRST, &barrow_analyzer::Silent, |object, references| {
            lines.push(self.line(object, references));
            Ok(())
        })
        .expect("objects");
        lines
    }

    /// All these lines.
    pub(crate) fn text(&self) -> String {
        self.lines().iter().map(|line| format!("{line}\n")).collect()
    }

    fn line(&self, object: &ObjectDetails, references: &[Reference]) -> String {
        let tables = self.recording.tables().expect("tables");
        let kind = tables.kind_name(tables.type_kind(object.type_id));
        let mut line = format!("{kind} {}", tables.type_name(object.type_id));
        if let Some(layout) = tables.type_layout(object.type_id) {
            line += &format!(" ({layout})");
        }
        if let Some(file) = tables.type_file(object.type_id) {
            line += &format!(" ({file}:{})", tables.type_line(object.type_id).unwrap_or(0));
        }
        line += &format!(" {}+{}", object.shallow_bytes, object.unmanaged_bytes);
        if let Some(address) = object.address {
            line += &format!(" @{address:#x}");
        }
        if let Some(name) = object.name {
            line += &format!(" {:?}", tables.string(name));
        }
        if let Some(site) = object.site {
            line += &format!(
                " at {}",
                self.recording.site(site).expect("sites").and_then(|site| site.title()).expect("a title")
            );
        }
        let references = references.iter().map(|reference| {
            let label = match reference.label {
                Label::Unknown => "?".to_string(),
                Label::Index(index) => index.to_string(),
                Label::Name(name) => tables.string(name).to_string(),
            };
            match tables.strength_class(reference.strength) {
                StrengthClass::Strong => format!("{label} {}", reference.target.0),
                _ => format!("{} {label} {}", tables.strength_name(reference.strength), reference.target.0),
            }
        });
        format!("{line} [{}]", references.collect::<Vec<_>>().join(", "))
    }

    /// The value of a field for each object that has it, by address, in words. Objects without such a field are left out.
    pub(crate) fn held(self, field: &str) -> BTreeMap<u64, String> {
        let addresses: Vec<Option<u64>> = {
            let ids: Vec<ObjectId> = (0..self.totals().objects as u32).map(ObjectId).collect();
            objects(&self.recording, FIRST, &ids).expect("objects").iter().map(|object| object.address).collect()
        };
        let heap = self.into_heap();
        let all = ObjectSet::from_sorted(FIRST, addresses.len() as u64, (0..addresses.len() as u32).map(ObjectId));
        let path = FieldPath::parse(field).expect("a path");
        let column = heap.field_column(&all, &path, &Silent).expect("a field");
        let words = |held| words(heap.recording(), held);
        addresses.into_iter().zip(column).filter_map(|(address, held)| Some((address?, words(held)?))).collect()
    }

    /// The entries of the objects at these addresses, in words; `None` if not all are known.
    pub(crate) fn entries(self, addresses: &[u64]) -> Vec<Option<Vec<String>>> {
        let ids: Vec<ObjectId> = (0..self.totals().objects as u32).map(ObjectId).collect();
        let all = objects(&self.recording, FIRST, &ids).expect("objects");
        let heap = self.into_heap();
        let said = |held: Held| {
            let held = match held {
                Held::Object(id) => {
                    let set = ObjectSet::from_sorted(FIRST, heap.object_count(), [id]);
                    heap.stand_for(&set, &Silent).expect("a heap")[0]
                }
                held => held,
            };
            words(heap.recording(), held).unwrap_or_default()
        };
        let entry = |entry: &Entry| match entry.key {
            EntryKey::Held(key) => format!("{}={}", said(key), said(entry.value)),
            _ => said(entry.value),
        };
        let entries = |address: &u64| {
            let object = all.iter().find(|object| object.address == Some(*address)).expect("an object");
            let found = heap.entries(object.id, usize::MAX, &Silent).expect("a heap").expect("entries");
            assert!(!found.are_known || found.nulls == Some(0), "{found:?}");
            found.are_known.then(|| found.entries.iter().map(entry).collect())
        };
        addresses.iter().map(entries).collect()
    }

    /// The roots: category, label, target.
    pub(crate) fn roots(&self) -> Vec<String> {
        let tables = self.recording.tables().expect("tables");
        let roots = Roots::read(&self.recording, FIRST).expect("roots");
        let label = |id| tables.string(id).to_string();
        let rows = roots
            .rows()
            .iter()
            .map(|root| format!("{} {} {}", label(root.category), root.label.map_or("?".into(), label), root.target.0));
        rows.collect()
    }

    /// Objects by kind and type.
    pub(crate) fn counts(&self) -> BTreeMap<(String, String), u64> {
        let tables = self.recording.tables().expect("tables");
        let ids: Vec<ObjectId> = (0..self.totals().objects as u32).map(ObjectId).collect();
        let mut counts = BTreeMap::new();
        for details in objects(&self.recording, FIRST, &ids).expect("objects") {
            let kind = tables.kind_name(tables.type_kind(details.type_id)).to_string();
            *counts.entry((kind, tables.type_name(details.type_id).to_string())).or_default() += 1;
        }
        counts
    }

    /// Objects by kind.
    pub(crate) fn counts_of_kinds(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for ((kind, _), count) in self.counts() {
            *counts.entry(kind).or_default() += count;
        }
        counts
    }

    /// The role of a kind.
    pub(crate) fn role(&self, name: &str) -> KindRole {
        let tables = self.recording.tables().expect("tables");
        let kinds = (0..tables.kind_count() as u32).map(barrow_analyzer::KindId);
        let kind = kinds.into_iter().find(|&kind| tables.kind_name(kind) == name).expect("the kind");
        tables.kind_role(kind)
    }
}

/// The value of a field, in words.
fn words(recording: &Recording, held: Held) -> Option<String> {
    Some(match held {
        Held::Missing | Held::Object(_) => return None,
        Held::Unknown => "unknown".to_owned(),
        Held::Null => "null".to_owned(),
        Held::Undefined => panic!("undefined"),
        Held::Value(FieldValue::Unsigned(value)) => value.to_string(),
        Held::Value(FieldValue::Signed(value)) => value.to_string(),
        Held::Value(FieldValue::Double(value)) => format!("{value:?}"),
        Held::Value(FieldValue::Boolean(value)) => value.to_string(),
        Held::Value(FieldValue::Text(text)) => recording.tables().expect("tables").string(text).to_owned(),
        Held::Value(other) => panic!("{other:?}"),
    })
}
