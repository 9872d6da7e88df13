//! Names that a dump chose never reach a terminal, a CI log or a spreadsheet as they are, whatever is asked.

use std::fs;
use std::path::Path;

use crate::program::{Run, finished, program};
use barrow_writer::{
    Better, Encoding, KindRole, Label, MetricDescription, Object, Options, RunDescription, RunEnd, SiteDescription,
    SnapshotInfo, StrengthClass, StrengthId, ThreadDescription, TypeDescription, Value, ValueDescription,
    VariantDescription, Writer, WriterError,
};

/// Clears the screen (with C0 and C1 controls), deletes, reverses, hides, and begins a line that GitHub obeys.
const HOSTILE: &str =
    "\x1b[2J\u{9b}1A\u{7f}\u{202e}\u{2066}\u{200b}\u{feff}\u{ad}\u{e0041}\u{2028}\u{85}\n::error::injected\r\"";

fn hostile(what: &str) -> String {
    format!("={what}{HOSTILE}{what}")
}

/// Ten snapshots of a map that grows, in which every name is hostile.
fn record(path: &Path) -> Result<(), WriterError> {
    let writer = Writer::create(path, Options::default())?;
    let kinds = [("object", KindRole::Object), ("frame", KindRole::Frame)];
    let kinds = kinds.map(|(name, role)| writer.kind(&hostile(name), role));
    let [object, frame] = kinds;
    let (object, frame) = (object?, frame?);
    let (layout, file) = (hostile("layout"), hostile("file"));
    let declare = |kind, name: &str| {
        writer.declare_type(&TypeDescription {
            layout: Some(&layout),
            file: Some(&file),
            line: Some(7),
            attributes: &[("key", &file)],
            ..TypeDescription::new(kind, &hostile(name))
        })
    };
    let (map, list, call) = (declare(object, "Map")?, declare(object, "List")?, declare(frame, "call")?);
    let strength = writer.strength(&hostile("weak"), StrengthClass::Weak)?;
    let names = ["field", "root", "label", "own"].map(|name| writer.string(&hostile(name)));
    let [field, root, label, own] = names;
    let (field, root, label, own) = (field?, root?, label?, own?);
    let site = writer.site(&SiteDescription {
        function: Some(&hostile("function")),
        file: Some(&file),
        line: Some(1),
        column: None,
        caller: None,
        attributes: &[],
    })?;
    writer.fact(&hostile("fact"), &file)?;
    let held = writer.field(map, &hostile("held"), Encoding::Text, false)?;
    for number in 0..10u64 {
        let snapshot = writer.begin_snapshot(SnapshotInfo {
            label: Some(hostile("snapshot")),
            key_values: vec![(hostile("known"), file.clone())],
            ..SnapshotInfo::default()
        })?;
        snapshot.thread(&ThreadDescription {
            id: 1,
            name: Some(&hostile("thread")),
            state: Some(&hostile("state")),
            allocated_bytes: Some(100),
            allocated_objects: None,
            cpu_time_ns: None,
            root_label: Some(&hostile("label")),
            attributes: &[],
        })?;
        let mut shard = snapshot.shard();
        shard.root(root, Some(label), 0)?;
        let count = 20 + 10 * number;
        let named = |object: Object, serial: u64| Object {
            name: Some(own),
            site: Some(site),
            serial: Some(serial + 1),
            ..object
        };
        shard.object(0, &named(Object::new(map, 64), 0))?;
        shard.value(held, Value::Text(own))?;
        (1..=count).try_for_each(|target| shard.reference(Label::Name(field), StrengthId::STRONG, target))?;
        for id in 1..=count {
            shard.object(id, &named(Object::new(list, 1000), id))?;
            shard.reference(Label::Name(field), strength, 0)?;
        }
        shard.object(count + 1, &named(Object::new(call, 8), 1_000_000))?;
        shard.finish()?;
        snapshot.commit()?;
    }
    writer.finish().map(drop)
}

/// Returns whether a terminal would obey or hide it. Written independently of the code that is tested.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || ('\u{200b}'..='\u{200f}').contains(&c)
        || ('\u{2028}'..='\u{202e}').contains(&c)
        || ('\u{2060}'..='\u{2069}').contains(&c)
        || ['\u{feff}', '\u{ad}', '\u{61c}'].contains(&c)
        || ('\u{e0000}'..='\u{e007f}').contains(&c)
}

struct Asked {
    folder: tempfile::TempDir,
    file: String,
}

