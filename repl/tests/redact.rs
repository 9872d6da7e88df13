//! `redact` and `audit` as they are typed: other names, the same answers.

mod program;

use std::fs;
use std::path::Path;

use program::{recording, run, testdata};

fn shown(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}

/// The answer to a question as JSON.
fn json(words: &[&str]) -> serde_json::Value {
    let run = run(&[words, &["--format", "json", "--no-index"]].concat());
    assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
    serde_json::from_str(&run.stdout).expect("it is JSON")
}

/// The numbers of a column of the rows of an answer.
fn column<'a>(answer: &'a serde_json::Value, table: &str, key: &str) -> Vec<&'a serde_json::Value> {
    answer[table].as_array().expect("a list").iter().map(|row| &row[key]).collect()
}

#[test]
fn what_was_redacted_has_other_names_and_the_same_answers() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let [shared, other, repacked, key] =
        ["a.barrow", "b.barrow", "c.barrow", "key"].map(|name| folder.path().join(name));
    let told = json(&["redact", &recording(), "-o", shown(&shared)]);
    assert_eq!(column(&told, "rows", "what"), ["texts", "names", "values of fields"]);
    assert_eq!(run(&["verify", shown(&shared)]).code, 0);
    for (question, table, keys) in [
        (&["top", "20"][..], "rows", &["objects", "shallow_bytes"][..]),
        (&["dups"], "rows", &["groups", "wasted_bytes"]),
        (&["summary", "all"], "snapshots", &["objects", "references"]),
        (&["dominators", "@0"], "rows", &["retained_bytes"]),
    ] {
        let answers = [recording(), shown(&shared).to_owned()]
            .map(|file| json(&[&[question[0], file.as_str()][..], &question[1..]].concat()));
        let table = if answers[0].get(table).is_some() { table } else { "rows" };
        for key in keys {
            let [before, after] = [0, 1].map(|side: usize| column(&answers[side], table, key));
            assert!(before == after && !before.is_empty(), "{question:?} {key}: {before:?} {after:?}");
        }
    }
    let top = run(&["top", shown(&shared), "30"]).stdout;
    assert!(!top.contains("BOOT") && !top.contains("NQPArray") && top.contains("object"), "{top}");

    // Names that match stay, and files with one key can be compared.
    fs::write(&key, "a secret that nobody guesses").expect("it can be written");
    let keyed = |to: &Path| {
        let words = ["redact", &recording(), "-o", shown(to), "--key-file", shown(&key), "--keep", "BOOT*", "--force"];
        let run = run(&words);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.contains("can be compared"), "{}", run.stdout);
    };
    keyed(&shared);
    keyed(&other);
    assert!(run(&["top", shown(&shared), "30"]).stdout.contains("BOOTInt"));
    assert_eq!(run(&["repack", shown(&other), "-o", shown(&repacked)]).code, 0);
    let same = json(&["diff", shown(&shared), shown(&repacked)]);
    let changes = |answer: &serde_json::Value| answer["rows"].as_array().map_or(0, Vec::len);
    assert_eq!(changes(&same), 0, "{same}");
    let unlike = json(&["diff", &recording(), shown(&repacked)]);
    assert!(changes(&unlike) > 100, "{unlike}");

    fs::write(&key, "too short").expect("it can be written");
    let refused = run(&["redact", &recording(), "-o", shown(&other), "--key-file", shown(&key), "--force"]);
    assert!(refused.code == 2 && refused.stderr.contains("fewer than 16 bytes"), "{}", refused.stderr);
}

#[test]
fn an_audit_lists_what_is_there() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let shared = folder.path().join("a.barrow");
    let invoices = testdata("invoices.barrow").display().to_string();
    assert_eq!(run(&["redact", &invoices, "-o", shown(&shared), "--keep", "names"]).code, 0);
    let states = |file: &str| {
        let audit = json(&["audit", file]);
        let length: u64 = column(&audit, "parts", "bytes").iter().filter_map(|bytes| bytes.as_u64()).sum();
        assert_eq!(length, fs::metadata(file).expect("it is there").len());
        let classes = audit["classes"].as_array().expect("a list");
        let state = |class: &str| {
            let row = classes.iter().find(|row| row["class"] == class).expect("every class is listed");
            row["state"].as_str().expect("a text").to_owned()
        };
        ["object_texts", "type_names", "kinds", "arguments"].map(state)
    };
    assert_eq!(states(&invoices), ["recorded", "recorded", "word", "absent"]);
    assert_eq!(states(shown(&shared)), ["replaced", "recorded", "word", "absent"]);
}
