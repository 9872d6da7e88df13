//! The writer from memory to a committed file: the last snapshot of a recording is loaded, then
//! announced again and again.

use barrow_analyzer::{ObjectDetails, Recording, Reference, Silent, walk};
use barrow_benches::{Amount, measure, recording_path};
use barrow_writer::{Compression, Object, Options, SnapshotInfo, Writer};

/// A snapshot in memory, and how to announce it.
struct Loaded {
    objects: Vec<ObjectDetails>,
    references: Vec<Reference>,
    kinds: usize,
    types: usize,
    strings: usize,
}

impl Loaded {
    fn load(recording: &Recording) -> Self {
        let last = recording.snapshot_ids().next_back().expect("the recording has a snapshot");
        let tables = recording.tables().expect("its tables are whole");
        let (mut objects, mut references) = (Vec::new(), Vec::new());
        walk(recording, last, &Silent, |object, outgoing| {
            objects.push(*object);
            references.extend_from_slice(outgoing);
            Ok(())
        })
        .expect("the snapshot is whole");
        let (kinds, types) = (tables.kind_count(), tables.type_count());
        Loaded { objects, references, kinds, types, strings: tables.string_count() }
    }

    /// Declares as many kinds, types and names as the recording has: their numbers are then the same.
    fn declare(&self, writer: &Writer) {
        use barrow_writer::{KindId, KindRole, TypeDescription};
        for number in 0..self.strings {
            writer.string(&number.to_string()).expect("short");
        }
        for _ in 0..self.kinds {
            writer.kind("kind", KindRole::Object).expect("few");
        }
        for _ in 0..self.types {
            writer.declare_type(&TypeDescription::new(KindId(0), "type")).expect("few");
        }
    }

    fn announce(&self, writer: &Writer) {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).expect("none is open");
        let mut shard = snapshot.shard();
        let mut rest = self.references.as_slice();
        for object in &self.objects {
            let announced =
                Object { unmanaged_bytes: object.unmanaged_bytes, ..Object::new(object.type_id, object.shallow_bytes) };
            shard.object(object.id.0.into(), &announced).expect("numbers ascend");
            let (own, after) = rest.split_at(object.references as usize);
            rest = after;
            for reference in own {
                shard.reference(reference.label, reference.strength, reference.target.0.into()).expect("targets exist");
            }
        }
        shard.finish().expect("the disk has room");
        snapshot.commit().expect("the disk has room");
    }
}

fn main() {
    let path = recording_path();
    let recording = Recording::open(&path).expect("BARROW_BENCH is a recording");
    let loaded = Loaded::load(&recording);
    let amounts = [
        Amount { count: loaded.objects.len() as u64, unit: "objects" },
        Amount { count: loaded.references.len() as u64, unit: "references" },
    ];
    println!("{}: last snapshot, {} objects, {} references", path.display(), amounts[0].count, amounts[1].count);
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    for (name, compression) in [
        ("not compressed", Compression::None),
        ("lz4", Compression::Lz4),
        ("zstd-1", Compression::Zstd(1)),
        ("zstd-3", Compression::Zstd(3)),
    ] {
        for threads in [0, 2] {
            let file = folder.path().join("bench.barrow");
            let options = Options { compression, threads, ..Options::default() };
            let writer = Writer::create(&file, options).expect("the folder is writable");
            loaded.declare(&writer);
            let where_encoded =
                if threads == 0 { "announcing thread".to_owned() } else { format!("{threads} encoders") };
            measure(&format!("write, {name}, {where_encoded}"), &amounts, || loaded.announce(&writer));
        }
    }
}
