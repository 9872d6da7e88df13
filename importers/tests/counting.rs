//! Counting a dump by type says what an import says, or fails as it does.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use barrow_analyzer::{Recording, SnapshotId, Tables, TypeId, type_totals};
use barrow_importers::{FORMATS, ImportOptions, Silent, import, totals};
use barrow_testdata::{Random, Shelf};
use barrow_writer::{Options, SnapshotInfo, Writer};

/// Objects, bytes and unmanaged bytes by all that a recording says of a type.
type Histogram = BTreeMap<String, (u64, u64, u64)>;

/// A histogram, and what was lost of the dump; or an error. Of several errors in a dump an import may meet another first.
type Answer = Result<(Histogram, Option<String>), ()>;

fn describe(tables: &Tables, id: TypeId) -> String {
    let attributes: Vec<_> = tables.type_attributes(id).collect();
    let kind = tables.kind_name(tables.type_kind(id));
    let place = (tables.type_layout(id), tables.type_file(id), tables.type_line(id));
    format!("{kind} {:?} {place:?} {attributes:?}", tables.type_name(id))
}

fn histogram(tables: &Tables, counts: impl IntoIterator<Item = (TypeId, (u64, u64, u64))>) -> Histogram {
    let mut histogram = Histogram::new();
    for (id, (objects, bytes, unmanaged)) in counts {
        let sum = histogram.entry(describe(tables, id)).or_default();
        *sum = (sum.0 + objects, sum.1 + bytes, sum.2 + unmanaged);
    }
    histogram
}

fn writer() -> (Shelf, Writer) {
    let shelf = Shelf::default();
    let options = Options::without_threads();
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).expect("writing to memory");
    (shelf, writer)
}

fn options(threads: usize) -> ImportOptions {
    ImportOptions { threads: NonZero::new(threads).expect("threads"), ..ImportOptions::default() }
}

/// By counting; `None` if dumps of this format cannot be counted.
fn counted(dump: &Path, threads: usize) -> Option<Answer> {
    let (shelf, writer) = writer();
    let counted = match totals(dump, &writer, &options(threads), &Silent) {
        Ok(counted) => counted?,
        Err(_) => return Some(Err(())),
    };
    writer.begin_snapshot(SnapshotInfo::default()).and_then(barrow_writer::Snapshot::commit).expect("a snapshot");
    writer.finish().expect("a recording");
    let types = Recording::from_bytes(shelf.take()).expect("a recording");
    let ids: Vec<u32> = counted.totals.iter().map(|count| count.type_id.0).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "each type once, in order");
    let counts = counted
        .totals
        .iter()
        .map(|count| (TypeId(count.type_id.0), (count.objects, count.heap_bytes, count.unmanaged_bytes)));
    Some(Ok((histogram(types.tables().expect("tables"), counts), counted.lost.map(|lost| lost.to_string()))))
}

/// By an import.
fn imported(dump: &Path) -> Answer {
    let (shelf, writer) = writer();
    let imported = import(dump, &writer, &options(1), &Silent).map_err(drop)?;
    writer.finish().expect("a recording");
    let recording = Recording::from_bytes(shelf.take()).expect("a recording");
    let totals = type_totals(&recording, SnapshotId(0)).expect("totals");
    let counts = totals.iter().map(|of| (of.type_id, (of.objects, of.heap_bytes, of.unmanaged_bytes)));
    let histogram = histogram(recording.tables().expect("tables"), counts.filter(|(_, (objects, ..))| *objects > 0));
    Ok((histogram, imported.lost.map(|lost| lost.to_string())))
}

fn foreign() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/foreign"))
}

/// The samples that are packed as `.zst`, unpacked.
fn unpacked(sample: &str) -> tempfile::NamedTempFile {
    let packed = std::fs::read(foreign().join(sample)).expect("the sample");
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), zstd::decode_all(&packed[..]).expect("a whole stream")).expect("written");
    file
}

/// One count would be that of doubled objects.
#[test]
fn several_dumps_in_one_file_have_no_count() {
    for sample in ["ruby-3.1.jsonl.zst", "python-3.11.jsonl.zst"] {
        let dump = unpacked(sample);
        assert!(counted(dump.path(), 2).is_some(), "{sample}");
        let text = std::fs::read(dump.path()).expect("the dump");
        std::fs::write(dump.path(), [&text[..], &text].concat()).expect("written");
        assert!(counted(dump.path(), 2).is_none(), "{sample}");
    }
}

