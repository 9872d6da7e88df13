//! Lines that a file gives to objects: `--lines`, and `barrow-lines.toml` beside the recording.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Run, finished, program};
use barrow_writer::{
    Encoding, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Value, Writer, WriterError,
};

/// Ten keys, each in a field of an entry of its own, below a cache: `Cache @0`, entries from 1 on, keys from 11 on. The
/// name of a key is `name 3`, its number 3.
fn record(path: &Path) -> Result<(), WriterError> {
    let writer = Writer::create(path, Options::default())?;
    let kind = writer.kind("object", KindRole::Object)?;
    let [cache, entry, key] =
        ["Cache", "Entry", "Key"].map(|name| writer.declare_type(&TypeDescription::new(kind, name)));
    let (cache, entry, key) = (cache?, entry?, key?);
    writer.field(entry, "key", Encoding::Reference, false)?;
    let name = writer.field(key, "name", Encoding::Text, false)?;
    let number = writer.field(key, "number", Encoding::Signed, false)?;
    for _ in 0..2 {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
        let mut shard = snapshot.shard();
        shard.root(writer.string("global")?, None, 0)?;
        shard.object(0, &Object::new(cache, 64))?;
        (1..=10).try_for_each(|id| shard.reference(Label::Index(id), StrengthId::STRONG, id))?;
        for id in 1..=10 {
            shard.object(id, &Object::new(entry, 24))?;
            shard.reference(Label::Name(writer.string("key")?), StrengthId::STRONG, id + 10)?;
        }
        for at in 0..10_i64 {
            shard.object(11 + at.unsigned_abs(), &Object::new(key, 16))?;
            shard.value(name, Value::Text(writer.string(&format!("secret {at}"))?))?;
            shard.value(number, Value::Signed(at))?;
        }
        shard.finish()?;
        snapshot.commit()?;
    }
    writer.finish().map(drop)
}

struct Folder {
    folder: tempfile::TempDir,
    recording: String,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heap.barrow");
        record(&path).unwrap();
        Folder { recording: path.display().to_string(), folder }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, words: &[&str]) -> Run {
        let (verb, rest) = words.split_first().unwrap();
        let mut command = program(self.folder.path());
        finished(command.args([verb, self.recording.as_str()]).args(rest).output().unwrap())
    }
}

/// A list of nodes, each with a text of 1,000 letters.
fn record_list(path: &Path, nodes: u64) -> Result<(), WriterError> {
    let writer = Writer::create(path, Options::default())?;
    let kind = writer.kind("object", KindRole::Object)?;
    let node = writer.declare_type(&TypeDescription::new(kind, "Node"))?;
    writer.field(node, "next", Encoding::Reference, false)?;
    let text = writer.field(node, "text", Encoding::Text, false)?;
    let next = Label::Name(writer.string("next")?);
    let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
    let mut shard = snapshot.shard();
    shard.root(writer.string("global")?, None, 0)?;
    for id in 0..nodes {
        shard.object(id, &Object::new(node, 32))?;
        shard.value(text, Value::Text(writer.string(&"x".repeat(1000))?))?;
        if id + 1 < nodes {
            shard.reference(next, StrengthId::STRONG, id + 1)?;
        }
    }
    shard.finish()?;
    snapshot.commit()?;
    writer.finish().map(drop)
}

/// Lines within lines, and what they read, are bounded: memory as well as time.
#[test]
fn lines_that_contain_themselves_end() {
    let folder = Folder::new();
    record_list(Path::new(&folder.recording), 100_000).unwrap();
    // As often as a template has room for.
    let rules = folder.file("rules.toml", &format!("Node = \"{} {{.text}}\"\n", "{.next}".repeat(60)));
    let words = ["--no-index", "--max-memory", "200MiB", "--lines", rules.to_str().unwrap()];
    let run = |expression: &str| folder.run(&[&["count", expression][..], &words].concat());
    // Of a line that was cut it is not known what follows.
    let counted = run("line ~ *…");
    assert!(counted.code == 0 && counted.stdout.contains("99,9"), "{}{}", counted.stdout, counted.stderr);
    let line =
        folder.run(&["list", "1", "id = 0", "of", "line", "--format", "csv", "--lines", rules.to_str().unwrap()]);
    let line = line.stdout.lines().last().unwrap().to_owned();
    assert!((4_000..4_200).contains(&line.len()) && line.contains('…'), "{} {line}", line.len());
}

