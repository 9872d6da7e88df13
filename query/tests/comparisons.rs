//! Compares groups, rows and paths of two snapshots with what `group`, `list` and `paths` answer about each of them. How
//! those agree with their definitions is tested elsewhere.

use std::collections::BTreeMap;

use crate::asking::{ask, session};
use barrow_query::answer::Value;
use barrow_query::{Answer, Session};

const STORE: &str = "leaks/storefront.barrow";

/// The columns of these keys in the table of rows, row by row.
fn columns(answer: &Answer, keys: &[&str]) -> Vec<Vec<Value>> {
    let table = answer.tables.iter().find(|table| table.key == "rows").expect("the answer has rows");
    let place = |key: &&str| table.columns.iter().position(|column| column.key == *key).expect(key);
    let places: Vec<usize> = keys.iter().map(place).collect();
    table.rows.iter().map(|row| places.iter().map(|&at| row[at].clone()).collect()).collect()
}

fn fact(answer: &Answer, key: &str) -> u64 {
    let fact = answer.facts.iter().find(|fact| fact.column.key == key).expect(key);
    number(&fact.value)
}

fn number(value: &Value) -> u64 {
    match value {
        Value::Number(number) => *number,
        Value::None => 0,
        other => panic!("{other:?}"),
    }
}

/// The answer to a question about a snapshot.
fn of_snapshot(session: &mut Session, snapshot: u32, line: &str) -> Answer {
    ask(session, &format!("snapshot {snapshot}")).unwrap();
    ask(session, line).unwrap()
}

/// The groups of a snapshot: objects and shallow bytes, by keys.
fn groups(session: &mut Session, snapshot: u32, expression: &str, keys: &str) -> BTreeMap<String, [u64; 2]> {
    let answer = of_snapshot(session, snapshot, &format!("group {expression} by {keys}"));
    let keys: Vec<&str> = keys.split(',').collect();
    let rows = columns(&answer, &[&keys[..], &["objects", "shallow_bytes"]].concat());
    let group = |row: Vec<Value>| {
        let (keys, numbers) = row.split_at(keys.len());
        (format!("{keys:?}"), [number(&numbers[0]), number(&numbers[1])])
    };
    rows.into_iter().map(group).collect()
}

fn assert_groups(answer: &Answer, keys: &str, before: &BTreeMap<String, [u64; 2]>, after: &BTreeMap<String, [u64; 2]>) {
    let keys: Vec<&str> = keys.split(',').collect();
    let numbers = ["objects_before", "shallow_bytes_before", "objects_after", "shallow_bytes_after"];
    let rows = columns(answer, &[&keys[..], &numbers].concat()).into_iter();
    let found: BTreeMap<String, Vec<u64>> =
        rows.map(|row| (format!("{:?}", &row[..keys.len()]), row[keys.len()..].iter().map(number).collect())).collect();
    let all: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut expected = BTreeMap::new();
    for key in &all {
        let [before, after] = [before, after].map(|side| side.get(*key).copied().unwrap_or_default());
        if before != after {
            expected.insert((*key).clone(), [before, after].concat());
        }
    }
    assert!(!expected.is_empty());
    assert_eq!(found, expected, "{keys:?}");
    assert_eq!(fact(answer, "unchanged"), (all.len() - expected.len()) as u64);
}

#[test]
fn groups_are_those_of_both_snapshots() {
    let mut session = session(STORE);
    for (expression, keys) in [
        ("", "loader"),
        ("instances size > 20", "package,superclass"),
        ("type ~ /String/", "text"),
        ("type = \"java.util.HashMap\"", ".size,.threshold"),
    ] {
        let [before, after] = [1, 6].map(|snapshot| groups(&mut session, snapshot, expression, keys));
        let answer = ask(&mut session, &format!("diff 1 6 {expression} by {keys} by count")).unwrap();
        assert_groups(&answer, keys, &before, &after);
        let changes = columns(&answer, &["objects_before", "objects_after"]);
        let changes = changes.iter().map(|row| number(&row[1]).abs_diff(number(&row[0])));
        assert!(changes.is_sorted_by_key(std::cmp::Reverse), "{keys}");
    }
}

#[test]
fn groups_of_two_files_are_those_of_each() {
    let fixed = barrow_testdata::path("leaks/fixed.barrow").display().to_string();
    let (mut session, mut other) = (session(STORE), session("leaks/fixed.barrow"));
    let keys = "type,kind";
    let before = groups(&mut session, 7, "instances size > 20", keys);
    let after = groups(&mut other, 3, "instances size > 20", keys);
    let answer = ask(&mut session, &format!("diff 7 {fixed}:3 instances size > 20 by {keys}")).unwrap();
    assert_groups(&answer, keys, &before, &after);
    let error = ask(&mut session, &format!("diff {fixed} by site")).unwrap_err().to_string();
    assert!(error.contains("sites have numbers of their own"), "{error}");
}

