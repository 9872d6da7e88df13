//! `--max-memory` is a promise of every verb: each answers under a small ceiling, or says that it needs more.

#![cfg(target_os = "linux")]

mod program;

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use barrow_query::commands::COMMANDS;
use program::{finished, program, recording, run, testdata};

/// The ceiling. Of it 48 MiB are left to all but columns.
const CEILING_MIB: u64 = 64;
/// Memory that a program may hold beyond the ceiling until it ends: the ceiling is checked every few milliseconds, and a
/// question notices between two pieces of work.
const BEYOND_MIB: u64 = 48;

/// Part of the message of a question that lacks memory: the amount follows, computed or forecast.
const NEED: &str = " about ";
/// Part of the message of an import, which may end before its need is known.
const LIMIT: &str = "64 MiB";

/// Values of the trials, ten in each run.
const VALUES: u64 = 400_000;
/// Processes of the build, of 500 bytes each.
const PROCESSES: u64 = 300_000;

/// The recordings that are asked.
#[derive(Clone, Copy)]
enum About {
    /// A heap of 540,607 objects, three times.
    Heap,
    /// A small one, for what only these have.
    Small(&'static str),
    Build,
    Trials,
}

/// The questions of each verb. Words that begin with `>` name a file in the folder of the test.
const QUESTIONS: &[(&str, About, &[&str])] = &[
    ("snapshots", About::Heap, &[]),
    ("snapshot", About::Heap, &["1"]),
    ("summary", About::Heap, &[]),
    ("summary", About::Build, &[]),
    ("summary", About::Trials, &[]),
    ("top", About::Heap, &["100000", "objects", "by", "retained"]),
    ("histogram", About::Heap, &["by", "retained"]),
    ("histogram", About::Trials, &["wall", "--format", "json"]),
    ("sites", About::Heap, &[]),
    ("site", About::Small("orders.barrow"), &["1"]),
    ("diff", About::Heap, &["0", "2", "by", "path"]),
    ("diff", About::Heap, &["0", "2", "all", "by", "type,layout", "by", "retained"]),
    ("diff", About::Heap, &["0", "2", "of", "id,type,size", "--format", "csv"]),
    ("diff", About::Heap, &["0", "2", "size > 0", "by", "path"]),
    ("growth", About::Heap, &["--format", "csv"]),
    ("trend", About::Heap, &["List"]),
    ("born", About::Heap, &["0..2"]),
    ("died", About::Heap, &["0..2"]),
    ("survived", About::Heap, &["2"]),
    ("age", About::Heap, &[]),
    ("survival", About::Heap, &["List"]),
    ("find", About::Heap, &["1000000", "all", "by", "retained"]),
    ("find", About::Build, &["300000", "wall > 1ms"]),
    ("list", About::Heap, &["1000000", "all", "of", "shallow,", "retained,", "type"]),
    ("count", About::Heap, &["retained > 1K"]),
    ("count", About::Build, &["wall > 1ms"]),
    ("info", About::Heap, &["@10"]),
    ("entries", About::Small("jvm.barrow"), &["@1056"]),
    ("show", About::Heap, &["@2"]),
    ("inrefs", About::Heap, &["@15"]),
    ("path", About::Heap, &["@500000", "1000"]),
    ("paths", About::Heap, &["all"]),
    ("roots", About::Heap, &[]),
    ("threads", About::Heap, &[]),
    ("stack", About::Small("jvm.barrow"), &["1"]),
    ("dominators", About::Heap, &["--depth", "1000", "--format", "csv"]),
    ("flame", About::Heap, &["--format", "json"]),
    ("idom", About::Heap, &["@500000"]),
    ("common", About::Heap, &["all"]),
    ("retained", About::Heap, &["@0"]),
    ("without", About::Heap, &["@0"]),
    ("leaks", About::Heap, &[]),
    ("assert", About::Heap, &["retained(all) < 1G"]),
    ("assert", About::Trials, &["modes(wall) <= 3"]),
    ("unreachable", About::Heap, &[]),
    ("strings", About::Heap, &["--format", "csv"]),
    ("group", About::Heap, &["all", "by", "type", "by", "retained"]),
    ("dups", About::Heap, &["--format", "csv"]),
    ("dups", About::Heap, &["by", "group", "--format", "csv"]),
    ("waste", About::Heap, &[]),
    ("collections", About::Heap, &[]),
    ("loaders", About::Small("jvm.barrow"), &[]),
    ("processes", About::Build, &["300000", "--format", "csv"]),
    ("tree", About::Build, &[]),
    ("classes", About::Build, &[]),
    ("timeline", About::Build, &["--format", "csv"]),
    ("lanes", About::Build, &[]),
    ("critical", About::Build, &[]),
    ("what-if", About::Build, &["-j", "4"]),
    ("export", About::Build, &["--to", "perfetto", "-o", ">build.pftrace"]),
    ("export", About::Trials, &["--to", "csv", "-o", ">exported.csv"]),
    ("trials", About::Trials, &[]),
    ("runs", About::Trials, &["--format", "json"]),
    ("values", About::Trials, &["wall", "--format", "csv"]),
    ("modes", About::Trials, &["wall"]),
    ("compare", About::Trials, &["sort", "sort"]),
    ("report", About::Heap, &["-o", ">heap.html"]),
    ("report", About::Build, &["-o", ">build.html"]),
    ("report", About::Trials, &["-o", ">trials.html"]),
    ("verify", About::Heap, &[]),
    ("audit", About::Heap, &[]),
    ("redact", About::Heap, &["-o", ">redacted.barrow"]),
    ("repack", About::Build, &["-o", ">repacked.barrow"]),
    ("repair", About::Trials, &["-o", ">repaired.barrow"]),
];

/// Verbs that read no recording, or run until they are stopped.
const OTHERS: &[&str] = &[
    "let",
    "heap",
    "trial",
    "record",
    "watch",
    "serve",
    "resolve",
    "import",
    "more",
    "history",
    "set",
    "help",
    "man",
    "completions",
    "exit",
];

#[test]
fn every_verb_keeps_under_the_ceiling_or_says_what_it_needs() {
    for command in COMMANDS {
        let is_asked = QUESTIONS.iter().any(|(verb, ..)| *verb == command.name);
        assert!(is_asked != OTHERS.contains(&command.name), "{}: is it asked here?", command.name);
    }
    let folder = tempfile::tempdir().unwrap();
    let (build, trials) = (build(folder.path()), trials(folder.path()));
    let (mut answered, mut broken) = (0, Vec::new());
    for (verb, about, words) in QUESTIONS {
        let file = match about {
            About::Heap => recording(),
            About::Small(name) => testdata(name).display().to_string(),
            About::Build => build.clone(),
            About::Trials => trials.clone(),
        };
        match keeps_under(folder.path(), verb, &file, words, NEED) {
            Ok(is_answered) => answered += usize::from(is_answered),
            Err(what) => broken.push(what),
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(answered * 2 > QUESTIONS.len(), "only {answered} of {} questions were answered", QUESTIONS.len());
}

/// Under a higher limit more columns are in memory: the advice counts those that were files.
#[test]
fn the_limit_that_a_refusal_advises_is_enough() {
    let mut refused = 0;
    for words in [
        &["paths", "all"][..],
        &["find", "1000000", "all"],
        &["group", "all", "by", "type", "by", "retained"],
        &["flame", "--format", "json"],
    ] {
        for limit_mib in [1, 40, 50, 53, 56, 64, 72, 90] {
            let folder = tempfile::tempdir().unwrap();
            let ask = |limit_mib: u64| {
                let mut command = program(folder.path());
                command.args([words[0], &recording()]).args(&words[1..]);
                command.args(["--no-index", "--max-memory", &format!("{limit_mib}MiB")]);
                finished(command.output().unwrap())
            };
            let first = ask(limit_mib);
            let Some((_, advice)) = first.stderr.split_once("raise the limit to ") else {
                assert_eq!(first.code, 0, "{words:?}, {limit_mib} MiB: {}", first.stderr);
                continue;
            };
            refused += 1;
            let advised_mib = advice.split(' ').next().unwrap().parse().unwrap();
            let then = ask(advised_mib);
            assert_eq!(then.code, 0, "{words:?}, {limit_mib} MiB, then {advised_mib}: {}", then.stderr);
        }
    }
    assert!(refused > 10, "{refused}");
}

/// An import holds little of a dump at once, or what it needs is too much.
#[test]
fn imports_keep_under_the_ceiling_or_say_what_they_need() {
    let folder = tempfile::tempdir().unwrap();
    let mut answered = 0;
    let dumps = [
        ("heap.jsonl", ruby(2_000_000).into_bytes()),
        ("heap.hprof", jvm(4_000_000)),
        ("heap.heapsnapshot", v8(2_000_000).into_bytes()),
        ("values.csv", values().into_bytes()),
        (".ninja_log", log(PROCESSES / 2).into_bytes()),
    ];
    for (name, bytes) in dumps {
        let dump = folder.path().join(name);
        std::fs::write(&dump, bytes).unwrap();
        let words = ["-o", ">imported.barrow", "--force"];
        answered +=
            usize::from(keeps_under(folder.path(), "import", &dump.display().to_string(), &words, LIMIT).unwrap());
    }
    assert!(answered >= 3, "only {answered} imports were answered");
}

/// A dump of Ruby: a list of strings.
fn ruby(objects: u64) -> String {
    let mut dump = "{\"type\":\"ROOT\",\"root\":\"vm\",\"references\":[\"0x10000\"]}\n".to_owned();
    for at in 0..objects {
        let (address, next) = (0x10000 + 40 * at, 0x10000 + 40 * (at + 1) % (40 * objects));
        writeln!(
            dump,
            "{{\"address\":\"{address:#x}\", \"type\":\"STRING\", \"value\":\"text {at}\", \"references\":[\"{next:#x}\"], \
             \"memsize\":40}}"
        )
        .unwrap();
    }
    dump
}

/// A dump of a JVM: objects without fields.
fn jvm(objects: u64) -> Vec<u8> {
    let mut heap = vec![0x05];
    heap.extend(1_u64.to_be_bytes());
    heap.push(0x20);
    heap.extend(1_u64.to_be_bytes());
    heap.extend([0; 4 + 6 * 8 + 4 + 3 * 2]);
    for at in 0..objects {
        heap.push(0x21);
        heap.extend((0x1_0000 + 16 * at).to_be_bytes());
        heap.extend([0; 4]);
        heap.extend(1_u64.to_be_bytes());
        heap.extend([0; 4]);
    }
    let mut dump = b"JAVA PROFILE 1.0.2\0\0\0\0\x08".to_vec();
    dump.extend([0; 8]);
    let mut record = |tag: u8, body: &[u8]| {
        dump.push(tag);
        dump.extend([0; 4]);
        dump.extend((body.len() as u32).to_be_bytes());
        dump.extend(body);
    };
    record(0x01, b"\0\0\0\0\0\0\0\x07java/lang/Object");
    record(0x02, &[&[0, 0, 0, 1][..], &1_u64.to_be_bytes(), &[0; 4], &7_u64.to_be_bytes()].concat());
    record(0x1c, &heap);
    record(0x2c, &[]);
    dump
}

/// A snapshot of V8: a chain of objects.
fn v8(nodes: u64) -> String {
    let mut dump = format!(
        "{{\"snapshot\":{{\"meta\":{{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\"],\"node_types\":\
         [[\"object\"],\"string\",\"number\",\"number\",\"number\"],\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\
         \"edge_types\":[[\"element\"],\"string_or_number\",\"node\"]}},\"node_count\":{nodes},\"edge_count\":{}}},\"nodes\":[",
        nodes - 1
    );
    for at in 0..nodes {
        let comma = if at == 0 { "" } else { "," };
        writeln!(dump, "{comma}0,{},{},16,{}", at % 2, at * 2 + 1, u64::from(at + 1 < nodes)).unwrap();
    }
    dump += "],\"edges\":[";
    for at in 1..nodes {
        let comma = if at == 1 { "" } else { "," };
        writeln!(dump, "{comma}0,1,{}", at * 5).unwrap();
    }
    dump + "],\"strings\":[\"a\",\"b\"]}"
}

/// Asks a question under the ceiling, below which it has to say `told`. Returns whether it was answered, or what is wrong.
fn keeps_under(folder: &Path, verb: &str, file: &str, words: &[&str], told: &str) -> Result<bool, String> {
    let place = |word: &&str| match word.strip_prefix('>') {
        Some(name) => folder.join(name).display().to_string(),
        None => (*word).to_owned(),
    };
    let words: Vec<String> = words.iter().map(place).collect();
    let mut command = program(folder);
    command.args([verb, file]).args(&words).args(["--no-index", "--max-memory", &format!("{CEILING_MIB}MiB")]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut peak_mib = 0;
    let status = loop {
        peak_mib = peak_mib.max(held_mib(child.id()));
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let code = status.code();
    let asked = format!("`barrow {verb} {file} {}` held {peak_mib} MiB, exit {code:?}:\n{said}", words.join(" "));
    let is_answered = match code {
        // An assertion may be false or undecided, and a verb may find nothing that it is about.
        Some(0 | 1 | 3) => true,
        Some(2) if verb == "assert" || said.contains("as far as this is recorded") => true,
        Some(5) if said.contains(told) && said.contains("raise the limit") => false,
        _ => return Err(asked),
    };
    if peak_mib <= CEILING_MIB + BEYOND_MIB { Ok(is_answered) } else { Err(asked) }
}

/// The memory of a process besides pages of files, in MiB; 0 if it has ended.
fn held_mib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10)
}

/// A recording of a log of ninja.
fn build(folder: &Path) -> String {
    imported(folder, ".ninja_log", &log(PROCESSES))
}

fn log(processes: u64) -> String {
    let mut log = "# ninja log v5\n".to_owned();
    for at in 0..processes {
        writeln!(log, "{}\t{}\t0\tobject/{}/{at}.o\t{at:016x}", at * 3, at * 3 + 40 + at % 17, at % 1000).unwrap();
    }
    log
}

/// A recording of values in CSV.
fn trials(folder: &Path) -> String {
    imported(folder, "values.csv", &values())
}

fn values() -> String {
    let mut values = "metric,unit,direction,variant,run,iteration,value\n".to_owned();
    for at in 0..VALUES {
        let value = 1_000_000 + at.wrapping_mul(0x9e37_79b9) % 1000;
        writeln!(values, "wall,ns,lower,sort,{},{},{value}", at / 10, at % 10).unwrap();
    }
    values
}

fn imported(folder: &Path, name: &str, text: &str) -> String {
    let (dump, recording) = (folder.join(name), folder.join(format!("{name}.barrow")));
    std::fs::write(&dump, text).unwrap();
    let run = run(&["import", &dump.display().to_string(), "-o", &recording.display().to_string()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    recording.display().to_string()
}
