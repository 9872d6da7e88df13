//! Questions about process trees, as programs ask them: JSON and CSV.

mod program;

use barrow_testdata::{ProcessLog, Random};
use serde_json::Value;

fn json(words: &[&str]) -> Value {
    let recording = program::testdata("build.barrow").display().to_string();
    let mut all = vec![words[0], recording.as_str()];
    all.extend(&words[1..]);
    all.extend(["--format", "json"]);
    let run = program::run(&all);
    assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn keys(of: &Value) -> Vec<&str> {
    of.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn every_row_is_there_in_every_format_and_rows_left_out_are_told() {
    let recording = program::testdata("builds/make-j2.barrow").display().to_string();
    for words in [&["processes"][..], &["find", "cpu > 0"], &["find"]] {
        let ask = |format: &str, before: &[&str]| {
            let line = words.join(" ");
            let lines = [before, &[&line]].concat();
            let lines = lines.into_iter().flat_map(|line| ["-e", line]);
            let all = [recording.as_str()].into_iter().chain(lines).chain(["--format", format, "--quiet"]);
            let run = program::run(&all.collect::<Vec<_>>());
            assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
            run
        };
        let all = ask("csv", &[]);
        assert_eq!((all.stdout.lines().count(), all.stderr.as_str()), (1 + 113, ""), "{words:?}");
        for format in ["csv", "json"] {
            let told = ask(format, &["set rows 15"]).stderr;
            let is_told = told.contains("98 more rows") || told.contains("15 of 113 rows");
            assert!(is_told && told.contains("`more`"), "{words:?} {format}: {told}");
        }
    }
    let all = program::run(&["processes", &recording, "1000", "--format", "csv", "--quiet"]);
    assert_eq!((all.stderr.as_str(), all.stdout.lines().count()), ("", 114));
}

#[test]
fn processes_have_the_promised_keys() {
    let answer = json(&["processes", "3", "by", "memory"]);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for key in [
        "process",
        "image",
        "parent",
        "host",
        "executable",
        "arguments",
        "directory",
        "class",
        "started_ns",
        "ended_ns",
        "exit_code",
        "signal",
        "user_ns",
        "system_ns",
        "peak_bytes",
        "minor_faults",
        "major_faults",
        "read_bytes",
        "written_bytes",
    ] {
        assert!(keys(&rows[0]).contains(&key), "{key}");
    }
    assert_eq!(rows[0]["arguments"][0], "ld");
    assert_eq!(rows[0]["class"], "linker");
    let peaks: Vec<u64> = rows.iter().map(|row| row["peak_bytes"].as_u64().unwrap()).collect();
    assert!(peaks.is_sorted_by(|one, other| one >= other));
}

#[test]
fn classes_have_the_promised_keys_and_add_up() {
    let answer = json(&["classes"]);
    let schemata = answer["schemata"].as_array().unwrap();
    let names: Vec<&str> = schemata.iter().map(|schema| schema["schema"].as_str().unwrap()).collect();
    assert_eq!(names, ["category", "program", "directory", "unit"]);
    let rows = schemata[0]["rows"].as_array().unwrap();
    for (key, inner) in [
        ("user_ns", &["exclusive", "inclusive", "minimum", "mean", "maximum"][..]),
        ("system_ns", &["exclusive", "inclusive", "minimum", "mean", "maximum"]),
        ("wall_ns", &["exclusive", "inclusive", "minimum", "mean", "maximum"]),
        ("peak_bytes", &["minimum", "mean", "maximum"]),
    ] {
        assert!(inner.iter().all(|inner| rows[0][key][inner].is_u64()), "{key}: {}", rows[0][key]);
    }
    let exclusive: u64 = rows.iter().map(|row| row["user_ns"]["exclusive"].as_u64().unwrap()).sum();
    let summary = json(&["summary"]);
    assert_eq!(summary["processes"]["user_ns"].as_u64(), Some(exclusive));
    assert_eq!(summary["snapshots"], Value::Array(Vec::new()));
    for key in ["processes", "images", "wall_ns", "user_ns", "system_ns", "peak_bytes", "failed", "not_waited_for"] {
        assert!(summary["processes"][key].is_u64(), "{key}");
    }
}

#[test]
fn rules_come_from_a_flag_or_from_beside_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("build.barrow");
    std::fs::write(&recording, ProcessLog::build(&mut Random::new(1), 60, 4).bytes()).unwrap();
    let rules = folder.path().join("barrow-classes.toml");
    std::fs::write(&rules, "[[schema]]\nname = \"mine\"\notherwise = \"${category}!\"\n").unwrap();
    let (recording, rules) = (recording.display().to_string(), rules.display().to_string());
    let run = program::run(&["classes", &recording]);
    assert!(run.stdout.contains("compiler!") && run.stdout.contains("schema mine"), "{}", run.stdout);
    std::fs::write(&rules, "[[schema]]\nname = \"mine\"\nrule = [{ label = \"$7\" }]\n").unwrap();
    for words in [vec!["classes", &recording], vec!["classes", &recording, "--classes", &rules]] {
        let run = program::run(&words);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains("barrow-classes.toml, line 3: `${7}` is no group"), "{}", run.stderr);
    }
    let run = program::run(&["classes", &recording, "--classes", "/no/such/file"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
}

/// A class is a name: rules whose label takes more than 4 KiB with what it captured are invalid for every verb.
#[test]
fn rules_with_labels_that_are_too_long_are_refused_by_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, rules) = (folder.path().join("build.barrow"), folder.path().join("long.toml"));
    std::fs::write(&recording, ProcessLog::build(&mut Random::new(1), 60, 4).bytes()).unwrap();
    let rule = format!("arguments = '(.+)'\nlabel = '{}'", "$1 and what comes after it; ".repeat(64));
    std::fs::write(&rules, format!("[[schema]]\nname = 'unit'\n[[schema.rule]]\n{rule}\n")).unwrap();
    let (recording, rules) = (recording.display().to_string(), rules.display().to_string());
    let exported = folder.path().join("build.pftrace").display().to_string();
    for words in [
        vec!["classes"],
        vec!["timeline"],
        vec!["lanes"],
        vec!["processes"],
        vec!["critical"],
        vec!["export", "--to", "perfetto", "-o", &exported],
    ] {
        let (verb, words) = (words[0], &words[1..]);
        let run = program::run(&[&[verb, &recording], words, &["--classes", &rules]].concat());
        assert_eq!(run.code, 2, "{verb}: {}", run.stderr);
        let told = "long.toml, line 5: label 1 of the schema `unit` takes ";
        assert!(run.stderr.contains(told) && run.stderr.contains("the limit is 4096"), "{verb}: {}", run.stderr);
    }
}

