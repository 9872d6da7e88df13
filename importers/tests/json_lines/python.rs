//! Dumps of CPython's heap: tiny ones, and one that the script makes here and now.

use crate::dumps::PYTHON;
use crate::recorded::{Recorded, record, record_contents, record_file};
use barrow_analyzer::{AnalyzerError, Expression, KindRole, Silent};
use barrow_importers::{Contents, ImportError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn every_field_has_its_place() {
    let recorded = record(PYTHON).expect("a whole dump");
    assert_eq!(recorded.imported.format.key(), "python");
    assert_eq!(recorded.imported.lost, None);
    let expected = r##"
object (class not in the dump) 72+0 @0x7f10 "__main__" [__dict__ 1]
object (class not in the dump) 232+0 @0x7f20 [? 3, cards 2]
object app.cards.Deck.Cards 96+0 @0x7f30 [class 5, 0 3, 1 1, owner 0]
object (class not in the dump) 54+0 @0x7f40 "cards" []
object type 72+0 @0x7f50 [class 6, weak referent 2]
type type 1064+0 @0x7f60 "app.cards.Deck.Cards" [class 6, ? 6]
type type 900+0 @0x7f70 "type" [class 6]
frame Deck.shuffle (app.py:12) 440+0 @0x7f80 [class 6, self 2]
frame Deck.shuffle (app.py:12) 440+0 @0x7f90 [class 6, ? 7]
"##;
    assert_eq!(recorded.text(), expected.trim_start());
    assert_eq!(recorded.roots(), ["modules __main__ 0"]);
    let note = "4 references lead to addresses that are not in the dump and were left out";
    assert_eq!(recorded.imported.notes, [note]);
    assert_eq!(recorded.role("frame"), KindRole::Frame);
    assert_eq!(recorded.role("type"), KindRole::Type);
    let facts = recorded.recording.facts().expect("facts");
    for (key, value) in [("runtime", "CPython 3.11.2"), ("pid", "77")] {
        assert!(facts.contains(&(key.to_string(), value.to_string())), "{facts:?}");
    }
}

#[test]
fn versions_and_garbage_are_told() {
    let newer = PYTHON.replace("\"version\":1", "\"version\":2");
    let Err(error) = record(&newer).map(drop) else { panic!("it was read") };
    assert!(matches!(error, ImportError::UnknownPythonVersion { found: 2 }), "{error}");
    let notes = record(&PYTHON.replace("\"collected\":true", "\"collected\":false")).expect("whole").imported.notes;
    assert!(notes[0].starts_with("garbage was not collected"), "{notes:?}");
}

/// A program may append each dump to the one before.
#[test]
fn several_dumps_in_one_file_are_a_series() {
    let one = record(PYTHON).expect("a whole dump").totals();
    let both = record(&[PYTHON, PYTHON].concat()).expect("whole dumps");
    assert_eq!((&*both.imported.snapshots, both.imported.lost), (&[one, one][..], None));
    let notes = &both.imported.notes;
    assert!(notes.len() == 2 && notes[1].starts_with("heap dump 2: 4 references lead to addresses"), "{notes:?}");
    // Cut before the last line of the second one, and after its first line.
    for (lines, snapshots) in [(PYTHON.lines().count() - 1, 2), (1, 1)] {
        let second: String = PYTHON.split_inclusive('\n').take(lines).collect();
        let cut = record(&[PYTHON, &second].concat()).expect("the first");
        assert_eq!((cut.imported.snapshots.len(), cut.imported.snapshots[0]), (snapshots, one));
        let lost = cut.imported.lost.expect("its end").to_string();
        assert!(lost.contains("without its last line"), "{lost}");
    }
    let damaged = PYTHON.replacen("{\"address\"", "oops {\"address\"", 1);
    let damaged = record(&[PYTHON, &damaged].concat()).expect("all but a line").imported;
    assert_eq!((damaged.snapshots[0], damaged.snapshots[1].objects), (one, one.objects - 1));
    let lost = damaged.lost.expect("a line").to_string();
    assert!(lost.contains("1 line was left out"), "{lost}");
}

/// Objects of every sort, and what the interpreter counts of them.
const PROGRAM: &str = r#"
import collections, enum, gc, sys, weakref, threading, dump_heap

class Card:
    def __init__(self, number):
        self.number = number
        self.text = "card %d" % number

class Slotted:
    __slots__ = ("left", "right", "__weakref__")
    def __init__(self, left):
        self.left = left

class Odd:
    @property
    def __class__(self): raise ValueError
    def __sizeof__(self): raise RuntimeError
    def __eq__(self, other): raise RuntimeError
    def __hash__(self): raise RuntimeError
    def __getattribute__(self, name): raise RuntimeError
    def __repr__(self): raise RuntimeError

class Meta(type):
    def __eq__(self, other): raise RuntimeError
    def __hash__(self): raise RuntimeError
    def __getattribute__(self, name): raise RuntimeError
    __module__ = property(lambda self: 1)

class OfMeta(metaclass=Meta):
    def __sizeof__(self): raise SystemExit

class Deck(list): pass
class Index(dict): pass

cards = Deck(Card(number) for number in range(300))
cards.extra = "späte \ud800 \U0001f600 \n\"\\ Karte"
index = Index((card.text, card) for card in cards)
slotted = [Slotted(card) for card in cards]
weak = [weakref.ref(one) for one in slotted]
odd = [Odd() for _ in range(7)] + [OfMeta() for _ in range(5)]
circle = []
circle.append(circle)
weak_circle = weakref.WeakSet([Slotted(None)])

def generate():
    local = ["held by a generator"]
    yield local

generator = generate()
next(generator)
stop = threading.Event()
started = threading.Event()

def work():
    kept = Deck(["held by another thread"])
    started.set()
    stop.wait()

thread = threading.Thread(target=work, daemon=True)
thread.start()
started.wait()

names = ["Card", "Slotted", "Odd", "OfMeta", "Deck", "Index", "generator", "dict", "list", "tuple", "function", "cell"]
written = dump_heap.dump(sys.argv[1])
gc.collect()
counts = {}
for value in gc.get_objects():
    if type(value) is type(generate) and value.__globals__ is vars(dump_heap):
        continue
    name = type.__dict__["__qualname__"].__get__(type(value))
    counts[name] = counts.get(name, 0) + 1
print("objects", written)
print("size", sum(sys.getsizeof(card) for card in cards), "Card")
for name in names:
    print("count", counts.get(name, 0), name)
class Account:
    def __init__(self, user, visits):
        self.user, self.visits, self.share, self.is_open = user, visits, visits / 8, visits > 300

accounts = [Account("anna" if number % 3 else "b\u00f6rje", number) for number in range(295, 305)]
nobodys = Account(None, 1000)
long = ["x" * 1000, b"y" * 300, 1 << 63, -(1 << 63), float("-inf")]
grown = []
grown.extend(range(11))
sets = [set(), set(range(9)), frozenset(range(100))]
lengthened = bytearray(b"abc")
lengthened.append(1)
queue = collections.deque(range(77))
class Bag(set): pass
bag = Bag("xyz")
bag.note = "no element"
ordered = collections.OrderedDict([("b", 1), ("a", 2)])
default = collections.defaultdict(list, {"k": 5, 7: None})
counter = collections.Counter("abracadabra")
ring = collections.deque("abcdefg", maxlen=4)
ring.rotate(1)
filled = [{1: "one", "two": 2}, ordered, default, counter, {"x", 3}, frozenset([7, "seven"]), queue, ring, ["a", None]]
class Color(enum.Enum):
    RED = 1
    GREEN = "g"
class Painted:
    def __init__(self, color, owner): self.color, self.owner = color, owner
painted = [Painted(Color.RED, None), Painted(Color.GREEN, None), Painted(Color.RED, "anna")]
class Configured:
    def __init__(self, number):
        self.number, self.label, self.settings = number, "c%d" % number, {"number": -1, "label": "wrong"}
class Twice(Configured):
    def __init__(self, number):
        super().__init__(number)
        self.more = {}
configured = [Configured(number) for number in range(900, 910)] + [Twice(number) for number in range(910, 920)]
in_dict = [Configured(number) for number in range(920, 930)]
for one in in_dict:
    setattr(one, "from elsewhere", vars(one)["label"])
dump_heap.dump(sys.argv[2])
pointer = tuple.__itemsize__
for value in [cards, index, grown, lengthened, queue, b"", ()] + sets + long[:2] + [card.text for card in cards]:
    print("holds .length", len(value), id(value))
print("holds .capacity", (sys.getsizeof(grown) - sys.getsizeof([])) // pointer, id(grown))
print("holds .capacity", lengthened.__alloc__(), id(lengthened))
for value in sets:
    print("holds .capacity", (value.__sizeof__() - set.__basicsize__) // (2 * pointer) or 8, id(value))
# Older ones keep attributes in a dictionary.
for account in accounts if sys.version_info >= (3, 11) else []:
    for name, value in (("user", account.user), ("visits", account.visits), ("share", account.share)):
        print("holds", "." + name, value, id(account))
    print("holds .is_open", str(account.is_open).lower(), id(account))
print("is __main__.Configured", sum(issubclass(type(value), Configured) for value in gc.get_objects()))
print("is enum.Enum", sum(issubclass(type(value), enum.Enum) for value in gc.get_objects()))
print("is set and type = __main__.Bag", 1)
for one in configured if sys.version_info >= (3, 11) else []:
    for name, value in (("number", one.number), ("label", one.label), ("settings.label", "wrong")):
        print("holds", "." + name, value, id(one))
for one in in_dict:
    for name, value in (("number", one.number), ("label", one.label), ("settings.label", "wrong")):
        print("holds", ".__dict__." + name, value, id(one))
for value in filled:
    if isinstance(value, dict):
        entries = [str(key) + "=" + str(held) for key, held in value.items()]
    else:
        entries = [str(held) for held in value]
    print("entries", id(value), "|".join(entries).replace("None", "null"), "known")
# An attribute that is set from elsewhere may have no name, as elements of a set have none.
print("entries", id(bag), "|".join(bag), "perhaps")
for one in painted if sys.version_info >= (3, 11) else []:
    print("holds .color", one.color.name, id(one))
    print("holds .owner", one.owner or "null", id(one))
print("holds .value unknown", id(long[2]))
print("holds .value", long[3], id(long[3]))
print("holds .value", long[4], id(long[4]))
stop.set()
"#;

pub(crate) fn script_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../recorders/python")
}

/// The dumps of [`PROGRAM`] and what it printed.
struct Dumped {
    folder: tempfile::TempDir,
    printed: String,
}

impl Dumped {
    /// Runs the program, if there is a CPython.
    fn make() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("program.py"), PROGRAM).expect("written");
        let mut python = Command::new("python3");
        python.arg("-B").args(["program.py", "objects.pyheap", "values.pyheap"].map(path));
        let Ok(output) = python.env("PYTHONPATH", script_folder()).env("PYTHONUTF8", "1").output() else {
            println!("skipped: no python3");
            return None;
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        Some(Dumped { folder, printed: String::from_utf8_lossy(&output.stdout).into_owned() })
    }

    fn objects(&self) -> Recorded {
        record_file(&self.folder.path().join("objects.pyheap"), 2).expect("a whole dump")
    }

    fn values(&self, contents: Contents) -> Recorded {
        record_contents(&self.folder.path().join("values.pyheap"), 2, contents).expect("a whole dump")
    }
}

#[test]
fn counts_are_the_interpreters_own() {
    let Some(dumped) = Dumped::make() else { return };
    let recorded = dumped.objects();
    assert_eq!(recorded.imported.lost, None);
    assert_eq!(recorded.imported.notes, [""; 0], "no reference is lost");
    let counts = recorded.counts();
    for line in dumped.printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| word.parse::<u64>().expect("a number");
        match words[..] {
            ["objects", count] => assert_eq!(recorded.totals().objects, number(count)),
            ["count", expected, name] => {
                let number = number(expected);
                let of_program = counts.get(&("object".into(), format!("__main__.{name}")));
                let count = of_program.or(counts.get(&("object".into(), name.into()))).copied().unwrap_or(0);
                // Dictionaries and tuples of plain values are not tracked, but found.
                let is_exact = name != "dict" && name != "tuple";
                assert!(count == number || !is_exact && count > number, "{name}: {count}, {number}");
            }
            _ => {}
        }
    }
    assert_eq!(counts.get(&("object".into(), "__main__.Deck".into())), Some(&2), "one is held by another thread");
    assert!(counts[&("object".into(), "str".into())] > 1000);
    assert!(counts[&("object".into(), "int".into())] > 300);
}

