//! Files of several heap dumps, and files whose records do not follow each other. What is right of the files is in
//! `testdata/foreign/README.md`.

use crate::dump::{BYTE, Class, Dump, INT, LONG, OBJECT};
use crate::read::{Recorded, record, record_file};
use crate::samples::FOLDER;
use barrow_analyzer::{SnapshotId, walk};
use barrow_importers::{Counted, ImportOptions, Silent, totals};
use barrow_writer::{Options, Writer};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

fn counts(recorded: &Recorded) -> Vec<u64> {
    recorded.imported.snapshots.iter().map(|snapshot| snapshot.objects).collect()
}

fn counted(dump: &Path) -> Option<Counted> {
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("writing to nowhere");
    totals(dump, &writer, &ImportOptions::default(), &Silent).expect("a dump")
}

#[test]
fn dumps_of_public_reports_are_read_as_they_were_meant() {
    let ends = Some("the dump ends at byte 1226 without");
    for (name, objects, roots, lost, note) in [
        ("two_dumps_0c", &[16, 19][..], 1, None, ""),
        ("object_twice", &[16], 2, None, "another one before, left out: 10"),
        ("overshoot2", &[26], 2, None, "the record at byte 434 says 778 bytes, but its sub-records end after 783"),
        ("split_record", &[16], 1, None, "the sub-record at byte 1118 goes on in the next segment"),
        ("unknown_top", &[16], 1, None, "a record of unknown kind at byte 434, skipped: tag 0x77, 12 bytes"),
        ("no_end", &[16], 1, ends, ""),
    ] {
        let path = Path::new(FOLDER).join("damaged").join(format!("{name}.hprof"));
        let recorded = record_file(&path, &ImportOptions::default()).expect("a dump");
        assert_eq!(counts(&recorded), objects, "{name}");
        assert_eq!(recorded.imported.snapshots[0].roots, roots, "{name}");
        let notes = &recorded.imported.notes;
        assert!(notes.iter().any(|found| found.contains(note)), "{name}: {notes:?}");
        let found = recorded.imported.lost.as_ref().map(ToString::to_string);
        match lost {
            Some(lost) => assert!(found.as_ref().is_some_and(|found| found.starts_with(lost)), "{name}: {found:?}"),
            None => assert_eq!(found, None, "{name}"),
        }
        // A dump with sub-records that must be told apart is not counted without an import.
        match counted(&path) {
            Some(counted) => {
                let sum: u64 = counted.totals.iter().map(|of| of.objects).sum();
                assert_eq!((sum, counted.lost.map(|lost| lost.to_string())), (objects[0], found), "{name}");
            }
            None => assert!(["two_dumps_0c", "object_twice"].contains(&name), "{name}"),
        }
    }
}

/// A class at 0x100 and one at 0x108, the second of a changing name; nodes from 0x1000 on.
fn heap(dump: &mut Dump, other: u64, nodes: u64) {
    dump.load_class(0x108, other);
    dump.class(&Class { address: 0x100, fields: &[(9, OBJECT)], ..Class::default() });
    dump.class(&Class { address: 0x108, superclass: 0x100, ..Class::default() });
    for number in 0..nodes {
        let next = dump.id(0x1000 + 16 * ((number + 1) % nodes));
        dump.instance(0x1000 + 16 * number, if number == 0 { 0x108 } else { 0x100 }, &next);
    }
    dump.root(0x05, 0x100, &[]);
}

/// The names that a heap dump has, and those that the next one redefines.
fn named(id_bytes: usize) -> Dump {
    let mut dump = Dump::new("1.0.2", id_bytes);
    for (id, text) in [(1, "Node"), (2, "Before"), (3, "After"), (4, "Loaded"), (5, "Unloaded"), (9, "next")] {
        dump.string(id, text);
    }
    dump.load_class(0x100, 1);
    dump
}

