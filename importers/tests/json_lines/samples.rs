//! Real dumps of several Rubies, against what each of them counted itself at that moment.

use crate::recorded::{Recorded, record_file};
use barrow_analyzer::Silent;
use std::collections::BTreeMap;
use std::path::PathBuf;

const VERSIONS: [&str; 4] = ["3.1", "3.2", "3.3", "3.4"];

fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testdata/foreign").join(name)
}

fn recorded(version: &str, threads: usize) -> Recorded {
    record_file(&sample(&format!("ruby-{version}.jsonl.zst")), threads).expect("a whole dump")
}

fn counted(version: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(sample(&format!("ruby-{version}.counts.json"))).expect("the counts");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn kinds_are_as_many_as_count_objects_says() {
    for version in VERSIONS {
        let kinds = recorded(version, 2).counts_of_kinds();
        let counted = counted(version);
        let counted = counted["kinds"].as_object().expect("kinds");
        for (kind, bounds) in counted {
            let Some(kind) = kind.strip_prefix("T_") else { continue };
            // Counting and dumping make a few objects themselves; the collector was off.
            let [before, after] = [0, 1].map(|moment| bounds[moment].as_u64().expect("a count"));
            let found = kinds.get(&kind.to_lowercase()).copied().unwrap_or(0);
            assert!((before..=after).contains(&found), "{version} {kind}: {before} <= {found} <= {after}");
            assert!(after - before <= 10, "{version} {kind}");
        }
        let known = |kind: &str| kind == "shape" || counted.contains_key(&format!("T_{}", kind.to_uppercase()));
        assert_eq!(kinds.keys().find(|kind| !known(kind)), None, "{version}");
    }
}

#[test]
fn classes_have_as_many_instances_as_each_object_finds() {
    for version in VERSIONS {
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for ((kind, name), count) in recorded(version, 2).counts() {
            // each_object passes over these kinds. Classes are left out since it omits singleton classes.
            if ["imemo", "iclass", "shape", "class"].contains(&kind.as_str()) || name == "(hidden)" {
                continue;
            }
            // Modules are of class Module, or of a class of their own.
            let name = if name.starts_with("#<Class:") { "anonymous".to_owned() } else { name };
            *found.entry(name).or_default() += count;
        }
        let counted = counted(version);
        for (name, count) in counted["classes"].as_object().expect("classes") {
            if name != "Class" {
                let found = found.get(name).copied().unwrap_or(0);
                assert_eq!(found, count.as_u64().expect("a count"), "{version} {name}");
            }
        }
    }
}

#[test]
fn bytes_are_those_of_memsize_of_all() {
    for version in VERSIONS {
        let recorded = recorded(version, 2);
        let tables = recorded.recording.tables().expect("tables");
        let summary = barrow_analyzer::summary(&recorded.recording, barrow_analyzer::SnapshotId(0)).expect("totals");
        // memsize_of_all leaves out what belongs to the virtual machine.
        let of_program = summary
            .kinds
            .iter()
            .filter(|kind| !["imemo", "iclass", "zombie", "node", "shape"].contains(&tables.kind_name(kind.kind)));
        let bytes: u64 = of_program.map(|kind| kind.heap_bytes + kind.unmanaged_bytes).sum();
        let [before, after] = [0, 1].map(|moment| counted(version)["memsize_of_all"][moment].as_u64().expect("bytes"));
        assert!((before..=after).contains(&bytes), "{version}: {before} <= {bytes} <= {after}");
    }
}

#[test]
fn any_number_of_threads_records_the_same() {
    for version in ["3.1", "3.4"] {
        let one = recorded(version, 1);
        for threads in [2, 8] {
            let other = recorded(version, threads);
            assert_eq!(other.imported.snapshots, one.imported.snapshots);
            assert_eq!(other.imported.notes, one.imported.notes);
            assert_eq!(other.counts(), one.counts());
            assert_eq!(other.roots(), one.roots());
            assert_eq!(other.lines(), one.lines());
        }
    }
}

#[test]
fn nothing_is_lost_of_real_dumps() {
    for version in VERSIONS {
        let recorded = recorded(version, 2);
        assert_eq!(recorded.imported.lost, None);
        let verified = barrow_analyzer::verify(&recorded.recording, &barrow_analyzer::Silent).expect("read");
        assert_eq!(verified.problems, []);
        let totals = recorded.totals();
        assert!(totals.roots > 100 && totals.references > totals.objects, "{version}: {totals:?}");
    }
}

/// The word is in no sample but as a key.
#[test]
fn generations_have_as_many_objects_as_lines_say() {
    for version in VERSIONS {
        let file = std::fs::File::open(sample(&format!("ruby-{version}.jsonl.zst"))).expect("a sample");
        let text = std::io::read_to_string(zstd::Decoder::new(file).expect("zstd")).expect("text");
        let mut said: BTreeMap<u64, u64> = BTreeMap::new();
        for (place, key) in text.match_indices("\"generation\":") {
            let digits = text[place + key.len()..].split(|c: char| !c.is_ascii_digit()).next();
            *said.entry(digits.and_then(|digits| digits.parse().ok()).expect("a number")).or_default() += 1;
        }
        let totals = recorded(version, 2).into_heap().generation_totals(None, &Silent).expect("totals");
        let found = totals.into_iter().filter_map(|(generation, sum)| Some((generation?, sum.objects)));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), said, "{version}");
        assert!(!said.is_empty(), "{version}");
    }
}

