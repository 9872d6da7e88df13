//! The keys of objects, as a program has them.

use crate::values::run;
use barrow_analyzer::{Expression, FieldPath, FieldValue, Heap, Held, ObjectId, ObjectSet, Silent};
use std::collections::BTreeMap;

/// Prints of each holder its name, a key as it is typed, and what it holds there: a text, a number, `Missing` or
/// `Unknown`.
const PROGRAM: &str = r#"
class Holder {
  constructor(name, held) {
    this.name = name;
    this.held = held;
  }
}
class Session {
  constructor() {
    this.tenant = "acme";
    this.hits = 3;
    this.extra = null;
  }
}
class Cache extends Map {}
const holders = [];
function tell(name, held, ...keys) {
  holders.push(new Holder(name, held));
  for (const [typed, value] of keys) console.log([name, typed, value].join("\t"));
}
function own(held, key) {
  return [JSON.stringify(key), Object.hasOwn(held, key) ? held[key] : "Missing"];
}
const fast = { a: "A", "b c": "BC", n: 7, half: 0.5, no: null };
tell("fast", fast, own(fast, "a"), own(fast, "b c"), own(fast, "n"), own(fast, "half"), ['"no"', "Null"],
  own(fast, "zz"), own(fast, "toString"), ['"map"', "Unknown"]);
const large = {};
for (let i = 0; i < 3000; i++) large["key" + i] = "value" + i;
delete large.key0;
tell("large", large, own(large, "key1"), own(large, "key2999"), own(large, "key0"));
const bare = Object.assign(Object.create(null), { a: "z" });
tell("bare", bare, ['"a"', "z"], ['"toString"', "Missing"]);
const frozen = Object.freeze({ a: "fa" });
tell("frozen", frozen, own(frozen, "a"), own(frozen, "b"));
const derived = { __proto__: { inherited: "I" }, own: "O" };
tell("derived", derived, own(derived, "own"), own(derived, "inherited"));
const computed = { get x() { return "X"; }, y: "Y" };
tell("computed", computed, own(computed, "y"), ['"x"', "Unknown"]);
tell("proxy", new Proxy({ a: "of the target" }, { get: () => "A" }), ['"a"', "Unknown"]);
// A text is the key, whatever reads like it.
tell("alike", new Map([[/tag/, "regular expression"], [Symbol("tag"), "symbol"], [tell, "function"], ["tag", "T"], ["tell", "F"]]),
  ['"tag"', "T"], ['"tell"', "F"]);
// Small numbers are not in a snapshot, fractions are.
const numbers = new Map([[0.5, "half"], [7, "seven"], [-2.25, "less"], ["t", "T"]]);
const entry = (key) => [JSON.stringify(key), numbers.has(key) ? numbers.get(key) : "Missing"];
tell("numbers", numbers, entry(0.5), entry(-2.25), entry(1.5), entry("t"), entry("u"), ["7", "Unknown"], ["7.0", "Unknown"], ["8", "Unknown"]);
tell.property = "P";
tell("function", tell, ['"property"', "Unknown"], ['"absent"', "Unknown"]);
tell("set", Object.assign(new Set(["x"]), { property: "P" }), ['"property"', "Unknown"]);
const session = new Session();
tell("session", session, own(session, "tenant"), own(session, "hits"), own(session, "absent"));
const elements = {};
for (let i = 0; i < 50; i++) elements[i] = "e" + i;
elements[1e6] = "far";
tell("elements", elements, ["5", elements[5]], ['"5"', elements[5]], ["1000000", elements[1e6]], ["51", "Unknown"]);
const array = ["zero", "one"];
tell("array", array, ["0", array[0]], ["1", array[1]], ["2", "Unknown"], ['"length"', "Unknown"]);
tell("cache", new Cache([["x", "y"]]), ['"x"', "Unknown"], ['"z"', "Unknown"]);
require("v8").writeHeapSnapshot(process.argv[1], { exposeNumericValues: true });
"#;

/// What a path leads to from an object.
fn found(heap: &Heap, object: ObjectId, path: &str) -> String {
    let set = ObjectSet::from_sorted(heap.all_objects().snapshot(), heap.object_count(), [object]);
    let path = FieldPath::typed(path).expect("a path");
    match heap.field_column(&set, &path, &Silent).expect("a heap")[0] {
        Held::Value(FieldValue::Text(text)) => heap.recording().tables().expect("tables").string(text).to_owned(),
        Held::Value(FieldValue::Double(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn properties_are_keys_as_in_the_program() {
    let Some((recorded, printed)) = run(PROGRAM) else { return };
    let heap = recorded.heap();
    let holders = Expression::parse("type = Holder and kind = object").expect("an expression");
    let holders = heap.select(&[], &holders, &Silent).expect("a heap").0;
    let holders: BTreeMap<String, ObjectId> = holders.iter().map(|id| (found(&heap, id, ".name"), id)).collect();
    let mut differences = Vec::new();
    for line in printed.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let found = found(&heap, holders[words[0]], &format!(".held[{}]", words[1]));
        if found != words[2] {
            differences.push(format!("{line}: {found}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(printed.lines().count() >= 30, "{printed}");
}

#[test]
fn fields_behind_proxies_and_accessors_are_unknown() {
    let Some((recorded, _)) = run(PROGRAM) else { return };
    let heap = recorded.heap();
    let names = |of: &str| -> Vec<String> {
        let expression =
            Expression::parse(&format!("type = Holder and kind = object and {of}")).expect("an expression");
        let (set, _) = heap.select(&[], &expression, &Silent).expect("a heap");
        set.iter().map(|id| found(&heap, id, ".name")).collect()
    };
    // In the program `proxy.held.a` is "A", as `fast.held.a` is, and `computed.held.x` is a text.
    assert_eq!(names(r#".held.a = "A""#), ["fast"]);
    assert_eq!(names(r#".held.a != "A""#), ["bare", "frozen"]);
    assert_eq!(names(".held.a = unknown"), ["proxy"]);
    assert_eq!(names(".held.x.y = unknown"), ["computed", "proxy"]);
}
