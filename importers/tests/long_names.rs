//! Names of any length are imported, shortened with a mark where a recording cannot hold them.

use barrow_analyzer::{Recording, verify};
use barrow_importers::{Imported, Silent, import_bytes};
use barrow_testdata::Shelf;
use barrow_writer::{Options, Writer};

/// A name of 50 MB.
fn long() -> String {
    "LongName".repeat(6_250_000)
}

/// Imports a dump with a name of 50 MB; the names of the types in the recording.
fn imported(dump: &[u8]) -> (Imported, Vec<String>) {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).expect("a shelf");
    let imported = import_bytes(dump, &writer, &Silent).expect("an import");
    writer.finish().expect("a shelf");
    let recording = Recording::from_bytes(shelf.bytes()).expect("a recording");
    assert_eq!(verify(&recording, &barrow_analyzer::Silent).expect("readable").problems, []);
    let tables = recording.tables().expect("tables");
    let types = (0..tables.type_count() as u32).map(|id| tables.type_name(barrow_writer::TypeId(id)).to_owned());
    (imported, types.collect())
}

fn assert_shortened(dump: &[u8], longest: usize) {
    let (imported, types) = imported(dump);
    assert_eq!((imported.snapshots.len(), imported.lost), (1, None));
    let name = types.iter().find(|name| name.contains("LongNameLongName")).expect("the long name");
    assert!(name.contains("… (") && name.contains(" bytes left out)"), "{}", name.len());
    assert!(name.len() <= longest, "{} bytes", name.len());
    assert!(imported.notes.iter().any(|note| note.contains("too long for a recording: 1;")), "{:?}", imported.notes);
}

/// A dump of a JVM with a class of this name, `classes` of which are loaded, each with an instance.
fn hprof(name: &str, classes: u64) -> Vec<u8> {
    let mut dump = b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\x01".to_vec();
    let mut record = |tag: u8, body: &[&[u8]]| {
        let body = body.concat();
        dump.extend([tag, 0, 0, 0, 0]);
        dump.extend((body.len() as u32).to_be_bytes());
        dump.extend(body);
    };
    let id = |id: u64| id.to_be_bytes();
    record(0x01, &[&id(7), name.as_bytes()]);
    for class in 0..classes {
        record(0x02, &[&[0; 4], &id(0x1000 + 8 * class), &[0; 4], &id(7)]);
    }
    for class in 0..classes {
        let class_id = id(0x1000 + 8 * class);
        let superclass = id(if class == 0 { 0 } else { 0x1000 + 8 * (class - 1) });
        let instance = id(0x10_0000 + 16 * class);
        record(
            0x1c,
            &[
                // A class without fields.
                &[0x20],
                &class_id,
                &[0; 4],
                &superclass,
                &[0; 40],
                &[0; 4],
                &[0; 6],
                &[0x21],
                &instance,
                &[0; 4],
                &class_id,
                &[0; 4],
                &[0x05],
                &instance,
            ],
        );
    }
    record(0x2c, &[]);
    dump
}

#[test]
fn a_class_of_a_jvm_may_have_any_name() {
    assert_shortened(&hprof(&long(), 1), 65_535);
}

#[test]
fn many_classes_with_one_long_name_take_little() {
    let started = std::time::Instant::now();
    let (imported, _) = imported(&hprof(&long(), 300));
    assert_eq!(imported.snapshots[0].objects, 600);
    // With 50 MB for each it would be minutes.
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn a_type_of_moarvm_may_have_any_name() {
    let text = format!(
        "strings: [\"P6opaque\",\"{}\"]\ntypes: 0,1\nstatic_frames:\nsnapshot 0\ncollectables: 9,0,0,0,0,1;1,0,24,0,0,0\nreferences: 0,0,1\n",
        long()
    );
    assert_shortened(text.as_bytes(), 1 << 20);
}

#[test]
fn a_constructor_of_v8_may_have_any_name() {
    let long = long();
    let dump = format!(
        r#"{{"snapshot":{{"meta":{{"node_fields":["type","name","id","self_size","edge_count"],
"node_types":[["hidden","object","synthetic"],"string","number","number","number"],
"edge_fields":["type","name_or_index","to_node"],"edge_types":[["context","element","property"],"string_or_number","node"]}},
"node_count":2,"edge_count":1}},"nodes":[2,0,1,0,1,1,1,3,16,0],"edges":[1,0,5],"strings":["","{long}"]}}"#
    );
    assert_shortened(dump.as_bytes(), 1 << 20);
}

#[test]
fn a_class_of_ruby_or_python_may_have_any_name() {
    let long = long();
    let ruby = format!(
        "{{\"address\":\"0x10\", \"type\":\"CLASS\", \"class\":\"0x10\", \"name\":\"{long}\", \"memsize\":40}}\n\
         {{\"address\":\"0x38\", \"type\":\"OBJECT\", \"class\":\"0x10\", \"memsize\":40}}\n"
    );
    let python = format!(
        "{{\"barrow\":\"python-heap\", \"version\":1, \"python\":\"3.11.2\", \"pid\":77, \"collected\":true}}\n\
         {{\"address\":\"0x10\", \"type\":\"type\", \"module\":\"m\", \"name\":\"{long}\", \"class\":\"0x10\", \"size\":40}}\n\
         {{\"address\":\"0x38\", \"type\":\"object\", \"class\":\"0x10\", \"size\":40}}\n\
         {{\"barrow\":\"end\", \"objects\":2}}\n"
    );
    for dump in [ruby, python] {
        let (imported, types) = imported(dump.as_bytes());
        assert_eq!(imported.snapshots[0].objects, 2);
        let name = types.iter().find(|name| name.contains("LongNameLongName")).expect("the long name");
        assert!(name.len() < 2000 && name.contains("… (50000000 bytes)"), "{} bytes", name.len());
    }
}
