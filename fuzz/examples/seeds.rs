//! Writes the seeds of the corpus: small whole recordings, tiny dumps, expressions, varints.
//!
//! `cargo run --manifest-path fuzz/Cargo.toml --example seeds`

#[expect(dead_code, reason = "the importer's tests use more of it")]
#[path = "../../importers/tests/moarvm/dump.rs"]
mod dump;
#[expect(dead_code, reason = "the importer's tests use more of it")]
#[path = "../../importers/tests/hprof/dump.rs"]
mod hprof;
#[path = "../../importers/tests/json_lines/dumps.rs"]
mod json_lines;
#[path = "../../importers/tests/processes/logs.rs"]
mod logs;
#[path = "../../importers/tests/v8/dump.rs"]
mod v8;

use std::fs;
use std::path::Path;

use barrow_analyzer::{Recording, Silent};
use barrow_importers::{FORMATS, Holds};
use barrow_rewrite::{RepackOptions, repack};
use barrow_testdata::{Heap, Random, Shelf, Vocabulary};
use barrow_writer::{
    Compression, Encoding, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, ThreadDescription,
    TypeDescription, Value, Writer,
};
use dump::{Build, DEBIAN, TablesAt, tiny};

/// The corpora of recordings.
const RECORDINGS: [&str; 3] = ["recording", "recording_fixed", "redact"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for folder in RECORDINGS {
        for (name, compression) in
            [("none", Compression::None), ("lz4", Compression::Lz4), ("zstd", Compression::Zstd(1))]
        {
            for sizes in [&[][..], &[1], &[8, 30, 12]] {
                let bytes = recording(compression, sizes)?;
                write(folder, &format!("seed-{name}-{}", sizes.len()), &bytes)?;
            }
        }
    }
    for folder in RECORDINGS {
        write(folder, "seed-patches", &patches()?)?;
        write(folder, "seed-threads", &threads()?)?;
        write(folder, "seed-values", &barrow_fuzz::record_small()?)?;
        write(folder, "seed-contents", &contents()?)?;
    }
    let at_the_end = Build { tables: TablesAt::TheEnd, ..DEBIAN };
    let dumps = [tiny().format1(), tiny().format2(DEBIAN), tiny().format2(at_the_end), tiny().format3(None)];
    for (number, dump) in dumps.iter().enumerate() {
        write("moarvm", &format!("seed-{number}"), dump)?;
    }
    for id_bytes in [4, 8] {
        write("hprof", &format!("seed-{id_bytes}"), &hprof::tiny(id_bytes))?;
    }
    for seed in 0..4_u64 {
        for target in ["damaged_hprof", "damaged_logs", "damaged_ruby", "damaged_v8"] {
            write(target, &format!("seed-{seed}"), &seed.to_le_bytes())?;
        }
    }
    for (name, dump) in
        [("ruby-31", json_lines::RUBY_31), ("ruby-34", json_lines::RUBY_34), ("python", json_lines::PYTHON)]
    {
        write("json_lines", &format!("seed-{name}"), dump.as_bytes())?;
    }
    let kleknev = logs::kleknev();
    let process_logs =
        [("kleknev", &*kleknev), ("ninja", logs::NINJA), ("bazel", logs::BAZEL), ("strace", logs::STRACE)];
    for (name, log) in process_logs {
        write("process_logs", &format!("seed-{name}"), log.as_bytes())?;
    }
    for format in FORMATS.iter().filter(|format| format.holds() == Holds::Values) {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/foreign").join(format.sample());
        write("measurements", &format!("seed-{}", format.key()), &fs::read(sample)?)?;
    }
    for version in v8::VERSIONS {
        let name = format!("seed-{version:?}").to_lowercase();
        write("v8", &name, v8::tiny().text(version).as_bytes())?;
    }
    let expressions = [
        "",
        "type = \"Hash\" and size > 1K",
        "not (name ~ H*sh or refs <= 3) and unmanaged != 64KiB",
        "file ~ /src.*raku$/ or id >= 2",
        "kind = frame and layout !~ P6* or repr = x",
        "$a - @4 | !(%1 & size in 1K..2M)",
        ".count > -3 and (.a or .next.count in -1..2.5) - .next = null | .a != unknown",
        "retained in 2.. & distance < 3 or unreachable - root and inrefs >= 0x2",
    ];
    for (number, expression) in expressions.iter().enumerate() {
        write("expression", &format!("seed-{number}"), expression.as_bytes())?;
    }
    let lines = [
        "summary all\ntop 3 objects by retained\npath %1\nshow %1\ninrefs %1\ndominators %1 --depth 2",
        "let $a = objects size > 1\nfind 2 $a - @1\nmore\ncount $_ | %1\nretained $a\nwithout $a",
        "growth 3 --min 0\ntrend Hash\nleaks 0..8\nborn 0..8\nage\nsurvival",
        "diff 0 last by path\ndiff 2 by kind by count\nhistogram by kind by retained\nsites\nsite 1\nroots",
        "find 3 frames name ~ /b/ --format json\nset rows 2\nstrings\ndups\nwaste\nunreachable",
        "snapshot 3\ninfo @2\nidom @3\npath @4 2 --avoid 'size > 1K' --weak\npaths size > 1 --min 1%\nhelp expressions",
    ];
    for (number, text) in lines.iter().enumerate() {
        write("lines", &format!("seed-{number}"), text.as_bytes())?;
    }
    let assertions = [
        "count(type = \"Hash\") <= 1",
        "retained(objects size > 1K) < 64M over 0..4",
        "growth(count type = Array) <= 0 over every 2",
        "no leaks except 1a2b3c4d5e6f7081 in last",
        "size(all) != 5 + 3% --min 2%",
    ];
    for (number, text) in assertions.iter().enumerate() {
        write("assertion", &format!("seed-{number}"), text.as_bytes())?;
    }
    write("index", "seed", &barrow_fuzz::genuine_index())?;
    write("index_fixed", "seed", &barrow_fuzz::genuine_index())?;
    write("cache", "seed", &recording(Compression::None, &[1])?)?;
    let long: Vec<u8> = [5, 0].into_iter().chain((0..200).map(|byte| byte ^ (byte << 4))).collect();
    for (number, bytes) in [&[2, 0, 1, 0xac, 2][..], &[1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f], &long].iter().enumerate() {
        write("varint", &format!("seed-{number}"), bytes)?;
    }
    Ok(())
}

