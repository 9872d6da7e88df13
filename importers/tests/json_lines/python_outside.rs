//! Attributes that CPython keeps where the script does not find their names, and numbers of more than 64 bits, against
//! what the program that wrote the dump said of them.

use crate::recorded::record_file;
use barrow_analyzer::{Expression, FieldPath, Number, NumberTotals, Silent};
use std::process::Command;

/// Sets attributes of objects from outside their class, so that nothing in the class has their names.
const PROGRAM: &str = r#"
import collections, dataclasses, datetime, dump_heap, sys, typing

class Holder:
    pass

class Plain:
    def __init__(self):
        self.marker = "plain"

def holder(**attributes):
    one = Holder()
    for name, value in attributes.items():
        setattr(one, name, value)
    return one

Point = collections.namedtuple("Point", "marker depth")
held = [holder(marker="one", depth=1), holder(marker="two", depth=2), Point("three", 3), Plain()]

class Number:
    def __init__(self, number):
        self.number = number

numbers = [Number(number) for number in (2**63, 2**64, 2**70, -2**100, 7, 2**63 - 1, 2**200, "18446744073709551616")]
for test in ("> 9223372036854775807", "= 18446744073709551616", "> 5", "< 5", "< 0", "> 9223372036854775806"):
    order, number = test.split()
    passes = {"<": lambda one: one < int(number), ">": lambda one: one > int(number), "=": lambda one: one == int(number)}
    known = [one.number for one in numbers if type(one.number) is int and one.number != 2**200]
    print(test, sum(passes[order](one) for one in known), sep="\t")
class Doc:
    limit = 100
    parent = None

    def __init__(self, number):
        self.size = 100 if number % 2 else number + 1000
        self.owner = None if number % 3 else "somebody"

    def shown(self):
        return (self.limit, self.parent, self.size, self.owner)

class Cut:
    def __init__(self, number):
        self.data = b"x" * 500 + b"%d END" % number

@dataclasses.dataclass
class Data:
    limit: typing.ClassVar[int] = 100
    number: int = 0
    size: int = 100

class Doubled:
    __slots__ = ("number", "gap")

    @property
    def doubled(self):
        return self.number * 2

class Odd(Doubled):
    pass

class Mixed(Holder, Odd):
    pass

class Sized(dict):
    def __init__(self, number):
        self["size"] = number % 2
        self["other"] = 5
        self.size = number % 5

sizes = [Sized(number) for number in range(20)]
print("Sized", ".size = 0", sum(one.size == 0 for one in sizes), sep="\t")

class Event:
    def __init__(self, number):
        self.day = datetime.date(2020 + number % 3, 1, 2)
        self.span = datetime.timedelta(days=number)
        self.error = ValueError(number)
        self.inner = (Mixed if number % 2 else Odd)()
        self.inner.number = number
        self.sized = sizes[number]

events = [Event(number) for number in range(20)]
for path, test in (('.sized["size"] = 0', lambda one: one.sized["size"] == 0), (".sized.size = 0", lambda one: one.sized.size == 0),
                   (".day.year = 2021", lambda one: one.day.year == 2021), (".span.days >= 5", lambda one: one.span.days >= 5),
                   (".inner.doubled > 9", lambda one: one.inner.doubled > 9), (".inner.number < 4", lambda one: one.inner.number < 4),
                   (".error.args != null", lambda one: one.error.args is not None),
                   (".span.weeks = 1", lambda one: hasattr(one.span, "weeks")), (".inner.gap = 1", lambda one: hasattr(one.inner, "gap"))):
    print("Event", path, sum(map(test, events)), sep="\t")
data = [Data(number, 100 if number % 2 else number + 1000) for number in range(30)]
docs, cuts = [Doc(number) for number in range(30)], [Cut(number) for number in range(3)]
print("docs", sum(one.size == 100 for one in docs), sum(one.owner is None for one in docs), sep="\t")
known = [one.number for one in numbers if type(one.number) is int and one.number != 2**200]
print(len(known), sum(known), min(known), max(known), sep="\t")
dump_heap.dump(sys.argv[1])
"#;

