//! In which order several dumps become the snapshots of a recording, and which times these have.

use crate::program;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::program::{Run, run, testdata};
use serde_json::Value;

/// A Ruby dump with this number of objects under a root.
fn dump(objects: usize) -> String {
    let root = "{\"type\":\"ROOT\", \"root\":\"vm\", \"references\":[\"0x8\"]}\n".to_owned();
    (1..=objects).fold(root, |dump, number| {
        dump + &format!("{{\"address\":\"{:#x}\", \"type\":\"OBJECT\", \"memsize\":40}}\n", 8 * number)
    })
}

/// Writes dumps of these names, whose files were changed the given number of minutes ago.
fn dumps(folder: &Path, files: &[(&str, u64)]) -> Vec<PathBuf> {
    let write = |(at, &(name, minutes)): (usize, &(&str, u64))| {
        let path = folder.join(name);
        std::fs::write(&path, dump(at + 1)).unwrap();
        changed(&path, minutes);
        path
    };
    files.iter().enumerate().map(write).collect()
}

fn changed(path: &Path, minutes_ago: u64) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes_ago)).unwrap();
}

/// Imports the dumps; returns what was said, the labels of the snapshots, and their times.
fn imported(folder: &Path, dumps: &[PathBuf], flags: &[&str]) -> (Run, Vec<String>, Vec<Option<u64>>) {
    let series = folder.join("series.barrow").display().to_string();
    let dumps: Vec<String> = dumps.iter().map(|dump| dump.display().to_string()).collect();
    let mut words = vec!["import", "-o", &series, "--force", "--format", "json"];
    words.extend(dumps.iter().map(String::as_str).chain(flags.iter().copied()));
    let import = run(&words);
    assert_eq!(import.code, 0, "{}", import.stderr);
    let snapshots: Value = serde_json::from_str(&run(&["snapshots", &series, "--format", "json"]).stdout).unwrap();
    let rows = snapshots["snapshots"].as_array().unwrap();
    let labels = rows.iter().map(|row| row["label"].as_str().unwrap().to_owned()).collect();
    (import, labels, rows.iter().map(|row| row["time_ns"].as_u64()).collect())
}

#[test]
fn dumps_stay_in_the_order_typed_whatever_the_times_of_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let dumps = dumps(folder.path(), &[("second", 1), ("first", 2), ("third", 3)]);
    let (import, labels, times) = imported(folder.path(), &dumps, &[]);
    assert_eq!(labels, ["second", "first", "third"]);
    assert_eq!(times, [None; 3], "a file's time is none of the snapshot's");
    assert_eq!(import.stderr.lines().count(), 1, "{}", import.stderr);
    assert!(import.stderr.contains("--by-time"), "{}", import.stderr);
    let answer: Value = serde_json::from_str(&import.stdout).unwrap();
    assert_eq!(answer["order"], "as typed");
}

#[test]
fn dumps_typed_as_by_a_glob_are_in_natural_order() {
    let folder = tempfile::tempdir().unwrap();
    let dumps = dumps(folder.path(), &[("n-1", 5), ("n-10", 5), ("n-2", 5)]);
    let one_moment = std::fs::metadata(&dumps[0]).unwrap().modified().unwrap();
    for dump in &dumps {
        std::fs::File::options().append(true).open(dump).unwrap().set_modified(one_moment).unwrap();
    }
    let (import, labels, _) = imported(folder.path(), &dumps, &[]);
    assert_eq!(labels, ["n-1", "n-2", "n-10"]);
    assert!(import.stderr.contains("natural order"), "{}", import.stderr);
    // Nothing to say where both orders are the same.
    let names = [dumps[0].clone(), dumps[2].clone()];
    assert_eq!(imported(folder.path(), &names, &[]).0.stderr, "");
}

#[test]
fn by_time_sorts_by_file_times_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let dumps = dumps(folder.path(), &[("a", 1), ("b", 3), ("c", 2)]);
    let (import, labels, times) = imported(folder.path(), &dumps, &["--by-time"]);
    assert_eq!((labels.join(" ").as_str(), times), ("b c a", vec![None; 3]));
    assert!(import.stderr.contains("times of the files"), "{}", import.stderr);
    let refused = run(&["summary", &program::recording(), "--by-time"]);
    assert!(refused.code == 2 && refused.stderr.contains("--by-time"), "{}", refused.stderr);
}

#[test]
fn the_times_in_the_dumps_order_them_and_are_those_of_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["25-compact.hprof.gz", "17-wide.hprof.zst", "17.hprof.zst"];
    let dumps = names.map(|name| testdata(&format!("foreign/jvm/{name}")));
    for flags in [&[][..], &["--by-time"]] {
        let (import, labels, times) = imported(folder.path(), &dumps, flags);
        assert_eq!(labels, ["17.hprof.zst", "17-wide.hprof.zst", "25-compact.hprof.gz"]);
        assert!(times[0] == Some(0) && times.is_sorted() && times[2] > times[0], "{times:?}");
        assert!(import.stderr.contains("times that the dumps"), "{}", import.stderr);
        let answer: Value = serde_json::from_str(&import.stdout).unwrap();
        assert_eq!(answer["order"], "times in the dumps");
    }
}