fn write(folder: &str, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(folder);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

/// A recording of three snapshots, of which two are patches.
fn patches() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let shelf = Shelf::default();
    let (uuid, created_ns) = (Some(*b"seed for fuzzing"), Some(0));
    let writer =
        Writer::to_stream(Box::new(shelf.clone()), Options { uuid, created_ns, ..Options::without_threads() })?;
    let vocabulary = Vocabulary::declare(&writer)?;
    let mut heap = Heap::random(&mut Random::new(2), 40, &vocabulary);
    for (number, node) in (1..).zip(&mut heap.nodes) {
        node.identity = (Some(16 * number), Some(number), node.identity.2);
    }
    for step in 0..3 {
        heap.nodes[step].shallow_bytes += 8;
        heap.nodes[step + 5].edges.iter_mut().for_each(|edge| edge.target = 3);
        heap.nodes[20].identity.0 = Some(4096 + step as u64);
        let last = heap.nodes.len() as u32 - 1;
        heap.nodes.truncate(last as usize);
        heap.nodes.iter_mut().flat_map(|node| &mut node.edges).for_each(|edge| edge.target %= last);
        heap.record(&writer)?;
    }
    writer.finish()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("patches.barrow");
    let repacked = repack(&Recording::from_bytes(shelf.take())?, &path, RepackOptions::default(), &Silent)?;
    assert!(repacked.snapshots.iter().any(|snapshot| snapshot.base.is_some()), "{repacked:?}");
    Ok(fs::read(path)?)
}

