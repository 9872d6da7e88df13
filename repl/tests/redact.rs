//! `redact` and `audit` as they are typed: other names, the same answers.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{finished, program, recording, run, testdata};
use barrow_analyzer::{KindId, Recording, StrengthId, TypeId};

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

/// `changed.barrow` has a reference that was changed after it was written; the checksums of its block and frame were made
/// anew, and only the chain of its commit tells.
#[test]
fn damage_before_redaction_is_told() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let shared = folder.path().join("b.barrow");
    let changed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rewrite/tests/changed.barrow");
    assert!(run(&["verify", shown(&changed)]).stdout.contains("2 problems"));
    let told = run(&["redact", shown(&changed), "-o", shown(&shared)]);
    assert_eq!(told.code, 4, "{}", told.stdout);
    assert!(told.stderr.contains("2 problems, the first at byte 64"), "{}", told.stderr);
    assert!(run(&["audit", shown(&shared)]).stdout.contains("redacted although damaged"));
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

/// Names that belong to the programs of the samples: metrics, benchmarks, threads. All other names of root categories,
/// metrics, units and facts are words of barrow and of runtimes.
const OF_PROGRAMS: &[&str] = &[
    "test_sums.py",
    "BM_sum/1000",
    "Cards.Sums.Fold(N: 100)",
    "BenchmarkJoin-2",
    "BenchmarkNothing-2",
    "BenchmarkSum/n=100-2",
    "BenchmarkSum/n=1000-2",
    "BenchmarkTalks-2",
    "items/op",
    "items/s",
    "cards.Sums.copy(n=100) thrpt",
    "cards.Sums.fold(n=100)",
    "cards.Sums.fold(n=1000)",
    "cards.Sums.fold_sampled(n=100) sample",
    "cards.Sums.once(n=100) ss",
    "join",
    "frame",
    "pass",
    "sum 100",
    "sum",
    "sum/fold",
    "test_sums.py",
    "/lib",
    "/opt/shop",
    "main",
    "first",
    "second",
    "with spaces",
    "Attach",
    "Common-Cleaner",
    "Finalizer",
    "Notification",
    "Reference",
    "Signal",
    "process reaper",
];

#[test]
fn words_of_barrow_and_of_runtimes_stay() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let [made, redacted] = ["a.barrow", "b.barrow"].map(|name| folder.path().join(name));
    let (mut samples, mut words, mut gone) = (0, 0, 0);
    // The bundled recordings mark no words.
    let is_dump = |sample: &PathBuf| sample.extension().is_none_or(|extension| extension != "barrow");
    let imports = files(&testdata("")).into_iter().filter(is_dump).map(|sample| vec!["import".into(), sample.into()]);
    let recorded = [["trial", "-n", "2", "--", "true"].map(Into::into).to_vec()];
    for making in imports.chain(recorded) {
        let making: Vec<OsString> = making;
        let (verb, rest) = making.split_first().expect("a verb");
        let mut program = program(folder.path());
        program.arg(verb).args(["--force", "--quiet", "-o"]).arg(&made).args(rest);
        if !matches!(finished(program.output().expect("the program starts")).code, 0 | 4) {
            continue;
        }
        let run = run(&["redact", shown(&made), "-o", shown(&redacted), "--force"]);
        assert_eq!(run.code, 0, "{making:?}: {}", run.stderr);
        let [before, after] = [&made, &redacted].map(|file| words_of(shown(file)));
        for word in &before {
            let is_it = |known: &String| {
                let rest = known.strip_prefix(word).or_else(|| known.strip_suffix(word));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ') || rest.ends_with(' '))
            };
            assert!(after.iter().any(is_it), "{making:?}: `{word}` is replaced\n{after:?}");
        }
        let [before, after] = [&made, &redacted].map(|file| Recording::open(file).expect("it was written"));
        assert_eq!(kinds(&before), kinds(&after), "{making:?}");
        gone += names_gone(&before, &after);
        (samples, words) = (samples + 1, words + kinds(&before).len());
    }
    assert!(samples > 25 && words > 100 && gone > 1000, "{words} words of {samples} samples, {gone} names");
}

/// The names of kinds and strengths.
fn kinds(recording: &Recording) -> Vec<String> {
    let tables = recording.tables().expect("it was written");
    let kinds = (0..tables.kind_count() as u32).map(|id| tables.kind_name(KindId(id)).to_owned());
    kinds.chain((0..tables.strength_count() as u32).map(|id| tables.strength_name(StrengthId(id)).to_owned())).collect()
}

