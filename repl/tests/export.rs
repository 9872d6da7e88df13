//! `export`: files for other programs, whole or not at all.

use crate::program;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::program::run;
use serde_json::Value;

/// Exports the bundled build to a file in `folder`.
fn export(folder: &Path, format: &str) -> Vec<u8> {
    let build = program::testdata("build.barrow").display().to_string();
    let to = folder.join(format).display().to_string();
    let run = run(&["export", &build, "--to", format, "-o", &to]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{format}");
    fs::read(to).unwrap()
}

#[test]
fn bars_of_a_chrome_trace_nest_on_each_thread() {
    let folder = tempfile::tempdir().unwrap();
    let trace: Value = serde_json::from_slice(&export(folder.path(), "chrome")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut lanes: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let (begin, length) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        lanes.entry(event["tid"].as_u64().unwrap()).or_default().push((begin, begin + length));
    }
    assert_eq!(lanes.values().map(Vec::len).sum::<usize>(), 58);
    for bars in lanes.values() {
        for (at, &(_, end)) in bars.iter().enumerate() {
            // Sums of microseconds are not exact.
            let apart = |&(begin, other): &(f64, f64)| begin > end - 1e-3 || other < end + 1e-3;
            assert!(bars[at + 1..].iter().all(apart), "{bars:?}");
        }
    }
    let make = events.iter().find(|event| event["name"] == "make").unwrap();
    assert_eq!(make["cat"], "build-tool");
    assert_eq!(make["args"]["arguments"], "make -j4");
    assert!(events.iter().any(|event| event["ph"] == "C" && event["args"]["bytes"].as_u64() > Some(0)));
}

/// The fields of a message: numbers with what they hold.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Result<u64, &[u8]>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let (taken, rest) = bytes.split_at(length);
        *bytes = rest;
        taken.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f))
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let number = varint(&mut bytes);
        fields.push((
            key >> 3,
            match key & 7 {
                0 => Ok(number),
                2 => {
                    let (taken, rest) = bytes.split_at(number as usize);
                    bytes = rest;
                    Err(taken)
                }
                other => panic!("wire type {other}"),
            },
        ));
    }
    fields
}

#[test]
fn slices_of_a_perfetto_trace_begin_and_end_once() {
    let folder = tempfile::tempdir().unwrap();
    let trace = export(folder.path(), "perfetto");
    let (mut open, mut last): (BTreeMap<u64, u64>, BTreeMap<u64, u64>) = Default::default();
    let (mut slices, mut counters) = (0, 0);
    for (field, packet) in fields(&trace) {
        assert_eq!(field, 1);
        let packet = fields(packet.unwrap_err());
        let find = |packet: &[(u64, Result<u64, &[u8]>)], field| {
            packet.iter().find(|(known, _)| *known == field).map(|(_, value)| value.ok())
        };
        let Some((_, Err(event))) = packet.iter().find(|(field, _)| *field == 11) else { continue };
        let event = fields(event);
        let (time, track) = (find(&packet, 8).unwrap().unwrap(), find(&event, 11).unwrap().unwrap());
        assert!(last.insert(track, time).is_none_or(|before| before <= time));
        let open = open.entry(track).or_default();
        match find(&event, 9).unwrap().unwrap() {
            1 => {
                slices += 1;
                *open += 1;
            }
            2 => *open = open.checked_sub(1).expect("a slice is open"),
            4 => counters += 1,
            other => panic!("event of type {other}"),
        }
    }
    assert!(slices == 58 && counters > 0 && open.values().all(|&open| open == 0), "{slices} {counters} {open:?}");
}

#[test]
fn rows_are_those_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let build = program::testdata("build.barrow").display().to_string();
    let json: Value = serde_json::from_slice(&export(folder.path(), "json")).unwrap();
    let asked = run(&["processes", &build, "1000", "by", "start", "--format", "json"]);
    let asked: Value = serde_json::from_str(&asked.stdout).unwrap();
    assert_eq!(json["rows"], asked["rows"]);
    let asked = run(&["processes", &build, "1000", "by", "start", "--format", "csv"]);
    assert_eq!(String::from_utf8(export(folder.path(), "csv")).unwrap(), asked.stdout);
}

#[test]
fn nothing_is_replaced_or_left_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.barrow");
    fs::copy(program::testdata("build.barrow"), &path).unwrap();
    let build = path.display().to_string();
    for (words, told) in [
        (&["--to", "chrome", "-o", build.as_str()][..], "is what is read"),
        (&["--to", "xml"], "invalid value 'xml'"),
        (&[], "which format? add `--to chrome`"),
        (&["--to", "json", "-o", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
    ] {
        let run = run(&[&["export", build.as_str()], words].concat());
        assert!(run.code != 0 && run.stderr.contains(told), "{words:?}: {}", run.stderr);
    }
    let names = || fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names(), 1);
    assert_eq!(run(&["export", &build, "--to", "perfetto"]).code, 0);
    assert!(folder.path().join("b.perfetto-trace").exists());
    let again = run(&["export", &build, "--to", "perfetto"]);
    assert!(again.code == 2 && again.stderr.contains("--force"), "{}", again.stderr);
    assert_eq!(run(&["export", &build, "--to", "perfetto", "--force"]).code, 0);
    assert_eq!(names(), 2);
    let heap = program::testdata("orders.barrow").display().to_string();
    let run = run(&["export", &heap, "--to", "json"]);
    assert!(run.code == 3 && run.stderr.contains("holds no processes"), "{}", run.stderr);
}