#[test]
fn attributes_that_the_dump_does_not_name_are_unknown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (program, dump) = (folder.path().join("program.py"), folder.path().join("one.pyheap"));
    std::fs::write(&program, PROGRAM).expect("written");
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/../recorders/python");
    let Ok(output) = Command::new("python3").arg("-B").arg(&program).arg(&dump).env("PYTHONPATH", scripts).output()
    else {
        println!("skipped: no python3");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let heap = record_file(&dump, 2).expect("a whole dump").into_heap();
    // Whether the program's object matches is known to be so, or is not known.
    let asked = |types: &str, test: &str| {
        let expression = Expression::parse(&format!("type ~ {types} and {test}")).expect("an expression");
        let found = heap.select(&[], &expression, &Silent).expect("objects").0.len();
        (found, heap.doubts(&[], &expression, &Silent).expect("doubts").counted.objects)
    };
    let (found, doubted) = asked("*.Holder", ".marker = \"one\"");
    assert!(found == 1 && doubted == 0 || found == 0 && doubted == 2, "{found} of Holder, {doubted} unknown");
    let (found, doubted) = asked("*.Point", ".marker = \"three\"");
    assert_eq!((found, doubted), (0, 1), "a named tuple");
    assert_eq!(asked("*.Plain", ".marker = \"plain\""), (1, 0));
    assert_eq!(asked("*.Plain", ".marker = \"one\""), (0, 0));
    // The script does not write numbers of more than 128 bits.
    let printed = String::from_utf8(output.stdout).expect("text");
    assert_eq!(printed.lines().count(), 18);
    let [docs, numbers] = [16, 17].map(|at| printed.lines().nth(at).expect("a line"));
    // What the class defines may be an attribute of the instance as well, which is the same object: it is not known then.
    for (test, passing) in [".size = 100", ".owner = null"].into_iter().zip(docs.split('\t').skip(1)) {
        let (found, doubted) = asked("*.Doc", test);
        let passing: u64 = passing.parse().expect("a number");
        assert!(found <= passing && passing <= found + doubted, "{test}: {found} to {doubted} more, not {passing}");
    }
    // What a property or a type in C computes is not in the dump, and nothing else is in doubt.
    for line in printed.lines().skip(6).take(10) {
        let [class, test, passing] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let passing: u64 = passing.parse().expect("a number");
        let (found, doubted) = asked(&format!("*.{class}"), test);
        assert!(found <= passing && passing <= found + doubted, "{test}: {found} to {doubted} more, not {passing}");
        let is_computed =
            [".day.year", ".span.days", ".inner.doubled", ".error.args"].iter().any(|path| test.contains(path));
        assert_eq!(doubted == 0, !is_computed, "{test}: {doubted} in doubt");
    }
    assert_eq!(asked("*.Doc", ".limit = 100").0, 0, "an attribute of the class");
    assert_eq!((asked("*.Data", ".size = 100"), asked("*.Data", ".limit = 100").0), ((15, 0), 0));
    assert_eq!((asked("*.Data", ".number = 0"), asked("*.Data", ".number >= 0")), ((1, 0), (30, 0)));
    assert_eq!(asked("*.Doc", ".size >= 1000"), (15, 0));
    // Only the beginning is in the dump.
    assert_eq!((asked("*.Cut", ".data ~ /END/"), asked("*.Cut", "length(.data) > 500")), ((0, 3), (0, 3)));
    for line in printed.lines().take(6) {
        let (test, passing) = line.split_once('\t').expect("a test and a number");
        let passing: u64 = passing.parse().expect("a number");
        assert_eq!(asked("*.Number", &format!(".number {test}")), (passing, 1), "{test}");
    }
    let of_type = Expression::parse("type ~ *.Number").expect("an expression");
    let (set, _) = heap.select(&[], &of_type, &Silent).expect("objects");
    let mut totals = NumberTotals::default();
    let path = FieldPath::parse(".number").expect("a path");
    heap.field_numbers(&set, &path, &Silent, &mut |_, number| totals.add_found(number)).expect("numbers");
    let told =
        [totals.sum(), totals.least().cloned(), totals.greatest().cloned()].map(|number| number.expect("a number"));
    let told =
        told.map(|number| if let Number::Whole(whole) = number { whole.to_string() } else { format!("{number:?}") });
    let told = told.join("\t");
    assert_eq!(format!("{}\t{told}", totals.known), numbers);
    assert_eq!((totals.unknown, totals.absent), (1, 1), "the largest one, and the text: {totals:?}");
}