/// Checks that no name of a type is there any more that is not marked. Returns how many are gone.
fn names_gone(before: &Recording, after: &Recording) -> usize {
    let tables = before.tables().expect("it was written");
    let words = before.words().expect("it was written").iter().map(|word| tables.string(word.text));
    let words: HashSet<&str> = words.collect();
    let types = |recording: &Recording| -> HashSet<String> {
        let tables = recording.tables().expect("it was written");
        (0..tables.type_count() as u32).map(|id| tables.type_name(TypeId(id)).to_owned()).collect()
    };
    let has_letters = |name: &String| name.chars().filter(char::is_ascii_alphabetic).count() >= 8;
    let own =
        types(before).into_iter().filter(|name| has_letters(name) && !words.contains(name.trim_end_matches("[]")));
    let left = types(after);
    own.inspect(|name| assert!(!left.contains(name), "`{name}` is kept")).count()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let paths = fs::read_dir(folder).expect("it is a folder").map(|entry| entry.expect("it can be read").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Categories of roots, metrics with their units, and keys of facts, as far as programs do not name them.
fn words_of(file: &str) -> std::collections::BTreeSet<String> {
    let answer = |question: &[&str]| -> serde_json::Value {
        let run = run(&[question, &["--format", "json", "--no-index"]].concat());
        serde_json::from_str(&run.stdout).unwrap_or_default()
    };
    let mut words = std::collections::BTreeSet::new();
    let own = |word: &str| OF_PROGRAMS.iter().fold(word, |word, own| own_part(word, own)).trim().to_owned();
    for (verb, column) in [("roots", "category"), ("trials", "metric"), ("trials", "unit")] {
        let answer = answer(&[verb, file]);
        let rows = answer["rows"].as_array().into_iter().flatten();
        words.extend(rows.filter_map(|row| row[column].as_str()).map(own));
    }
    for (question, facts) in [(&["info", file][..], "facts"), (&["snapshot", file, "last"], "key_values")] {
        let answer = answer(question);
        words.extend(answer[facts].as_object().into_iter().flatten().map(|(key, _)| own(key)));
    }
    words.remove("");
    words
}

/// The part of a word that barrow put before or behind the part that is the program's.
fn own_part<'w>(word: &'w str, own: &str) -> &'w str {
    match word.find(own) {
        None => word,
        Some(0) => word[own.len()..].strip_prefix(' ').unwrap_or_default(),
        Some(at) => &word[..at],
    }
}

/// A recording without its end, as of a recorder that was killed: the redacted one is whole, and says what it was made of.
#[test]
fn a_recording_that_was_cut_is_told_by_the_redacted_one() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let [cut, shared] = ["cut.barrow", "shared.barrow"].map(|name| folder.path().join(name));
    let whole = fs::read(testdata("named.barrow")).expect("the sample");
    fs::write(&cut, &whole[..whole.len() - 10]).expect("written");
    let redacted = run(&["redact", shown(&cut), "-o", shown(&shared), "--quiet"]);
    assert_eq!(redacted.code, 4, "{}", redacted.stderr);
    let facts = run(&["info", shown(&shared)]).stdout;
    assert!(facts.contains("redacted although damaged"), "{facts}");
}

/// Groups of roots, and types that are the runtime's own or barrow's: the same in every program.
#[test]
fn words_of_the_runtimes_stay() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let shared = folder.path().join("shared.barrow");
    let v8 = ["(GC roots)", "(Strong roots)", "(Handle scope)", "(compiled code)", "(system)", "(object shape)"];
    let moarvm = ["permanent roots", "thread roots", "C stack roots", "call stack roots", "inter-generational roots"];
    for (sample, words, own) in [
        ("foreign/v8/node20-cards-1.heapsnapshot.zst", &v8[..], "FixedCircularBuffer"),
        ("foreign/moarvm-2-nqp.mvmheap.zst", &moarvm[..], "NQPClassHOW"),
    ] {
        let sample = testdata(sample);
        let types = |file: &Path| {
            let [types, groups] = [&["top", shown(file), "100000", "--format", "csv"][..], &["roots", shown(file)]]
                .map(|words| run(&[words, &["--quiet"]].concat()));
            assert_eq!((types.code, groups.code), (0, 0), "{}{}", types.stderr, groups.stderr);
            types.stdout + &groups.stdout
        };
        assert!(types(&sample).contains(own), "{own}");
        let redacted = run(&["redact", shown(&sample), "-o", shown(&shared), "--force", "--quiet"]);
        assert_eq!(redacted.code, 0, "{}", redacted.stderr);
        let types = types(&shared);
        words.iter().for_each(|word| assert!(types.contains(word), "{word}"));
        assert!(!types.contains(own), "{own}");
    }
}