#[test]
fn references_have_names() {
    let Some(dumped) = Dumped::make() else { return };
    let recorded = dumped.objects();
    let lines = recorded.lines();
    let has = |parts: &[&str]| lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    assert!(has(&["object __main__.Card ", ", number ", ", text "]) || has(&["object __main__.Card ", ", __dict__ "]));
    assert!(has(&["object __main__.Slotted ", ", left "]));
    assert!(has(&["object __main__.Deck ", ", 0 ", ", 299 "]));
    assert!(has(&["object __main__.Index ", ", card 299 "]));
    assert!(has(&["object weakref", ", weak referent "]), "weak references");
    assert!(has(&["object cell ", ", cell_contents "]));
    assert!(has(&["object function ", ", __code__ ", ", __globals__ "]));
    let roots = recorded.roots();
    for category in ["modules __main__ ", "modules sys ", "builtins builtins ", "frames thread ", "interpreter ? "] {
        assert!(roots.iter().any(|root| root.starts_with(category)), "{category}");
    }
}

#[test]
fn the_script_leaves_itself_out() {
    let Some(dumped) = Dumped::make() else { return };
    let recorded = dumped.objects();
    assert!(!recorded.roots().iter().any(|root| root.contains("dump_heap")));
    let counts = recorded.counts();
    assert!(!counts.keys().any(|(_, name)| name.starts_with("dump_heap.")), "{counts:?}");
}