impl Asked {
    fn run(&self, words: &[&str]) -> Run {
        finished(program(self.folder.path()).args(words).output().expect("the program starts"))
    }

    /// Asks `verb`, and checks whatever is printed.
    fn check(&self, verb: &str, rest: &[&str]) {
        for format in ["table", "json", "csv"] {
            let words: Vec<&str> =
                [verb, &self.file, "--no-index", "--format", format].into_iter().chain(rest.iter().copied()).collect();
            let run = self.run(&words);
            assert_ne!(run.code, 101, "{words:?}: {}", run.stderr);
            harmless(&run.stderr, &words);
            if format == "csv" {
                // Quoted fields may hold line ends, so only the other characters are looked for.
                assert!(
                    !run.stdout.contains(|c| is_dangerous(c) && !['\n', '\r'].contains(&c)),
                    "{words:?}: {}",
                    run.stdout
                );
                let begins = |field: &str| field.starts_with('=') || field.starts_with("\"=");
                assert!(!run.stdout.lines().any(|line| line.split(',').any(begins)), "{words:?}: {}", run.stdout);
            } else {
                harmless(&run.stdout, &words);
            }
        }
    }
}

fn harmless(text: &str, words: &[&str]) {
    assert!(!text.contains(|c| is_dangerous(c) && c != '\n'), "{words:?}: {}", text.escape_debug());
    assert!(!text.lines().any(|line| line.trim_start().starts_with("::error::")), "{words:?}: {text}");
}

fn asked() -> Asked {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("hostile.barrow");
    record(&path).expect("the recording can be written");
    Asked { file: path.display().to_string(), folder }
}

#[test]
fn no_answer_holds_what_a_terminal_obeys() {
    let asked = asked();
    for (verb, rest) in [
        ("snapshots", &[][..]),
        ("summary", &[]),
        ("summary", &["all"]),
        ("top", &["5", "all"]),
        ("top", &["all", "by", "retained"]),
        ("top", &["types"]),
        ("histogram", &["by", "site"]),
        ("histogram", &["by", "kind"]),
        ("sites", &[]),
        ("site", &["1"]),
        ("diff", &["0", "last"]),
        ("diff", &["0", "last", "by", "path"]),
        ("diff", &["0", "last", "by", "object"]),
        ("diff", &["0", "last", "by", "type,text"]),
        ("diff", &["0", "last", "of", "type,name,size"]),
        ("diff", &["0", "last", "size > 0", "by", "path"]),
        ("growth", &[]),
        ("trend", &["size", ">", "10"]),
        ("born", &["0..9"]),
        ("died", &["0..9"]),
        ("survived", &["1"]),
        ("age", &[]),
        ("survival", &[]),
        ("find", &["size", ">", "10"]),
        ("count", &["size", ">", "10"]),
        ("info", &[]),
        ("info", &["@1"]),
        ("show", &["@0"]),
        ("inrefs", &["@1"]),
        ("path", &["@1"]),
        ("path", &["@0", "--weak"]),
        ("paths", &["size", "=", "1000"]),
        ("roots", &[]),
        ("threads", &[]),
        ("dominators", &[]),
        ("dominators", &["@0"]),
        ("idom", &["@1"]),
        ("retained", &["size", ">", "10"]),
        ("leaks", &[]),
        ("leaks", &["0..9"]),
        ("unreachable", &[]),
        ("strings", &[]),
        ("dups", &[]),
        ("dups", &["by", "group"]),
        ("waste", &[]),
        ("verify", &[]),
        ("audit", &[]),
        ("assert", &["count(size > 10) < 3"]),
        ("assert", &["growth(size > 10) <= 0"]),
        ("assert", &["retained(size > 10) < 1 over all"]),
        ("assert", &["no leaks"]),
        ("assert", &["count(type = Nothing) > 3"]),
    ] {
        asked.check(verb, rest);
    }
}

