//! Each attribute of expressions works wherever attributes are named.

use crate::asking::{ask, session};
use barrow_analyzer::ATTRIBUTES;
use barrow_processes::Quantity;
use barrow_query::answer::Value;
use barrow_query::commands::{self, Content};
use barrow_query::{Answer, QueryError};

/// The column of this key in the first table.
fn column(answer: &Answer, key: &str) -> Vec<Value> {
    let table = &answer.tables[0];
    let at = table.columns.iter().position(|column| column.key == key).unwrap_or_else(|| panic!("no column {key}"));
    table.rows.iter().map(|row| row[at].clone()).collect()
}

/// The words that may follow `by` of a verb in a recording that holds this.
fn orders(verb: &str, held: Content) -> Vec<&'static str> {
    (commands::exactly(verb).expect("a verb").orders)(&[held])
}

/// Whether an answer is refused where it should be, and only there; a refusal lists what there is.
fn assert_answered<T>(answer: Result<T, QueryError>, is_possible: bool, reason: &str, line: &str) {
    match answer {
        Ok(_) => assert!(is_possible, "{line} is answered"),
        Err(error) => {
            let error = error.to_string();
            assert!(!is_possible && error.contains(reason), "{line}: {error}");
        }
    }
}

#[test]
fn attributes_work_in_every_place_or_say_why_not() {
    let help = commands::expressions();
    for recording in ["orders.barrow", "jvm.barrow", "raku.barrow"] {
        let mut session = session(recording);
        for attribute in ATTRIBUTES.iter().filter(|attribute| attribute.word() != "is") {
            let word = attribute.word();
            let mut ask = |line: &str| match ask(&mut session, line) {
                // Dumps without contents do not tell how many elements a collection has.
                Err(error) if matches!(word, "elements" | "fill") && error.to_string().contains("elements") => None,
                // Nor do dumps of a JVM tell unmanaged sizes.
                Err(error) if word == "unmanaged" && error.to_string().contains("are unknown") => None,
                answer => Some(answer),
            };
            let is_in = |verb: &str| orders(verb, Content::Heap).contains(&word);
            if let Some(answer) = ask(&format!("list 5 all of {} by {word}", attribute.words.join(", "))) {
                assert_answered(answer, true, "", word);
            }
            if let Some(answer) = ask(&format!("find 5 all by {word}")) {
                assert_answered(answer, is_in("find"), "is no number", word);
            }
            // Nearly every object has another one, or it is what ranks groups.
            if let Some(answer) = ask(&format!("group all by {word}")) {
                let reason = if is_in("top") { "by which key?" } else { "is no key; there are" };
                assert_answered(answer, is_in("group") && !is_in("top"), reason, word);
            }
            assert!(is_explained(&help, word) && is_in("list"), "{word}");
        }
        // It compares the type with others, and is nothing that an object has.
        assert!(ask(&mut session, "list all of is").unwrap_err().to_string().contains("no column"));
    }
}

fn is_explained(help: &str, word: &str) -> bool {
    help.lines().any(|line| line.starts_with(&format!("  {word} ")))
}

#[test]
fn attributes_of_processes_work_in_every_place_or_say_why_not() {
    let mut session = session("build.barrow");
    let help = commands::expressions();
    for attribute in &barrow_processes::ATTRIBUTES {
        for word in attribute.words() {
            let zero = if attribute.quantity() == Some(Quantity::Time) { "0s" } else { "0" };
            let (ranks, groups) = (attribute.ranks(), attribute.groups());
            let term = match word {
                "failed" | "forked" | "running" | "waited" | "outofmemory" => word.to_owned(),
                _ if ranks => format!("{word} >= {zero}"),
                _ => format!("{word} !~ /^none$/"),
            };
            for (line, is_possible, reason) in [
                (format!("count processes {term}"), true, ""),
                (format!("list 5 processes of {word} by {word}"), true, ""),
                (format!("find 5 processes by {word}"), ranks, "is no number"),
                (format!("processes 5 by {word}"), ranks, "is no number"),
                (format!("group processes by host by {word}"), groups || attribute.aggregate().is_some(), "is no key"),
                (format!("group processes by {word}"), groups, "key"),
                (format!("classes by {word}"), attribute.class_measure().is_some(), "does not take"),
            ] {
                assert_answered(ask(&mut session, &line), is_possible, reason, &line);
            }
            // `failed()` counts processes.
            let is_measured = attribute.aggregate().is_some() || word == "failed";
            let assertion = format!("assert {word}() >= {zero}");
            assert_answered(ask(&mut session, &assertion), is_measured, "of processes `count(…)`", &assertion);
        }
        let word = attribute.word();
        for (verb, is_offered) in [
            ("find", attribute.ranks()),
            ("processes", attribute.ranks()),
            ("list", true),
            ("classes", attribute.class_measure().is_some()),
            ("group", attribute.groups() || attribute.aggregate().is_some()),
        ] {
            assert_eq!(orders(verb, Content::Processes).contains(&word), is_offered, "{verb} by {word}");
        }
        assert!(is_explained(&help, word) && commands::attributes(&[Content::Processes]).contains(&word), "{word}");
    }
}

