//! Real dumps against the histograms that the JVM printed at the same moment: `testdata/foreign/README.md`.

use crate::read::{Recorded, record_file};
use barrow_importers::{Counted, ImportOptions, Silent, totals};
use barrow_writer::{Options, Writer};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Instances and bytes by type.
pub(crate) type Histogram = BTreeMap<String, (u64, u64)>;

pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/foreign/jvm");

/// The file, its histogram, and its object layout.
const SAMPLES: [(&str, &str, &str); 3] = [
    ("17.hprof.zst", "17.histogram", "4,12,16,8"),
    ("17-wide.hprof.zst", "17-wide.histogram", "8,16,24,8"),
    ("25-compact.hprof.gz", "25-compact.histogram", "4,8,12,8"),
];

fn sample(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// The output of `jcmd PID GC.class_histogram`, with names as the language writes them.
pub(crate) fn histogram(text: &str) -> Histogram {
    let mut histogram = Histogram::new();
    for line in text.lines() {
        // "   1:   2345   67890  [Ljava.lang.Object; (java.base@17)"
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [rank, objects, bytes, name, ..] = words[..]
            && rank.ends_with(':')
            && let (Ok(objects), Ok(bytes)) = (objects.parse::<u64>(), bytes.parse::<u64>())
        {
            let sum = histogram.entry(readable(name)).or_default();
            *sum = (sum.0 + objects, sum.1 + bytes);
        }
    }
    histogram
}

fn readable(name: &str) -> String {
    let element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    let element = match (dimensions, element) {
        (0, element) => element,
        (_, "Z") => "boolean",
        (_, "C") => "char",
        (_, "F") => "float",
        (_, "D") => "double",
        (_, "B") => "byte",
        (_, "S") => "short",
        (_, "I") => "int",
        (_, "J") => "long",
        (_, element) => element.trim_start_matches('L').trim_end_matches(';'),
    };
    format!("{element}{}", "[]".repeat(dimensions))
}

/// Fails unless both agree, but for class objects: HotSpot may dump only those of linked classes.
pub(crate) fn assert_agree(mut found: Histogram, mut expected: Histogram) {
    let class = "java.lang.Class";
    if found[class].0 < expected[class].0 {
        found.remove(class);
        expected.remove(class);
    }
    // Filler, which G1 puts where memory is free: in a dump it looks like any other array.
    if let Some((objects, bytes)) = expected.remove("jdk.internal.vm.FillerElement[]") {
        let arrays = expected.entry("int[]".to_owned()).or_default();
        *arrays = (arrays.0 + objects, arrays.1 + bytes);
    }
    let differing: Vec<String> = expected
        .iter()
        .filter(|(name, expected)| found.get(*name) != Some(expected))
        .map(|(name, expected)| format!("{name}: {expected:?} expected, {:?} found", found.get(name)))
        .chain(found.keys().filter(|name| !expected.contains_key(*name)).map(|name| format!("{name} not expected")))
        .collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

fn recorded(name: &str) -> Recorded {
    record_file(&sample(name), &ImportOptions::default()).expect("a whole dump")
}

#[test]
fn counts_and_sizes_are_those_of_the_jvm() {
    for (dump, text, layout) in SAMPLES {
        let recorded = recorded(dump);
        assert_eq!(recorded.imported.lost, None);
        let text = std::fs::read_to_string(sample(text)).expect("the histogram");
        assert_agree(recorded.histogram(), histogram(&text));
        let snapshot = recorded.recording.snapshot(crate::read::SNAPSHOT).expect("the snapshot");
        let pair = ("object layout".to_owned(), layout.to_owned());
        assert!(snapshot.key_values.contains(&pair), "{:?}", snapshot.key_values);
    }
}

#[test]
fn counting_is_importing_without_objects() {
    for (dump, ..) in SAMPLES {
        let recorded = recorded(dump);
        let folder = tempfile::tempdir().expect("a folder");
        let plain = folder.path().join("plain.hprof");
        let packed = std::fs::read(sample(dump)).expect("the sample");
        let bytes = if dump.ends_with(".gz") {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&packed[..]), &mut bytes).expect("a sample");
            bytes
        } else {
            zstd::decode_all(&packed[..]).expect("a sample")
        };
        std::fs::write(&plain, bytes).expect("written");
        let path = folder.path().join("types.barrow");
        let writer = Writer::create(&path, Options::default()).expect("a new file");
        let Counted { totals, lost, notes } =
            totals(&plain, &writer, &ImportOptions::default(), &Silent).expect("a whole dump").expect("HPROF");
        assert!(lost.is_none());
        assert_eq!(notes, Vec::<String>::new(), "{dump}");
        let snapshot = writer.begin_snapshot(barrow_writer::SnapshotInfo::default()).expect("a snapshot");
        snapshot.commit().expect("a snapshot");
        writer.finish().expect("a recording");
        let types = barrow_analyzer::Recording::open(&path).expect("a recording");
        let tables = types.tables().expect("tables");
        let mut histogram = Histogram::new();
        for count in totals {
            let sum = histogram.entry(tables.type_name(count.type_id).to_owned()).or_default();
            *sum = (sum.0 + count.objects, sum.1 + count.heap_bytes);
        }
        assert!(histogram == recorded.histogram(), "{dump}");
    }
}