/// A recording of two snapshots with names of objects, and with fields of each encoding.
fn contents() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let shelf = Shelf::default();
    let (uuid, created_ns) = (Some(*b"seed for fuzzing"), Some(0));
    let writer =
        Writer::to_stream(Box::new(shelf.clone()), Options { uuid, created_ns, ..Options::without_threads() })?;
    let kind = writer.kind("instance", KindRole::Object)?;
    let base = writer.declare_type(&TypeDescription::new(kind, "com.acme.Base"))?;
    let attributes = &[("value of", "count"), ("elements", ".size"), ("slots", ".bits")];
    let derived = TypeDescription { base: Some(base), attributes, ..TypeDescription::new(kind, "com.acme.Order") };
    let derived = writer.declare_type(&derived)?;
    let fields = [
        writer.field(base, "size", Encoding::Unsigned, false)?,
        writer.field(base, "count", Encoding::Signed, false)?,
        writer.field(derived, "a", Encoding::Boolean, true)?,
        writer.field(derived, "initial", Encoding::Character, false)?,
        writer.field(derived, "share", Encoding::Float, false)?,
        writer.field(derived, "total", Encoding::Double, true)?,
        writer.field(derived, "customer", Encoding::Text, false)?,
    ];
    writer.field(derived, "next", Encoding::Reference, false)?;
    let next = writer.string("next")?;
    for step in 0..2 {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
        let mut shard = snapshot.shard();
        shard.root(writer.string("globals")?, None, 0)?;
        for number in 0..6_u32 {
            let text = writer.string(["Alice Miller", "größer", "int", "x = 1"][number as usize % 4])?;
            let type_id = if number % 3 == 0 { base } else { derived };
            shard.object(number.into(), &Object { name: Some(text), ..Object::new(type_id, 16 << number) })?;
            let values = [
                Value::Unsigned(u64::MAX >> (7 * number)),
                Value::Signed(-(1 << (step * number))),
                Value::Boolean(number % 2 == 0),
                Value::Character(97 + number),
                Value::Float(number as f32 / 7.0),
                Value::Double(if number == 4 { f64::NAN } else { 1e300 }),
                Value::Text(text),
            ];
            let own = if type_id == base { 2 } else { 7 };
            for (&field, value) in fields.iter().zip(values).take(own) {
                shard.value(field, value)?;
            }
            if number > 0 {
                shard.reference(Label::Name(next), StrengthId::STRONG, u64::from(number) - 1)?;
            }
        }
        shard.finish()?;
        snapshot.commit()?;
    }
    writer.finish()?;
    Ok(shelf.take())
}

/// A recording of two snapshots with threads, and of one that was given up.
fn threads() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let shelf = Shelf::default();
    let (uuid, created_ns) = (Some(*b"seed for fuzzing"), Some(0));
    let writer =
        Writer::to_stream(Box::new(shelf.clone()), Options { uuid, created_ns, ..Options::without_threads() })?;
    let vocabulary = Vocabulary::declare(&writer)?;
    for step in 0..2 {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
        for id in step..4 {
            snapshot.thread(&ThreadDescription {
                name: Some("worker"),
                state: (id % 2 == 0).then_some("waiting"),
                allocated_bytes: Some(100 * id + step),
                cpu_time_ns: Some(id << 30),
                root_label: Some("main"),
                attributes: &[("priority", "5")],
                ..ThreadDescription::new(id)
            })?;
        }
        Heap::random(&mut Random::new(4), 9, &vocabulary).announce(&snapshot, 0..9)?;
        let mut shard = snapshot.shard();
        shard.root(vocabulary.names[0], Some(writer.string("main: run")?), 0)?;
        shard.finish()?;
        snapshot.commit()?;
    }
    writer.finish()?;
    Ok(shelf.take())
}

fn recording(compression: Compression, sizes: &[u32]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let shelf = Shelf::default();
    let (uuid, created_ns) = (Some(*b"seed for fuzzing"), Some(0));
    let options = Options { compression, uuid, created_ns, ..Options::without_threads() };
    let writer = Writer::to_stream(Box::new(shelf.clone()), options)?;
    let vocabulary = Vocabulary::declare(&writer)?;
    writer.fact("runtime", "none")?;
    for (seed, &size) in (1..).zip(sizes) {
        let info = SnapshotInfo { label: Some(format!("snapshot {seed}")), ..SnapshotInfo::default() };
        let snapshot = writer.begin_snapshot(info)?;
        Heap::random(&mut Random::new(seed), size, &vocabulary).announce(&snapshot, 0..size as usize)?;
        let mut shard = snapshot.shard();
        shard.root(vocabulary.names[0], Some(vocabulary.names[1]), 0)?;
        shard.finish()?;
        snapshot.commit()?;
    }
    writer.finish()?;
    Ok(shelf.take())
}