/// The lines of a sample, as another reader of JSON sees them.
fn lines(version: &str) -> Vec<serde_json::Value> {
    let file = std::fs::File::open(sample(&format!("ruby-{version}.jsonl.zst"))).expect("a sample");
    let text = std::io::read_to_string(zstd::Decoder::new(file).expect("zstd")).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// `docs/imports.md` lists the values that Ruby leaves out of a line.
#[test]
fn values_are_those_of_the_lines() {
    for version in VERSIONS {
        let [lengths, bytes, capacities, encodings] =
            [".length", ".bytesize", ".capacity", ".encoding"].map(|field| recorded(version, 2).held(field));
        let (mut known, mut unknown) = (0, 0);
        for line in lines(version) {
            let Some(address) = line["address"].as_str().map(|text| u64::from_str_radix(&text[2..], 16).expect("hex"))
            else {
                continue;
            };
            let number = |key: &str| line[key].as_u64();
            let is = |key: &str| line[key] == true;
            let (length, capacity) = match line["type"].as_str() {
                Some("ARRAY") => (number("length"), None),
                Some("HASH") => (number("size"), None),
                Some("STRING") => {
                    let own = number("bytesize").filter(|_| !is("embedded") && !is("shared"));
                    let characters = line["value"].as_str().map(|text| text.chars().count() as u64);
                    let is_binary = line["encoding"].is_null();
                    let length = characters.or(number("bytesize").filter(|&bytes| bytes == 0 || is_binary));
                    let encoding = line["encoding"].as_str().unwrap_or("ASCII-8BIT");
                    assert_eq!(encodings.get(&address).map(String::as_str), Some(encoding), "{version} {line}");
                    (length, number("capacity").or(own))
                }
                Some("SYMBOL") => (line["value"].as_str().map(|text| text.chars().count() as u64), None),
                _ => {
                    assert!(!lengths.contains_key(&address) && !bytes.contains_key(&address), "{version} {line}");
                    continue;
                }
            };
            known += u64::from(length.is_some());
            unknown += u64::from(length.is_none());
            for (field, column, value) in [
                ("length", &lengths, length),
                ("bytesize", &bytes, number("bytesize")),
                ("capacity", &capacities, capacity),
            ] {
                let found = column.get(&address).map_or("unknown", String::as_str);
                let expected = value.map_or("unknown".to_owned(), |value| value.to_string());
                assert_eq!(found, expected, "{version} {field} {line}");
            }
        }
        assert!(known > 3_500 && unknown < 1_500, "{version}: {known} {unknown}");
    }
}
