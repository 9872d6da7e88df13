//! Completion of lines, compared with what other questions say of the same recordings.

use barrow_analyzer::Recording;
use barrow_query::completion::Known;
use barrow_query::{Question, Session, Settings, Workspace};

fn recording(name: &str) -> Recording {
    Recording::open(&barrow_testdata::path(name)).unwrap()
}

fn offered(recording: &Recording, line: &str) -> Vec<String> {
    let known = Known { recording, snapshot: None, sets: &["$large".to_owned()], beside: &[] };
    known.complete(line).choices.into_iter().map(|choice| choice.text).collect()
}

#[test]
fn orders_follow_by_and_names_of_files_what_asks_for_one() {
    let recording = recording("orders.barrow");
    let known = Known { recording: &recording, snapshot: None, sets: &[], beside: &[] };
    let offered = |line: &str| offered(&recording, line);
    assert_eq!(offered("top by "), ["size", "count", "unmanaged", "retained"]);
    assert_eq!(offered("top 5 objects by re"), ["retained"]);
    assert_eq!(offered("find size > 5 by re"), ["retained", "refs"]);
    assert_eq!(offered("assert med"), ["median("]);
    assert_eq!(offered("find $la"), ["$large"]);
    assert_eq!(offered("count size > 5 sh"), ["show"]);
    assert_eq!(offered("count size > 5 show m"), ["mean(", "min(", "max("]);
    assert_eq!(offered("group all by type show sum(si"), ["size", "site"]);
    assert!(offered("histogram by ").contains(&"generation".to_owned()));
    for line in ["top > Car", "import Car", "diff Car", "repair -o Car", "repack -o Car", "assert --from Car"] {
        assert!(known.complete(line).has_files, "{line}");
    }
    assert!(!known.complete("find size > Car").has_files && offered("find size > Car").is_empty());
}

#[test]
fn every_choice_of_a_field_is_one_that_list_knows() {
    let name = "leaks/storefront.barrow";
    let recording = recording(name);
    let own = offered(&recording, "find type = \"Storefront$Session\" and .");
    let all = offered(&recording, "find .");
    // Of all fields, only the first hundred are offered.
    assert!(!own.is_empty() && all.len() == 100 && all.iter().any(|field| !own.contains(field)), "{own:?}");
    let nested = offered(&recording, "list all of size,.user.");
    assert!(!nested.is_empty() && nested.iter().all(|path| path.starts_with("size,.user.")), "{nested:?}");
    let first: String = own[0].chars().take(2).collect();
    assert!(offered(&recording, &format!("list is Storefront$Session of {first}")).contains(&own[0]));
    let settings = Settings { no_index: true, ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
    session.open(&barrow_testdata::path(name).display().to_string()).unwrap();
    for field in own {
        let line = format!("list 1 type = \"Storefront$Session\" of {field}");
        let answer = session.ask(&Question::of_line(&line).unwrap().unwrap());
        assert!(answer.is_ok_and(|answer| answer.tables[0].rows.len() == 1), "{line}");
    }
}

#[test]
fn threads_follow_stack() {
    let recording = recording("threads.barrow");
    for line in ["stack job 1", "stack \"job 1"] {
        let mut choices = offered(&recording, line);
        choices.sort_unstable();
        assert_eq!(choices, ["\"job 14\"", "\"job 15\""], "{line}");
    }
    assert_eq!(offered(&recording, "stack ma"), ["main"]);
}

/// `coder` is a field of each string of a JVM, `COMPACT_STRINGS` one of their class.
#[test]
fn static_fields_come_after_those_of_objects() {
    let recording = recording("jvm.barrow");
    let place = |line: &str, field: &str| offered(&recording, line).iter().position(|known| known == field);
    for before in ["", ".next"] {
        let line = format!("list all of {before}.co");
        let [own, of_class] = ["coder", "COMPACT_STRINGS"].map(|name| place(&line, &format!("{before}.{name}")));
        assert!(own.is_some() && of_class > own, "{line}: {own:?} {of_class:?}");
    }
    assert_eq!(place("list type = \"java.lang.String\" of .co", ".COMPACT_STRINGS"), None);
}