#[test]
fn values_are_those_that_the_program_prints() {
    let Some(dumped) = Dumped::make() else { return };
    let mut said: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
    for line in dumped.printed.lines() {
        if let ["holds", field, value, address] = line.split(' ').collect::<Vec<_>>()[..] {
            said.entry(field).or_default().push((address.parse().expect("an address"), value));
        }
    }
    assert!(said[".length"].len() > 300 && said[".capacity"].len() == 5 && said[".value"].len() == 3, "{said:?}");
    for (field, expected) in &said {
        let held = dumped.values(Contents::All).held(field);
        for (address, value) in expected {
            let found = held.get(address).unwrap_or_else(|| panic!("{field} {value}"));
            let is_equal = || Some(found.parse::<f64>().ok()? == value.parse::<f64>().ok()?);
            assert!(found == value || is_equal() == Some(true), "{field} {value}: {found}");
        }
    }
    // Every list has room for what it holds, and a row of its own in the table of collections.
    let heap = dumped.values(Contents::All).into_heap();
    // Older interpreters keep attributes in dictionaries.
    let of_nobody = |path: &str| {
        let asked = Expression::parse(&format!("type = \"__main__.Account\" and {path}.user = null"));
        heap.select(&[], &asked.expect("an expression"), &Silent).expect("a field").0.len()
    };
    assert_eq!(of_nobody("") + of_nobody(".__dict__"), 1);
    let select = |text: &str| heap.select(&[], &Expression::parse(text).expect("an expression"), &Silent);
    let count = |text: &str| select(text).expect("elements").0.len();
    let derived = dumped.printed.lines().filter(|line| line.starts_with("is "));
    let derived: Vec<_> = derived.map(|line| line.rsplit_once(' ').expect("a number")).collect();
    assert_eq!(derived.len(), 3);
    for (text, expected) in derived {
        assert_eq!(count(text).to_string(), expected, "{text}");
    }
    assert_eq!(count("type = list and fill > 100%"), 0);
    assert_eq!(count("type = list and elements = 0"), count("type = list and .length = 0"));
    let collections = heap.collections(&Silent).expect("collections").types;
    let tables = heap.recording().tables().expect("tables");
    let lists = collections.iter().find(|row| tables.type_name(row.type_id) == "list").expect("lists");
    assert_eq!((lists.objects, lists.empty), (count("type = list"), count("type = list and .length = 0")));
    // Names of references are no contents; what dictionaries have under the key `length` is an object.
    assert_eq!(dumped.values(Contents::None).held(".length"), BTreeMap::new());
}

