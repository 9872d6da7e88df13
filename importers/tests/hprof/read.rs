//! A recording after an import, in words.

use barrow_analyzer::{
    Heap, IndexPlace, Label, Memory, ObjectId, Recording, Silent, SiteId, SnapshotId, type_totals, walk,
};
use barrow_importers::{ImportError, ImportOptions, Imported, import};
use barrow_writer::{Options, Writer};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub(crate) const SNAPSHOT: SnapshotId = SnapshotId(0);

/// An import and the recording it made.
pub(crate) struct Recorded {
    pub(crate) imported: Imported,
    pub(crate) recording: Recording,
}

/// Imports a dump that is a file.
pub(crate) fn record_file(dump: &Path, options: &ImportOptions) -> Result<Recorded, ImportError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dump.barrow");
    let writer = Writer::create(&path, Options::default()).expect("a new file");
    let imported = import(dump, &writer, options, &barrow_importers::Silent)?;
    writer.finish().expect("a recording");
    let bytes = std::fs::read(&path).expect("a recording");
    Ok(Recorded { imported, recording: Recording::from_bytes(bytes).expect("a whole recording") })
}

/// Imports a dump.
pub(crate) fn record(dump: &[u8]) -> Result<Recorded, ImportError> {
    record_with(dump, &ImportOptions::default())
}

pub(crate) fn record_with(dump: &[u8], options: &ImportOptions) -> Result<Recorded, ImportError> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), dump).expect("written");
    record_file(file.path(), options)
}

impl Recorded {
    pub(crate) fn into_heap(self) -> Heap {
        let recording = Arc::new(self.recording);
        Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).expect("a heap")
    }

    /// The objects that no root reaches.
    pub(crate) fn unreachable(self) -> Vec<u32> {
        let heap = self.into_heap();
        let set = heap.unreachable(&Silent).expect("a heap");
        set.iter().map(|object| object.0).collect()
    }

    /// Objects and bytes of each type.
    pub(crate) fn histogram(&self) -> BTreeMap<String, (u64, u64)> {
        let tables = self.recording.tables().expect("tables");
        let mut histogram = BTreeMap::new();
        for totals in type_totals(&self.recording, SNAPSHOT).expect("totals") {
            let sum: &mut (u64, u64) = histogram.entry(tables.type_name(totals.type_id).to_owned()).or_default();
            *sum = (sum.0 + totals.objects, sum.1 + totals.heap_bytes);
        }
        histogram
    }

    /// Every object: `Node(24) next=2 weak:referent=3`.
    pub(crate) fn objects(&self) -> Vec<String> {
        let tables = self.recording.tables().expect("tables");
        let mut lines = Vec::new();
        walk(&self.recording, SNAPSHOT, &Silent, |object, references| {
            let mut line = format!("{}({})", tables.type_name(object.type_id), object.shallow_bytes);
            for reference in references {
                let label = match reference.label {
                    Label::Unknown => "?".to_owned(),
                    Label::Index(index) => format!("[{index}]"),
                    Label::Name(name) => tables.string(name).to_owned(),
                };
                let strength = match tables.strength_name(reference.strength) {
                    "strong" => String::new(),
                    other => format!("{other}:"),
                };
                line += &format!(" {strength}{label}={}", reference.target);
            }
            lines.push(line);
            Ok(())
        })
        .expect("objects");
        lines
    }

    /// Every root: `Java frame, main: Node.run(Node.java:17) = 4`.
    pub(crate) fn roots(&self) -> Vec<String> {
        let tables = self.recording.tables().expect("tables");
        let roots = barrow_analyzer::Roots::read(&self.recording, SNAPSHOT).expect("roots");
        let describe = |root: &barrow_format::rows::Root| {
            let label = root.label.map(|label| format!(", {}", tables.string(label))).unwrap_or_default();
            format!("{}{label} = {}", tables.string(root.category), root.target)
        };
        roots.rows().iter().map(describe).collect()
    }

    /// The types of the objects of this name.
    pub(crate) fn named(&self, name: &str) -> Vec<&str> {
        let tables = self.recording.tables().expect("tables");
        let mut types = Vec::new();
        barrow_analyzer::walk(&self.recording, SNAPSHOT, &barrow_analyzer::Silent, |object, _| {
            if object.name.is_some_and(|of| tables.string(of) == name) {
                types.push(tables.type_name(object.type_id));
            }
            Ok(())
        })
        .expect("objects");
        types
    }

    /// Serial and name of each thread whose roots have its name alone.
    pub(crate) fn threads(&self) -> Vec<(u64, &str)> {
        let tables = self.recording.tables().expect("tables");
        let threads = barrow_analyzer::Threads::read(&self.recording, SNAPSHOT).expect("threads");
        let named = threads.rows().iter().filter(|thread| thread.name == thread.root_label);
        named.map(|thread| (thread.id, thread.name.map_or("", |name| tables.string(name)))).collect()
    }

    pub(crate) fn object_count(&self) -> u64 {
        self.recording.snapshot(SNAPSHOT).expect("the snapshot").totals.objects
    }

    pub(crate) fn address(&self, object: u32) -> Option<u64> {
        barrow_analyzer::object(&self.recording, SNAPSHOT, ObjectId(object)).expect("the object").address
    }

    /// An object's own name.
    pub(crate) fn name(&self, object: u32) -> Option<String> {
        let object = barrow_analyzer::object(&self.recording, SNAPSHOT, ObjectId(object)).expect("the object");
        object.name.map(|name| self.recording.tables().expect("tables").string(name).to_owned())
    }

    /// An object's allocation site with its callers, if it has one.
    pub(crate) fn site(&self, object: u32) -> String {
        let object = barrow_analyzer::object(&self.recording, SNAPSHOT, ObjectId(object)).expect("the object");
        let caller = |id: &SiteId| self.recording.site(*id).expect("sites").expect("a row").caller;
        let title = |id| self.recording.site(id).expect("sites").expect("a row").title().expect("a title");
        std::iter::successors(object.site, caller).map(title).collect::<Vec<_>>().join(" < ")
    }
}
