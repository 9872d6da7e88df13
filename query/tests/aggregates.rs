//! Aggregates that `show` adds to `count` and `group`.

use crate::asking::{ask, session};
use barrow_query::Answer;
use barrow_query::answer::Value;

fn fact(answer: &Answer, key: &str) -> Value {
    let fact = answer.facts.iter().find(|fact| fact.column.key == key);
    fact.unwrap_or_else(|| panic!("no fact {key}")).value.clone()
}

/// The columns of these keys, row by row.
fn rows(answer: &Answer, keys: &[&str]) -> Vec<Vec<Value>> {
    let table = &answer.tables[0];
    let place = |key: &&str| table.columns.iter().position(|column| column.key == *key).expect("the column is there");
    let places: Vec<usize> = keys.iter().map(place).collect();
    table.rows.iter().map(|row| places.iter().map(|&at| row[at].clone()).collect()).collect()
}

/// As a JSON number.
fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number as f64,
        Value::Signed(number) => *number as f64,
        Value::Rate(number) | Value::Share(number) => *number,
        Value::Measured(measured) => measured.value,
        other => panic!("{other:?}"),
    }
}

/// `testdata/foreign/jvm/Shapes.java` makes 100 objects `Tail` and one in each of 3 threads, and initializes their fields.
#[test]
fn fields_have_the_sums_that_the_program_has() {
    let mut session = session("jvm.barrow");
    let shown = "count, sum(.many), sum(.fine), max(.last), min(.rough), mean(.few), sum(.letter), count(.next)";
    let answer = ask(&mut session, &format!("count type = \"Shapes$Tail\" show {shown}")).unwrap();
    for (key, expected) in [
        ("count", Value::Number(103)),
        ("sum(.many)", Value::Number(103 * 5)),
        ("sum(.fine)", Value::Rate(103.0 * 6.0)),
        ("max(.last)", Value::Number(7)),
        ("min(.rough)", Value::Rate(4.0)),
        ("mean(.few)", Value::Rate(2.0)),
        ("sum(.letter)", Value::Number(103 * u64::from(b'x'))),
        ("count(.next)", Value::Number(0)),
    ] {
        assert_eq!(fact(&answer, key), expected, "{key}");
    }
    assert_eq!(answer.exactness, Some("exact"));
    // `next` of 100 refers to a list, and that of the others is null: none is a number.
    assert!(
        answer.notes.iter().any(|note| note.contains(".next") && note.contains("103 objects")),
        "{:?}",
        answer.notes
    );
}

#[test]
fn groups_without_a_number_are_unknown_and_come_last() {
    let mut session = session("jvm.barrow");
    let line = "group type in_ by type show sum(.number), count(.number) by sum(.number)";
    let line = line.replace("type in_", "(type = \"Shapes$Inner\" or type = \"Shapes$Tail\")");
    let answer = ask(&mut session, &line).unwrap();
    let expected = [
        vec![Value::text("Shapes$Inner"), Value::Number(10), Value::Number(80), Value::Number(10)],
        vec![Value::text("Shapes$Tail"), Value::Number(103), Value::None, Value::Number(0)],
    ];
    assert_eq!(rows(&answer, &["type", "objects", "sum(.number)", "count(.number)"]), expected);
}

