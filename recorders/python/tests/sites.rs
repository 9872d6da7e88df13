//! Who allocated what, against what a program knows of itself.

mod python;

use std::collections::BTreeMap;

use barrow_analyzer::{Recording, Silent, SnapshotId, walk};
use python::{Python, said};

/// Objects of each class are made at one line; memory and code are used again.
const PROGRAM: &str = "
import barrow, gc, sys, threading
barrow.start(sys.argv[1], sites='light')
class At7: pass
class At8: __slots__ = ('x',)
class Died:
    def __init__(self, x): self.x = (x, [x], {x: x})
def make(): return [
    At7() for _ in range(500)]
def grow():
    died = [Died(i) for i in range(20000)]
    del died
    kept = []
    for _ in range(700):
        kept.append(At8())
    return kept
kept = make(), grow()
text = [('%d' % i) * 300 for i in range(200)]
def in_thread(): kept_there.extend(bytes(600 + i) for i in range(100))
kept_there = []
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
for number in range(300):
    exec(compile('def made(): return [object.__new__(Late) for _ in range(2)]', 'made%d' % number, 'exec'), {'Late': At7})
class Late: pass
space = {'Late': Late}
exec(compile('\\n' * 76 + 'def made(): return [Late() for _ in range(5)]', 'generated', 'exec'), space)
late = space['made']()
gc.collect()
barrow.snapshot()
barrow.stop()
more = [At8() for _ in range(10)]
barrow.start(sys.argv[1] + '2', sites='light')
again = [Late() for _ in range(50)]
barrow.snapshot()
";

/// Objects by type and the line that made them; 0 if that is not known.
fn by_line(path: &std::path::Path) -> BTreeMap<(String, u32), u64> {
    let recording = Recording::open(path).expect("a whole recording");
    let tables = recording.tables().expect("tables");
    let mut found = BTreeMap::new();
    walk(&recording, SnapshotId(0), &Silent, |object, _| {
        let site = object.site.and_then(|site| recording.site(site).expect("sites"));
        let line = site.and_then(|site| site.line).unwrap_or(0);
        *found.entry((tables.type_name(object.type_id).to_owned(), line)).or_default() += 1;
        Ok(())
    })
    .expect("a whole snapshot");
    found
}

/// The number of the line that has a text.
fn line_of(text: &str) -> u32 {
    let numbered = (1..).zip(PROGRAM.lines());
    numbered.into_iter().find(|(_, line)| line.contains(text)).expect("a line").0
}

#[test]
fn objects_come_from_the_lines_that_made_them() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("sites.barrow");
    let output = python.command().arg("-c").arg(PROGRAM).arg(&path).output().expect("a Python");
    assert_eq!(said(&output), "");
    let found = by_line(&path);
    let of = |class: &str, line: u32| found.get(&(class.to_owned(), line)).copied().unwrap_or(0);
    let all: Vec<_> = found.iter().filter(|((class, _), _)| class.contains("At") || class.contains("Late")).collect();
    assert_eq!(of("__main__.At7", line_of("At7() for")), 500, "{all:?}");
    assert_eq!(of("__main__.At8", line_of("kept.append")), 700, "{all:?}");
    assert_eq!(of("__main__.Late", 77), 5, "{all:?}");
    assert!(of("str", line_of("text =")) >= 200 && of("bytes", line_of("bytes(600")) >= 100, "{found:?}");
    let second = by_line(&folder.path().join("sites.barrow2"));
    let of = |class: &str, line: u32| second.get(&(class.to_owned(), line)).copied().unwrap_or(0);
    // What was made while nothing was noted has no line, though its memory may have had one.
    assert_eq!((of("__main__.At8", 0), of("__main__.At8", line_of("kept.append"))), (710, 0));
    assert_eq!(of("__main__.Late", line_of("again =")), 50);
}