/// The types of the objects of a snapshot, and the names of its classes.
fn types(recorded: &Recorded, snapshot: u32) -> (Vec<String>, Vec<String>) {
    let tables = recorded.recording.tables().expect("tables");
    let (mut types, mut classes) = (Vec::new(), Vec::new());
    walk(&recorded.recording, SnapshotId(snapshot), &barrow_analyzer::Silent, |object, _| {
        match object.name {
            Some(name) => classes.push(tables.string(name).to_owned()),
            None => types.push(tables.type_name(object.type_id).to_owned()),
        }
        Ok(())
    })
    .expect("objects");
    (types, classes)
}

#[test]
fn each_heap_dump_has_the_names_that_precede_it() {
    for (id_bytes, is_segmented) in [(4, true), (8, true), (4, false), (8, false)] {
        let mut dump = named(id_bytes);
        let end = |dump: &mut Dump| {
            if is_segmented {
                dump.segment();
                dump.record(0x2c, &[]);
            } else {
                let heap = std::mem::take(&mut dump.heap);
                dump.record(0x0c, &heap);
            }
        };
        // Loaded, and not dumped: it is there all the same. The serial of a class is that of its name.
        dump.load_class(0x200, 4);
        dump.load_class(0x208, 5);
        heap(&mut dump, 2, 3);
        end(&mut dump);
        // The agent writes UNLOAD_CLASS with the serial; the other class at 0x108 is a new one.
        dump.record(0x03, &5_u32.to_be_bytes());
        heap(&mut dump, 3, 4);
        end(&mut dump);
        // After the last dump, the profile goes on.
        dump.record(0x07, &[0; 24]);
        let recorded = record(&dump.bytes).expect("two heap dumps");
        assert_eq!(recorded.imported.lost, None);
        let strings = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let expected = (strings(&["Before", "Node", "Node"]), strings(&["Node", "Before", "Loaded", "Unloaded"]));
        assert_eq!(types(&recorded, 0), expected);
        let expected = (strings(&["After", "Node", "Node", "Node"]), strings(&["Node", "After", "Loaded"]));
        assert_eq!(types(&recorded, 1), expected);
    }
}

/// A writer that pads its buffers, and a file system that pads its blocks.
#[test]
fn zeros_in_a_segment_and_after_the_end_lose_nothing() {
    for (inside, after) in [(0, 100), (16, 0), (16, 100), (5, 3)] {
        let mut dump = named(8);
        heap(&mut dump, 2, 3);
        dump.heap.extend(vec![0; inside]);
        let mut bytes = dump.end();
        bytes.extend(vec![0; after]);
        let recorded = record(&bytes).expect("a heap dump");
        assert_eq!((counts(&recorded), recorded.imported.lost), (vec![3 + 2], None), "{inside} and {after} zeros");
        let notes = recorded.imported.notes.join("\n");
        assert_eq!(notes.matches("bytes of 0 at").count(), usize::from(inside > 0) + usize::from(after > 0), "{notes}");
    }
}

/// LeakCanary's writer ends the dump whenever a record of another kind comes between.
#[test]
fn a_dump_without_a_class_of_those_before_goes_on() {
    let mut dump = named(8);
    heap(&mut dump, 2, 3);
    dump.segment();
    dump.record(0x2c, &[]);
    dump.string(7, "Third");
    dump.load_class(0x110, 7);
    dump.class(&Class { address: 0x110, ..Class::default() });
    dump.instance(0x2000, 0x110, &[]);
    let recorded = record(&dump.end()).expect("one heap dump");
    assert_eq!(counts(&recorded), [3 + 4]);
    assert_eq!(types(&recorded, 0).0, ["Before", "Node", "Node", "Third"]);
}