#[test]
fn roots_have_threads_and_frames() {
    let recorded = recorded("17.hprof.zst");
    let (roots, threads) = (recorded.roots(), recorded.threads());
    for name in ["main", "first", "second", "with spaces ä€"] {
        assert_eq!(threads.iter().filter(|(_, of)| *of == name).count(), 1, "{threads:?}");
    }
    assert!(threads.is_sorted());
    let frame = |thread: &str, method: &str| {
        roots.iter().any(|root| root.starts_with(&format!("Java frame, {thread}: Shapes.{method}(Shapes.java:")))
    };
    assert!(frame("first", "park") && frame("with spaces ä€", "park"), "{roots:#?}");
    assert!(frame("main", "main"));
    assert!(roots.iter().any(|root| root.starts_with("thread, second = ")));
    // The objects that are threads have their names, as have strings that say the same.
    for name in ["main", "first", "second", "with spaces ä€"] {
        let mut types = recorded.named(name);
        assert!(types.contains(&"java.lang.String"), "{name}");
        types.retain(|of| *of != "java.lang.String");
        assert_eq!(types, ["java.lang.Thread"], "{name}");
    }
}

#[test]
fn references_have_their_strength() {
    let recorded = recorded("17.hprof.zst");
    let objects = recorded.objects();
    let count =
        |start: &str, part: &str| objects.iter().filter(|line| line.starts_with(start) && line.contains(part)).count();
    assert!(count("", " weak:referent=") > 10);
    assert!(count("java.lang.ref.SoftReference(", " soft:referent=") > 0);
    assert!(count("", " phantom:referent=") > 0);
    assert_eq!(count("java.util.WeakHashMap$Entry(", " weak:referent="), count("java.util.WeakHashMap$Entry(", ""));
    assert_eq!(count("java.lang.ref.Finalizer(", " finalizer:referent="), 10);
    // Fields of superclasses follow those of the class.
    assert_eq!(count("Shapes$Tail(", " self="), 103);
    assert_eq!(count("Shapes$Tail(72) ", " self="), 0);
}

#[test]
fn any_number_of_threads_makes_the_same_recording() {
    for (file, ..) in SAMPLES {
        let by = |threads| {
            let threads = NonZero::new(threads).expect("threads");
            record_file(&sample(file), &ImportOptions { threads, ..ImportOptions::default() }).expect("a dump")
        };
        let one = by(1);
        let objects = one.objects();
        for threads in [2, 3, 8] {
            let other = by(threads);
            assert_eq!(other.imported.snapshots, one.imported.snapshots, "{file}, {threads} threads");
            assert_eq!(other.histogram(), one.histogram(), "{file}, {threads} threads");
            assert!(other.roots() == one.roots(), "{file}, {threads} threads");
            assert!(other.objects() == objects, "{file}, {threads} threads");
        }
    }
}
