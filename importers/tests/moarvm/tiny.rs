//! A tiny heap in every format, and in everything that builds of MoarVM write differently.

use crate::dump::{Build, DEBIAN, Dump, Snapshot, StringsField, TablesAt, tiny};
use crate::recorded::{Described, record};
use barrow_analyzer::{Heap, IndexPlace, KindRole, Memory, ObjectId, ObjectSet, Silent, SnapshotId};
use barrow_importers::{Damage, ImportError, Kept, Loss};
use std::path::Path;
use std::sync::Arc;

fn described(
    kind: &str,
    role: KindRole,
    name: &str,
    layout: Option<&str>,
    source: Option<(&str, u32)>,
    sizes: (u64, u64),
    references: &[(&str, u32)],
) -> Described {
    Described {
        kind: kind.to_string(),
        role,
        name: name.to_string(),
        layout: layout.map(str::to_string),
        source: source.map(|(file, line)| (file.to_string(), line)),
        sizes,
        reference_count: references.len() as u64,
        references: references.iter().map(|(label, target)| (label.to_string(), *target)).collect(),
    }
}

/// The objects of [`tiny`]'s first snapshot.
fn first_snapshot() -> Vec<Described> {
    let (opaque, root) = (Some("P6opaque"), KindRole::Root);
    let title = [("$!title", 5), ("[300]", 6), ("[8589934592]", 4)];
    vec![
        described("root", root, "root", None, None, (0, 0), &[("Thread Roots", 1), ("?", 2)]),
        described("thread roots", root, "thread roots", None, None, (0, 0), &[("?", 4)]),
        described("call stack roots", root, "call stack roots", None, None, (0, 0), &[("[0]", 3)]),
        described("frame", KindRole::Frame, "walk", None, Some(("src/walk.raku", 14)), (200, 16), &[("?", 4)]),
        described("object", KindRole::Object, "Document", opaque, None, (24, 0), &title),
        described("type object", KindRole::Type, "Document", opaque, None, (16, 0), &[]),
        described("STable", KindRole::Type, "Document", opaque, None, (65535, 1 << 40), &[("[70000]", 5)]),
        described("object", KindRole::Object, "<anon SCRef>", Some("SCRef"), None, (32, 0), &[]),
    ]
}

fn assert_is_tiny(bytes: &[u8], format: &str) {
    let recorded = record(bytes).expect("a whole dump");
    assert_eq!(recorded.imported.format.key(), format);
    assert_eq!(recorded.imported.lost, None);
    assert_eq!(recorded.objects(0, 1), first_snapshot());
    let mut second = first_snapshot();
    let nameless = [("späte Eigenschaft", 7)];
    second.push(described("frame", KindRole::Frame, "<anon>", None, Some(("", 1)), (8, 0), &nameless));
    assert_eq!(recorded.objects(1, 1), second);
    assert_eq!(recorded.imported.snapshots, [recorded.totals(0), recorded.totals(1)]);
    assert_eq!(recorded.totals(0).roots, 1);
    assert_eq!(recorded.totals(0).references, 9);
    assert_eq!(recorded.totals(0).heap_bytes, 200 + 24 + 16 + 65535 + 32);
    assert_eq!(recorded.totals(0).unmanaged_bytes, 16 + (1 << 40));
}

#[test]
fn every_format_means_the_same_heap() {
    assert_is_tiny(&tiny().format1(), "moarvm-1");
    assert_is_tiny(&tiny().format2(DEBIAN), "moarvm-2");
    assert_is_tiny(&tiny().format3(None), "moarvm-3");
}

#[test]
fn the_sample_of_format_1_is_this_heap() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/foreign/moarvm-1-tiny.mvmheap");
    let bytes = tiny().format1();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &bytes).expect("written");
    }
    assert!(std::fs::read(&path).expect("the sample") == bytes, "BLESS=1 rewrites {}", path.display());
}

#[test]
fn builds_of_format_2_differ_in_tables_and_strings() {
    for tables in [TablesAt::EachSnapshot, TablesAt::TheEnd] {
        for strings_field in [StringsField::First, StringsField::Count] {
            assert_is_tiny(&tiny().format2(Build { tables, strings_field, index: true }), "moarvm-2");
        }
    }
}

#[test]
fn format_2_without_index_is_a_killed_process() {
    let bytes = tiny().format2(Build { index: false, ..DEBIAN });
    let imported = record(&bytes).expect("whole snapshots").imported;
    assert_eq!(imported.snapshots.len(), 2);
    assert_eq!(
        imported.lost.expect("a missing index").to_string(),
        format!(
            "the dump ends at byte {} without its index, as after a kill; 2 whole snapshots were imported",
            bytes.len()
        )
    );
}