/// Rows of a list, each with the number of objects that have it.
fn listed(session: &mut Session, snapshot: u32, expression: &str, names: &str, keys: &[&str]) -> BTreeMap<String, u64> {
    let answer = of_snapshot(session, snapshot, &format!("list 1000000 {expression} of {names}"));
    let mut rows = BTreeMap::new();
    for row in columns(&answer, keys) {
        *rows.entry(format!("{row:?}")).or_insert(0) += 1;
    }
    rows
}

#[test]
fn rows_are_those_that_the_lists_do_not_share() {
    let mut session = session(STORE);
    for (expression, names, keys) in [
        ("type ~ /^java.util/", "type, size", ["type", "shallow_bytes"]),
        ("type = \"java.util.HashMap\"", ".size, .threshold", [".size", ".threshold"]),
        ("type = \"java.lang.String\"", "text, size", ["name", "shallow_bytes"]),
    ] {
        let [before, after] = [0, 7].map(|snapshot| listed(&mut session, snapshot, expression, names, &keys));
        let answer = ask(&mut session, &format!("diff 0 7 {expression} of {names}")).unwrap();
        let [first, second] = keys;
        let [old, new] = ["before", "after"].map(|side| format!("{second}_{side}"));
        // What is left of each side.
        let mut left = [BTreeMap::new(), BTreeMap::new()];
        for row in columns(&answer, &["change", "objects", first, &old, &new]) {
            let [Value::Text(change), objects, key, old, new] = &row[..] else { panic!("{row:?}") };
            let cells = [old, new].map(|cell| format!("{:?}", [key, cell]));
            for (side, cells) in cells.into_iter().enumerate() {
                if change != ["new", "gone"][side] {
                    left[side].insert(cells, number(objects));
                }
            }
        }
        let less = |one: &BTreeMap<String, u64>, other: &BTreeMap<String, u64>| {
            let rest = one.iter().map(|(row, count)| (row.clone(), count - other.get(row).unwrap_or(&0).min(count)));
            rest.filter(|(_, count)| *count > 0).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(left, [less(&before, &after), less(&after, &before)], "{names}");
        assert!(!left[1].is_empty());
        let equal = before.iter().map(|(row, count)| *after.get(row).unwrap_or(&0).min(count)).sum::<u64>();
        assert_eq!(fact(&answer, "equal"), equal);
    }
}

/// The objects that are reached through each path of types. Single objects have their name beside their type.
fn paths(session: &mut Session, snapshot: u32, expression: &str) -> BTreeMap<String, u64> {
    let answer = of_snapshot(session, snapshot, &format!("paths {expression}"));
    let (mut above, mut found) = (Vec::new(), BTreeMap::new());
    for row in columns(&answer, &["depth", "title", "through"]) {
        let Value::Text(title) = &row[1] else { panic!("{row:?}") };
        above.truncate(number(&row[0]) as usize);
        above.push(title.split(" \"").next().unwrap_or_default().to_owned());
        *found.entry(above.join(" › ")).or_insert(0) += number(&row[2]);
    }
    found
}

#[test]
fn paths_lead_to_the_objects_of_both_snapshots() {
    let mut session = session(STORE);
    for expression in ["type ~ /^Storefront/", "type = \"java.util.HashMap$Node\""] {
        let [before, after] = [1, 6].map(|snapshot| paths(&mut session, snapshot, expression));
        let answer = ask(&mut session, &format!("diff 1 6 {expression} by path")).unwrap();
        let rows = columns(&answer, &["path", "through_before", "through_after"]);
        assert!(!rows.is_empty());
        for row in &rows {
            let Value::Text(path) = &row[0] else { panic!("{row:?}") };
            let expected = [&before, &after].map(|side| side.get(path).copied().unwrap_or(0));
            assert_eq!([number(&row[1]), number(&row[2])], expected, "{path}");
        }
        // Of those that are left out, each leads to one that is shown, or did not change.
        for path in before.keys().chain(after.keys()) {
            let leads_on = |row: &Vec<Value>| matches!(&row[0], Value::Text(shown) if shown.starts_with(path.as_str()));
            assert!(before.get(path) == after.get(path) || rows.iter().any(leads_on), "{path}");
        }
    }
}
