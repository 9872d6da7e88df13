//! Questions about a dump that was never imported: what is answered before its import is what the import says.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use barrow_query::{Answer, Question, Session, Settings, Stop, Workspace};
use serde_json::Value;

const QUESTIONS: [&str; 11] = [
    "summary",
    "summary all",
    "top",
    "top 5 by count",
    "top types by unmanaged",
    "histogram",
    "histogram by kind",
    "count",
    "count type ~ *a*",
    "count not (type ~ *e* or kind = object)",
    "count type = \"no such type\"",
];

fn session(cache: &Path) -> Session {
    let settings = Settings { no_index: true, cache: Some(cache.to_owned()), ..Settings::default() };
    Session::new(Workspace::new(None, Some(2)).unwrap(), settings)
}

fn line(text: &str) -> Question {
    Question::of_line(text).unwrap().unwrap()
}

/// The tables and facts of an answer, or why there is none.
fn json(answer: Result<Answer, barrow_query::QueryError>) -> Value {
    match answer {
        Ok(answer) => {
            let mut whole = serde_json::to_value(&answer).unwrap();
            // Kinds are in the order in which a thread first met them.
            for table in whole["tables"].as_array_mut().unwrap().iter_mut().filter(|table| table["key"] == "kinds") {
                table["rows"].as_array_mut().unwrap().sort_by_key(Value::to_string);
            }
            serde_json::json!({ "facts": whole["facts"], "tables": whole["tables"] })
        }
        Err(error) => Value::String(error.to_string()),
    }
}

/// Facts of a record in the order of their keys; other values as they are.
fn by_key(values: &[Value]) -> Vec<&Value> {
    let mut values: Vec<&Value> = values.iter().collect();
    if values.iter().all(|value| value["column"]["key"].is_string()) {
        values.sort_by_key(|fact| fact["column"]["key"].to_string());
    }
    values
}

/// Fails unless two answers agree on every value that the early one has. References and roots may be unknown, and the
/// source differs.
fn assert_agree(early: &Value, late: &Value, what: &str) {
    match (early, late) {
        // A value that is not known yet.
        (Value::Object(early), _) if early.values().any(|value| value == "none") => {}
        (Value::Object(early), Value::Object(late)) => {
            for (key, value) in early {
                assert_agree(value, late.get(key).unwrap_or(&Value::Null), what);
            }
        }
        (Value::Array(early), Value::Array(late)) => {
            assert_eq!(early.len(), late.len(), "{what}: {early:?} {late:?}");
            let (early, late) = (by_key(early), by_key(late));
            early.iter().zip(late).for_each(|(early, late)| assert_agree(early, late, what));
        }
        (Value::String(source), _) if source == "counted" => assert_eq!(late, "statistics", "{what}"),
        _ => assert_eq!(early, late, "{what}"),
    }
}

/// The dumps that come with the project, unpacked.
fn dumps() -> &'static [PathBuf] {
    static DUMPS: LazyLock<(tempfile::TempDir, Vec<PathBuf>)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let mut dumps: Vec<PathBuf> = packed().iter().filter_map(|dump| unpacked(dump, folder.path())).collect();
        dumps.sort();
        assert!(dumps.len() >= 10, "{dumps:?}");
        (folder, dumps)
    });
    &DUMPS.1
}

fn packed() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![barrow_testdata::path("foreign")]);
    while let Some(folder) = folders.pop() {
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (inner, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
        folders.extend(inner);
        found.extend(files.into_iter().filter(|path| barrow_query::is_readable(path).unwrap_or(false)));
    }
    found
}

/// A copy of a dump that is not compressed; `None` for other compressions than zstd.
fn unpacked(dump: &Path, folder: &Path) -> Option<PathBuf> {
    let bytes = std::fs::read(dump).unwrap();
    let plain = match dump.extension().and_then(|extension| extension.to_str()) {
        Some("zst") => zstd::decode_all(&bytes[..]).unwrap(),
        Some("gz") => return None,
        _ => bytes,
    };
    let path = folder.join(dump.file_name()?);
    std::fs::write(&path, plain).unwrap();
    Some(path)
}

fn empty(folder: &Path) {
    std::fs::read_dir(folder).unwrap().for_each(|file| std::fs::remove_file(file.unwrap().path()).unwrap());
}

#[test]
fn early_answers_are_those_of_the_import() {
    let mut counted = 0;
    for dump in dumps() {
        let name = dump.display().to_string();
        let (cache, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut whole = session(other.path());
        if whole.open(&name).is_err() {
            continue;
        }
        for text in QUESTIONS {
            let question = line(text);
            let mut early = session(cache.path());
            early.open_for(&name, &question).unwrap();
            let answer = early.ask(&question);
            let is_cached = std::fs::read_dir(cache.path()).unwrap().next().is_some();
            counted += u32::from(!is_cached);
            let late = json(whole.ask(&question));
            assert_agree(&json(answer), &late, &format!("{text} of {name}"));
            empty(cache.path());
        }
    }
    assert!(counted > 40, "only {counted} questions were answered without an import");
}

#[test]
fn the_import_goes_on_while_questions_are_answered() {
    for dump in dumps() {
        let name = dump.display().to_string();
        let cache = tempfile::tempdir().unwrap();
        let mut soon = session(cache.path());
        soon.open_soon(&name).unwrap();
        let early = json(soon.ask(&line("count type ~ *a*")));
        let Ok(of_set) = soon.ask(&line("count $_")) else { continue };
        assert!(!soon.is_importing(), "`$_` names objects, so it needs all of the dump");
        assert_agree(&early, &json(Ok(of_set)), &name);
        let mut again = session(cache.path());
        again.open_soon(&name).unwrap();
        assert!(!again.is_importing(), "it is in the cache");
        assert_eq!(json(soon.ask(&line("summary all"))), json(again.ask(&line("summary all"))));
    }
}

#[test]
fn an_import_that_is_given_up_leaves_nothing() {
    let dump = dumps().iter().max_by_key(|dump| std::fs::metadata(dump).unwrap().len()).unwrap();
    let cache = tempfile::tempdir().unwrap();
    for _ in 0..5 {
        let mut soon = session(cache.path());
        soon.open_soon(&dump.display().to_string()).unwrap();
        let stop = Stop::new();
        stop.stop();
        soon.watch_with(Arc::new(stop));
        let stopped = soon.ask(&line("roots"));
        if soon.is_importing() {
            assert!(stopped.is_err_and(|error| error.is_stopped()));
        }
        drop(soon);
        let left: Vec<_> = std::fs::read_dir(cache.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        let is_whole = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".barrow");
        assert!(left.iter().all(is_whole), "{left:?}");
        empty(cache.path());
    }
}

#[test]
fn a_damaged_dump_is_the_error_of_the_first_question_that_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.hprof");
    std::fs::write(&path, b"JAVA PROFILE 1.0.2\0\0\0\0\x08").unwrap();
    let mut session = session(folder.path());
    session.open_soon(&path.display().to_string()).unwrap();
    assert!(session.ask(&line("help")).is_ok());
    assert!(session.ask(&line("roots")).is_err());
    assert!(session.file().is_none());
}