#[test]
fn two_builds_are_compared_by_class_and_by_command() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.barrow");
    std::fs::write(&other, ProcessLog::build(&mut Random::new(2), 90, 4).bytes()).unwrap();
    let other = other.display().to_string();
    let answer = json(&["diff", &other]);
    let compiler = answer["rows"].as_array().unwrap().iter().find(|row| row["class"] == "compiler").unwrap().clone();
    assert_eq!(compiler["change"], "slower");
    let answer = json(&["diff", &other, "by", "command"]);
    let rows = answer["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["change"] == "new") && rows.iter().all(|row| row["change"] != "gone"));
}

#[test]
fn a_question_for_the_other_kind_of_recording_is_a_sentence() {
    let processes = program::testdata("build.barrow").display().to_string();
    for verb in ["top", "snapshots", "leaks", "growth", "age", "trend"] {
        let run = program::run(&[verb, &processes]);
        if run.code != 0 {
            assert!(run.stderr.contains("holds no heap"), "{verb}: {}", run.stderr);
        }
    }
    for verb in ["processes", "tree", "classes"] {
        let run = program::run(&[verb, &program::recording()]);
        assert!(run.code != 0 && run.stderr.contains("holds no processes"), "{verb}: {}", run.stderr);
    }
}

/// The high end of the range is what `--memory` compares with: bare numbers in JSON, estimates for people.
#[test]
fn what_if_has_a_range_of_memory() {
    let answer = json(&["what-if", "--memory", "1G"]);
    let choices = answer["choices"].as_array().unwrap();
    let number = |of: &Value, key: &str| of[key].as_u64().unwrap_or_else(|| panic!("{key}: {of}"));
    for of in choices.iter().chain([&answer]) {
        let [low, peak, high] = ["peak_low_bytes", "peak_bytes", "peak_high_bytes"].map(|key| number(of, key));
        assert!(low <= peak && peak <= high, "{of}");
    }
    let fit = choices.iter().filter(|choice| number(choice, "peak_high_bytes") <= 1 << 30);
    let most = fit.map(|choice| number(choice, "slots")).max().unwrap();
    assert_eq!(number(&answer, "slots"), most);
    assert!(choices.iter().any(|choice| number(choice, "peak_high_bytes") > 1 << 30));
    let recording = program::testdata("build.barrow").display().to_string();
    let run = program::run(&["what-if", &recording, "--memory", "1G"]);
    assert!(run.stdout.contains("peak, high end  ~"), "{}", run.stdout);
}

#[test]
fn what_if_limits_the_jobs_of_a_class() {
    let wall = |words: &[&str]| json(&[&["what-if", "-j", "8"], words].concat())["wall_ns"].as_u64().unwrap();
    let (free, one, two) = (wall(&[]), wall(&["--slots", "compiler=1"]), wall(&["--slots", "compiler=2"]));
    assert!(free < two && two < one, "{free} {two} {one}");
    assert!(wall(&["--slots", "compiler=2", "--slots", "linker=1"]) >= two);
    let recording = program::testdata("build.barrow").display().to_string();
    let run = program::run(&["what-if", &recording, "--slots", "compiler=1"]);
    assert!(run.stdout.contains("compiler: ") && run.stdout.contains("no more than 1 of them"), "{}", run.stdout);
    for (slots, told) in [
        ("compilr=1", "did you mean \"compiler\"?; the classes of category are "),
        ("compiler", "written like linker=1"),
        ("compiler=0", "at least 1"),
        ("=1", "written like linker=1"),
    ] {
        let run = program::run(&["what-if", &recording, "--slots", slots]);
        assert_eq!(run.code, 2, "{slots}");
        assert!(run.stderr.contains(told), "{slots}: {}", run.stderr);
    }
}

#[test]
fn critical_has_drags() {
    let answer = json(&["critical"]);
    let whole = answer["wall_ns"].as_u64().unwrap();
    for table in ["classes", "rows"] {
        let rows = answer[table].as_array().unwrap();
        assert!(!rows.is_empty());
        for row in rows {
            let drag = row["drag_ns"].as_u64().unwrap();
            assert!(drag <= whole, "{table}: {row}");
        }
        assert!(rows.iter().any(|row| row["drag_ns"].as_u64().unwrap() > whole / 20), "{table}");
    }
    let recording = program::testdata("build.barrow").display().to_string();
    let run = program::run(&["critical", &recording]);
    assert!(run.stdout.contains("drag") && run.stdout.contains('~'), "{}", run.stdout);
}
