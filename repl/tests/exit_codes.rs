//! Promises of the program to its callers: exit codes, and the division between stdout and stderr.

use crate::program;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use crate::program::{finished, program, recording, run, testdata};

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is a folder for temporary files")
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}

/// The bundled recording without its last third.
fn cut_recording(folder: &Path) -> std::path::PathBuf {
    let whole = std::fs::read(recording()).expect("the bundled recording is there");
    let path = folder.join("cut.barrow");
    std::fs::write(&path, &whole[..whole.len() * 2 / 3]).unwrap();
    path
}

#[test]
fn nothing_to_do_is_a_usage_error_with_help() {
    let run = run(&[]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("barrow VERB FILE"));
}

#[test]
fn help_and_version_go_to_stdout() {
    for words in [&["--help"][..], &["help"], &["help", "top"], &["top", "--help"], &["--version"]] {
        let run = run(words);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{words:?}");
        assert!(!run.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn questions_that_are_not_understood_end_with_2() {
    let recording = recording();
    let smallest = testdata("smallest.barrow");
    let smallest_dump = testdata("foreign/moarvm-3-cut.mvmheap").display().to_string();
    for (words, told) in [
        (&["sumary", &recording][..], "did you mean `summary`?"),
        (&["s", &recording], "may be snapshots, snapshot, summary"),
        (&["top"], "which file?"),
        (&["more"], "at the prompt"),
        (&["top", &recording, "widgets"], "is no kind of this recording"),
        (&["top", &recording, "--verify"], "does not take `--verify`"),
        (&["summary", &recording, "99"], "there is no snapshot 99; this recording holds 0 to 2"),
        (&["info", &recording, "4000000000"], "there is no object @4000000000"),
        (&["info", &recording, "%1"], "lists no objects"),
        (&["find", &recording, "objects", "colour = 1"], "^"),
        (&["count", &recording, "widgets", "size > 1"], "is no kind of this recording"),
        (&["count", &recording, "type ~ /(/"], "\n           ^"),
        (&["count", &recording, "type objects", "colour = 1"], "unknown attribute"),
        (&["count", &recording, "colour = 1"], "unknown attribute"),
        (&["count", &recording, "colour in 1..2"], "unknown attribute"),
        (&["top", &recording, "types", "refs > 5", "by", "retained"], "is not known; `retained EXPR`"),
        (&["histogram", &recording, "3"], "does not take `3`"),
        (&["histogram", &recording, "refs > 5", "by", "site"], "is by type or by kind"),
        (&["find", &recording, "refs > 5", "by", "colour"], "objects have no order `colour`"),
        (&["impor", &recording, "-o", "x"], "type its name in full"),
        (&["count", &recording, "siz > 5"], "did you mean `size`?"),
        (
            &["find", &recording, "type = BOOTIn"],
            "knows no type \"BOOTIn\", so no object is one; did you mean \"BOOTInt\"?",
        ),
        (&["count", &recording, "type = BootInt"], "did you mean \"BOOTInt\"?"),
        (&["count", &recording, "not type != Frobnicate"], "knows no type \"Frobnicate\", so no object is one\n"),
        (&["retained", &recording, "type = BOOTIn"], "did you mean"),
        (&["paths", &recording, "type = BOOTIn"], "did you mean"),
        (&["trend", &recording, "type = BOOTIn"], "did you mean"),
        (&["trend", &recording, "BOOTIn"], "try `trend BOOTInt`"),
        (&["without", &recording, "type = BOOTIn"], "did you mean"),
        (&["path", &recording, "@1", "--avoid", "type = BOOTIn"], "did you mean"),
        (&["find", &recording, "BOOTInt"], "type `type = \"BOOTInt\"`"),
        (&["find", &recording, "fram size > 1 and"], "expected"),
        (&["top", &recording, "farmes"], "did you mean `frame`?"),
        (&["count", &recording, "type = BOOTInt or @4000000000"], "there is no object 4000000000"),
        (&["retained", &recording, "@4000000000"], "there is no object 4000000000"),
        (&["without", &recording, "references", "nosuch"], "no reference is called `nosuch`"),
        (&["top", &recording, "--threads", "100000"], "at most 1024"),
        (&["repack", &recording, "-o", &recording, "--force"], "is what is read"),
        (&["redact", &recording, "-o", &recording, "--force"], "is what is read"),
        (&["redact", &recording], "-o DST"),
        (&["redact", &recording, "-o", "x.barrow", "--keep", "/(/"], "not a regular expression"),
        (&["redact", &recording, "-o", "x.barrow", "--keep", ""], "a pattern of names"),
        (&["import", &smallest_dump, "-o", &smallest_dump, "--force"], "is what is read"),
        (&["count", &recording, "$large"], "there is no set $large"),
        (&["count", &recording, "objects", "%1"], "lists no objects"),
        (&["path", &recording], "to which object?"),
        (&["path", &recording, "@1", "--avoid", ""], "which kind?"),
        (&["without", &recording, "references", "cache", "from"], "which kind?"),
        (&["leaks", &recording, "--min", "200%"], "shares are written"),
        (&["show", &recording, "@1", "--depth", "2"], "does not take `--depth`"),
        (&["find", &recording, "objects", "root - $_"], "there is no set $_"),
        (&["let", &recording, "$a = all"], "at the prompt"),
        (&["summary", &recording, "--format", "xml"], "--format"),
        (&[&recording, "summary"], "barrow VERB"),
        (&["import", &recording], "-o DST"),
        (&["diff", &recording, "0", "9"], "there is no snapshot 9; this recording holds 0 to 2"),
        (&["diff", &recording, &format!("{recording}:9")], "raku.barrow: there is no snapshot 9"),
        (&["diff", &recording, "-s", "0"], "there is no snapshot before 0"),
        (&["diff", &recording, "0", "widgets"], "`widgets` names no snapshot and no file"),
        (&["diff", &recording, "0", "1", "2"], "does not take `2`"),
        (&["diff", &recording, "0..2"], "`diff 0 2`"),
        (&["diff", &recording, "by", "kind", "by", "retained"], "what kinds retain overlaps"),
        (&["diff", shown(&smallest)], "name another file"),
    ] {
        let run = run(words);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{words:?}: {}", run.stderr);
        assert!(run.stderr.starts_with("barrow: ") && run.stderr.contains(told), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn files_that_cannot_be_read_end_with_3() {
    let folder = temporary();
    let text = folder.path().join("text");
    std::fs::write(&text, "neither a recording nor a dump").unwrap();
    let missing = folder.path().join("missing.barrow");
    let recording = recording();
    for words in [
        &["summary", shown(&missing)][..],
        &[shown(&missing)],
        &["summary", shown(folder.path())],
        &["diff", &recording, shown(&missing)],
        &["diff", &recording, "0", &format!("{}:1", shown(&missing))],
        &["diff", &recording, shown(&text)],
    ] {
        let run = run(words);
        assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{words:?}: {}", run.stderr);
    }
    let run = run(&["summary", shown(&text)]);
    assert_eq!((run.code, run.stdout.as_str()), (3, ""));
    assert!(run.stderr.contains("barrow reads its own recordings"), "{}", run.stderr);
}

#[test]
fn a_cut_recording_is_answered_with_4() {
    let folder = temporary();
    let cut = cut_recording(folder.path());
    let run = run(&["summary", shown(&cut), "all", "--format", "json"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.starts_with("barrow: ") && run.stderr.lines().count() == 1, "{}", run.stderr);
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(answer["damage"].is_string());
    assert!(answer["snapshots"].as_array().unwrap().len() < 3);
}

#[test]
fn verify_of_a_cut_recording_ends_with_1_and_repair_saves_it() {
    let folder = temporary();
    let cut = cut_recording(folder.path());
    assert_eq!(run(&["verify", shown(&cut)]).code, 1);
    let whole = folder.path().join("whole.barrow");
    let repair = ["repair", shown(&cut), "-o", shown(&whole)];
    // Snapshots committed in the part that is left are kept, and nothing else is known of the rest.
    let repaired = run(&repair);
    assert_eq!(repaired.code, 0, "{}", repaired.stderr);
    assert!(repaired.stdout.contains("nothing that was committed is lost"), "{}", repaired.stdout);
    assert!(repaired.stdout.contains("bytes after the last commit belong to no snapshot"), "{}", repaired.stdout);
    assert_eq!(run(&["verify", shown(&whole)]).code, 0);
    let again = run(&repair);
    assert!(again.code == 2 && again.stderr.contains("--force"), "{}", again.stderr);
    assert_eq!(run(&["verify", &recording()]).code, 0);
    let of_whole = run(&["repair", &recording(), "-o", shown(&whole), "--force"]);
    assert_eq!((of_whole.code, of_whole.stderr.as_str()), (0, ""));
    assert!(of_whole.stdout.contains("the recording was whole: 3 snapshots kept"), "{}", of_whole.stdout);
}

/// The bundled recording with a byte changed in the middle, which is in a block of snapshot 1.
fn flipped_recording(folder: &Path) -> std::path::PathBuf {
    let mut bytes = std::fs::read(recording()).expect("the bundled recording is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    let path = folder.join("flipped.barrow");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_repair_that_loses_a_snapshot_says_so_and_ends_with_4() {
    let folder = temporary();
    let flipped = flipped_recording(folder.path());
    let whole = folder.path().join("whole.barrow");
    let ask = |format: &str| run(&["repair", shown(&flipped), "-o", shown(&whole), "--force", "--format", format]);
    let table = ask("table");
    assert_eq!(table.code, 4, "{}", table.stdout);
    assert!(table.stderr.contains("2 snapshots kept; left out snapshot 1: BLOCK at byte"), "{}", table.stderr);
    assert!(table.stdout.lines().any(|line| line.contains(" lost ") && line.contains("checksum")), "{}", table.stdout);
    let json = ask("json");
    assert_eq!(json.code, 4);
    let answer: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let results =
        |key: &str| answer["results"].as_array().unwrap().iter().map(|row| row[key].clone()).collect::<Vec<_>>();
    assert_eq!((&answer["snapshots"], &answer["is_whole"]), (&2.into(), &false.into()));
    assert_eq!(results("result"), ["kept", "lost", "kept"]);
    assert_eq!(results("snapshot"), [0, 1, 2]);
    assert!(results("offset")[1].is_u64() && results("cause")[1].is_string(), "{}", json.stdout);
    let csv = ask("csv");
    assert_eq!((csv.code, csv.stdout.lines().count()), (4, 4), "{}", csv.stdout);
    assert!(csv.stdout.lines().nth(2).unwrap().starts_with("1,,,,lost,"), "{}", csv.stdout);
}

#[test]
fn a_repair_that_can_keep_nothing_ends_with_3_and_leaves_no_file() {
    let folder = temporary();
    let bytes = std::fs::read(testdata("smallest.barrow")).unwrap();
    let (damaged, whole) = (folder.path().join("damaged.barrow"), folder.path().join("whole.barrow"));
    // Its header only: the writer died before it committed anything.
    std::fs::write(&damaged, &bytes[..64]).unwrap();
    let early = run(&["repair", shown(&damaged), "-o", shown(&whole)]);
    assert_eq!((early.code, whole.exists()), (3, false), "{}", early.stdout);
    assert!(early.stderr.contains("no snapshot was ever committed"), "{}", early.stderr);
    // The only snapshot is damaged.
    let mut changed = bytes.clone();
    let block = run(&["verify", shown(&testdata("smallest.barrow"))]);
    assert_eq!(block.code, 0);
    let (mut lost, mut told) = (0, String::new());
    for at in (64..bytes.len()).step_by(3) {
        changed.copy_from_slice(&bytes);
        changed[at] ^= 0x40;
        std::fs::write(&damaged, &changed).unwrap();
        let repaired = run(&["repair", shown(&damaged), "-o", shown(&whole), "--force"]);
        assert!([0, 3, 4].contains(&repaired.code), "byte {at}: {}{}", repaired.stdout, repaired.stderr);
        assert_eq!(repaired.code == 3, !whole.exists(), "byte {at}: {}{}", repaired.stdout, repaired.stderr);
        if repaired.code == 3 {
            (lost, told) = (lost + 1, repaired.stderr);
            std::fs::write(&whole, "kept").unwrap();
            assert_eq!(run(&["repair", shown(&damaged), "-o", shown(&whole), "--force"]).code, 3);
            assert_eq!(std::fs::read(&whole).unwrap(), b"kept");
        }
        let _ = std::fs::remove_file(&whole);
    }
    assert!(lost > 0 && told.contains("no snapshot could be kept"), "{lost}: {told}");
}

#[test]
fn json_is_json_and_the_same_every_time() {
    let words = ["summary", &recording(), "all", "--format", "json"];
    let first = run(&words);
    assert_eq!((first.code, first.stderr.as_str()), (0, ""));
    assert_eq!(run(&words).stdout, first.stdout);
    let answer: serde_json::Value = serde_json::from_str(&first.stdout).unwrap();
    assert_eq!(answer["schema_version"], 1);
    let snapshots = answer["snapshots"].as_array().unwrap();
    assert_eq!(snapshots.len(), 3);
    for (number, snapshot) in snapshots.iter().enumerate() {
        assert_eq!(snapshot["snapshot"], number);
        assert_eq!(snapshot["exactness"], "exact");
        for key in ["objects", "heap_bytes"] {
            let kinds = snapshot["kinds"].as_object().unwrap().values();
            let sum: u64 = kinds.map(|kind| kind[key].as_u64().unwrap()).sum();
            assert_eq!(snapshot[key].as_u64(), Some(sum), "{key} of the kinds of snapshot {number}");
        }
    }
}

#[test]
fn every_answer_is_json_if_asked() {
    let recording = recording();
    for words in [
        &["snapshots", &recording][..],
        &["snapshot", &recording, "1"],
        &["top", &recording, "3", "types"],
        &["histogram", &recording, "by", "kind"],
        &["diff", &recording, "0", "last"],
        &["diff", &recording, &recording, "by", "kind"],
        &["find", &recording, "3", "all", "size > 16"],
        &["count", &recording, "all", "size > 16"],
        &["info", &recording],
        &["info", &recording, "0"],
        &["show", &recording, "0"],
        &["verify", &recording],
        &["help"],
    ] {
        let run = run(&[words, &["--format", "json"]].concat());
        assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
        let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["schema_version"], 1, "{words:?}");
    }
}

#[test]
fn changes_add_up_to_the_difference_of_the_totals() {
    let recording = recording();
    let asked = |words: &[&str]| -> serde_json::Value {
        let run = run(&[words, &["--format", "json"]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    };
    let summaries = asked(&["summary", &recording, "all"]);
    for words in [&["0", "2"][..], &["2", "1"], &["0", "2", "by", "kind"], &["by", "count"]] {
        let answer = asked(&[&["diff", &recording], words].concat());
        assert_eq!(answer["exactness"], "exact");
        for (key, total) in
            [("objects", "objects"), ("shallow_bytes", "heap_bytes"), ("unmanaged_bytes", "unmanaged_bytes")]
        {
            for side in ["before", "after"] {
                let number = answer[side]["snapshot"].as_u64().unwrap() as usize;
                assert_eq!(answer[side][key], summaries["snapshots"][number][total], "{words:?}");
            }
            let number = |value: &serde_json::Value| value.as_i64().unwrap();
            let changes = answer["rows"].as_array().unwrap().iter().map(|row| number(&row[format!("{key}_change")]));
            assert_eq!(changes.sum::<i64>(), number(&answer["change"][key]), "{words:?}");
            assert_eq!(number(&answer["after"][key]) - number(&answer["before"][key]), number(&answer["change"][key]));
        }
        assert!(answer["rows"][0]["retained_bytes_change"].is_null());
    }
}

#[test]
fn two_files_are_compared_and_what_one_lost_is_told() {
    let folder = temporary();
    let cut = cut_recording(folder.path());
    let run = run(&["diff", &recording(), shown(&cut), "--format", "json"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("cut.barrow: "), "{}", run.stderr);
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&answer["before"]["snapshot"], &answer["before"]["damage"]), (&2.into(), &serde_json::Value::Null));
    assert!(answer["after"]["damage"].is_string() && answer["damage"].is_null());
}

#[test]
fn one_verified_summary_equals_the_statistics() {
    let totals = |run: program::Run| {
        let mut answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        for snapshot in answer["snapshots"].as_array_mut().unwrap() {
            snapshot["source"].take();
        }
        answer
    };
    let words = ["summary", &recording(), "all", "--format", "json"];
    assert_eq!(totals(run(&words)), totals(run(&[&words[..], &["--verify"]].concat())));
}

#[test]
fn a_dump_is_imported_once_and_its_loss_told_every_time() {
    let folder = temporary();
    let dump = testdata("foreign/moarvm-3-cut.mvmheap");
    let ask = || finished(program(folder.path()).args(["snapshots", "--quiet", shown(&dump)]).output().unwrap());
    let cached = || {
        let files = std::fs::read_dir(folder.path().join("cache")).unwrap().map(|entry| entry.unwrap());
        let mut files: Vec<_> =
            files.map(|file| (file.file_name(), file.metadata().unwrap().modified().unwrap())).collect();
        files.sort();
        files
    };
    let first = ask();
    assert_eq!(first.code, 4, "{}", first.stderr);
    let files = cached();
    assert_eq!(files.len(), 1, "a recording, with what was lost in it: {files:?}");
    let second = ask();
    assert_eq!((second.code, second.stdout, second.stderr), (4, first.stdout, first.stderr));
    assert_eq!(cached(), files);
}

#[test]
fn import_writes_a_recording_and_replaces_none() {
    let folder = temporary();
    let dump = testdata("foreign/moarvm-3-cut.mvmheap");
    let imported = folder.path().join("imported.barrow");
    let words = ["import", shown(&dump), "-o", shown(&imported), "--compression", "lz4"];
    let first = run(&words);
    assert_eq!(first.code, 4, "{}", first.stderr);
    assert_eq!(run(&["verify", shown(&imported)]).code, 0);
    assert!(run(&words).stderr.contains("--force"));
    assert_eq!(run(&[&words[..], &["--force"]].concat()).code, 4);
    assert_eq!(run(&["import", &recording(), "-o", shown(&imported), "--force"]).code, 3);
}

/// `strace -ff -e trace=execve` makes an empty file for a child that executes nothing.
#[test]
fn empty_logs_among_those_of_strace_are_left_out_and_said() {
    let folder = temporary();
    let log = |number: u32, program: &str| {
        let log = format!("1700000000.5 execve(\"{program}\", [\"{program}\"], 0x1 /* 0 vars */) = 0\n");
        let path = folder.path().join(format!("log.{number}"));
        std::fs::write(&path, if program.is_empty() { String::new() } else { log }).unwrap();
        shown(&path).to_owned()
    };
    let logs = [log(7, "/bin/a"), log(8, ""), log(9, "/bin/b")];
    let recording = folder.path().join("build.barrow");
    let import = |logs: &[&str]| run(&[&["import"], logs, &["-o", shown(&recording), "--force"]].concat());
    let done = import(&[&logs[0], &logs[1], &logs[2]]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains("processes  2") && done.stdout.contains("nothing that was traced: log.8"),
        "{}",
        done.stdout
    );
    assert_eq!(import(&[&logs[1], shown(&testdata("foreign/ninja.ninja_log"))]).code, 3);
    assert_eq!(import(&[&logs[1]]).code, 3);
}

#[test]
fn import_writes_differences_where_dumps_have_serials() {
    let folder = temporary();
    let dumps = [1, 2].map(|number| testdata(&format!("foreign/v8/node20-cards-{number}.heapsnapshot.zst")));
    let [whole, patches] = ["whole", "patches"].map(|name| folder.path().join(name));
    let words = |destination| ["import", shown(&dumps[0]), shown(&dumps[1]), "-o", shown(destination)];
    assert_eq!(run(&words(&whole)).code, 0);
    assert_eq!(run(&[&words(&patches)[..], &["--patches"]].concat()).code, 0);
    let [large, small] = [&whole, &patches].map(|path| std::fs::metadata(path).unwrap().len());
    assert!(small < large / 10 * 9, "{small} of {large} bytes");
    assert_eq!(run(&["verify", shown(&patches)]).code, 0);
    for question in [&["summary", "all"][..], &["top", "types"], &["survival"], &["diff", "0", "1", "by", "object"]] {
        let ask = |path| run(&[&[question[0], shown(path)], &question[1..], &["--format", "json"]].concat()).stdout;
        assert_eq!(ask(&whole).replace("whole", ""), ask(&patches).replace("patches", ""), "{question:?}");
    }
}

#[test]
fn a_character_that_snapshots_of_v8_cannot_hold_is_refused() {
    let dump = testdata("foreign/v8/node20-cards-1.heapsnapshot.zst");
    for question in ["text = \"\u{1f600}\"", ".map[\"\u{1f600}\"] = 4", "type = Card and .name ~ *\u{1f600}*"] {
        let refused = run(&["count", shown(&dump), question]);
        assert_eq!(refused.code, 2, "{}", refused.stdout);
        assert!(refused.stderr.contains("is U+F600 in its snapshots"), "{}", refused.stderr);
    }
    let key = ".map[\"\u{1f600}\"]";
    let sum = format!("sum({key})");
    for words in [["list", "type = Map", "of", key], ["group", "type = Map", "by", key], ["count", "", "show", &sum]] {
        let refused = run(&[words[0], shown(&dump), words[1], words[2], words[3]]);
        assert!(refused.code == 2 && refused.stderr.contains("is U+F600"), "{}{}", refused.stdout, refused.stderr);
    }
    assert_eq!(run(&["count", shown(&dump), "text = \"\u{f600}\""]).code, 0);
    assert_eq!(run(&["count", shown(&testdata("foreign/jvm/17.hprof.zst")), "text = \"\u{1f600}\""]).code, 0);
}

#[test]
fn only_a_report_goes_to_the_standard_output() {
    let dump = testdata("foreign/jvm/17.hprof.zst");
    let report = run(&["report", shown(&dump), "-o", "-"]);
    assert!(report.code == 0 && report.stdout.starts_with("<!doctype html>"), "{}", report.stderr);
    let record = cfg!(target_os = "linux").then_some(&["record", "-o", "-", "--", "true"][..]);
    for words in std::iter::once(&["import", shown(&dump), "-o", "-"][..]).chain(record) {
        let refused = run(words);
        assert!(
            refused.code != 0 && refused.stderr.contains("a file named `-` is ./-"),
            "{words:?}: {}",
            refused.stderr
        );
    }
}

#[test]
fn what_a_program_computes_when_it_reads_it_is_unknown_also_in_csv() {
    let dump = testdata("foreign/v8/node20-cards-1.heapsnapshot.zst");
    let computed = run(&["inrefs", shown(&dump), "name = \"system / AccessorPair\"", "by", "field"]).stdout;
    assert!(computed.contains("objectMode"), "{computed}");
    let (type_is, value) = ("type = Object and .objectMode", "\"system / AccessorPair\"");
    for format in ["table", "csv"] {
        let counted = run(&["count", shown(&dump), &format!("{type_is} = {value}"), "--format", format]);
        let said = counted.stdout.clone() + &counted.stderr;
        assert!(said.contains("of which it is not known whether") && counted.code == 0, "{said}");
        assert_eq!(counted.stderr.is_empty(), format == "table", "{said}");
    }
    let csv = run(&["count", shown(&dump), "type = Object", "--format", "csv"]);
    assert_eq!((csv.code, csv.stderr.as_str()), (0, ""));
}

/// Where null is an object with a name, nothing tells it from others without contents.
#[test]
fn without_contents_it_is_not_known_what_is_not_null() {
    let folder = temporary();
    let recording = folder.path().join("bare");
    for (dump, field, code) in [("v8/node20-cards-1.heapsnapshot.zst", ".map", 2), ("jvm/17.hprof.zst", ".next", 0)] {
        let dump = testdata(&format!("foreign/{dump}"));
        let words = ["import", shown(&dump), "-o", shown(&recording), "--force", "--contents", "none"];
        assert_eq!(run(&words).code, 0);
        let counted = run(&["count", shown(&recording), &format!("{field} != null")]);
        assert_eq!(counted.code, code, "{}{}", counted.stdout, counted.stderr);
        assert_eq!(run(&["count", shown(&recording), &format!("{field} = null")]).code, 2);
    }
    // What it refers to may be a number.
    let numbers = run(&["count", shown(&recording), ".next != null", "show", "count(.next)"]);
    assert!(numbers.stdout.contains("of which it is not known"), "{}{}", numbers.stdout, numbers.stderr);
}

#[test]
fn several_dumps_are_one_recording_in_their_order() {
    let folder = temporary();
    let names = ["25-compact.hprof.gz", "17-wide.hprof.zst", "17.hprof.zst"];
    let dumps = names.map(|name| testdata(&format!("foreign/jvm/{name}")));
    let series = folder.path().join("series.barrow");
    let words = ["import", shown(&dumps[0]), shown(&dumps[1]), shown(&dumps[2]), "-o", shown(&series)];
    assert_eq!(run(&words).code, 0);
    let snapshots = run(&["snapshots", shown(&series), "--format", "json"]).stdout;
    let places = ["17.hprof.zst", "17-wide.hprof.zst", "25-compact.hprof.gz"].map(|name| snapshots.find(name));
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{snapshots}");
    // One type in all of them, and the changes add up.
    let diff = run(&["diff", shown(&series), "0", "2", "--format", "json"]);
    assert_eq!(diff.code, 0);
    assert_eq!(diff.stdout.matches("\"java.util.HashMap$Node\"").count(), 1);
    let other = testdata("foreign/moarvm-3-cut.mvmheap");
    let mixed = run(&["import", shown(&other), shown(&dumps[2]), "-o", shown(&series), "--force"]);
    assert_eq!(mixed.code, 3);
    assert!(mixed.stderr.contains("series"), "{}", mixed.stderr);
    assert_eq!(run(&["verify", shown(&series)]).code, 0);
}

#[test]
fn a_dump_never_seen_is_counted_and_not_imported() {
    let folder = temporary();
    let dump = folder.path().join("heap.hprof");
    let packed = std::fs::File::open(testdata("foreign/jvm/17.hprof.zst")).unwrap();
    std::fs::write(&dump, zstd::decode_all(packed).unwrap()).unwrap();
    let cache = folder.path().join("cache");
    let ask =
        |words: &[&str]| finished(program(folder.path()).env("BARROW_CACHE", &cache).args(words).output().unwrap());
    let question = ["top", shown(&dump), "100", "types", "by", "count", "--format", "json"];
    let of_types = ["count", shown(&dump), "instance type ~ *Map* or type = \"int[]\"", "--format", "json"];
    let counted = ask(&question);
    let counted_of_types = ask(&of_types);
    let summary = ask(&["summary", shown(&dump)]);
    assert_eq!((counted.code, cache.exists()), (0, false));
    assert!(summary.stdout.contains("references, roots and off-heap bytes are known after"), "{}", summary.stdout);
    // A question that the first pass cannot answer takes the whole dump: here that no such type is known.
    assert_eq!(ask(&["count", shown(&dump), "type = NoSuchType"]).code, 2);
    assert!(cache.exists());
    let imported = ask(&question);
    assert!(counted.stdout == imported.stdout, "{}\n{}", counted.stdout, imported.stdout);
    assert_eq!(counted_of_types.stdout, ask(&of_types).stdout);
    // Both report that the dump is cut.
    std::fs::write(&dump, &std::fs::read(&dump).unwrap()[..2_000_000]).unwrap();
    let counted = ask(&question);
    assert_eq!(counted.code, 4);
    assert!(counted.stderr.contains("ends at byte 2000000"), "{}", counted.stderr);
    assert_eq!(ask(&["roots", shown(&dump)]).code, 4);
    assert!(ask(&question).stdout == counted.stdout);
}

#[test]
fn lines_stop_at_the_first_that_is_not_understood() {
    let recording = recording();
    let run = run(&[&recording, "-e", "snapshot 0", "-e", "frobnicate", "-e", "snapshots"]);
    assert_eq!(run.code, 2);
    assert!(run.stdout.contains("snapshot") && !run.stdout.contains("blocks"), "{}", run.stdout);
    assert!(run.stderr.ends_with("not asked: 1 line after it\n"), "{}", run.stderr);
}

#[test]
fn lines_come_from_a_script_or_from_stdin() {
    let folder = temporary();
    let script = folder.path().join("script");
    std::fs::write(&script, "# a comment\n\nsnapshot 1\nexit\nfrobnicate\n").unwrap();
    let recording = recording();
    let from_script = run(&[&recording, "-f", shown(&script)]);
    assert_eq!((from_script.code, from_script.stderr.as_str()), (0, ""));
    let stdin = std::fs::File::open(&script).unwrap();
    let from_stdin = finished(program(folder.path()).arg(&recording).stdin(stdin).output().unwrap());
    assert_eq!((from_stdin.code, from_stdin.stdout), (0, from_script.stdout));
}

#[test]
fn answers_go_to_files_and_commands() {
    let folder = temporary();
    let file = folder.path().join("kinds.csv");
    let recording = recording();
    let redirected = format!("histogram by kind --format csv > {}", shown(&file));
    let run = run(&[&recording, "-e", &redirected, "-e", "histogram --format csv | head -1"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, "type,kind,layout,objects,shallow_bytes,unmanaged_bytes\r\n");
    assert!(std::fs::read_to_string(file).unwrap().starts_with("kind,objects,shallow_bytes,unmanaged_bytes\r\n"));
}

#[test]
fn a_reader_that_is_gone_ends_the_answer_quietly_with_0() {
    let folder = temporary();
    let mut program = program(folder.path());
    program.args(["histogram", &recording(), "--format", "csv"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn everything_is_counted_unless_something_is_asked_for() {
    let recording = recording();
    let count = |words: &[&str]| {
        let run = run(&[&["count", &recording, "--format", "csv"], words].concat());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{words:?}");
        run.stdout
    };
    assert_eq!(count(&["objects type = BOOTHash"]), count(&["objects", "type = BOOTHash"]));
    assert_ne!(count(&["frames size > 1K"]), count(&[]));
    assert_eq!(run(&["find", &recording, "2"]).code, 0);
    assert!(run(&["count", &recording]).stdout.contains("540,607"));
}

#[test]
fn what_is_excluded_is_in_no_count() {
    let recording = recording();
    let lines =
        ["find 1 type = BOOTStaticFrame", "without %1", "find 1 type = BOOTHash", "summary --verify", "without"];
    let words = lines.into_iter().flat_map(|line| ["-e", line]);
    let run = run(&[&recording[..], "--no-index"].into_iter().chain(words).collect::<Vec<_>>());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let (_, summary) = run.stdout.split_once("BOOTHash").expect("it is found");
    assert!(summary.contains("\nobjects     540,605\n"), "{summary}");
    // The row that was meant then, though another object is in it now.
    assert_eq!((summary.matches("without @19\n").count(), summary.matches("without").count()), (3, 3), "{summary}");
}

#[cfg(unix)]
#[test]
fn an_index_that_cannot_be_beside_the_recording_is_in_a_cache_that_is_made() {
    use std::os::unix::fs::PermissionsExt;

    let folder = temporary();
    let locked = folder.path().join("locked");
    std::fs::create_dir(&locked).unwrap();
    let recording = locked.join("a.barrow");
    std::fs::copy(testdata("smallest.barrow"), &recording).unwrap();
    // Users with all permissions cannot write beside it either.
    std::fs::create_dir(locked.join("a.barrow.index")).unwrap();
    std::fs::write(locked.join("a.barrow.index/full"), "").unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
    let run = finished(
        program(folder.path()).args(["top", shown(&recording), "1", "all", "by", "retained"]).output().unwrap(),
    );
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let kept = std::fs::read_dir(folder.path().join("cache")).expect("the cache was made");
    assert_eq!(kept.count(), 1);
}

/// Dumps of V8 have WeakMaps, which make retained sizes of the tree lower bounds.
#[test]
fn what_rests_on_lower_bounds_says_so() {
    let folder = temporary();
    let path = folder.path().join("cards.barrow");
    let dumps = ["1", "2"].map(|number| testdata(&format!("foreign/v8/node20-cards-{number}.heapsnapshot.zst")));
    let import = run(&["import", shown(&dumps[0]), shown(&dumps[1]), "-o", shown(&path)]);
    assert_eq!(import.code, 0, "{}", import.stderr);
    for (words, exactness) in [
        (&["diff", "0", "1", "by", "retained"][..], "lower bound"),
        (&["diff", "0", "1", "by", "size"], "exact"),
        (&["count", "retained > 14K"], "by lower bounds of retained sizes"),
        (&["find", "retained > 14K"], "by lower bounds of retained sizes"),
        (&["count", "size > 14K"], "exact"),
        (&["retained", "retained > 14K"], "by lower bounds of retained sizes"),
        (&["paths", "retained > 14K"], "by lower bounds of retained sizes"),
        (&["without", "retained > 14K"], "by lower bounds of retained sizes"),
        (&["trend", "retained > 14K"], "by lower bounds of retained sizes"),
        (&["assert", "count(retained > 1G) = 0"], "by lower bounds of retained sizes"),
        (&["assert", "count(size > 1G) = 0"], "exact"),
    ] {
        let all: Vec<&str> = [words[0], shown(&path)].into_iter().chain(words[1..].iter().copied()).collect();
        let run = run(&[&all[..], &["--format", "json", "--no-index"]].concat());
        assert!(run.stdout.contains(&format!("\"exactness\":\"{exactness}\"")), "{words:?}: {}", run.stdout);
    }
    let run = run(&["assert", shown(&path), "count(retained > 1G) = 0", "--no-index"]);
    assert!(run.code == 0 && run.stdout.contains("compared with lower bounds"), "{}", run.stdout);
}

#[cfg(target_os = "linux")]
#[test]
fn the_largest_size_of_a_file_is_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let barrow = env!("CARGO_BIN_EXE_barrow");
    for asked in [
        "redact RECORDING -o redacted",
        "repack RECORDING -o repacked",
        "find RECORDING 600000 all --format csv > csv",
        "report RECORDING -o page.html",
    ] {
        let asked = asked.replace("RECORDING", &recording());
        let limited = format!("ulimit -f 8; '{barrow}' {asked}");
        let mut bash = std::process::Command::new("bash");
        let run = finished(bash.args(["-c", &limited]).current_dir(folder.path()).output().unwrap());
        assert_eq!(run.code, 5, "{asked}: {}", run.stderr);
        assert!(run.stderr.contains("File too large"), "{asked}: {}", run.stderr);
    }
    // A program that barrow starts dies of the signal as it would without barrow.
    let script =
        format!("ulimit -f 8; '{barrow}' record -o x.barrow -- sh -c 'head -c 9000000 /dev/zero > big; echo $?'");
    let run =
        finished(std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap());
    assert!(run.stdout.starts_with("153"), "{} {}", run.stdout, run.stderr);
}
