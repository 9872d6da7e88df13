//! Keys of dictionaries in a dump that the script makes here and now.

use crate::python::script_folder;
use crate::recorded::record_file;
use barrow_analyzer::{Expression, FieldPath, FieldValue, Held, Silent};
use std::process::Command;

const PROGRAM: &str = r#"
import sys, dump_heap
class Text(str):
    pass
class Case:
    def __init__(self, held):
        self.held = held
case = Case({Text("own"): "own text", 2**63: "huge", "L" * 500: "long", True: "true", "1": "text"})
dump_heap.dump(sys.argv[1])
"#;

#[test]
fn numbers_are_no_texts_and_shortened_texts_may_be_others() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dump = folder.path().join("keys.pyheap");
    let mut python = Command::new("python3");
    python.args(["-B", "-c", PROGRAM]).arg(&dump).env("PYTHONPATH", script_folder());
    if !python.status().is_ok_and(|status| status.success()) {
        println!("skipped: no python3");
        return;
    }
    let heap = record_file(&dump, 2).expect("a whole dump").into_heap();
    let case = Expression::parse("type = __main__.Case and kind = object").expect("an expression");
    let case = heap.select(&[], &case, &Silent).expect("a heap").0;
    assert_eq!(case.len(), 1);
    let held = |key: &str| {
        let path = FieldPath::typed(&format!(".held[{key}]")).expect("a path");
        match heap.field_column(&case, &path, &Silent).expect("a heap")[0] {
            Held::Value(FieldValue::Text(text)) => heap.recording().tables().expect("tables").string(text).to_owned(),
            other => format!("{other:?}"),
        }
    };
    for (key, expected) in [
        ("\"own\"", "own text"),
        ("\"absent\"", "Missing"),
        ("\"9223372036854775808\"", "Missing"),
        ("9223372036854775808", "Unknown"),
        ("1", "true"),
        ("true", "true"),
        ("\"1\"", "text"),
    ] {
        assert_eq!(held(key), expected, "{key}");
    }
    assert_eq!(held(&format!("\"{}\"", "L".repeat(500))), "Unknown");
    assert_eq!(held(&format!("\"{}\"", "M".repeat(500))), "Missing");
}
