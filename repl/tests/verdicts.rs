//! `growth`, `leaks A..B`, `trend` and `assert 'growth(…)'` say the same of a series.

use crate::program::{record_growing, record_series, run};
use barrow_testdata::Graph;
use serde_json::Value;

/// The answers about lists, whose number in each snapshot is given: the verdict, whether `leaks` lists them first, and
/// the exit code of the assertion.
fn said(counts: &[usize]) -> (String, bool, i32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.barrow");
    record_series(&path, counts);
    let path = path.to_str().unwrap();
    let json = |words: &[&str]| -> Value {
        let run = run(&[&[words[0], path], &words[1..], &["--no-index", "--format", "json"]].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", run.stdout, run.stderr))
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let growth = json(&["growth"]);
    let row = growth["rows"].as_array().unwrap().iter().find(|row| text(&row["path"]).ends_with("List")).cloned();
    let row = row.unwrap_or_else(|| panic!("no row in {growth}"));
    let trend = json(&["trend", "List"]);
    let asserted = json(&["assert", "growth(type = List) <= 0"]);
    assert_eq!(
        (&row["verdict"], &row["grows"], &row["slope_bytes"]),
        (&trend["verdict"], &trend["grows"], &trend["slope_bytes"]),
        "{counts:?}"
    );
    let words = &asserted["assertions"][0]["verdict"];
    assert!(words.is_null() || *words == row["verdict"], "{words} {row}");
    let range = format!("0..{}", counts.len() - 1);
    let leaks = run(&["leaks", path, &range, "--no-index", "--format", "json"]);
    let leaks: Value = serde_json::from_str(&leaks.stdout).unwrap();
    let first = text(&leaks["rows"][0]["path"]);
    assert!(first.is_empty() || first == text(&growth["rows"][0]["path"]), "{leaks} {growth}");
    let code = run(&["assert", path, "growth(type = List) <= 0", "--no-index"]).code;
    let of_path = format!("growth(path \"{}\") <= 0", text(&row["path"]));
    assert_eq!(run(&["assert", path, &of_path, "--no-index"]).code, code, "{of_path}");
    let found = json(&["assert", &of_path])["assertions"][0]["found"].clone();
    assert!(found == row["slope_bytes"] || (found.is_null() && code == 2), "{of_path}: {found}");
    (text(&row["verdict"]), first.ends_with("List"), code)
}

#[test]
fn all_say_the_same_of_what_grows() {
    let grows = ("grows".to_owned(), true, 1);
    assert_eq!(said(&[10, 20, 30, 40, 50, 60, 70, 80]), grows);
    assert_eq!(said(&[10, 14, 19, 24, 28, 34, 38, 43, 49, 53]), grows);
    assert_eq!(said(&[10, 20, 30, 40, 50, 60, 71, 82, 93, 104, 115, 126]), grows);
    assert_eq!(said(&[10, 80, 90, 100, 110, 120, 130, 140, 150]), grows);
}

/// Recorders that write a snapshot at the end of the program.
#[test]
fn all_say_the_same_where_the_last_snapshot_is_repeated() {
    assert_eq!(said(&[10, 20, 30, 40, 50, 60, 70, 80, 80]), ("grows".to_owned(), true, 1));
    assert_eq!(said(&[10, 20, 30, 40, 50, 60, 60]), ("rises each time, too few to be sure".to_owned(), true, 2));
}

#[test]
fn few_snapshots_that_rise_each_time_are_listed_and_left_open() {
    let rises = ("rises each time, too few to be sure".to_owned(), true, 2);
    assert_eq!(said(&[10, 20, 30, 40, 50, 60]), rises);
    assert_eq!(said(&[10, 20, 30, 40, 50]), rises);
    assert_eq!(said(&[10, 30, 45, 55, 62, 66, 68]), rises);
}

#[test]
fn what_ends_or_comes_back_has_its_reason() {
    let no = |words: &str| (words.to_owned(), false, 0);
    let flat = no("does not grow for sure: it rises ever more slowly, like a warm-up");
    assert_eq!(said(&[20, 40, 54, 64, 70, 74, 76, 77, 78, 79]), flat);
    assert_eq!(said(&[20, 23, 19, 22, 20, 24, 19, 22, 21, 20]), no("does not grow"));
    assert_eq!(said(&[20, 30, 40, 20, 30, 40, 20, 30, 40, 20, 30, 40]), no("does not grow"));
    // The interval of the slope lies above the limit, so the assertion is undecided.
    let steps = said(&[20, 22, 21, 22, 40, 41, 42, 60, 61, 60, 62, 61]);
    assert_eq!(steps, ("does not grow: it rises in steps".to_owned(), false, 2));
}

/// Thirty lists, of which ten more are held by the map instead of the pair in each snapshot; the map gains five leaves, too.
fn moving(snapshot: usize) -> Graph {
    let mut words = "root -> map(64); root -> pair(64)".to_owned();
    (0..30).for_each(|at| {
        let holder = if at < 10 * snapshot { "map" } else { "pair" };
        words += &format!("; {holder} -> list{at}(1000)");
    });
    (0..5 + 5 * snapshot).for_each(|at| words += &format!("; map -> leaf{at}(200)"));
    let (mut graph, names) = Graph::of_words(&words);
    for (type_id, name) in graph.types.iter_mut().zip(&names) {
        *type_id = ["pair", "list", "map", "leaf"].iter().position(|of| name.starts_with(of)).unwrap_or(0) as u8;
    }
    graph
}

#[test]
fn what_only_moves_from_path_to_path_comes_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.barrow");
    let graphs: Vec<Graph> = (0..3).map(moving).collect();
    std::fs::write(&path, Graph::bytes_of(&graphs.iter().collect::<Vec<_>>(), None)).unwrap();
    let growth = run(&["growth", path.to_str().unwrap(), "--no-index"]).stdout;
    let place = |end: &str| growth.lines().position(|line| line.contains(end)).unwrap_or_else(|| panic!("{growth}"));
    assert!(place("Map › Leaf") < place("Map › List"), "{growth}");
    assert!(growth.contains("their objects came from other paths: the types have hardly more"), "{growth}");
}

#[test]
fn a_path_that_stays_the_same_is_counted_and_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.barrow");
    record_series(&path, &[30; 8]);
    let still = run(&["growth", path.to_str().unwrap(), "--no-index"]);
    assert!(still.stdout.contains("not shown: they changed by less than 0.1 % of the heap"), "{}", still.stdout);
    assert!(!still.stdout.contains("List") && still.stdout.contains("none of "), "{}", still.stdout);
    assert!(still.stdout.contains("the last snapshot repeats the one before"), "{}", still.stdout);
}

#[test]
fn answers_over_time_stay_right_while_a_recording_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.barrow");
    let name = path.to_str().unwrap();
    let counts = [3, 4, 4, 6, 7, 9, 10, 12, 13];
    let questions = [
        "growth",
        "growth 1..5",
        "leaks 0..last",
        "leaks 1..",
        "trend List",
        "trend 2.. size > 500",
        "survival List",
        "born 1..last",
        "died 0..last",
        "age",
        "survived 2",
    ];
    for snapshots in 6..=counts.len() {
        record_growing(&path, &counts[..snapshots]);
        for question in questions {
            let ask = |flags: &[&str]| {
                let run = run(&[&[name, "-e", question, "--format", "json"], flags].concat());
                assert_eq!(run.code, 0, "{question}: {}", run.stderr);
                run.stdout
            };
            let fresh = ask(&["--no-index"]);
            assert_eq!(ask(&[]), fresh, "{question} of {snapshots} snapshots");
            assert_eq!(ask(&[]), fresh, "{question} of {snapshots} snapshots, asked again");
        }
    }
}
