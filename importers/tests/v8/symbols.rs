//! Symbols, against what a running Node.js says of their descriptions; and classes, whose bases no snapshot tells.

use crate::values::run;
use barrow_analyzer::{Expression, Silent};

/// Takes a snapshot of objects with symbols, and prints the description of each.
const PROGRAM: &str = r#"
class Tagged { constructor(tag) { this.tag = tag; } }
globalThis.kept = [
  new Tagged(Symbol("alpha")), new Tagged(Symbol.for("beta")), new Tagged(Symbol("alpha")), new Tagged(Symbol.iterator),
  new Tagged(Symbol("s" + "é".repeat(3))), new Tagged(Symbol()),
];
require("v8").writeHeapSnapshot(process.argv[1], { exposeNumericValues: true });
for (const { tag } of kept) console.log(tag.description ?? "");
"#;

#[test]
fn symbols_are_called_by_their_descriptions() {
    let Some((recorded, printed)) = run(PROGRAM) else { return };
    let heap = recorded.heap();
    let found = |text: &str| {
        let expression = Expression::parse(text).expect("an expression");
        heap.select(&[], &expression, &Silent).expect("objects").0.len()
    };
    let descriptions: Vec<&str> = printed.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(descriptions.len(), 5, "one has none");
    for description in &descriptions {
        let same = descriptions.iter().filter(|other| *other == description).count() as u64;
        assert_eq!(found(&format!("type = \"Tagged\" and .tag = \"{description}\"")), same, "{description}");
    }
    assert_eq!(found("type = \"Tagged\" and .tag = \"symbol\""), 0);
}

#[test]
fn superclasses_are_not_told() {
    for (text, asks) in [("superclass = \"Base\"", true), ("is Base", true), ("type = \"Base\"", false)] {
        assert_eq!(Expression::parse(text).expect("an expression").asks_for_bases(), asks, "{text}");
    }
}
