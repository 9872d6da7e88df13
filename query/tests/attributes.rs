//! Each attribute of expressions works wherever attributes are named.

use barrow_analyzer::ATTRIBUTES;
use barrow_query::answer::Value;
use barrow_query::{Answer, QueryError, Question, Session, Settings, Workspace};

fn session(recording: &str) -> Session {
    let settings = Settings { no_index: true, ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, None).unwrap(), settings);
    session.open(&barrow_testdata::path(recording).display().to_string()).unwrap();
    session
}

fn ask(session: &mut Session, line: &str) -> Result<Answer, QueryError> {
    session.ask(&Question::of_line(line)?.expect("a question"))
}

/// The column of this key in the first table.
fn column(answer: &Answer, key: &str) -> Vec<Value> {
    let table = &answer.tables[0];
    let at = table.columns.iter().position(|column| column.key == key).unwrap_or_else(|| panic!("no column {key}"));
    table.rows.iter().map(|row| row[at].clone()).collect()
}

#[test]
fn attributes_work_in_every_place_or_say_why_not() {
    for recording in ["orders.barrow", "jvm.barrow", "raku.barrow"] {
        let mut session = session(recording);
        for (name, _) in ATTRIBUTES.iter().filter(|(name, _)| *name != "is") {
            // Dumps without contents do not tell how many elements a collection has.
            let lacks_elements = |error: &str| matches!(*name, "elements" | "fill") && error.contains("elements");
            if let Err(error) = ask(&mut session, &format!("list 5 all of {name} by {name}")) {
                assert!(lacks_elements(&error.to_string()), "list of {name}: {error}");
            }
            if let Err(error) = ask(&mut session, &format!("find 5 all by {name}")) {
                let error = error.to_string();
                assert!(error.contains("is no number") || lacks_elements(&error), "find by {name}: {error}");
            }
            if let Err(error) = ask(&mut session, &format!("group all by {name}")) {
                // Nearly every object has another one, or it is what ranks groups.
                let error = error.to_string();
                assert!(error.contains("no key") || error.contains("which key"), "group by {name}: {error}");
            }
        }
        // It compares the type with others, and is nothing that an object has.
        assert!(ask(&mut session, "list all of is").unwrap_err().to_string().contains("no column"));
    }
}

#[test]
fn the_largest_are_those_that_a_list_has_first() {
    let mut session = session("orders.barrow");
    for (name, key) in [
        ("distance", "distance"),
        ("inrefs", "incoming"),
        ("refs", "references"),
        ("retained", "retained_bytes"),
        ("size", "shallow_bytes"),
        ("id", "id"),
    ] {
        let listed = ask(&mut session, &format!("list 9 all of {name} by {name} desc")).unwrap();
        let found = ask(&mut session, &format!("find 9 all by {name}")).unwrap();
        assert_eq!(column(&found, key), column(&listed, key), "{name}");
        assert_eq!(column(&found, "object"), column(&listed, "object"), "{name}");
    }
}

#[test]
fn incoming_references_are_those_that_are_listed() {
    let mut session = session("orders.barrow");
    let found = ask(&mut session, "find 3 all by inrefs").unwrap();
    for (object, count) in column(&found, "object").into_iter().zip(column(&found, "incoming")) {
        let (Value::Number(object), Value::Number(count)) = (object, count) else { panic!("numbers") };
        let listed = ask(&mut session, &format!("inrefs @{object}")).unwrap();
        assert_eq!(listed.tables[0].rows.len() as u64, count);
    }
}

/// As `sites` adds them up.
#[test]
fn groups_of_sites_are_those_of_sites() {
    let mut session = session("invoices.barrow");
    let (groups, sites) = (ask(&mut session, "group all by site").unwrap(), ask(&mut session, "sites").unwrap());
    let rows = |answer: &Answer| {
        let sums = column(answer, "site").into_iter().zip(column(answer, "objects"));
        let sums = sums.zip(column(answer, "shallow_bytes"));
        sums.map(|((site, objects), bytes)| format!("{site:?} {objects:?} {bytes:?}")).collect::<Vec<_>>()
    };
    let (groups, sites) = (rows(&groups), rows(&sites));
    // `sites` has a page.
    let named: Vec<_> = sites.iter().filter(|row| row.starts_with("Number")).collect();
    assert!(named.len() > 10 && named.iter().all(|row| groups.contains(row)), "{named:?}");
}

#[test]
fn processes_are_ranked_by_any_number() {
    let mut session = session("build.barrow");
    for name in ["user", "system", "faults", "total.cpu", "arguments"] {
        let by_find = ask(&mut session, &format!("find 5 processes by {name}"));
        let by_processes = ask(&mut session, &format!("processes 5 by {name}"));
        match (by_find, by_processes) {
            (Ok(found), Ok(ranked)) => assert_eq!(found.tables[0].rows, ranked.tables[0].rows, "{name}"),
            (Err(_), Err(_)) => {}
            _ => panic!("{name}: one of both"),
        }
    }
}

/// As `count` finds by the expression.
#[test]
fn reachable_objects_are_those_that_the_expression_finds() {
    let mut session = session("orders.barrow");
    for name in ["reachable", "unreachable", "root"] {
        let listed = ask(&mut session, &format!("list 1000000 all of {name}")).unwrap();
        let told = column(&listed, name).into_iter().filter(|value| *value == Value::Flag(true)).count() as u64;
        let counted = ask(&mut session, &format!("count all {name}")).unwrap();
        let counted = counted.facts.iter().find(|fact| fact.column.key == "objects").map(|fact| fact.value.clone());
        assert_eq!(counted, Some(Value::Number(told)), "{name}");
    }
}
