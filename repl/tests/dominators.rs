//! `dominators` of places with many children: page by page to the end, nothing dropped silently.

use crate::program::{Run, run};
use barrow_testdata::Graph;
use barrow_writer::StrengthClass;
use serde_json::Value;

/// A recording whose object 0, a Map, has `lists` Lists of 1000 bytes as children, each with a Leaf of 24.
fn lists(folder: &tempfile::TempDir, count: u32) -> String {
    let path = folder.path().join("lists.barrow");
    let strong = |target| vec![(target, StrengthClass::Strong)];
    let mut graph = Graph { types: vec![2], sizes: vec![(64, 0)], references: vec![Vec::new()], roots: vec![(1, 0)] };
    for list in 1..=count {
        graph.references[0].extend(strong(list));
        graph.types.push(1);
        graph.sizes.push((1000, 0));
        graph.references.push(strong(count + list));
    }
    for _ in 0..count {
        graph.types.push(3);
        graph.sizes.push((24, 0));
        graph.references.push(Vec::new());
    }
    std::fs::write(&path, Graph::bytes_of(&[&graph], None)).expect("the recording can be written");
    path.display().to_string()
}

fn ask(file: &str, words: &[&str]) -> Run {
    run(&[&["dominators", file], words, &["--no-index", "--quiet"]].concat())
}

fn json(file: &str, words: &[&str]) -> (Value, String) {
    let run = ask(file, &[words, &["--format", "json"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    (serde_json::from_str(&run.stdout).unwrap(), run.stderr)
}

#[test]
fn machines_get_all_children() {
    let folder = tempfile::tempdir().unwrap();
    let file = lists(&folder, 20_000);
    let map = "@0";
    let (all, told) = json(&file, &[map, "--min", "0", "--depth", "2"]);
    assert_eq!((all["rows"].as_array().unwrap().len(), &all["children"], told.as_str()), (20_001, &20_000.into(), ""));
    let (last, _) = json(&file, &[map, "19998.."]);
    assert_eq!(last["rows"].as_array().unwrap().len(), 2);
    assert_eq!(last["rows"][1], all["rows"][20_000]);
    // The map, its lists and their leaves.
    let file = lists(&folder, 60_000);
    let (all, told) = json(&file, &[map, "--min", "0"]);
    assert_eq!((all["rows"].as_array().unwrap().len(), told.as_str()), (1 + 2 * 60_000, ""));
    let csv = ask(&file, &[map, "--min", "0", "--format", "csv"]);
    assert_eq!((csv.stdout.lines().count(), csv.stderr.as_str()), (2 + 2 * 60_000, ""));
}

#[test]
fn pages_go_on_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = lists(&folder, 50);
    let map = "@0";
    let (all, _) = json(&file, &[map, "0.."]);
    let expected: Vec<String> =
        all["rows"].as_array().unwrap().iter().map(|row| format!("@{}", row["object"])).collect();
    assert_eq!(expected.len(), 50);
    let listed = |line: &str| {
        let mut words =
            vec![file.clone(), "--no-index".into(), "-e".into(), "set rows 15".into(), "-e".into(), line.into()];
        (0..3).for_each(|_| words.extend(["-e".to_owned(), "more".to_owned()]));
        let run = run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
        let lists = run.stdout.lines().filter(|line| line.contains(" List "));
        let lists: Vec<String> = lists.map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect();
        (lists, run.stdout)
    };
    let (found, text) = listed(&format!("dominators {map} 0.."));
    assert_eq!(found, expected);
    assert!(text.contains("children  50\n") && text.contains("… 35 more rows: `more`"), "{text}");
    assert_eq!(listed(&format!("dominators {map} --min 0 --depth 2")).0, expected);
}

#[test]
fn children_are_added_up_by_type() {
    let folder = tempfile::tempdir().unwrap();
    let file = lists(&folder, 50);
    let map = "@0";
    let (answer, _) = json(&file, &[map, "by", "type"]);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &answer["children"]), (1, &50.into()));
    let row = &rows[0];
    assert_eq!((&row["type"], &row["children"]), (&"List".into(), &50.into()));
    assert_eq!((&row["retained_objects"], &row["retained_bytes"]), (&100.into(), &(50 * 1024).into()));
    assert_eq!(row["example_retained_bytes"], 1024);
    let of_roots = ask(&file, &["by", "type"]);
    assert!(of_roots.stdout.contains("roots: "), "{}", of_roots.stdout);
    assert_eq!(ask(&file, &[map, "by", "type", "--min", "1%"]).code, 2);
    assert_eq!(ask(&file, &[map, "by", "size"]).code, 2);
}

/// Pages far down a long list, which the index keeps the beginning of, are the same the second time.
#[test]
fn pages_far_down_are_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = lists(&folder, 70_000);
    let page = |range: &str, options: &[&str]| {
        let asked = run(&[&["dominators", &file, "@0", range, "--quiet", "--format", "csv"], options].concat());
        assert_eq!(asked.code, 0, "{}", asked.stderr);
        asked.stdout
    };
    for range in ["69000..69010", "69000..69010", "66000..66003", "66001..66003", "69990..", "5..8", "70000.."] {
        assert_eq!(page(range, &[]), page(range, &["--no-index"]), "{range}");
    }
}

/// Object 3 is garbage and refers to 2, which 1 holds: nothing is freed with 3, and with 1 what only it reaches.
#[test]
fn garbage_is_not_freed_once_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("garbage.barrow");
    let strong = |targets: &[u32]| targets.iter().map(|&target| (target, StrengthClass::Strong)).collect();
    let graph = Graph {
        types: vec![2, 1, 1, 3],
        sizes: vec![(64, 0), (100, 0), (40, 0), (1000, 0)],
        references: vec![strong(&[1]), strong(&[2]), Vec::new(), strong(&[2])],
        roots: vec![(1, 0)],
    };
    std::fs::write(&path, Graph::bytes_of(&[&graph], None)).expect("the recording can be written");
    let file = path.display().to_string();
    let freed = |words: &str| {
        let run = run(&["without", &file, words, "--format", "json", "--no-index", "--quiet"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str::<Value>(&run.stdout).unwrap()["retained_bytes"].as_u64().unwrap()
    };
    assert_eq!(freed("unreachable"), 0);
    assert_eq!(freed("size >= 100"), 140);
}
