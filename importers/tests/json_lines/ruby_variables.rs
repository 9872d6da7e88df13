//! The instance variables and the classes of a dump of Ruby 3.4, against what that Ruby printed of them.
//!
//! `items-3.4.jsonl` has the lines of these objects, their shapes, their classes and what they refer to, without `flags`
//! and without the references of classes. `@ruby/3.4-wasm-wasi` wrote them for this program:
//!
//! ```ruby
//! class Base; end
//! class Item < Base
//!   def initialize(name, plan, count) = (@name, @plan, @count = name, plan, count)
//! end
//! class Empty < Base; end
//! class Note < Item
//!   class << self; attr_accessor :config, :max; end
//!   self.config = "settings"; self.max = 7
//! end
//! class Tags < Hash
//!   def initialize(label, size) = (super(); @label, @size = label, size)
//! end
//! class Safe < String
//!   def mark(flag) = (@flag = flag; self)
//! end
//! $held = [Item.new("ink", "pro", 3), Item.new("pen", :free, nil), Item.new("cap", "free", "many"), Item.new(1, 2, 3),
//!   Note.new("memo", "pro", 9), Empty.new, Tags.new("red", 5), Safe.new("<b>").mark(true), Safe.new("plain")]
//! ```

use crate::recorded::record;
use barrow_analyzer::{Expression, Silent};
use std::collections::BTreeMap;

const DUMP: &str = include_str!("items-3.4.jsonl");

/// What `instance_variables` and `instance_variable_get` printed of each object.
const PRINTED: [(u64, &[(&str, &str)]); 10] = [
    (0x0454_ce74, &[("@name", "\"ink\""), ("@plan", "\"pro\""), ("@count", "3")]),
    (0x0454_ce10, &[("@name", "\"pen\""), ("@plan", ":free"), ("@count", "nil")]),
    (0x0454_cd70, &[("@name", "\"cap\""), ("@plan", "\"free\""), ("@count", "\"many\"")]),
    (0x0454_cd34, &[("@name", "1"), ("@plan", "2"), ("@count", "3")]),
    (0x0454_ccbc, &[("@name", "\"memo\""), ("@plan", "\"pro\""), ("@count", "9")]),
    (0x0454_cc58, &[]),
    (0x0452_d934, &[("@label", "\"red\""), ("@size", "5")]),
    (0x0454_cb7c, &[("@flag", "true")]),
    (0x0454_cadc, &[]),
    (0x0452_dde4, &[("@config", "\"settings\""), ("@max", "7")]),
];

#[test]
fn a_variable_is_what_ruby_printed_or_unknown_and_others_are_missing() {
    let mut known = 0;
    for variable in ["@name", "@plan", "@count", "@label", "@size", "@flag", "@config", "@max"] {
        let held: BTreeMap<u64, String> = record(DUMP).expect("a whole dump").held(&format!(".{variable}"));
        for (address, printed) in PRINTED {
            let printed = printed.iter().find(|(name, _)| *name == variable).map(|(_, value)| value.trim_matches('"'));
            let found = held.get(&address).map(String::as_str);
            match (found, printed) {
                (None, None) | (Some("unknown"), Some(_)) => {}
                _ => {
                    known += 1;
                    assert_eq!(found, printed, "{variable} of {address:#x}");
                }
            }
        }
        let with_it = PRINTED.iter().filter(|(_, of)| of.iter().any(|(name, _)| *name == variable)).count();
        assert_eq!(held.len(), with_it, "{variable}: no other object has it");
    }
    assert_eq!(known, 3, "all variables of one item are objects");
}

#[test]
fn classes_are_derived_from_those_of_the_program() {
    let heap = record(DUMP).expect("a whole dump").into_heap();
    let count = |text: &str| {
        let expression = Expression::parse(text).expect("an expression");
        heap.select(&[], &expression, &Silent).expect("objects").0.len()
    };
    // `Item`, `Empty` and `Note` have 4, 1 and 1 instances, of which `Base` has none itself.
    assert_eq!(count("superclass = \"Base\""), 5);
    assert_eq!(count("superclass = \"Item\""), 1);
    assert_eq!([count("is Base"), count("is Item"), count("is Note")], [6, 5, 1]);
    // The objects in which a class keeps its modules have the types `Enumerable` and `Comparable` as well.
    // `Tags.ancestors` has `Hash` and `Enumerable`, `Safe.ancestors` has `String` and `Comparable`.
    assert_eq!(
        [count("is Hash"), count("is Enumerable and kind = \"hash\""), count("superclass = \"Hash\"")],
        [1, 1, 1]
    );
    assert_eq!([count("superclass = \"String\""), count("type = \"Safe\" and is Comparable")], [2, 2]);
    assert_eq!(count("is Kernel and kind = \"object\""), 6);
}

/// A shape that the dump does not have, and one whose variables are in a table.
#[test]
fn variables_without_names_may_have_any() {
    let dump = DUMP.replace("\"shape_id\":3,", "\"shape_id\":2,");
    let dump = dump.replace("\"ivars\":0", "\"ivars\":1")
        + "{\"address\":\"0x10\", \"type\":\"SHAPE\", \"id\":2, \"parent_id\":0, \"shape_type\":\"OBJ_TOO_COMPLEX\"}\n"
        + "{\"address\":\"0x28\", \"type\":\"OBJECT\", \"shape_id\":999, \"ivars\":2}\n"
        + "{\"address\":\"0x50\", \"type\":\"OBJECT\", \"shape_id\":999, \"ivars\":0}\n";
    let held = record(&dump).expect("a whole dump").held(".@name");
    let of = |address: u64| held.get(&address).map(String::as_str);
    assert_eq!([of(0x0454_cc58), of(0x28), of(0x50)], [Some("unknown"), Some("unknown"), None]);
    assert_eq!(of(0x0454_cadc), None);
}