#[test]
fn an_address_is_one_object() {
    for odd in [0, 1] {
        let mut dump = named(8);
        heap(&mut dump, 2, 3);
        // A class again, an instance of another type, an array where a class is, and one that is new.
        dump.class(&Class { address: 0x100, ..Class::default() });
        let array = dump.id(0x1010);
        dump.instance(0x3000 + odd, 0x100, &array);
        dump.primitive_array(0x1010, INT, 1, &[0; 4]);
        dump.primitive_array(0x100, INT, 1, &[0; 4]);
        dump.primitive_array(0x3000 + odd, INT, 1, &[0; 4]);
        dump.primitive_array(0x4000, LONG, 1, &[0; 8]);
        let recorded = record(&dump.end()).expect("a heap dump");
        assert_eq!(types(&recorded, 0).0, ["Before", "Node", "Node", "Node", "long[]"]);
        let objects = recorded.objects();
        assert!(objects[2 + 3].ends_with(" next=3"), "{objects:?}");
        assert!(objects[2].ends_with(" next=3") && objects[2 + 2].ends_with(" next=2"), "{objects:?}");
        assert!(
            recorded.imported.notes.iter().any(|note| note.ends_with("left out: 4")),
            "{:?}",
            recorded.imported.notes
        );
    }
}

/// The parts of a damaged dump: everything before the heap, and the sub-records with the names of what they hold.
fn pieces(id_bytes: usize) -> (Dump, Vec<Vec<u8>>) {
    let mut dump = named(id_bytes);
    dump.load_class(0x108, 2);
    let mut pieces = Vec::new();
    let mut take = |dump: &mut Dump| pieces.push(std::mem::take(&mut dump.heap));
    dump.class(&Class { address: 0x100, fields: &[(9, OBJECT)], ..Class::default() });
    take(&mut dump);
    dump.class(&Class { address: 0x108, superclass: 0x100, ..Class::default() });
    take(&mut dump);
    for number in 0..6 {
        let next = dump.id(0x1000);
        dump.instance(0x1000 + 16 * number, 0x100, &next);
        take(&mut dump);
    }
    dump.primitive_array(0x2000, BYTE, 40, &[7; 40]);
    take(&mut dump);
    dump.root(0x05, 0x1000, &[]);
    take(&mut dump);
    (dump, pieces)
}