#[test]
fn no_error_holds_what_a_terminal_obeys() {
    let asked = asked();
    let expression = format!("type = {HOSTILE} and");
    let file = format!("{}/{HOSTILE}", asked.folder.path().display());
    for (verb, rest) in [
        ("top", &["nonsense"][..]),
        ("top", &[HOSTILE]),
        ("find", &[&expression]),
        ("find", &["type", "=", "Maq"]),
        ("roots", &["nonsense"]),
        ("info", &[HOSTILE]),
        ("snapshot", &[HOSTILE]),
        ("assert", &[&expression]),
        ("assert", &["count() > 1", "--from", &file]),
        ("diff", &["0", &file]),
        ("repair", &["-o", &file]),
        ("redact", &["-o", &file, "--keep", HOSTILE]),
    ] {
        asked.check(verb, rest);
    }
    let missing = format!("{file}-missing");
    let words = ["summary", missing.as_str()];
    let run = asked.run(&words);
    assert_eq!(run.code, 3);
    harmless(&run.stderr, &words);
    fs::copy(&asked.file, asked.folder.path().join("\x1b[31mred\u{202e}")).expect("such a name is allowed");
    let named = asked.folder.path().join("\x1b[31mred\u{202e}").display().to_string();
    for words in [["verify", named.as_str()], ["summary", &named], ["info", &named]] {
        let run = asked.run(&words);
        harmless(&run.stdout, &words);
        harmless(&run.stderr, &words);
    }
}

/// Trials of two programs in which every name is hostile: two modes, failed runs, iterations with knobs.
fn record_trials(path: &Path) -> Result<(), WriterError> {
    let writer = Writer::create(path, Options::default())?;
    writer.fact("command", &hostile("fact"))?;
    let metric =
        |name: &str, unit: &str| writer.metric(&MetricDescription { name, unit, better: Better::Higher, exact: false });
    let metrics = [metric("m", &hostile("unit"))?, metric(&hostile("metric"), "ns")?];
    for number in 0..2_u64 {
        let name = hostile("program");
        let attribute = hostile("attribute");
        let variant = writer.variant(&VariantDescription {
            name: &name,
            command: &[&name, &attribute],
            directory: Some(&attribute),
            attributes: &[(&attribute, &name)],
        })?;
        for at in 0..30_u64 {
            let run = writer.begin_run(&RunDescription { variant, time_ns: 5, seed: Some(at), warmup: false })?;
            writer.run_knobs(run, None, &[(&hostile("knob"), &hostile(&(at % 3).to_string()))])?;
            for metric in metrics {
                let value = (100 + 50 * (at % 2) * (number + 1) + at) as f64;
                writer.value(&ValueDescription { metric, run, value, ..ValueDescription::default() })?;
            }
            let output = hostile("output");
            let failed = at == 7;
            writer.end_run(run, &RunEnd { failed, output: failed.then_some(&output), ..RunEnd::default() })?;
        }
    }
    writer.finish().map(drop)
}

#[test]
fn no_answer_about_trials_holds_what_a_terminal_obeys() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("hostile.barrow");
    record_trials(&path).expect("the recording can be written");
    let asked = Asked { file: path.display().to_string(), folder };
    let (metric, program) = (hostile("metric"), hostile("program"));
    for (verb, rest) in [
        ("summary", &[][..]),
        ("info", &[]),
        ("verify", &[]),
        ("trials", &[]),
        ("runs", &[]),
        ("runs", &["failed"]),
        ("runs", &["7"]),
        ("values", &["m"]),
        ("values", &[&metric, &program, "mode", "1"]),
        ("histogram", &[&metric, &program]),
        ("histogram", &["m", &program]),
        ("histogram", &["m"]),
        ("modes", &[&metric, &program]),
        ("modes", &["m"]),
        ("modes", &[HOSTILE]),
        ("compare", &[]),
        ("compare", &["m"]),
        ("compare", &[HOSTILE, &program]),
        ("assert", &["compare(m) <= 1%"]),
        ("assert", &["median(m) < 1"]),
        ("assert", &["maximum(m) < 1", "modes(m) = 5", "failed() = 0", "runs() < 3"]),
        ("find", &["m"]),
        ("help", &[]),
    ] {
        asked.check(verb, rest);
    }
    for format in ["markdown", "csv", "json"] {
        let to = asked.folder.path().join(format).display().to_string();
        let words = ["export", &asked.file, "--to", format, "-o", &to];
        assert_eq!(asked.run(&words).code, 0, "{format}");
        let text = fs::read_to_string(&to).expect("it was written");
        assert!(!text.contains(|c| is_dangerous(c) && !['\n', '\r'].contains(&c)), "{format}: {}", text.escape_debug());
    }
}

#[test]
fn results_for_ci_hold_no_controls() {
    let asked = asked();
    let xml = asked.folder.path().join("heap.xml").display().to_string();
    let words = ["assert", &asked.file, "--no-index", "no leaks", "count(size > 10) < 3", "--junit", &xml];
    assert_eq!(asked.run(&words).code, 1);
    harmless(&fs::read_to_string(&xml).expect("it was written"), &words);
}