/// What `list` shows of each object, added up in a loop.
#[test]
fn aggregates_are_those_of_a_loop_over_objects() {
    let mut session = session("jvm.barrow");
    let list = ask(&mut session, "list 100000 kind = instance of type, size, refs, inrefs, distance, elements, .hash")
        .unwrap();
    let terms = ["size", "refs", "inrefs", "distance", "elements", ".hash"];
    let shown = terms.map(|term| format!("sum({term}), min({term}), max({term}), count({term})")).join(", ");
    let groups = ask(&mut session, &format!("group kind = instance by type show {shown}")).unwrap();
    let keys = ["type", "shallow_bytes", "references", "incoming", "distance", "elements", ".hash"];
    let objects = rows(&list, &keys);
    assert_eq!(objects.len(), 7965);
    for group in &groups.tables[0].rows {
        let of_group: Vec<_> = objects.iter().filter(|row| row[0] == group[0]).collect();
        for (at, term) in terms.iter().enumerate() {
            let known = of_group.iter().map(|row| &row[at + 1]);
            let known: Vec<f64> =
                known.filter(|value| matches!(value, Value::Number(_) | Value::Signed(_))).map(number).collect();
            let found = ["sum", "min", "max", "count"].map(|function| format!("{function}({term})"));
            let found = rows(
                &Answer {
                    tables: vec![barrow_query::answer::Table { rows: vec![group.clone()], ..groups.tables[0].clone() }],
                    ..Answer::default()
                },
                &found.each_ref().map(String::as_str),
            )
            .remove(0);
            assert_eq!(number(&found[3]), known.len() as f64, "{term} of {group:?}");
            if known.is_empty() {
                assert_eq!(found[..3], [Value::None, Value::None, Value::None], "{term} of {group:?}");
                continue;
            }
            let (sum, min, max) = (
                known.iter().sum(),
                known.iter().copied().fold(f64::INFINITY, f64::min),
                known.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            );
            assert_eq!(found[..3].iter().map(number).collect::<Vec<f64>>(), [sum, min, max], "{term} of {group:?}");
        }
    }
}

#[test]
fn numbers_that_are_not_known_make_an_answer_inexact() {
    let mut session = session("jvm.barrow");
    let answer = ask(&mut session, "count kind = instance show sum(elements)").unwrap();
    assert_eq!(answer.exactness, Some("as far as numbers are known"));
    assert!(answer.notes.iter().any(|note| note.starts_with("`elements` does not include ")), "{:?}", answer.notes);
    let answer = ask(
        &mut session,
        "count type = \"Shapes$Inner\" and not type = \"Shapes$Inner\" show sum(.number), max(.number)",
    )
    .unwrap();
    assert_eq!([fact(&answer, "sum(.number)"), fact(&answer, "max(.number)")], [Value::Number(0), Value::None]);
}

#[test]
fn what_cannot_be_shown_is_refused_with_a_sentence() {
    let mut heap = session("jvm.barrow");
    for (line, message) in [
        ("count all show sum(type)", "is no number of objects"),
        ("count all show sum(id)", "is a number that names something"),
        ("count all show sum(retained)", "would count the same several times"),
        ("count all show sum(.)", "is no field"),
        ("count all show sum(.nosuchfield)", "nosuchfield"),
        ("group all by type show max(size) by min(size)", "unless they `show min(size)`"),
        ("count all show", "show what?"),
    ] {
        let error = ask(&mut heap, line).unwrap_err().to_string();
        assert!(error.contains(message), "{line}: {error}");
    }
    // `show` is a text after an operator.
    assert_eq!(fact(&ask(&mut heap, "count name = show").unwrap(), "objects"), Value::Number(0));
}

/// As the sums that `count` and `group` have of their own.
#[test]
fn processes_have_aggregates_too() {
    let mut session = session("build.barrow");
    let count = ask(&mut session, "count processes show sum(user), max(memory), count").unwrap();
    for (key, own) in [("sum(user)", "user_ns"), ("max(memory)", "peak_bytes"), ("count", "images")] {
        assert_eq!(fact(&count, key), fact(&count, own), "{key}");
    }
    let groups = ask(&mut session, "group processes by command show sum(cpu), count by sum(cpu)").unwrap();
    let rows = rows(&groups, &["cpu_ns", "sum(cpu)", "programs", "count"]);
    assert!(rows.len() > 2 && rows.iter().all(|row| row[0] == row[1] && row[2] == row[3]), "{rows:?}");
    for (line, message) in [
        ("count processes show sum(pid)", "is a number that names something"),
        ("count processes show sum(total.cpu)", "would count the same several times"),
        ("group processes by host show sum(command)", "is no number"),
    ] {
        let error = ask(&mut session, line).unwrap_err().to_string();
        assert!(error.contains(message), "{line}: {error}");
    }
}