const RULES: &str = "Key = \"{.name}#{.number}\"\nEntry = \"[{.key}]\"\n";

#[test]
fn every_table_of_objects_has_the_lines() {
    let folder = Folder::new();
    let rules = folder.file("own.toml", RULES).display().to_string();
    for (words, said) in [
        (&["find", "type = Key"][..], "secret 3#3"),
        (&["list", "type = Entry", "of", ".key,", "line"], "secret 3#3"),
        (&["list", "type = Key", "of", "line"], "secret 3#3"),
        (&["info", "@14"], "secret 3#3"),
        (&["info", "@4"], "secret 3#3"),
        (&["show", "@4"], "secret 3#3"),
        (&["inrefs", "@14"], "secret 3#3"),
        (&["path", "@14"], "secret 3#3"),
        (&["idom", "@14"], "secret 3#3"),
        (&["dominators", "@4"], "secret 3#3"),
        (&["top", "30", "objects", "by", "retained"], "secret 3#3"),
        (&["common", "@14"], "secret 3#3"),
        (&["group", "type = Entry", "by", ".key"], "secret 3#3"),
        (&["group", "type = Key", "by", "line"], "secret 3#3"),
        // The key and its entry.
        (&["count", "line = \"secret 3#3\""], "objects    2\n"),
    ] {
        let with = folder.run(&[words, &["--lines", &rules]].concat());
        assert_eq!((with.code, with.stderr.as_str()), (0, ""), "{words:?}");
        assert!(with.stdout.contains(said), "{words:?}: {}", with.stdout);
        let without = folder.run(words);
        assert_eq!(without.code, 0, "{words:?}: {}", without.stderr);
        assert!(!without.stdout.contains(said), "{words:?}: {}", without.stdout);
    }
    // Without lines the field holds nothing that a text can be compared with.
    let with = folder.run(&["count", ".key ~ \"*#4\"", "--lines", &rules]);
    assert!(with.stdout.contains("objects    1\n"), "{}", with.stdout);
    assert_eq!(folder.run(&["count", ".key ~ \"*#4\""]).code, 2);
}

