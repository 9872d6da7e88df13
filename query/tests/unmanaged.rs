//! Dumps of a JVM do not tell unmanaged sizes: they are unknown, and buffers tell what they hold outside the heap.

use crate::asking::{ask, session};
use barrow_query::answer::{Table, Value};

fn cell(table: &Table, key: &str) -> Value {
    let at = table.columns.iter().position(|column| column.key == key).unwrap_or_else(|| panic!("no column {key}"));
    table.rows[0][at].clone()
}

/// `Buffers.java` printed what its pools of buffers held.
#[test]
fn summary_has_the_capacities_of_the_pools() {
    let answer = ask(&mut session("buffers.barrow"), "summary").unwrap();
    let table = answer.tables.iter().find(|table| table.key == "snapshots").unwrap();
    for (key, expected) in [
        ("direct_buffers", 20),
        ("direct_buffer_bytes", 215_040),
        ("mapped_files", 2),
        ("mapped_file_bytes", 1_060_864),
        ("native_buffers", 0),
        ("native_buffer_bytes", 0),
    ] {
        assert_eq!(cell(table, key), Value::Number(expected), "{key}");
    }
    assert_eq!(cell(table, "unmanaged_bytes"), Value::None);
    // Slices, duplicates and other views have a capacity, too.
    let all = ask(&mut session("buffers.barrow"), "count is java.nio.DirectByteBuffer show sum(.capacity)").unwrap();
    let sum = all.facts.iter().find(|fact| fact.column.key == "sum(.capacity)").unwrap();
    assert!(matches!(sum.value, Value::Number(bytes) if bytes > 215_040 + 1_060_864), "{:?}", sum.value);
}

#[test]
fn unmanaged_sizes_are_unknown_in_every_answer() {
    let mut session = session("jvm.barrow");
    for line in [
        "summary",
        "summary all",
        "count all",
        "top 5",
        "top 5 objects by retained",
        "histogram",
        "histogram by kind",
        "find 5 all",
        "list 5 all of unmanaged, size",
        "group all by kind",
        "info @5",
        "strings",
        "diff 0 0",
        "without type = \"Shapes$Tail\"",
    ] {
        let answer = ask(&mut session, line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let of_facts = answer.facts.iter().map(|fact| (&fact.column, &fact.value));
        let of_rows =
            answer.tables.iter().flat_map(|table| table.rows.iter().flat_map(|row| table.columns.iter().zip(row)));
        for (column, value) in of_facts.chain(of_rows) {
            let is_unmanaged = column.key.contains("unmanaged") || column.heading.contains("unmanaged");
            let is_unknown = matches!(value, Value::None) || *value == Value::text("unknown");
            assert!(!is_unmanaged || is_unknown, "{line}: {} is {value:?}", column.key);
        }
        assert!(
            !answer.notes.iter().any(|note| note.contains("unmanaged") && note.contains("0 B")),
            "{:?}",
            answer.notes
        );
    }
}

#[test]
fn questions_about_unmanaged_sizes_are_refused() {
    let mut jvm = session("jvm.barrow");
    for line in [
        "count unmanaged > 0",
        "find size > 5 or not unmanaged = 0",
        "top types by unmanaged",
        "histogram by un",
        "group all by kind,unmanaged",
        "list all of type by unmanaged",
        "assert count(unmanaged > 0) = 0",
    ] {
        let error = ask(&mut jvm, line).unwrap_err();
        assert!(error.to_string().contains("unmanaged sizes are unknown"), "{line}: {error}");
        assert_eq!(error.code(), 2, "{line}");
    }
    assert!(ask(&mut jvm, "assert size(kind = instance) < 1M").is_ok());
    // Other recordings have them.
    let mut raku = session("raku.barrow");
    let answer = ask(&mut raku, "count unmanaged > 0").unwrap();
    assert!(
        answer.facts.iter().any(|fact| fact.column.key == "unmanaged_bytes" && fact.value == Value::Number(18_197_552))
    );
}
