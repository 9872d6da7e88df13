//! Windows of rows, parts of the dominator tree, and sessions that share: what a program that draws answers asks for.

use std::sync::Arc;

use crate::asking::session;
use barrow_query::answer::{Answer, Value};
use barrow_query::{Question, Session};

fn line(text: &str) -> Question {
    Question::of_line(text).unwrap().unwrap()
}

/// All rows of the last table, from all pieces.
fn all_rows(session: &mut Session, text: &str) -> Vec<Vec<Value>> {
    let question = line(text);
    let pieces = session.pieces(&question, true).unwrap();
    pieces.flat_map(|piece| piece.unwrap().tables.pop().map(|table| table.rows).unwrap_or_default()).collect()
}

/// The rows without their numbers at the prompt, which count from the first row that was made.
fn without_numbers(answer: &Answer, rows: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let columns = &answer.tables.last().unwrap().columns;
    let kept = |row: &Vec<Value>| {
        row.iter().zip(columns).filter(|(_, column)| column.key != "row").map(|(v, _)| v.clone()).collect()
    };
    rows.iter().map(kept).collect()
}

#[test]
fn a_window_is_a_part_of_all_rows() {
    let mut session = session("raku.barrow");
    for text in [
        "find size > 200",
        "find size > 200 by retained",
        "find 40 by size",
        "find size > 20000",
        "histogram",
        "top",
        "top by retained",
        "top 7",
        "strings /a/",
        "dominators @0 0..",
        "dominators @0 100..180",
        "dominators --depth 9 --min 1",
        "inrefs @60665",
        "show @8",
        "show @8 5..90",
        "summary all",
        "roots root",
    ] {
        let expected = all_rows(&mut session, text);
        for (from, rows) in [(0, 10), (3, 4), (37, 20), (90, 1000), (16_380, 9), (1_000_000, 5)] {
            let (answer, all) = session.window(&line(text), from, rows).unwrap();
            let start = (from as usize).min(expected.len());
            let end = (start + rows).min(expected.len());
            let found = &answer.tables.last().unwrap().rows;
            assert_eq!(
                without_numbers(&answer, found),
                without_numbers(&answer, &expected[start..end]),
                "{text} {from}"
            );
            assert!(all.is_none_or(|all| all == expected.len() as u64), "{text} {from}: {all:?} of {}", expected.len());
            assert!(all.is_some() || start + rows < expected.len(), "{text} {from}");
        }
    }
    assert_eq!(session.ask(&line("find")).unwrap().tables[0].rows.len(), 15, "later questions have usual rows");
}

/// Reads a column of the rows of a dominator tree.
fn numbers(answer: &Answer, key: &str) -> Vec<u64> {
    let table = &answer.tables[0];
    let at = table.columns.iter().position(|column| column.key == key).unwrap();
    let number = |row: &Vec<Value>| match row[at] {
        Value::Number(number) => number,
        _ => 0,
    };
    table.rows.iter().map(number).collect()
}

#[test]
fn cells_are_the_largest_places_of_the_tree_and_add_up() {
    for top in ["", "@43032", "roots \"interpreter\""] {
        let mut session = session("invoices.barrow");
        let mut whole = session.ask(&line(&format!("dominators {top} --depth 1"))).unwrap();
        whole.tables[0].rows = all_rows(&mut session, &format!("dominators {top} --depth 1000000 --min 0"));
        let mut largest = numbers(&whole, "retained_bytes");
        largest.sort_unstable_by_key(|&bytes| std::cmp::Reverse(bytes));
        for cells in [1, 2, 10, 500, 5000] {
            let answer = session.ask(&line(&format!("dominators {top} --cells {cells}"))).unwrap();
            let mut found = numbers(&answer, "retained_bytes");
            assert_sums(&answer);
            found.sort_unstable_by_key(|&bytes| std::cmp::Reverse(bytes));
            // Places that tie with the first one that is left out are left out too.
            let end = largest.get(cells).map_or(largest.len(), |&next| largest.partition_point(|&bytes| bytes > next));
            // The top is always there.
            assert_eq!(found, largest[..end.max(1)], "{top} {cells}");
        }
    }
}

