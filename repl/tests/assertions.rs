//! `assert`: what holds, what does not, and how that is told.

use crate::program;
use std::path::PathBuf;

use crate::program::{Run, record_series, recording, run};

/// A recording in a folder of its own.
struct Series {
    folder: tempfile::TempDir,
    path: String,
}

fn series(counts: &[usize]) -> Series {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("app.barrow");
    record_series(&path, counts);
    Series { path: path.display().to_string(), folder }
}

impl Series {
    fn assert(&self, words: &[&str]) -> Run {
        let all: Vec<&str> = ["assert", &self.path, "--no-index"].into_iter().chain(words.iter().copied()).collect();
        run(&all)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

#[test]
fn what_holds_ends_with_0_and_what_does_not_with_1() {
    let series = series(&[10, 20, 30]);
    for (assertion, code) in [
        ("count(type = \"List\") <= 30", 0),
        ("count(type = List) < 30", 1),
        ("count(type = \"List\") = 20 in 1", 0),
        ("count(type=\"List\") == 20 in last", 1),
        ("count(type = \"List\") <= 20 over 0..1", 0),
        ("count(type = \"List\") <= 20 over all", 1),
        ("count(type = \"List\") >= 20 over every 2", 1),
        ("count() > 62", 1),
        ("count() >= 62", 0),
        ("count(type = Sesion) = 0", 0),
        ("size(type = \"List\") = 30000", 0),
        ("size(type = \"List\") < 29K", 1),
        ("retained(type = \"List\") = 30720", 0),
        ("retained(type = \"Map\") = 30784", 0),
        ("retained(type = \"Map\") < 30K", 1),
        ("retained(type = Leaf or type = List) != 30720", 1),
        ("no leaks", 1),
    ] {
        let run = series.assert(&[assertion]);
        assert_eq!(run.code, code, "{assertion}: {}{}", run.stdout, run.stderr);
        assert_eq!((run.stdout.contains("FALSE"), run.stderr.as_str()), (code == 1, ""), "{assertion}: {}", run.stdout);
    }
    assert_eq!(series.assert(&["count(type = List) = 10", "-s", "0"]).code, 0);
    assert_eq!(series.assert(&["count(type = List) = 30", "count(type = List) = 31"]).code, 1);
}

#[test]
fn a_witness_says_why() {
    let series = series(&[10, 20, 30]);
    let told = series.assert(&["retained(type = \"List\") <= 15K over all"]).stdout;
    for text in [
        "FALSE",
        "snapshot 1: 20.0 KiB, not <= 15.0 KiB",
        "List @2 retains 1.0 KiB",
        "… of 20 objects, the largest first",
        "@2 is held by",
        "--[ globals ]--> Map @0",
        "--[ first ]--> List @2",
    ] {
        assert!(told.contains(text), "{text} is missing in {told}");
    }
    assert!(
        series
            .assert(&["count(type = Lost) > 0"])
            .stdout
            .contains("no type \"Lost\", so no object is one; did you mean \"List\"?")
    );
    assert!(series.assert(&["count(type = List and size = 5) > 0"]).stdout.contains("there is no such object"));
}

/// A recorder that writes a snapshot at the end of the program repeats the last one.
#[test]
fn a_last_snapshot_that_repeats_the_one_before_says_nothing_of_growth() {
    let told = |steps: usize| {
        let mut counts: Vec<usize> = (1..=steps).map(|step| 10 * step).collect();
        counts.push(10 * steps);
        series(&counts).assert(&["growth(type = List) <= 0"])
    };
    for steps in 5..=12 {
        let told = told(steps);
        assert_eq!(told.code, if steps < 8 { 2 } else { 1 }, "{steps} steps: {}", told.stdout);
    }
    assert_eq!(told(4).code, 2, "four snapshots are too few");
    let grows = told(8).stdout;
    assert!(grows.contains("the last snapshot repeats the one before"), "{grows}");
}

#[test]
fn growth_is_false_only_where_it_is_sure() {
    let steady = series(&[10, 13, 15, 18, 20, 22, 26, 27]);
    let told = steady.assert(&["growth(type = \"List\") <= 0"]);
    assert_eq!(told.code, 1, "{}", told.stdout);
    for text in [
        "by snapshot: 0: 10.0 KiB, 1: 13.0 KiB",
        "slope 2.5 KiB/snapshot, with 95 % confidence between",
        "in snapshot 7:",
        "--[ globals ]--> Map @0",
    ] {
        assert!(told.stdout.contains(text), "{text} is missing in {}", told.stdout);
    }
    assert_eq!(steady.assert(&["growth(count type = List) <= 0"]).code, 1);
    assert_eq!(steady.assert(&["growth(count type = List) <= 5", "growth(type = Pair) <= 0"]).code, 0);
    let five = steady.assert(&["growth(type = List) <= 0 over 3..7"]);
    assert_eq!(five.code, 2, "{}", five.stdout);
    assert!(
        five.stdout.contains("it rises each time, too few to be sure: 8 snapshots are needed, and there are 5"),
        "{}",
        five.stdout
    );
    assert_eq!(steady.assert(&["growth(type = List) <= 64K over 3..7"]).code, 0);
    let warm_up = series(&[20, 40, 54, 64, 70, 74, 76, 77, 78, 79]).assert(&["growth(type = List) <= 0"]);
    assert_eq!(warm_up.code, 0);
    assert!(warm_up.stdout.contains("it does not grow for sure: it rises ever more slowly"), "{}", warm_up.stdout);
    let path = steady.assert(&["growth(path \"[globals] › Map › List\") <= 0"]);
    assert_eq!((path.code, path.stdout.contains("--[ globals ]--> Map @0")), (1, true), "{}", path.stdout);
    let nowhere = steady.assert(&["growth(path \"[globals] › List\") <= 0"]);
    assert_eq!(nowhere.code, 0);
    assert!(nowhere.stdout.contains("no path `[globals] › List` holds 0.5 % of the heap"), "{}", nowhere.stdout);
    assert_eq!(steady.assert(&["growth(path List) <= 0"]).code, 2);
    let noise = series(&[20, 23, 19, 22, 20, 24, 19, 22]);
    assert_eq!(noise.assert(&["growth(type = List) <= 0"]).code, 0);
    let few = series(&[10, 20, 30]).assert(&["growth(type = List) <= 0"]);
    assert_eq!(few.code, 2);
    assert!(few.stdout.contains("3 snapshots can show no growth; 5 are needed"), "{}", few.stdout);
}

#[test]
fn known_leaks_are_allowed() {
    let series = series(&[0, 30]);
    let leaks = run(&["leaks", &series.path, "--no-index", "--format", "json"]).stdout;
    let leaks: serde_json::Value = serde_json::from_str(&leaks).unwrap();
    let suspects = leaks["suspects"].as_array().unwrap();
    let prints: Vec<&str> = suspects.iter().map(|suspect| suspect["fingerprint"].as_str().unwrap()).collect();
    assert!(!prints.is_empty());
    let told = series.assert(&["no leaks"]).stdout;
    assert!(prints.iter().all(|print| told.contains(&format!("fingerprint {print}"))), "{told}");
    assert_eq!(series.assert(&[&format!("no leaks except {}", prints.join(", "))]).code, 0);
    let beginnings: Vec<&str> = prints.iter().map(|print| &print[..8]).collect();
    let allowed = series.file("known", &format!("# known\n{}  # all of them\n", beginnings.join("\n")));
    assert_eq!(series.assert(&["no leaks", "--allow", &allowed]).code, 0);
    assert_eq!(series.assert(&["no leaks except 0000000000000000"]).code, 1);
    let before = format!("{}:0", series.path);
    assert_eq!(series.assert(&["no leaks except baseline", "--baseline", &before]).code, 1);
    assert_eq!(series.assert(&["no leaks except baseline", "--baseline", &series.path]).code, 0);
    assert_eq!(series.assert(&["no leaks", "--min", "99%"]).code, 0);
}

#[test]
fn a_baseline_is_compared_with() {
    let (old, new) = (series(&[10, 20]), series(&[22]));
    let against = |assertion: &str, baseline: &str| new.assert(&[assertion, "--baseline", baseline]).code;
    assert_eq!(against("count(type = List) <= baseline", &old.path), 1);
    assert_eq!(against("count(type = List) <= baseline + 10%", &old.path), 0);
    assert_eq!(against("count(type = List) <= baseline + 9%", &old.path), 1);
    assert_eq!(against("retained(type = List) <= baseline * 1.1", &old.path), 0);
    assert_eq!(against("retained(type = List) <= baseline + 2K", &old.path), 0);
    assert_eq!(against("count(type = List) <= baseline * 2", &format!("{}:0", old.path)), 1);
    let missing = new.assert(&["count(type = List) <= baseline"]);
    assert_eq!((missing.code, missing.stderr.contains("--baseline FILE")), (2, true));
}

#[test]
fn mistakes_end_with_2_and_a_caret() {
    let series = series(&[1]);
    for (assertion, told) in [
        ("count(type = \"List\") <= many", "\n                            ^"),
        ("counts(type = List) < 1", "\n    ^"),
        ("count(colour = 1) < 1", "unknown attribute"),
        ("count(type = List) < 1 over 5..9", "there is no snapshot 5"),
        ("count(type = List) < 1 in 5", "there is no snapshot 5"),
    ] {
        let run = series.assert(&[assertion]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{assertion}");
        assert!(run.stderr.contains(told), "{assertion}: {}", run.stderr);
    }
    assert_eq!(series.assert(&[]).code, 2);
    assert_eq!(series.assert(&["no leaks", "--from", "/nowhere/at/all"]).code, 3);
    assert_eq!(series.assert(&["no leaks", "--allow", &series.file("known", "cache\n")]).code, 2);
}

#[test]
fn assertions_come_from_a_file() {
    let series = series(&[10]);
    let file = series.file("heap.assert", "# CI\n\n  count(type = List) <= 10\ncount(type = \"List\") <= 9\n");
    let run = series.assert(&["count(type = Pair) = 1", "--from", &file]);
    assert_eq!(run.code, 1);
    assert_eq!(run.stdout.matches("holds").count(), 2, "{}", run.stdout);
}

#[test]
fn a_recording_that_was_cut_is_told_with_4_and_what_is_false_still_with_1() {
    let series = series(&[10, 20]);
    let bytes = std::fs::read(&series.path).unwrap();
    std::fs::write(&series.path, &bytes[..bytes.len() - 8]).unwrap();
    assert_eq!(series.assert(&["count(type = List) = 20"]).code, 4);
    assert_eq!(series.assert(&["count(type = List) = 10"]).code, 1);
}

#[test]
fn machines_get_json_and_junit() {
    let series = series(&[10, 20, 30, 40, 50, 60, 70, 80]);
    let xml = series.folder.path().join("heap.xml");
    let words = [
        "count(type = \"List\") < 5",
        "growth(count type = List) <= 0",
        "no leaks except 12345678",
        "count(type = X) = 0",
    ];
    let flags = ["--format", "json", "--junit", xml.to_str().unwrap()];
    let run = series.assert(&words.iter().chain(&flags).copied().collect::<Vec<_>>());
    assert_eq!(run.code, 1);
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&answer["holds"], answer["assertions"].as_array().unwrap().len()), (&false.into(), 4));
    let (count, growth) = (&answer["assertions"][0], &answer["assertions"][1]);
    assert_eq!(
        (&count["result"], &count["found"], &count["limit"], &count["unit"]),
        (&"FALSE".into(), &80.into(), &5.into(), &"objects".into())
    );
    assert_eq!(count["witness"]["path"][0]["type"], "Map");
    assert_eq!((&growth["witness"]["slope"], &growth["witness"]["series"][4]["found"]), (&10.into(), &50.into()));
    assert!(answer["assertions"][2]["witness"]["suspects"][0]["fingerprint"].is_string());
    let xml = std::fs::read_to_string(xml).unwrap();
    assert!(xml.contains("<testsuites tests=\"4\" failures=\"3\" errors=\"0\""), "{xml}");
    assert!(xml.contains("name=\"count(type = &quot;List&quot;) &lt; 5\""), "{xml}");
    assert!(xml.contains("<system-out>this recording knows no type &quot;X&quot;"), "{xml}");
}

/// The page has the verdicts as well, but a log of CI has only the standard error.
#[test]
fn a_report_says_what_is_false_in_the_words_of_assert() {
    let series = series(&[10, 20, 30]);
    let page = series.folder.path().join("heap.html").display().to_string();
    let asserted = ["count(type = \"List\") < 5", "count(type = \"Leaf\") > 5", "growth(count type = List) <= 0"];
    let flags = asserted.iter().flat_map(|one| ["--assert", one]);
    let words: Vec<&str> = ["report", &series.path, "--no-index", "-o", &page].into_iter().chain(flags).collect();
    let report = run(&words);
    assert_eq!(report.code, 1, "{}", report.stderr);
    let told: Vec<&str> = report.stderr.lines().collect();
    assert_eq!(told.len(), 2, "{}", report.stderr);
    assert!(told[0].starts_with("barrow: FALSE: count(type = \"List\") < 5: "), "{}", told[0]);
    assert!(told[1].starts_with("barrow: undecided: growth(count type = List) <= 0: "), "{}", told[1]);
    // `assert` gives the same reasons, each in a line of its own.
    let judged = series.assert(&asserted);
    for line in told {
        let (_, why) = line.rsplit_once(": ").expect("a reason");
        assert!(judged.stdout.contains(why), "{why}: {}", judged.stdout);
    }
    let held = run(&["report", &series.path, "--no-index", "--force", "-o", &page, "--assert", asserted[1]]);
    assert_eq!((held.code, held.stderr.as_str()), (0, ""));
}

/// A pattern without `*` matches whole names, and says so where that was hardly meant.
#[test]
fn a_part_of_a_name_of_types_is_told() {
    let series = series(&[10]);
    let note = "matches whole names, and no type has this one; `~ *Lis*` matches List";
    let asserted = series.assert(&["count(type ~ Lis) = 0"]);
    assert!(asserted.code == 0 && asserted.stdout.contains(note), "{}", asserted.stdout);
    let count = |expression: &str| run(&["count", &series.path, "--no-index", expression]).stdout;
    assert!(count("type ~ Lis").contains(note), "{}", count("type ~ Lis"));
    for expression in ["type ~ List", "type ~ Lis*", "type ~ Zebra", "type ~ /Lis/"] {
        assert!(!count(expression).contains("matches whole names"), "{}", count(expression));
    }
}

#[test]
fn the_prompt_and_dumps_know_it_too() {
    let recording = recording();
    let line = |line: &str| run(&[&recording, "--no-index", "-e", line]).code;
    assert_eq!(line("assert count(type = \"BOOTHash\") <= 100 over 0..1"), 1);
    assert_eq!(line("assert count(type = \"BOOTHash\") >= 100"), 0);
    assert_eq!(line("assert 'count(type=\"BOOTHash\") >= 100' 'no leaks'"), 1);
    let named = [&recording, "--no-index", "-e", "let $large = type = BOOTHash", "-e", "assert count($large) > 5 in 2"];
    assert_eq!(run(&named).code, 0);
    assert_eq!(run(&[&named[..], &["-e", "assert count($large) > 5 in 1"]].concat()).code, 2);
    let dump = program::testdata("foreign/moarvm-2-nqp.mvmheap.zst");
    let words =
        ["assert", dump.to_str().unwrap(), "count(type = \"NQPArray\") > 0", "retained(type = \"NQPArray\") < 1G"];
    let run = run(&words);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
}

#[test]
fn comments_may_follow_assertions_and_mistakes_name_their_line() {
    let series = series(&[10, 20, 30]);
    let file =
        series.file("known", "# what we promise\n\ncount(type = List) <= 30  # for now\nno leaks over 0..1 # all\n");
    let run = series.assert(&["--from", &file, "--min", "90%"]);
    assert!(run.stdout.contains("count(type = List) <= 30 ") && !run.stdout.contains("for now"), "{}", run.stdout);
    let file = series.file("wrong", "no leaks\n\ncount(type = List) <= 30 always\n");
    let run = series.assert(&["--from", &file]);
    assert!(run.code == 2 && run.stderr.contains("wrong, line 3: expected"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_decided_says_why() {
    let run = series(&[10, 20, 30]).assert(&["growth(all) <= 0", "--format", "json"]);
    assert_eq!(run.code, 2);
    let told = "\"unit\":\"bytes per snapshot\",\"undecided_because\":\"3 snapshots can show no growth; 5 are needed\"";
    assert!(run.stdout.contains(told), "{}", run.stdout);
}