#[test]
fn beginnings_of_orders_mean_what_they_meant() {
    let mut session = session("build.barrow");
    for (beginning, order) in
        [("c", "cpu"), ("w", "wall"), ("wa", "wall"), ("m", "memory"), ("r", "reads"), ("s", "start"), ("sy", "system")]
    {
        let [begun, named] = [beginning, order].map(|word| ask(&mut session, &format!("processes by {word}")).unwrap());
        assert_eq!(begun.tables[0].rows, named.tables[0].rows, "{beginning}");
    }
}

/// As `count` adds up those that the expression finds.
#[test]
fn groups_of_processes_are_those_that_expressions_find() {
    let mut session = session("build.barrow");
    let groups = ask(&mut session, "group 1000 processes by command").unwrap();
    let all = ask(&mut session, "count processes").unwrap();
    let mut programs = 0;
    let columns = ["command", "programs", "user_ns", "peak_bytes", "wall_ns"].map(|key| column(&groups, key));
    assert!(columns[0].len() > 2);
    for (at, command) in columns[0].iter().enumerate() {
        let (Value::Text(command), Value::Number(count)) = (command, &columns[1][at]) else { continue };
        let counted = ask(&mut session, &format!("count processes command = \"{command}\"")).unwrap();
        let found = ["images", "user_ns", "peak_bytes", "wall_ns"].map(|key| fact(&counted, key));
        assert_eq!([1, 2, 3, 4].map(|column| columns[column][at].clone()), found, "{command}");
        programs += count;
    }
    assert_eq!(fact(&all, "images"), Value::Number(programs));
}

fn fact(answer: &Answer, key: &str) -> Value {
    let found = answer.facts.iter().find(|fact| fact.column.key == key);
    found.unwrap_or_else(|| panic!("no fact {key}")).value.clone()
}

#[test]
fn lists_of_processes_are_in_the_order_of_a_ranking() {
    let mut session = session("build.barrow");
    for (name, key) in [("user", "user_ns"), ("memory", "peak_bytes"), ("total.cpu", "total.cpu"), ("depth", "depth")] {
        let listed = ask(&mut session, &format!("list 9 processes of {name} by {name}")).unwrap();
        let found = ask(&mut session, &format!("find 9 processes by {name}")).unwrap();
        for key in [key, "process"] {
            assert_eq!(column(&found, key), column(&listed, key), "{name}");
        }
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

#[test]
fn types_have_the_titles_that_tables_show() {
    let mut session = session("raku.barrow");
    let types = ask(&mut session, "histogram by type").unwrap();
    let (titles, objects) = (column(&types, "type"), column(&types, "objects"));
    let mut tried = 0;
    for title in titles.iter().take(50) {
        let Value::Text(text) = title else { continue };
        // Other names are those of several types, too, which have a place each.
        if !text.ends_with(')') {
            continue;
        }
        let rows = titles.iter().zip(&objects).filter(|(other, _)| *other == title);
        let expected: u64 = rows.map(|(_, objects)| if let Value::Number(count) = objects { *count } else { 0 }).sum();
        let counted = ask(&mut session, &format!("count type = \"{text}\"")).unwrap();
        let found = counted.facts.iter().find(|fact| fact.column.key == "objects").map(|fact| fact.value.clone());
        assert_eq!(found, Some(Value::Number(expected)), "{text}");
        let others = ask(&mut session, &format!("count type != \"{text}\" and type = \"{text}\"")).unwrap();
        assert!(others.facts.iter().any(|fact| fact.column.key == "objects" && fact.value == Value::Number(0)));
        tried += 1;
    }
    assert!(tried > 0);
}