#[test]
fn counts_of_samples_are_those_of_imports() {
    let mut counted_formats = Vec::new();
    let more = ["ruby-3.2.jsonl.zst", "ruby-3.3.jsonl.zst", "ruby-3.4.jsonl.zst", "v8/chrome147-page.heapsnapshot.zst"];
    // HPROF has a test of its own.
    let formats = FORMATS.iter().filter(|format| format.key() != "hprof");
    let samples = formats.map(|format| format.sample()).filter(|sample| sample.ends_with(".zst"));
    for sample in samples.chain(more) {
        let dump = unpacked(sample);
        if counted(dump.path(), 1).is_none() {
            continue;
        }
        let (expected, lost) = imported(dump.path()).expect("a whole dump");
        assert_eq!(lost, None);
        for threads in [1, 2, 8] {
            let (found, lost) = counted(dump.path(), threads).expect("a format that can be counted").expect("counts");
            assert_eq!(found, expected, "{sample} with {threads} threads");
            assert_eq!(lost, None);
        }
        counted_formats.push(sample);
    }
    for name in ["ruby-3.1", "python-3.11", "v8/node20-cards-1"] {
        assert!(counted_formats.iter().any(|sample| sample.starts_with(name)), "{name} is counted");
    }
}

/// Small dumps with something of everything.
fn small_dumps() -> Vec<Vec<u8>> {
    let ruby = r##"{"type":"ROOT", "root":"vm", "references":["0x1000", "0x1028"]}
{"address":"0x800", "type":"SHAPE", "id":0, "shape_type":"ROOT", "depth":1, "memsize":40}
{"address":"0x1000", "type":"CLASS", "class":"0x1050", "name":"Card", "superclass":"0x1078", "slot_size":160, "memsize":600}
{"address":"0x1028", "type":"OBJECT", "class":"0x1000", "ivars":1, "references":["0x10a0"], "file":"a.rb", "line":3, "memsize":40}
{"address":"0x1050", "type":"CLASS", "class":"0x1078", "singleton":true, "real_class_name":"Card"}

{"address":"0x10a0", "type":"STRING", "class":"0x1078", "value":"a \"text\"", "memsize":4000, "flags":{"old":true}}
{"address":"0x10c8", "type":"DATA", "class":"0x1000", "struct":"proc", "memsize":100}
{"address":"0x10f0", "type":"IMEMO", "imemo_type":"ment", "mid":"draw", "class":"0x1000"}
{"address":"0x1118", "type":"NONE"}
{ "type":"HASH", "address":"0x1140" }
"##;
    let python = r##"{"barrow":"python-heap", "version":1, "python":"3.11.2", "pid":7, "collected":true}
{"type":"ROOT", "root":"modules", "references":["0x10"], "labels":["sys"]}
{"address":"0x10", "type":"type", "class":"0x10", "size":64, "name":"Card", "module":"game"}
{"address":"0x20", "type":"object", "class":"0x10", "size":48, "references":["0x10"], "elements":1}
{"address":"0x30", "type":"frame", "class":"0x99", "size":400, "function":"run", "file":"a.py", "line":12}
{"barrow":"end", "objects":3}
"##;
    let v8 = r#"{"snapshot":{"meta":{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],
"node_types":[["hidden","object","native","synthetic","string"],"string","number","number","number","number","number"],
"edge_fields":["type","name_or_index","to_node"],"edge_types":[["element","property","weak"],"string_or_number","node"],
"trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],
"trace_node_fields":["id","function_info_index","count","size","children"],
"location_fields":["object_index","script_id","line","column"]},"node_count":5,"edge_count":4},
"nodes":[3,0,1,0,2,0,0
,1,1,3,24,1,0,0
,1,1,5,32,0,0,0
,2,2,7,100,1,0,2
,2,3,9,8,0,0,0
],"edges":[0,1,7,1,1,21,1,4,14,1,3,28],
"trace_function_infos":[],"trace_tree":[],"samples":[],"locations":[7,5,2,4,14,5,2,9],
"strings":["","Card","<div id=\"a\">","Text","next"]}
"#;
    [ruby, python, v8].map(|text| text.as_bytes().to_vec()).into()
}

fn assert_agree(dump: &[u8], what: &str) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), dump).expect("written");
    let expected = imported(file.path());
    for threads in [1, 2] {
        // A file of no known format is neither counted nor imported.
        let Some(found) = counted(file.path(), threads) else {
            assert!(barrow_importers::recognise(dump).is_none(), "{what}");
            continue;
        };
        assert_eq!(found, expected, "{what}: {}", dump.escape_ascii());
    }
}

#[test]
fn counts_of_cut_dumps_are_those_of_imports() {
    for dump in small_dumps() {
        for length in 0..=dump.len() {
            assert_agree(&dump[..length], &format!("cut at {length}"));
        }
    }
}

#[test]
fn counts_of_damaged_dumps_are_those_of_imports() {
    let mut numbers = Random::new(1);
    let mut random = |below: usize| numbers.below(below as u64) as usize;
    for dump in small_dumps() {
        for _ in 0..600 {
            let mut damaged = dump.clone();
            for _ in 0..=random(3) {
                let at = random(damaged.len());
                match random(4) {
                    0 => damaged[at] = b"\"\\,:[]{}0123456789 \n\xff"[random(21)],
                    1 => drop(damaged.remove(at)),
                    2 => damaged.insert(at, b"0123456789,\""[random(12)]),
                    _ => {
                        let to = random(damaged.len());
                        damaged.swap(at, to);
                    }
                }
            }
            assert_agree(&damaged, "damaged");
        }
    }
}
