//! Expressions about processes, as `find`, `count`, `let` and `assert` take them.

use crate::program;
use std::path::Path;

use crate::program::{Run, run};
use barrow_query::commands::Content;
use barrow_writer::{
    KindRole, Object, Options, ProcessDescription, ProcessEnd, ProgramDescription, SnapshotInfo, TypeDescription,
    Usage, Writer,
};
use serde_json::Value;

const SECOND: u64 = 1_000_000_000;

/// A process: its parent's position, arguments, CPU and end in seconds, peak in MiB, exit status or signal.
type Row<'a> = (Option<usize>, &'a [&'a str], Option<u64>, u64, u64, Result<u64, u64>);

const BUILD: [Row<'static>; 6] = [
    (None, &["make", "-j2"], Some(1), 60, 10, Ok(2)),
    (Some(0), &["/usr/bin/gcc", "-c", "a.c"], Some(0), 21, 30, Ok(0)),
    (Some(1), &["/usr/lib/cc1", "a.c"], Some(20), 20, 900, Ok(0)),
    (Some(0), &["/usr/lib/cc1", "b b.c"], Some(30), 40, 600, Err(9)),
    (Some(0), &["ld", "-o", "app"], None, 55, 1500, Ok(1)),
    (Some(0), &["sh", "-c", "exit 0"], Some(0), 60, 1, Ok(0)),
];

/// Writes these processes, which begin a second after each other, into `writer`.
fn announce(writer: &Writer, rows: &[Row<'_>]) {
    let mut ids = Vec::new();
    for (at, &(parent, arguments, ..)) in (0u64..).zip(rows) {
        let executable = Some(arguments[0]);
        let program = ProgramDescription { executable, directory: Some("/src"), arguments };
        let parent = parent.map(|parent: usize| ids[parent]);
        let time_ns = (at * SECOND) as i64;
        let begun = ProcessDescription { time_ns, pid: 100 + at, parent, host: None, program };
        ids.push(writer.begin_process(&begun).unwrap());
    }
    let sample: Vec<_> = ids.iter().zip(rows).map(|(&id, row)| (id, row.4 << 19)).collect();
    writer.process_memory(8 * SECOND as i64, &sample).unwrap();
    let mut ends: Vec<_> = rows.iter().zip(&ids).collect();
    ends.sort_by_key(|(row, _)| row.3);
    for (&(_, _, cpu, ended, peak, end), &id) in ends {
        let used = Usage {
            user_ns: cpu.map(|cpu| cpu * SECOND),
            system_ns: cpu.map(|_| 0),
            peak_bytes: Some(peak << 20),
            ..Usage::default()
        };
        let end = ProcessEnd { exit_status: end.ok(), signal: end.err(), used };
        writer.end_process(id, (ended * SECOND) as i64, &end).unwrap();
    }
}

struct Recorded {
    _folder: tempfile::TempDir,
    path: String,
}

fn recorded(rows: &[Row<'_>]) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("build.barrow");
    let writer = Writer::create(&path, Options::without_threads()).unwrap();
    announce(&writer, rows);
    writer.finish().unwrap();
    Recorded { path: path.display().to_string(), _folder: folder }
}

impl Recorded {
    fn ask(&self, verb: &str, words: &[&str]) -> Run {
        run(&[&[verb, &self.path, "--no-index"], words].concat())
    }

    fn json(&self, verb: &str, words: &[&str]) -> Value {
        let run = self.ask(verb, &[words, &["--format", "json"]].concat());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{words:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// The processes that `find` lists.
    fn found(&self, words: &[&str]) -> Vec<String> {
        let answer = self.json("find", words);
        let rows = answer["rows"].as_array().unwrap();
        rows.iter().map(|row| row["process"].as_str().unwrap().to_owned()).collect()
    }

    /// Runs lines as if typed at the prompt.
    fn lines(&self, lines: &[&str]) -> Run {
        let words: Vec<&str> = lines.iter().flat_map(|line| ["-e", line]).collect();
        run(&[&[self.path.as_str(), "--no-index"], &words[..]].concat())
    }
}

#[test]
fn processes_are_found_and_ranked() {
    let build = recorded(&BUILD);
    for (words, expected) in [
        (&["class = cc1"][..], &["102:0", "103:0"][..]),
        (&["class = \"cc1\" and memory > 700M"], &["102:0"]),
        (&["class = compiler and class.program != cc1"], &["101:0"]),
        (&["command", "~", "/^(ld|as)$/", "or", "failed"], &["100:0", "103:0", "104:0"]),
        (&["processes", "cpu", "in", "20s..", "by", "cpu"], &["103:0", "102:0"]),
        (&["2", "by", "total.cpu"], &["100:0", "103:0"]),
        (&["by", "cpu", "6"], &["103:0", "102:0", "100:0", "101:0", "105:0", "104:0"]),
        (&["arguments ~ \"*b b*\" - signal != 9"], &["103:0"]),
        (&["wall > 50s and depth = 0"], &["100:0"]),
        (&["type = a", "--format", "json"][..0], &["100:0", "101:0", "102:0", "103:0", "104:0", "105:0"]),
    ] {
        assert_eq!(build.found(words), expected, "{words:?}");
    }
    let listed = build.json("processes", &["class = compiler and wall >= 20s by wall"]);
    let names: Vec<&str> =
        listed["rows"].as_array().unwrap().iter().filter_map(|row| row["process"].as_str()).collect();
    assert_eq!(names, ["103:0", "101:0"]);
    let row = &build.json("find", &["process = \"103:0\""])["rows"][0];
    for (key, value) in [
        ("process", Value::from("103:0")),
        ("image", 0.into()),
        ("parent", "100:0".into()),
        ("host", Value::Null),
        ("executable", "/usr/lib/cc1".into()),
        ("arguments", vec!["/usr/lib/cc1", "b b.c"].into()),
        ("directory", "/src".into()),
        ("class", "compiler".into()),
        ("started_ns", (3 * SECOND).into()),
        ("ended_ns", (40 * SECOND).into()),
        ("exit_code", Value::Null),
        ("signal", 9.into()),
        ("user_ns", (30 * SECOND).into()),
        ("system_ns", 0.into()),
        ("peak_bytes", (600u64 << 20).into()),
        ("minor_faults", Value::Null),
        ("read_bytes", Value::Null),
    ] {
        assert_eq!(row[key], value, "{key}");
    }
    let csv = build.ask("find", &["class = cc1", "--format", "csv"]).stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines.len() == 3 && lines[0].starts_with("process,image,class,parent,"), "{csv}");
    assert!(lines[2].starts_with("103:0,0,compiler,100:0,") && lines[2].ends_with("/usr/lib/cc1 'b b.c'"), "{csv}");
}

#[test]
fn counts_say_what_is_not_known() {
    let build = recorded(&BUILD);
    let counted = build.json("count", &["class = cc1"]);
    for (key, value) in
        [("processes", 2), ("images", 2), ("failed", 1), ("user_ns", 50 * SECOND), ("wall_ns", 38 * SECOND)]
    {
        assert_eq!(counted[key], Value::from(value), "{key}");
    }
    assert_eq!((&counted["peak_bytes"], &counted["read_bytes"]), (&Value::from(900u64 << 20), &Value::Null));
    let told = build.ask("count", &[]).stdout;
    assert!(told.contains("the processor time of 1 program was not recorded and is not included"), "{told}");
    assert_eq!(build.json("count", &["cpu != 5s"])["images"], 5, "what is unknown is not compared");
    assert_eq!(build.json("count", &["class ~ none"])["images"], 0);
}

#[test]
fn sets_and_rows_are_of_processes() {
    let build = recorded(&BUILD);
    let run = build.lines(&[
        "let $heavy = memory > 500M",
        "count $heavy and not failed",
        "find $heavy by memory",
        "count %1",
        "count $_ - %1",
        "let",
    ]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    let programs: Vec<&str> =
        run.stdout.lines().filter_map(|line| line.strip_prefix("programs")).map(str::trim).collect();
    assert_eq!(programs, ["3", "1", "1", "0"], "{}", run.stdout);
    assert!(run.stdout.contains("$heavy") && run.stdout.lines().any(|line| line.starts_with("% ")), "{}", run.stdout);
    for (lines, told) in [
        (&["count $none"][..], "there is no set $none"),
        (&["find class = cc1", "find %3"], "the last table has the rows %1 to %2"),
        (&["count %1"], "the last table lists no processes"),
        (&["find type = a"], "this recording holds processes and no objects"),
        (&["find memory > 5much"], "expected a number such as 100"),
        (&["find clas = a"], "did you mean `class`?"),
        (&["count class = cc2"], "no process of this recording has the class \"cc2\"; did you mean \"cc1\"?"),
        (&["count class.program = compiler"], "no process of this recording has the class \"compiler\""),
        (&["find by size"], "processes have no order `size`; there are memory, cpu"),
        (&["find cpu > 5"], "a time with its unit"),
    ] {
        let run = build.lines(lines);
        assert!(run.code == 2 && run.stderr.contains(told), "{lines:?}: {}", run.stderr);
    }
}

#[test]
fn a_recording_may_hold_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("both.barrow");
    let writer = Writer::create(&path, Options::without_threads()).unwrap();
    announce(&writer, &BUILD);
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let type_id = writer.declare_type(&TypeDescription::new(kind, "List")).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for (number, bytes) in [(0, 64), (1, 1000)] {
        shard.object(number, &Object::new(type_id, bytes)).unwrap();
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let both = Recorded { path: path.display().to_string(), _folder: folder };
    assert_eq!(both.json("count", &[])["objects"], 2);
    assert_eq!(both.json("count", &["size > 100"])["objects"], 1);
    assert_eq!(both.json("count", &["memory > 700M"])["images"], 2);
    assert_eq!(both.json("count", &["processes"])["images"], 6);
    let run = both.lines(&["let $objects = size > 0", "let $programs = failed", "count $objects", "count $programs"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    for (lines, told) in [
        (&["let $a = size > 0", "count $a and failed"][..], "$a is a set of objects; this question is about processes"),
        (&["let $a = failed", "count $a and size > 0"], "$a is a set of processes; this question is about objects"),
        (&["find failed", "count %1 and size > 0"], "%1 is a process; this question is about objects"),
        (&["find size > 0", "count %1 and failed"], "%1 is an object; this question is about processes"),
        (&["find size > 0 and memory > 0"], "unknown attribute"),
    ] {
        let run = both.lines(lines);
        assert!(run.code == 2 && run.stderr.contains(told), "{lines:?}: {}", run.stderr);
    }
    let file = Path::new(&both.path).with_file_name("assertions");
    std::fs::write(&file, "# both\nmemory(class = \"ld\") < 2G\ncount() = 2\nsize(size > 0) < 2K\ncount(failed) = 3\n")
        .unwrap();
    let run = both.ask("assert", &["--from", &file.display().to_string()]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert_eq!(run.stdout.matches("holds").count(), 4, "{}", run.stdout);
}

#[test]
fn assertions_are_judged() {
    let build = recorded(&BUILD);
    for (assertion, code) in [
        ("memory(class = \"ld\") < 2G", 0),
        ("memory() <= 1G", 1),
        ("memory(class = none) < 1", 0),
        ("peak() < 2G", 0),
        ("peak() < 1500M", 1),
        ("peak(class = cc1) = 750M", 0),
        ("wall() <= 1min", 0),
        ("wall(class = cc1) < 38s", 1),
        ("wall(class = cc1) = 38s", 0),
        ("cpu(class = cc1) = 50s", 0),
        ("cpu() = 51s", 2),
        ("cpu() > 50s", 0),
        ("cpu() < 50s", 1),
        ("cpu(class = ld) < 1h", 2),
        ("user(class = cc1) > 1min", 1),
        ("reads() < 1G", 2),
        ("count(class = cc1) = 2", 0),
        ("count() = 6", 0),
        ("count(processes) < 6", 1),
        ("failed() = 0", 1),
        ("failed(class = sh) = 0", 0),
    ] {
        let run = build.ask("assert", &[assertion]);
        assert_eq!((run.code, run.stderr.as_str()), (code, ""), "{assertion}: {}", run.stdout);
    }
    let told = build.ask("assert", &["memory() <= 1G", "failed() = 0", "peak() < 1M"]).stdout;
    for text in [
        "1.5 GiB, not <= 1.0 GiB",
        "104:0 ld -o app: 1.5 GiB, exit status 1",
        "… of 6 programs, the largest first",
        "3 processes, not = 0",
        "103:0 /usr/lib/cc1 b b.c, ended by signal 9",
        "in the sample at 8.00 s:",
        "the largest of 1 sample; between two of them it may have been larger",
    ] {
        assert!(told.contains(text), "{text} is missing in {told}");
    }
    let told = build.ask("assert", &["cpu() < 1h"]).stdout;
    let known = "known to be at least 51.00 s, and the limit is 3600.00 s: it rests on 1 program whose processor time";
    assert!(told.contains(known), "{told}");
    let failed = build.ask("assert", &["failed() = 0", "--format", "json"]);
    let answer: Value = serde_json::from_str(&failed.stdout).unwrap();
    let witness = &answer["assertions"][0]["witness"]["processes"];
    assert_eq!((&witness[0]["process"], &witness[1]["signal"]), (&Value::from("100:0"), &Value::from(9)));
}

#[test]
fn assertions_have_baselines_and_junit() {
    let mut slower = BUILD;
    slower[2].2 = Some(40);
    slower[5].5 = Ok(3);
    let (before, after) = (recorded(&BUILD), recorded(&slower));
    let junit = Path::new(&after.path).with_extension("xml");
    let words = ["cpu(class = cc1) <= baseline + 50%", "cpu() <= baseline + 10s", "failed() <= baseline"];
    let flags = ["--baseline", &before.path, "--junit", &junit.display().to_string()];
    let run = after.ask("assert", &[&words[..], &flags].concat());
    assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{}", run.stdout);
    let xml = std::fs::read_to_string(junit).unwrap();
    assert!(xml.contains(r#"tests="3" failures="1" errors="1""#), "{xml}");
    assert!(xml.contains("103:0 /usr/lib/cc1 b b.c") || xml.contains("105:0 sh -c exit 0, exit status 3"), "{xml}");
    let run = after.ask("assert", &["cpu() <= baseline"]);
    assert!(run.code == 2 && run.stderr.contains("which baseline?"), "{}", run.stderr);
    let heap = program::recording();
    let run = after.ask("assert", &["cpu() <= baseline", "--baseline", &heap]);
    assert!(run.code == 2 && run.stderr.contains("the baseline holds no processes"), "{}", run.stderr);
    let run = self::run(&["assert", &heap, "--no-index", "wall() < 5s"]);
    assert!(run.code == 3 && run.stderr.contains("this recording holds no processes"), "{}", run.stderr);
    let run = self::run(&["find", &heap, "--no-index", "class = cc1"]);
    assert!(run.code == 3 && run.stderr.contains("this recording holds no processes"), "{}", run.stderr);
    let run = after.ask("assert", &["no leaks"]);
    assert!(run.code != 0 && run.stderr.contains("holds no heap"), "{}", run.stderr);
}

#[test]
fn hostile_names_stay_names() {
    const HOSTILE: &str = "\x1b[2J\u{202e}\n::error::x\r\"";
    let arguments = [HOSTILE, HOSTILE];
    let rows: [Row<'_>; 2] = [(None, &arguments, Some(1), 5, 1, Ok(1)), (Some(0), &["=1+1"], Some(1), 4, 1, Ok(1))];
    let build = recorded(&rows);
    for (verb, words) in [
        ("find", &["failed"][..]),
        ("find", &["failed", "--format", "csv"]),
        ("assert", &["failed() = 0", "memory() < 1", "peak() < 1"]),
        ("find", &["class = \"\x1b[2J\u{202e}\" and"]),
    ] {
        let run = build.ask(verb, words);
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.replace("\r\n", "").contains(['\x1b', '\u{202e}', '\r']), "{verb} {words:?}: {text:?}");
            // In CSV, a line end in quotes is a part of its cell.
            assert!(
                words.contains(&"csv") || !text.lines().any(|line| line.starts_with("::error")),
                "{verb} {words:?}: {text:?}"
            );
        }
    }
    let csv = build.ask("find", &["depth = 1", "--format", "csv"]).stdout;
    assert!(!csv.contains(",=1+1"), "a formula: {csv}");
}

#[test]
fn help_and_completion_know_the_attributes() {
    let help = run(&["help", "expressions"]).stdout;
    for name in barrow_query::commands::attributes(&[Content::Processes]) {
        assert!(help.lines().any(|line| line.starts_with(&format!("  {name} "))), "{name}");
    }
}
