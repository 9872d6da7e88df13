//! Dense graphs: far more references than objects take memory by their different lists of targets.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use barrow_analyzer::{Heap, IndexPlace, Memory, ObjectId, Recording, Silent, SnapshotId};
use barrow_writer::{
    Compression, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Writer, WriterError,
};

const SIDE: u32 = 1_000;
const PARTS: u32 = 50;
const OBJECTS: u32 = 1 + 2 * SIDE * PARTS;
/// Memory of decoding, tables and the program, whatever the graph.
const OTHER_BYTES: u64 = 96 << 20;
const BYTES_PER_OBJECT: u64 = 40;

/// Complete bipartite parts: each object of one side refers to all of the other side. Object 0 refers to the first
/// object of each part.
fn write(path: &Path) -> Result<(), WriterError> {
    let options = Options { compression: Compression::Zstd(1), ..Options::default() };
    let writer = Writer::create(path, options)?;
    let kind = writer.kind("object", KindRole::Object)?;
    let (array, globals) = (writer.declare_type(&TypeDescription::new(kind, "Array"))?, writer.string("globals")?);
    let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
    let mut shard = snapshot.shard();
    shard.root(globals, None, 0)?;
    for object in 0..OBJECTS {
        shard.object(object.into(), &Object::new(array, 16))?;
        let part = 1 + object.saturating_sub(1) / (2 * SIDE) * 2 * SIDE;
        let (first, step, count) = match object {
            0 => (1, 2 * SIDE, PARTS),
            _ if object < part + SIDE => (part + SIDE, 1, SIDE),
            _ => (part, 1, SIDE),
        };
        for index in 0..count {
            shard.reference(Label::Index(index.into()), StrengthId::STRONG, u64::from(first + index * step))?;
        }
    }
    shard.finish()?;
    snapshot.commit()?;
    writer.finish().map(drop)
}

/// The most memory that the process has held, in bytes.
fn peak_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

const CHILD: &str = "BARROW_DENSE_CHILD";

/// The work of the child process, whose memory is measured. In the parent this test does nothing.
#[test]
fn child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let recording = Arc::new(Recording::open(Path::new(&path)).unwrap());
    let heap = Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::limited(1 << 30)).unwrap();
    let distances = heap.distances(&Silent).unwrap();
    let dominators = heap.dominators(&Silent).unwrap();
    let most = OTHER_BYTES + BYTES_PER_OBJECT * u64::from(OBJECTS);
    assert!(peak_bytes() <= most, "{} of {most} bytes", peak_bytes());
    for object in (1..OBJECTS).map(ObjectId) {
        let place = (object.0 - 1) % (2 * SIDE);
        let first = ObjectId(object.0 - place);
        let (holder, retained, distance) = match place {
            0 => (ObjectId(0), u64::from(2 * SIDE), 1),
            _ => (first, 1, if place < SIDE { 3 } else { 2 }),
        };
        assert_eq!(dominators.immediate_dominator(object).and_then(|holder| holder.object()), Some(holder));
        assert_eq!(dominators.retained_count(object), retained);
        assert_eq!(distances.distance(object), Some(distance));
    }
}

#[test]
fn memory_does_not_grow_with_references() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dense.barrow");
    write(&path).unwrap();
    assert!(path.metadata().unwrap().len() < 1 << 20);
    let test = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD, &path)
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stderr));
}
