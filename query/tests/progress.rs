//! Progress never passes its end: no phase of an import or of a question reports more steps than it announced.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use barrow_query::{Question, Session, Settings, Watcher, Workspace};
use parking_lot::Mutex;

/// The phases that began, each with its steps so far.
#[derive(Default)]
struct Phases(Mutex<Vec<Phase>>);

struct Phase {
    name: String,
    total: u64,
    unit: &'static str,
    done: u64,
}

impl Watcher for Phases {
    fn begin(&self, phase: &str, total: u64, unit: &'static str) {
        self.0.lock().push(Phase { name: phase.to_owned(), total, unit, done: 0 });
    }

    fn advance(&self, steps: u64) {
        if let Some(phase) = self.0.lock().last_mut() {
            phase.done += steps;
        }
    }
}

/// Asks the questions, and returns the number of phases. Adds those that passed their end to `wrong`.
fn ask(path: &Path, cache: &Path, lines: &[&str], wrong: &mut BTreeMap<String, String>) -> usize {
    let phases = Arc::new(Phases::default());
    let settings = Settings { no_index: true, cache: Some(cache.to_owned()), ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
    session.watch_with(phases.clone());
    let name = path.file_name().unwrap().to_string_lossy();
    session.open(&path.display().to_string()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut counted = 0;
    for line in [""].iter().chain(lines) {
        if let Some(question) = Question::of_line(line).unwrap() {
            // A dump may not have what a question is about.
            let _ = session.ask(&question);
        }
        for Phase { name: phase, total, unit, done } in phases.0.lock().drain(..) {
            counted += 1;
            if total > 0 && done > total {
                wrong.entry(phase).or_insert(format!("{done} of {total} {unit}: {name}, {line}"));
            }
        }
    }
    counted
}

const OF_HEAPS: [&str; 30] = [
    "summary all --verify",
    "top 3 objects by retained",
    "top 3 by retained",
    "histogram by site",
    "find 3 size > 10 and distance > 1",
    "group all by type,name show sum(size)",
    "group all by type by retained",
    "list 5 all of id,type,retained,distance,name",
    "strings /a/",
    "dups",
    "collections",
    "inrefs @1",
    "waste",
    "entries @1",
    "show @1",
    "path @1 3",
    "paths size > 100",
    "roots",
    "threads",
    "dominators --depth 3",
    "flame --cells 100",
    "idom @1",
    "retained size > 100",
    "leaks",
    "unreachable",
    "growth",
    "growth by type by retained",
    "diff 0 last by path",
    "born 0..last",
    "verify",
];

const OF_PROCESSES: [&str; 6] = ["processes", "classes", "critical", "lanes", "tree", "group cpu > 0 by class"];

#[test]
fn no_phase_passes_its_end() {
    let cache = tempfile::tempdir().unwrap();
    let (mut wrong, mut phases) = (BTreeMap::new(), 0);
    for name in ["invoices.barrow", "leaks/storefront.barrow", "jvm.barrow", "threads.barrow", "orders.barrow"] {
        phases += ask(&barrow_testdata::path(name), cache.path(), &OF_HEAPS, &mut wrong);
    }
    phases += ask(&barrow_testdata::path("build.barrow"), cache.path(), &OF_PROCESSES, &mut wrong);
    for folder in ["foreign", "foreign/jvm", "foreign/v8", "leaks"] {
        let entries = std::fs::read_dir(barrow_testdata::path(folder)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        for path in files.filter(|path| is_dump(&path.to_string_lossy())) {
            phases += ask(&path, cache.path(), &["top 3 objects by retained"], &mut wrong);
        }
    }
    assert!(phases > 500, "only {phases} phases");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn is_dump(path: &str) -> bool {
    let ends = [".hprof.zst", ".heapsnapshot.zst", ".jsonl.zst", ".mvmheap", ".mvmheap.zst", ".dhat.json", ".massif"];
    let of_processes = [".strace", ".ninja_log", ".profile.gz", ".log"];
    ends.into_iter().chain(of_processes).any(|end| path.ends_with(end))
}