/// Answers that are kept in the index file are those of the same lines.
#[test]
fn answers_about_other_lines_are_not_kept_ones() {
    let folder = Folder::new();
    let [one, other] = [("one.toml", "Key = 'k{.number}'"), ("other.toml", "Key = 'x{.number}'")]
        .map(|(name, text)| folder.file(name, text).display().to_string());
    let count = |rules: &[&str]| {
        let words = ["trend", "line ~ /^k/", "--format", "json"];
        let run = folder.run(&[&words, rules].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        answer["snapshots"].as_array().unwrap().iter().map(|row| row["objects"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        assert_eq!(count(&["--lines", &one]), [10, 10]);
        assert_eq!(count(&["--lines", &other]), [0, 0]);
        assert_eq!(count(&[]), [0, 0]);
    }
}

#[test]
fn a_file_beside_the_recording_is_used_and_named() {
    let folder = Folder::new();
    folder.file("barrow-lines.toml", "Key = 'beside {.number}'\nNever = 'x'");
    let find = folder.run(&["find", "type = Key"]);
    assert!(find.code == 0 && find.stdout.contains("beside 3"), "{}", find.stdout);
    assert!(find.stdout.contains("lines of objects are those of "), "{}", find.stdout);
    assert!(find.stdout.contains("barrow-lines.toml; there is no class Never"), "{}", find.stdout);
    // An answer without lines says nothing of them.
    let summary = folder.run(&["summary"]);
    assert!(summary.code == 0 && !summary.stdout.contains("lines of objects"), "{}", summary.stdout);
    // The file that is named counts, and only what is missing is worth a note.
    let own = folder.file("own.toml", "Key = 'own {.number}'\nNever = 'x'").display().to_string();
    let find = folder.run(&["find", "type = Key", "--lines", &own]);
    assert!(find.stdout.contains("own 3") && !find.stdout.contains("beside"), "{}", find.stdout);
    assert!(find.stdout.contains("own.toml: there is no class Never"), "{}", find.stdout);
    let own = folder.file("own.toml", "Key = 'own {.number}'").display().to_string();
    let find = folder.run(&["find", "type = Key", "--lines", &own]);
    assert!(!find.stdout.contains("own.toml"), "{}", find.stdout);
}

#[test]
fn a_wrong_file_is_a_mistake_with_its_line() {
    let folder = Folder::new();
    let absent = folder.folder.path().join("absent.toml").display().to_string();
    for (text, said) in [
        (Some("Key = "), "own.toml, line 1: "),
        (Some("\nKey = '{.a'"), "own.toml, line 2: the `{` is never closed"),
        (Some("Key = ['a']"), "own.toml, line 1: `Key` is no text"),
        (Some("a.b.C = '{.x}'"), "own.toml, line 1: `a` is no text"),
        (None, "absent.toml: No such file"),
    ] {
        let file = text.map_or(absent.clone(), |text| folder.file("own.toml", text).display().to_string());
        for verb in ["find", "summary", "serve"] {
            let run = folder.run(&[verb, "--lines", &file]);
            assert_eq!(run.code, 2, "{verb} {text:?}: {}", run.stderr);
            assert!(run.stderr.contains(said) && run.stderr.lines().count() == 1, "{verb} {text:?}: {}", run.stderr);
        }
        let to = folder.folder.path().join("report.html").display().to_string();
        let report = folder.run(&["report", "-o", &to, "--lines", &file]);
        assert!(report.code == 2 && report.stderr.contains(said), "{}", report.stderr);
        if let Some(text) = text {
            folder.file("barrow-lines.toml", text);
            assert_eq!(folder.run(&["find"]).code, 2, "{text}");
        }
    }
    let long = folder.file("own.toml", &format!("# {}", "x".repeat(64 << 10))).display().to_string();
    assert!(folder.run(&["find", "--lines", &long]).stderr.contains("at most 64 KiB"));
    let device = folder.run(&["find", "--lines", "/dev/null"]);
    assert!(device.code == 2 && device.stderr.contains("regular file"), "{}", device.stderr);
}

#[test]
fn a_report_has_lines_only_with_texts() {
    let folder = Folder::new();
    let rules = folder
        .file("own.toml", "Cache = 'own line {elements}'\nKey = '{.name}'\nEntry = '{.key}'")
        .display()
        .to_string();
    let report = |rest: &[&str]| {
        let to = folder.folder.path().join("report.html");
        let to_text = to.display().to_string();
        let run = folder.run(&[&["report", "-o", &to_text, "--force", "--lines", &rules], rest].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        fs::read_to_string(to).unwrap()
    };
    let (without, with) = (report(&[]), report(&["--texts"]));
    assert!(!without.contains("own line") && !without.contains("secret "));
    assert!(with.contains("own line ?"), "the largest object has a line");
}

#[test]
fn lines_of_hostile_files_are_escaped() {
    let folder = Folder::new();
    folder.file(
        "barrow-lines.toml",
        "Key = \"\\u001B\\\\[2J\\u202E\\n::error::{.number}\"\n\"No\\u001B[2J\\n::error::Class\" = 'x'",
    );
    for words in
        [&["find", "type = Key"][..], &["path", "@14"], &["list", "type = Entry", "of", ".key"], &["info", "@4"]]
    {
        for format in ["table", "csv", "json"] {
            let run = folder.run(&[words, &["--format", format]].concat());
            assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
            let text = run.stdout + &run.stderr;
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{words:?} {format}: {text}");
            assert!(format == "csv" || !text.lines().any(|line| line.starts_with("::error")), "{words:?}: {text}");
        }
    }
    folder.file("barrow-lines.toml", "\"\\u001B[2J\" = 3");
    let run = folder.run(&["find"]);
    assert!(run.code == 2 && !run.stderr.contains('\u{1b}'), "{}", run.stderr);
}