/// The retained size of a place is its own size, that of its children, and that of the places left out.
fn assert_sums(answer: &Answer) {
    let [depth, retained, left_out, shallow, unmanaged, chain] =
        ["depth", "retained_bytes", "left_out_bytes", "shallow_bytes", "unmanaged_bytes", "chain_own_bytes"]
            .map(|key| numbers(answer, key));
    for at in 0..depth.len() {
        let below = (at + 1..depth.len()).take_while(|&next| depth[next] > depth[at]);
        let children: u64 = below.filter(|&next| depth[next] == depth[at] + 1).map(|next| retained[next]).sum();
        assert_eq!(retained[at], shallow[at] + unmanaged[at] + chain[at] + children + left_out[at], "row {at}");
    }
}

#[test]
fn a_group_of_roots_has_children() {
    let mut session = session("invoices.barrow");
    let groups = session.ask(&line("dominators --depth 2 --min 0")).unwrap();
    let table = &groups.tables[0];
    let at = |key: &str| table.columns.iter().position(|column| column.key == key).unwrap();
    let row = table.rows.iter().find(|row| row[at("roots")] == Value::Text("interpreter".to_owned())).unwrap();
    let (Value::Number(retained), Value::Number(children)) = (&row[at("retained_bytes")], &row[at("left_out")]) else {
        panic!("{row:?}")
    };
    let answer = session.ask(&line("dominators roots interpreter 0..")).unwrap();
    assert_eq!(answer.tables[0].rows.len() as u64, *children);
    assert_eq!(numbers(&answer, "retained_bytes").iter().sum::<u64>(), *retained);
    let by_type = session.ask(&line("dominators roots \"interpreter\" by type")).unwrap();
    assert_eq!(numbers(&by_type, "children").iter().sum::<u64>(), *children);
    let error = session.ask(&line("dominators roots interpretr")).unwrap_err().to_string();
    assert_eq!(error, "there is no group of roots `interpretr`; did you mean `interpreter`?");
}

#[test]
fn a_fork_has_the_exclusions_and_sets_of_its_session() {
    let mut first = session("orders.barrow");
    first.ask(&line("let $large = size > 100")).unwrap();
    first.ask(&line("without $large")).unwrap();
    let mut second = first.fork();
    for text in ["summary", "count $large", "top 3 by retained"] {
        let [one, other] = [&mut first, &mut second].map(|session| session.ask(&line(text)).unwrap());
        assert_eq!(serde_json::to_value(&one).unwrap(), serde_json::to_value(&other).unwrap(), "{text}");
    }
    second.ask(&line("without clear")).unwrap();
    assert!(first.ask(&line("count")).unwrap().notes.iter().any(|note| note.contains("without")));
    assert!(second.ask(&line("more")).is_err(), "pages of the last answer stay with the first one");
}

#[test]
fn types_have_their_values_in_all_snapshots_as_numbers() {
    let mut session = session("invoices.barrow");
    for text in ["top 5", "histogram by type", "top 5 by count"] {
        let answer = session.ask(&line(text)).unwrap();
        let table = &answer.tables[0];
        let at = |key: &str| table.columns.iter().position(|column| column.key == key).unwrap();
        let last_is = if text.ends_with("count") { "objects" } else { "shallow_bytes" };
        for row in &table.rows {
            let (Value::Series { numbers, .. }, Value::Number(last)) = (&row[at("series")], &row[at(last_is)]) else {
                panic!("{row:?}")
            };
            assert_eq!(numbers.len(), 6);
            assert_eq!(numbers[5], Some(*last as f64), "{text}");
        }
    }
}

#[test]
fn questions_of_two_sessions_run_side_by_side() {
    let first = Arc::new(std::sync::Mutex::new(session("raku.barrow")));
    let mut second = first.lock().unwrap().fork();
    let heavy = Arc::clone(&first);
    let thread = std::thread::spawn(move || heavy.lock().unwrap().ask(&line("dups")).map(|answer| answer.facts.len()));
    for _ in 0..20 {
        assert!(!second.ask(&line("summary")).unwrap().facts.is_empty());
    }
    assert!(thread.join().unwrap().is_ok());
}
