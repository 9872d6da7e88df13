//! The smallest recording of the specification: written byte for byte as `testdata/smallest.barrow`
//! has it, and as `docs/recording-format.md` annotates it. `BLESS=1` rewrites the file, not the document.

use std::fs;

use barrow_analyzer::{Recording, Silent, verify};
use barrow_writer::{Compression, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Writer};

/// One snapshot of one object that refers to itself, kept alive by one root.
fn record(path: &std::path::Path) {
    let options = Options {
        compression: Compression::None,
        threads: 0,
        uuid: Some(*b"smallest example"),
        created_ns: Some(0),
        ..Options::default()
    };
    let writer = Writer::create(path, options).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let ring = writer.declare_type(&TypeDescription::new(kind, "Ring")).unwrap();
    let (next, globals) = (writer.string("next").unwrap(), writer.string("globals").unwrap());
    let snapshot = writer.begin_snapshot(SnapshotInfo { gc_number: Some(1), ..SnapshotInfo::default() }).unwrap();
    let mut shard = snapshot.shard();
    shard.object(0, &Object::new(ring, 16)).unwrap();
    shard.reference(Label::Name(next), StrengthId::STRONG, 0).unwrap();
    shard.root(globals, None, 0).unwrap();
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
}

/// The bytes of the lines `offset  hexadecimal bytes  | meaning` in the document's last code block.
fn annotated() -> Vec<u8> {
    let path = barrow_testdata::path("../docs/recording-format.md");
    let document = fs::read_to_string(path).unwrap();
    let block = document.split("```hexdump").nth(1).expect("the document has an annotated hexdump");
    let mut bytes = Vec::new();
    for line in block.split("```").next().unwrap_or_default().lines() {
        let Some((dump, _)) = line.split_once('|') else { continue };
        let mut words = dump.split_whitespace();
        let offset = usize::from_str_radix(words.next().unwrap(), 16).unwrap();
        assert_eq!(offset, bytes.len(), "{line}");
        bytes.extend(words.map(|word| u8::from_str_radix(word, 16).unwrap()));
    }
    bytes
}

#[test]
fn file_document_and_writer_agree() {
    let golden = barrow_testdata::path("smallest.barrow");
    barrow_testdata::assert_golden("smallest.barrow", record);
    assert_eq!(
        annotated(),
        fs::read(&golden).unwrap(),
        "docs/recording-format.md annotates something else than the golden file"
    );

    let recording = Recording::open(&golden).unwrap();
    let found = verify(&recording, &Silent).unwrap();
    assert_eq!((found.problems.as_slice(), found.objects, found.references, found.roots), ([].as_slice(), 1, 1, 1));
}