#[test]
fn an_index_that_lies_is_not_followed() {
    let whole = tiny().format2(DEBIAN);
    let index = whole.len() - 96;
    for lie in [0_u64, 20, 21, 1 << 20, u64::MAX] {
        let mut bytes = whole.clone();
        bytes[index + 8..index + 16].copy_from_slice(&lie.to_le_bytes());
        assert_is_tiny(&bytes, "moarvm-2");
    }
}

#[test]
fn format_1_may_have_its_tables_at_the_end() {
    let text = String::from_utf8(tiny().format1()).expect("text");
    let (tables, snapshots) = text.split_at(text.find("\nsnapshot 0").expect("a snapshot"));
    assert_is_tiny(format!("{}{tables}", &snapshots[1..]).as_bytes(), "moarvm-1");
    assert_is_tiny(text.replace('\n', "\r\n").as_bytes(), "moarvm-1");
}

#[test]
fn format_3_says_when_a_snapshot_was_taken() {
    let recorded = record(&tiny().format3(None)).expect("a whole dump");
    let info = recorded.recording.snapshot(SnapshotId(1)).expect("the snapshot");
    assert_eq!((info.time_ns, info.gc_number), (Some(1_001_000), Some(1)));
    assert!(info.key_values.contains(&("total_frames".to_string(), "1".to_string())), "{:?}", info.key_values);
    let facts = recorded.recording.facts().expect("facts");
    for (key, value) in [("runtime", "MoarVM"), ("pid", "77"), ("source format", "MoarVM heap dump, format 3")] {
        assert!(facts.contains(&(key.to_string(), value.to_string())), "{facts:?}");
    }
}

#[test]
fn format_3_is_compared_with_its_own_totals() {
    let notes = |bytes: &[u8]| record(bytes).expect("a whole dump").imported.notes;
    let reason = "(it leaves out those reached from call stacks)";
    assert_eq!(
        notes(&tiny().format3(None)),
        [
            format!("snapshot 0: MoarVM states total_frames 0, the dump holds 1 {reason}"),
            format!("snapshot 1: MoarVM states total_frames 1, the dump holds 2 {reason}"),
        ]
    );
    assert_eq!(
        notes(&tiny().format3(Some(", \"total_refs\": 8"))),
        [
            "snapshot 0: MoarVM states total_refs 8, the dump holds 9",
            "snapshot 1: MoarVM states total_refs 8, the dump holds 10"
        ]
    );
}

#[test]
fn strings_that_are_not_utf8_are_escaped() {
    let mut dump = tiny();
    dump.strings[1] = b"Doc\xffument".to_vec();
    for bytes in [dump.format2(DEBIAN), dump.format3(Some(""))] {
        let recorded = record(&bytes).expect("a whole dump");
        assert_eq!(recorded.objects(0, 1)[4].name, "Doc\\xffument");
        assert_eq!(recorded.imported.notes, ["1 strings are not UTF-8; their invalid bytes are written as \\xNN"]);
    }
}

/// The losses of the second snapshot of [`tiny`] after `change`, the same in every format.
fn loss_after(change: impl Fn(&mut Snapshot)) -> Vec<Loss> {
    let mut dump = tiny();
    change(&mut dump.snapshots[1]);
    let formats = [dump.format1(), dump.format2(DEBIAN), dump.format3(Some(""))];
    let losses = formats.iter().map(|bytes| {
        let recorded = record(bytes).expect("one whole snapshot");
        assert_eq!(recorded.objects(0, 1), first_snapshot());
        assert_eq!(recorded.recording.snapshot_count(), 1);
        recorded.imported.lost.expect("a damaged snapshot")
    });
    losses.inspect(|loss| assert_eq!((loss.snapshot, loss.kept), (Some(1), Kept::Snapshots(1)))).collect()
}

fn assert_out_of_range(change: impl Fn(&mut Snapshot), expected: (&str, u64, u64)) {
    for loss in loss_after(change) {
        let Damage::OutOfRange { what, value, limit, offset } = loss.damage else { panic!("{loss}") };
        assert_eq!((what, value, limit), expected);
        assert!(offset > 0);
    }
}