#[test]
fn entries_are_those_that_the_program_prints() {
    let Some(dumped) = Dumped::make() else { return };
    let lines = dumped.printed.lines().filter_map(|line| line.strip_prefix("entries "));
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), 10);
    let addresses: Vec<u64> = lines.iter().map(|words| words[0].parse().expect("an address")).collect();
    for (line, found) in lines.iter().zip(dumped.values(Contents::All).entries(&addresses)) {
        let expected: Vec<&str> = line[1].split('|').collect();
        match found {
            Some(found) => assert_eq!(found, expected),
            None => assert_eq!(line[2], "perhaps", "{expected:?}"),
        }
    }
}

#[test]
fn dumps_of_older_scripts_have_numbers_and_no_lengths() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/foreign/python-3.11.jsonl.zst");
    let numbers = record_file(&sample, 1).expect("a whole dump").held(".value");
    // `cards.py` has a tag of 1.5 times the number of each card.
    for number in 0..200 {
        let value = format!("{:?}", 1.5 * f64::from(number));
        assert!(numbers.values().any(|held| *held == value), "{value}");
    }
    let heap = record_file(&sample, 1).expect("a whole dump").into_heap();
    let length = Expression::parse(".length > 0").expect("an expression");
    assert!(matches!(heap.select(&[], &length, &Silent), Err(AnalyzerError::NoField { .. })));
}