#[test]
fn callers_are_known_if_asked_for() {
    let Some(python) = Python::find() else { return };
    let program = "
import barrow, sys
class Made: pass
def deep(n):
    return deep(n - 1) if n else Made()
def one(): return [Made() for _ in range(4000)]
def other(): return one()
barrow.start(sys.argv[1], sites=sys.argv[2])
kept = deep(7), [deep(2) for _ in range(3)], one(), other()
far = deep(500)
class Holder:
    def __init__(self): self.made = Made()
held = [Holder() for _ in range(100)]
barrow.snapshot()
";
    let folder = tempfile::tempdir().expect("a temporary folder");
    for mode in ["full", "sample=16K"] {
        let path = folder.path().join(mode);
        said(&python.command().arg("-c").arg(program).arg(&path).arg(mode).output().expect("a Python"));
        let recording = Recording::open(&path).expect("a whole recording");
        let tables = recording.tables().expect("tables");
        let mut chains: BTreeMap<String, u64> = BTreeMap::new();
        walk(&recording, SnapshotId(0), &Silent, |object, _| {
            if tables.type_name(object.type_id) == "__main__.Made" {
                let mut functions = Vec::new();
                let mut site = object.site;
                while let Some(id) = site {
                    let details = recording.site(id).expect("sites").expect("declared");
                    let name = details.function.expect("a name").trim_end_matches(".<locals>.<listcomp>");
                    functions.push(name.trim_end_matches("<listcomp>").to_owned());
                    site = details.caller;
                }
                functions.retain(|name| !name.is_empty());
                functions.dedup_by(|next, before| next == before && next == "one");
                *chains.entry(functions.join(" ")).or_default() += 1;
            }
            Ok(())
        })
        .expect("a whole snapshot");
        if mode == "full" {
            assert_eq!(chains.get("one <module>"), Some(&4000), "{chains:?}");
            assert_eq!(chains.get("one other <module>"), Some(&4000), "{chains:?}");
            assert_eq!(chains.get(&format!("{}<module>", "deep ".repeat(8))), Some(&1), "{chains:?}");
            let held: u64 =
                ["__init__ <module>", "Holder.__init__ <module>"].iter().filter_map(|key| chains.get(*key)).sum();
            assert_eq!(held, 100, "{chains:?}");
            assert_eq!(chains.get("deep deep deep <module>"), Some(&3), "{chains:?}");
            assert_eq!(chains.get("deep ".repeat(128).trim_end()), Some(&1), "{chains:?}");
        } else {
            let sampled: u64 =
                chains.iter().filter(|(chain, _)| chain.starts_with("one")).map(|(_, count)| count).sum();
            // About 1.3 MB of objects with their attributes.
            assert!((5..400).contains(&sampled), "{chains:?}");
            assert_eq!(chains.values().sum::<u64>(), 8105);
        }
    }
}

#[test]
fn samples_do_not_outlive_their_blocks() {
    let Some(python) = Python::find() else { return };
    let program = "
import barrow, gc, sys
class Died: __slots__ = ('x',)
class Kept: __slots__ = ('x',)
barrow.start(sys.argv[1], sites='sample=2K')
died = [Died() for _ in range(20000)], [bytes(600 + i % 50) for i in range(2000)], [[0] * (i % 90) for i in range(5000)]
for one in died[2]: one.extend([1] * 80)
del died
gc.collect()
kept = [Kept() for _ in range(20000)]
kept.extend(bytes(600 + i % 50) for i in range(2000))
barrow.snapshot()
try:
    import tracemalloc; tracemalloc.start()
    barrow.stop()
    barrow.start(sys.argv[1] + '2', sites='light')
except RuntimeError as error:
    print(error)
";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("sites.barrow");
    let output = python.command().arg("-c").arg(program).arg(&path).output().expect("a Python");
    assert_eq!(said(&output), "sites=sample=2048 cannot end while another tool hooks the allocator\n");
    let found = by_line(&path);
    let of = |class: &str, line: u32| found.get(&(class.to_owned(), line)).copied().unwrap_or(0);
    let (sampled, others) = (of("__main__.Kept", 10), of("__main__.Kept", 0));
    assert_eq!(sampled + others, 20_000);
    // They have 40 bytes.
    assert!((200..600).contains(&sampled), "{sampled}");
    let (sampled, died) = (of("bytes", 11), of("bytes", 6));
    assert!((400..800).contains(&sampled) && died == 0, "{sampled} {died}");
}

#[test]
fn another_hook_may_come_and_go() {
    let Some(python) = Python::find() else { return };
    let program = "
import barrow, os, sys, tracemalloc
barrow.start(sys.argv[1], sites='light')
tracemalloc.start()
class Made: pass
kept = [Made() for _ in range(50)]
child = os.fork()
if child == 0:
    os._exit(0 if barrow.snapshot() else 1)
assert os.waitpid(child, 0)[1] == 0
barrow.stop()
tracemalloc.stop()
more = [Made() for _ in range(50)]
barrow.start(sys.argv[1] + '2', sites='full')
other = [Made() for _ in range(50)]
barrow.snapshot()
";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("sites.barrow");
    said(&python.command().arg("-c").arg(program).arg(&path).output().expect("a Python"));
    let found = by_line(&folder.path().join("sites.barrow2"));
    let made: Vec<_> = found.iter().filter(|((class, _), _)| class == "__main__.Made").collect();
    assert_eq!(made.iter().map(|(_, count)| **count).sum::<u64>(), 150, "{made:?}");
    let of_line = |(class, line): &(String, u32)| class == "__main__.Made" && *line == 15;
    assert_eq!(made.iter().find(|(key, _)| of_line(key)).map(|(_, count)| **count), Some(50), "{made:?}");
}

#[test]
fn another_allocator_is_refused_with_a_sentence() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = "
import barrow, sys
try:
    barrow.start(sys.argv[1], sites='light')
except RuntimeError as error:
    print(error)
";
    let mut command = python.command();
    command.arg("-c").arg(program).arg(folder.path().join("sites.barrow")).env("PYTHONMALLOC", "malloc");
    assert!(said(&command.output().expect("a Python")).contains("PYTHONMALLOC"));
}