#[test]
fn what_does_not_exist_ends_the_import() {
    assert_out_of_range(|snapshot| snapshot.references[4][2] = 9, ("the target of a reference", 9, 9));
    assert_out_of_range(|snapshot| snapshot.references[0][1] = 12, ("the name of a reference", 12, 12));
    assert_out_of_range(|snapshot| snapshot.references[0][0] = 3, ("the kind of a reference's description", 3, 2));
    assert_out_of_range(|snapshot| snapshot.collectables[4][1] = 2, ("the type of a collectable", 2, 2));
    assert_out_of_range(|snapshot| snapshot.collectables[3][1] = 7, ("the frame of a collectable", 7, 2));
    assert_out_of_range(|snapshot| snapshot.collectables[0][4] = 9, ("the end of a collectable's references", 11, 10));
    assert_out_of_range(
        |snapshot| snapshot.collectables[0] = [9, 0, 0, 0, 0, 10],
        ("the number of a collectable's references", 1, 0),
    );
}

#[test]
fn an_unknown_kind_ends_the_import() {
    for loss in loss_after(|snapshot| snapshot.collectables[5][0] = 12) {
        assert!(matches!(loss.damage, Damage::UnknownKind { kind: 12, .. }), "{loss}");
    }
}

/// Two objects that only the remembered set refers to, one of them through the other, and one that a permanent root
/// refers to as well.
#[test]
fn the_remembered_set_keeps_nothing_alive() {
    let mut dump = tiny();
    dump.snapshots.truncate(1);
    dump.snapshots[0] = Snapshot {
        collectables: vec![
            [9, 0, 0, 0, 0, 2],  // 0: the root
            [10, 0, 0, 0, 2, 2], // 1: inter-generational roots
            [5, 0, 0, 0, 4, 1],  // 2: permanent roots
            [1, 0, 24, 0, 5, 1], // 3: a document that is remembered
            [1, 0, 32, 8, 0, 0], // 4: what it refers to
            [1, 0, 40, 0, 6, 0], // 5: one that is held
        ],
        references: vec![[0, 0, 1], [0, 0, 2], [1, 0, 3], [1, 1, 5], [1, 0, 5], [2, 10, 4]],
        tables: [12, 2, 2],
    };
    for bytes in [dump.format1(), dump.format2(DEBIAN), dump.format3(None)] {
        let recorded = record(&bytes).expect("a whole dump");
        let tables = recorded.recording.tables().expect("tables");
        let strengths = |object| {
            let outgoing = barrow_analyzer::outgoing(&recorded.recording, SnapshotId(0), ObjectId(object));
            let outgoing = outgoing.expect("references");
            outgoing.iter().map(|reference| tables.strength_name(reference.strength).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            [0, 1, 2, 3].map(strengths).concat(),
            ["strong", "strong", "remembered", "remembered", "strong", "strong"]
        );
        let heap = Heap::new(Arc::new(recorded.recording), SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited());
        let heap = heap.expect("a heap");
        let ids = |set: ObjectSet| set.iter().map(|object| object.0).collect::<Vec<_>>();
        assert_eq!(ids(heap.unreachable(&Silent).expect("a search")), [3, 4]);
        assert_eq!(ids(heap.only_remembered(&Silent).expect("a search").expect("a remembered set")), [3, 4]);
    }
}

#[test]
fn references_without_a_source_and_missing_roots_are_noted() {
    let mut dump = tiny();
    dump.snapshots.truncate(1);
    dump.snapshots[0].collectables[0] = [5, 0, 0, 0, 0, 1];
    for bytes in [dump.format1(), dump.format2(DEBIAN), dump.format3(Some(""))] {
        assert_eq!(
            record(&bytes).expect("a whole dump").imported.notes,
            [
                "snapshot 0 has no collectable of kind 9, so no GC root",
                "snapshot 0: 1 references belong to no collectable and were left out",
            ]
        );
    }
}

#[test]
fn a_dump_without_snapshots_is_an_error() {
    let empty = Dump::default();
    for bytes in [b"snapshot ".to_vec(), b"MoarHeapDumpv002".to_vec(), b"MoarHeapDumpv003".to_vec()] {
        assert!(matches!(record(&bytes), Err(ImportError::NoWholeSnapshot { .. })), "{}", bytes.escape_ascii());
    }
    for bytes in [empty.format1(), empty.format2(DEBIAN)] {
        assert!(matches!(record(&bytes), Err(ImportError::NoSnapshot { .. })), "{}", bytes.escape_ascii());
    }
    assert!(matches!(record(b"LATIN PROFILE 1.0.2"), Err(ImportError::Unrecognised { .. })));
}