fn lost(recorded: &Recorded) -> String {
    recorded.imported.lost.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_record_with_a_wrong_length_is_read_by_its_sub_records() {
    for id_bytes in [4, 8] {
        let (empty, pieces) = pieces(id_bytes);
        let whole = pieces.concat();
        for length in 1..whole.len() + 40 {
            let mut dump = empty.clone();
            let at = dump.bytes.len() + 5;
            dump.record(0x1c, &whole);
            dump.primitive_array(0x3000, BYTE, 20, &[8; 20]);
            dump.primitive_array(0x3020, BYTE, 20, &[8; 20]);
            let mut bytes = dump.end();
            bytes[at..at + 4].copy_from_slice(&(length as u32).to_be_bytes());
            let recorded = record(&bytes).expect("a heap dump");
            assert_eq!(counts(&recorded), [11], "{length} of {} bytes: {:?}", whole.len(), recorded.imported.notes);
            assert_eq!(recorded.roots(), ["sticky class = 2"], "{length}: {:?}", recorded.imported.notes);
            assert_eq!(recorded.imported.lost, None, "nothing is missing");
            let says = recorded.imported.notes.iter().any(|note| note.contains(&format!("says {length} bytes")));
            assert_eq!(says, length != whole.len(), "{:?}", recorded.imported.notes);
        }
    }
}

#[test]
fn a_sub_record_may_be_in_two_segments_or_more() {
    for id_bytes in [4, 8] {
        let (empty, pieces) = pieces(id_bytes);
        let whole = pieces.concat();
        for first in 1..whole.len() - 1 {
            for second in [1, 7, 30].map(|more| (first + more).min(whole.len())) {
                let mut dump = empty.clone();
                for part in [&whole[..first], &whole[first..second], &whole[second..]] {
                    dump.record(0x1c, part);
                }
                let recorded = record(&dump.end()).expect("a heap dump");
                let notes = &recorded.imported.notes;
                assert_eq!(counts(&recorded), [9], "cut at {first} and {second}: {notes:?} {}", lost(&recorded));
                assert_eq!(recorded.roots(), ["sticky class = 2"]);
                assert_eq!(recorded.imported.lost, None, "cut at {first} and {second} of {id_bytes}: {notes:?}");
            }
        }
    }
}

#[test]
fn what_is_unknown_is_skipped_and_said() {
    for id_bytes in [4, 8] {
        let (empty, pieces) = pieces(id_bytes);
        for at in 2..pieces.len() - 1 {
            for (unknown, is_loss) in [(&[0x77, 1, 2, 3, 4][..], true), (&[0x60, 0x61], true), (&[0; 24], false)] {
                let mut dump = empty.clone();
                dump.heap = [pieces[..at].concat(), unknown.to_vec(), pieces[at..].concat()].concat();
                let place = dump.bytes.len() + 9 + pieces[..at].concat().len();
                let recorded = record(&dump.end()).expect("a heap dump");
                let notes = &recorded.imported.notes;
                assert_eq!(counts(&recorded), [9], "{unknown:?} before {at}: {notes:?} {}", lost(&recorded));
                assert_eq!(recorded.roots(), ["sticky class = 2"], "{unknown:?} before {at}");
                let place = format!("at byte {place}");
                assert!(notes.iter().any(|note| note.contains(&place)), "{place}: {notes:?}");
                assert_eq!(lost(&recorded).contains(&place), is_loss, "{place}: {}", lost(&recorded));
            }
        }
    }
}

/// A HEAP DUMP of more than 4 GiB, whose length is modulo 2^32: three arrays of 1.5 GiB, which are holes in the file.
#[test]
#[cfg(unix)]
fn a_heap_dump_may_be_longer_than_its_length_can_say() {
    const ARRAY_BYTES: u64 = 3 << 29;
    let (mut dump, pieces) = pieces(8);
    let (classes, others) = pieces.split_at(2);
    let heads: Vec<Vec<u8>> = (0..3)
        .map(|number| {
            dump.primitive_array((1 << 40) + number * (1 << 32), BYTE, ARRAY_BYTES as u32, &[]);
            std::mem::take(&mut dump.heap)
        })
        .collect();
    let length = (classes.concat().len() + heads.concat().len() + others.concat().len()) as u64 + 3 * ARRAY_BYTES;
    dump.bytes.extend([&[0x0c, 0, 0, 0, 0], &(length as u32).to_be_bytes()[..], &classes.concat()].concat());
    let mut named = tempfile::NamedTempFile::new().expect("a file");
    let file: &mut File = named.as_file_mut();
    file.write_all(&dump.bytes).expect("written");
    for head in &heads {
        file.write_all(head).expect("written");
        file.seek(SeekFrom::Current(ARRAY_BYTES as i64)).expect("a hole");
    }
    file.write_all(&[&others.concat()[..], &[0x2c, 0, 0, 0, 0, 0, 0, 0, 0]].concat()).expect("written");
    // An import reads the zeros, and takes seconds; both find the records by the same rules.
    let counted = counted(named.path()).expect("one heap dump");
    assert_eq!(counted.lost, None);
    let sum: u64 = counted.totals.iter().map(|of| of.objects).sum();
    assert_eq!(sum, 9 + 3);
    let bytes: u64 = counted.totals.iter().map(|of| of.heap_bytes).sum();
    assert!((3 * ARRAY_BYTES..3 * ARRAY_BYTES + 2000).contains(&bytes), "{bytes}");
}

/// 5,000 heap dumps of one class each, in a file that loads more classes.
#[test]
fn a_file_of_nothing_but_heap_dumps_ends() {
    let mut dump = Dump::new("1.0.2", 8);
    dump.string(1, "A");
    (0..6_000).for_each(|class| dump.load_class(0x1000 + 8 * class, 1));
    for _ in 0..5_000 {
        dump.class(&Class { address: 0x1000, ..Class::default() });
        dump.segment();
        dump.record(0x2c, &[]);
    }
    let recorded = record(&dump.bytes).expect("a thousand snapshots");
    assert_eq!(recorded.imported.snapshots.len(), 1000);
    let lost = recorded.imported.lost.expect("the rest").to_string();
    let expected = "the number of heap dumps in the file at byte 0 is 5000, the limit is 1000; ";
    assert!(lost.starts_with(expected), "{lost}");
}

/// Objects of 45 bytes, whose trace and class look like a name of 768 bytes at one place in each.
fn nodes(addresses: impl Iterator<Item = u64>, class: u64, trace: u32) -> (Dump, Vec<usize>) {
    let mut dump = Dump::new("1.0.2", 8);
    dump.string(1, "Node");
    dump.load_class(class, 1);
    dump.class(&Class { address: class, fields: &[(1, LONG), (1, LONG), (1, INT)], ..Class::default() });
    let mut places = Vec::new();
    for address in addresses {
        places.push(dump.heap.len());
        dump.instance_at(trace, address, class, &[7; 20]);
    }
    (dump, places)
}

#[test]
fn one_wrong_byte_loses_one_object() {
    let (mut dump, places) = nodes((0..200).map(|number| 0x1000 + 48 * number), 0x300, 1);
    dump.heap[places[20]] = 0x99;
    let damaged = record(&dump.end()).expect("a heap");
    assert_eq!(counts(&damaged), [1 + 199]);
    let lost = damaged.imported.lost.expect("an object").to_string();
    assert!(lost.starts_with("1 part was left out, 45 bytes in all"), "{lost}");
}

/// The record then says that it is longer than the dump, as if that were cut.
#[test]
fn a_gap_in_a_record_does_not_end_the_dump() {
    for gap in [3, 5, 9, 12, 20, 21] {
        let (mut dump, places) = nodes((0..300).map(|number| 0xf_00f0_0000 + 48 * number), 0xf_0053_cf98, 1);
        let length = dump.heap.len() as u32;
        let heap = std::mem::take(&mut dump.heap);
        let heap = [&heap[..places[20] + 2], &heap[places[20] + 2 + gap..]].concat();
        dump.bytes.extend([&[0x0c, 0, 0, 0, 0], &length.to_be_bytes()[..], &heap].concat());
        let whole = dump.bytes.len();
        let damaged = record(&dump.bytes).expect("a heap");
        let objects = counts(&damaged)[0];
        assert!((1 + 298..=1 + 299).contains(&objects), "{objects} with a gap of {gap}");
        let lost = damaged.imported.lost.expect("an object").to_string();
        assert!(lost.contains("1 part was left out") && lost.contains(&format!("byte {whole}")), "{lost}");
        // Cut there, nothing follows.
        let cut = record(&dump.bytes[..whole - 300 + 30]).expect("a heap");
        assert!(cut.imported.lost.is_some());
    }
}

#[test]
fn superclasses_in_a_circle_are_unknown() {
    let mut dump = named(8);
    dump.load_class(0x108, 2);
    dump.load_class(0x110, 3);
    for (address, superclass) in [(0x100, 0x108), (0x108, 0x100), (0x110, 0x108)] {
        dump.class(&Class { address, superclass, fields: &[(9, OBJECT)], ..Class::default() });
    }
    let fields = dump.id(0);
    (0..10).for_each(|number| dump.instance(0x1000 + 32 * number, 0x100 + 8 * (number % 3), &fields));
    let recorded = record(&dump.end()).expect("a heap");
    assert_eq!(counts(&recorded), [3 + 10]);
    // A header of 12 bytes and a reference of 4, and no other fields.
    let types = barrow_analyzer::type_totals(&recorded.recording, SnapshotId(0)).expect("totals");
    assert!(types.iter().all(|of| of.heap_bytes == 16 * of.objects), "{types:?}");
}
