//! Threads of the recorded program, written and read back, and `testdata/threads.barrow`, which is made here.

use std::path::Path;

use barrow_analyzer::{Recording, Silent, SnapshotId, Thread, Threads, verify};
use barrow_writer::{
    Compression, KindRole, Label, Object, Options, Result, SnapshotInfo, StrengthId, ThreadDescription,
    TypeDescription, Writer,
};

/// Id, name, state, root label, allocated bytes and objects, processor time in milliseconds.
type Row = (u64, &'static str, &'static str, Option<&'static str>, u64, Option<u64>, u64);

/// The collector has done most and does nothing; job 12 ends, and its number is given to another; job 14 is new.
const SNAPSHOTS: [&[Row]; 3] = [
    &[
        (1, "main", "running", Some("main"), 40 << 20, Some(500_000), 9_000),
        (2, "collector", "waiting", None, 900 << 20, None, 60_000),
        (12, "job 12", "running", Some("job 12"), 5 << 20, Some(70_000), 1_200),
    ],
    &[
        (1, "main", "waiting", Some("main"), 41 << 20, Some(512_345), 9_250),
        (2, "collector", "waiting", None, 900 << 20, None, 60_000),
        (12, "job 12", "running", Some("job 12"), 9 << 20, Some(130_000), 3_100),
        (13, "job 13", "blocked", Some("job 13"), 1 << 20, Some(9), 30),
    ],
    &[
        (1, "main", "running", Some("main"), 41 << 20, Some(512_345), 9_300),
        (2, "collector", "waiting", None, 900 << 20, None, 60_000),
        (12, "job 15", "running", Some("job 15"), 2 << 20, Some(40_000), 800),
        (14, "job 14", "running", Some("job 14"), 30 << 20, Some(1), 2_000),
    ],
];

/// The snapshots are so far from each other.
const SECONDS: u64 = 2;

fn record(path: &Path) -> Result<()> {
    let options = Options {
        compression: Compression::None,
        threads: 0,
        uuid: Some(*b"threads, 3 times"),
        created_ns: Some(0),
        ..Options::default()
    };
    let writer = Writer::create(path, options)?;
    let kind = writer.kind("object", KindRole::Object)?;
    let order = writer.declare_type(&TypeDescription::new(kind, "Order"))?;
    let (frames, globals) = (writer.string("frames")?, writer.string("globals")?);
    for (number, rows) in (0..).zip(SNAPSHOTS) {
        let time_ns = Some(number * SECONDS * 1_000_000_000);
        let snapshot = writer.begin_snapshot(SnapshotInfo { time_ns, ..SnapshotInfo::default() })?;
        for &(id, name, state, root_label, bytes, objects, cpu_ms) in rows {
            snapshot.thread(&ThreadDescription {
                name: Some(name),
                state: Some(state),
                root_label,
                allocated_bytes: Some(bytes),
                allocated_objects: objects,
                cpu_time_ns: Some(cpu_ms * 1_000_000),
                attributes: if id == 1 { &[("native id", "4711")] } else { &[] },
                ..ThreadDescription::new(id)
            })?;
        }
        let mut shard = snapshot.shard();
        // All threads hold object 0. Each other object is held by one thread, and holds one more.
        let labels: Vec<&str> = rows.iter().filter_map(|row| row.3).collect();
        shard.root(globals, None, 0)?;
        for (place, label) in (1..).zip(&labels) {
            let whole = writer.string(label)?;
            let frame = writer.string(&format!("{label}: parse (order.rb:{place})"))?;
            shard.root(frames, Some(frame), 0)?;
            shard.root(frames, Some(whole), 2 * place - 1)?;
        }
        shard.object(0, &Object::new(order, 1000))?;
        for place in 1..=labels.len() as u64 {
            shard.object(2 * place - 1, &Object::new(order, 100 * place))?;
            shard.reference(Label::Index(0), StrengthId::STRONG, 2 * place)?;
            shard.object(2 * place, &Object::new(order, 10 * place))?;
        }
        shard.finish()?;
        snapshot.commit()?;
    }
    writer.finish().map(drop)
}

#[test]
fn the_golden_file_is_what_the_writer_writes() {
    barrow_testdata::assert_golden("threads.barrow", |path| record(path).unwrap());
}

#[test]
fn threads_are_read_back() {
    let recording = Recording::open(&barrow_testdata::path("threads.barrow")).unwrap();
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    assert_eq!(recording.version(), (1, 0));
    let tables = recording.tables().unwrap();
    for (number, expected) in (0..).zip(SNAPSHOTS) {
        let threads = Threads::read(&recording, SnapshotId(number)).unwrap();
        let text = |id| tables.string(id);
        let told = |row: &Thread| {
            let (name, state) = (row.name.map_or("", text), row.state.map_or("", text));
            let (bytes, objects, cpu_ns) = (row.allocated_bytes.unwrap(), row.allocated_objects, row.cpu_time_ns);
            (row.id, name, state, row.root_label.map(text), bytes, objects, cpu_ns.unwrap() / 1_000_000)
        };
        assert_eq!(threads.rows().iter().map(told).collect::<Vec<_>>(), expected);
        let attributes = &threads.rows()[0].attributes;
        assert_eq!(
            attributes.iter().map(|&(key, value)| (text(key), text(value))).collect::<Vec<_>>(),
            [("native id", "4711")]
        );
    }
}
