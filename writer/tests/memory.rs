//! The writer keeps to its memory budget, whatever the size of the heap. What zstd allocates for itself, a
//! few megabytes for each encoder, is not counted here: it comes from the C library.

#[path = "../../analyzer/tests/allocator/mod.rs"]
mod allocator;

use allocator::peak_bytes;
use barrow_analyzer::{Recording, SnapshotId};
use barrow_testdata::Random;
use barrow_writer::{
    Compression, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, StringId, TypeDescription, TypeId, Writer,
};

/// The heap that is recorded.
struct Shape {
    objects: u64,
    shards: u64,
    references: u64,
    identity: bool,
}

/// Records a heap that is made on the fly, so that nothing but the writer takes memory.
fn record(options: Options, shape: &Shape) {
    record_to(Writer::to_stream(Box::new(std::io::sink()), options).unwrap(), shape);
}

fn record_to(writer: Writer, shape: &Shape) {
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let types: Vec<TypeId> =
        (0..50).map(|n| writer.declare_type(&TypeDescription::new(kind, &format!("T{n}"))).unwrap()).collect();
    let names: Vec<StringId> = (0..20).map(|n| writer.string(&format!("field {n}")).unwrap()).collect();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    std::thread::scope(|scope| {
        for part in 0..shape.shards {
            let (snapshot, types, names) = (&snapshot, &types, &names);
            scope.spawn(move || {
                let mut random = Random::new(part);
                let mut shard = snapshot.shard();
                let bounds = [part, part + 1].map(|part| part * shape.objects / shape.shards);
                for number in bounds[0]..bounds[1] {
                    let type_id = types[random.below(50) as usize];
                    let identity = shape.identity.then(|| random.next() >> 20 | 1);
                    let object =
                        Object { address: identity, serial: identity, ..Object::new(type_id, random.below(99)) };
                    shard.object(number, &object).unwrap();
                    for field in 0..shape.references {
                        let label = if field < 20 { Label::Name(names[field as usize]) } else { Label::Index(field) };
                        shard.reference(label, StrengthId::STRONG, random.below(shape.objects)).unwrap();
                    }
                }
                shard.finish().unwrap();
            });
        }
    });
    snapshot.commit().unwrap();
    writer.finish().unwrap();
}

fn assert_in_budget(options: Options, shape: &Shape) {
    let budget = options.memory_budget_bytes;
    let (peak, ()) = peak_bytes(|| record(options.clone(), shape));
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let what = format!(
        "{:.1} MiB with a budget of {:.0} MiB, {} threads, {:?}, {} shards",
        mib(peak),
        mib(budget),
        options.threads,
        options.compression,
        shape.shards
    );
    eprintln!("{what}");
    assert!(peak <= budget, "{what}");
}

const FIELDS: Shape = Shape { objects: 1_000_000, shards: 1, references: 4, identity: false };

#[test]
fn sixteen_mebibytes() {
    let options =
        Options { memory_budget_bytes: 16 << 20, threads: 2, compression: Compression::Zstd(1), ..Options::default() };
    assert_in_budget(options.clone(), &FIELDS);
    assert_in_budget(options.clone(), &Shape { shards: 4, ..FIELDS });
    assert_in_budget(
        Options { compression: Compression::Zstd(3), ..options.clone() },
        &Shape { identity: true, ..FIELDS },
    );
    assert_in_budget(Options { threads: 0, ..options.clone() }, &FIELDS);
    assert_in_budget(options, &Shape { objects: 20, references: 400_000, ..FIELDS });
}

#[test]
fn the_default_budget() {
    let options = Options { threads: 2, ..Options::default() };
    assert_in_budget(options.clone(), &Shape { objects: 3_000_000, ..FIELDS });
    assert_in_budget(Options { threads: 8, ..options.clone() }, &Shape { shards: 8, identity: true, ..FIELDS });
    assert_in_budget(options, &Shape { objects: 20, references: 400_000, ..FIELDS });
}

/// The memory for patches: 30 bytes an object, and during a commit 4 for its row and 20 if it changed.
#[test]
fn patches_take_so_much_an_object() {
    const OBJECTS: u64 = 1_000_000;
    let budget = 16 << 20;
    let options = Options { memory_budget_bytes: budget, threads: 2, patches: true, ..Options::default() };
    let (peak, finished) = peak_bytes(|| {
        let writer = Writer::to_stream(Box::new(std::io::sink()), options).unwrap();
        let kind = writer.kind("object", KindRole::Object).unwrap();
        let type_id = writer.declare_type(&TypeDescription::new(kind, "T")).unwrap();
        for snapshot in 0..3 {
            let open = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
            let mut shard = open.shard();
            for number in 0..OBJECTS {
                let changes = u64::from(number % 10 == snapshot);
                let object = Object { serial: Some(number * 8 + 3), ..Object::new(type_id, 16 + changes) };
                shard.object(number, &object).unwrap();
                for field in 0..4 {
                    shard.reference(Label::Index(field), StrengthId::STRONG, number * (field + 7) % OBJECTS).unwrap();
                }
            }
            shard.finish().unwrap();
            open.commit().unwrap();
        }
        writer.finish().unwrap()
    });
    let per_object = (peak as f64 - f64::from(budget as u32)) / OBJECTS as f64;
    eprintln!("{peak} bytes, {per_object:.1} an object above the budget, in {} bytes of file", finished.bytes);
    assert!(peak as u64 <= budget as u64 + 38 * OBJECTS, "{peak} bytes, {per_object:.1} an object above the budget");
}

/// Small blocks cost space and time: wherever a shard begins, its blocks are as large as the budget allows.
#[test]
fn shards_fill_their_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shards.barrow");
    let writer = Writer::create(&path, Options { threads: 2, ..Options::default() }).unwrap();
    let shape = Shape { objects: 400_000, shards: 4, references: 1, identity: false };
    peak_bytes(|| record_to(writer, &shape));
    let blocks = Recording::open(&path).unwrap().snapshot(SnapshotId(0)).unwrap().blocks;
    assert!(blocks <= 16, "{blocks} blocks");
}
