//! The library as a program uses it: answers as data, several sessions at once, permissions, stopping.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use barrow_query::answer::{Outcome, Value};
use barrow_query::commands::{COMMANDS, Subject};
use barrow_query::flags::{QuestionFlags, question_flags, shown};
use barrow_query::{QueryError, Question, Session, Settings, SnapshotName, Stop, Touches, Watcher, Workspace};

fn workspace() -> Arc<Workspace> {
    Workspace::new(None, Some(2)).unwrap()
}

fn session(workspace: &Arc<Workspace>, file: &str) -> Session {
    let settings = Settings { no_index: true, ..Settings::default() };
    let mut session = Session::new(Arc::clone(workspace), settings);
    session.open(&barrow_testdata::path(file).display().to_string()).unwrap();
    session
}

fn line(text: &str) -> Question {
    Question::of_line(text).unwrap().unwrap()
}

#[test]
fn a_line_and_a_typed_question_are_answered_alike() {
    let mut session = session(&workspace(), "orders.barrow");
    let read = session.ask(&line("top 3 by retained -s 0 --format json")).unwrap();
    let typed = Question::new("top", ["3", "by", "retained"]).unwrap().at(SnapshotName::Number(0));
    let made = session.ask(&typed).unwrap();
    let json = |answer: &barrow_query::Answer| serde_json::to_value(answer).unwrap();
    assert_eq!(json(&read)["tables"], json(&made)["tables"]);
    assert_eq!(read.tables[0].rows.len(), 3);
}

#[test]
fn the_columns_of_many_objects_are_those_of_each_alone() {
    let mut session = session(&workspace(), "leaks/storefront.barrow");
    let of = "of distance, retained, refs, type by distance";
    let many = session.ask(&line(&format!("list 200 type = \"Storefront$Session\" {of}"))).unwrap();
    let rows = &many.tables[0].rows;
    assert_eq!(rows.len(), 200);
    for row in rows.iter().step_by(17) {
        let Value::Number(id) = row[1] else { panic!("{:?} is no object", row[1]) };
        let alone = session.ask(&line(&format!("info @{id}"))).unwrap();
        let fact = |key: &str| alone.facts.iter().find(|fact| fact.column.key == key).unwrap().value.clone();
        let expected = ["object", "distance", "retained_bytes", "references", "type"].map(fact);
        assert_eq!(row[1..], expected);
        let few = session.ask(&line(&format!("list @{id} {of}"))).unwrap();
        assert_eq!(few.tables[0].rows[0][1..], expected);
    }
    let Value::Number(first) = rows[0][2] else { panic!("{:?} is no distance", rows[0][2]) };
    let largest = session.ask(&line("list 1 type = \"Storefront$Session\" of distance by distance desc")).unwrap();
    assert_eq!(largest.tables[0].rows[0][2], Value::Number(first));
}

/// `list` and `find` forget the rows before only when they have others.
#[test]
fn a_refused_line_leaves_the_rows() {
    let mut session = session(&workspace(), "orders.barrow");
    let found = session.ask(&line("find 3 size > 0")).unwrap();
    let Value::Number(first) = found.tables[0].rows[0][1] else { panic!("no object in {:?}", found.tables[0].rows[0]) };
    for refused in
        ["find 3 siz > 0", "list size > 0", "list 3 size > 0 of .nothing", "find 0 size > 0", "dominators x y"]
    {
        assert!(session.ask(&line(refused)).is_err(), "{refused}");
        let told = session.ask(&line("info %1")).unwrap();
        assert_eq!(told.facts.iter().find(|fact| fact.column.key == "object").unwrap().value, Value::Number(first));
        session.ask(&line("find 3 size > 0")).unwrap();
    }
}

/// The value of each group in a column; the row of shared objects is no group.
fn of_groups(answer: &barrow_query::Answer, keys: usize, column: &str) -> BTreeMap<String, Value> {
    let table = &answer.tables[0];
    let at = table.columns.iter().position(|known| known.key == column).unwrap();
    let groups = table.rows.iter().filter(|row| !row.contains(&Value::text("shared")));
    groups.map(|row| (format!("{:?}", &row[..keys]), row[at].clone())).collect()
}

#[test]
fn growth_of_groups_is_that_of_the_groups_of_each_snapshot() {
    let mut session = session(&workspace(), "leaks/storefront.barrow");
    for (asked, key, keys) in [
        ("type ~ /Session/ by .state,type", "shallow_bytes", 2),
        ("by package", "shallow_bytes", 1),
        ("size > 20 by superclass by retained", "retained_bytes", 1),
    ] {
        let growth = session.ask(&line(&format!("growth {asked} --min 0.00001%"))).unwrap();
        let series = of_groups(&growth, keys, key);
        let objects = of_groups(&growth, keys, "objects");
        assert!(!series.is_empty(), "{asked}");
        let Value::List(snapshots) = &growth.facts[0].value else { panic!("no list of snapshots") };
        for (at, snapshot) in snapshots.iter().enumerate() {
            let Value::Number(snapshot) = snapshot else { panic!("{snapshot:?} is no snapshot") };
            let groups = session.ask(&line(&format!("group 100000 {asked} -s {snapshot}"))).unwrap();
            let (bytes, counts) = (of_groups(&groups, keys, key), of_groups(&groups, keys, "objects"));
            for (group, values) in &series {
                let value =
                    |values: &Value| if let Value::List(values) = values { values[at].clone() } else { Value::None };
                assert_eq!(value(values), bytes.get(group).cloned().unwrap_or(Value::Number(0)), "{asked} {group}");
                assert_eq!(value(&objects[group]), counts.get(group).cloned().unwrap_or(Value::Number(0)));
            }
        }
    }
}

#[test]
fn an_answer_serialises_completely() {
    let mut session = session(&workspace(), "orders.barrow");
    let answer = session.ask(&line("find size > 100")).unwrap();
    let json = serde_json::to_value(&answer).unwrap();
    let table = &json["tables"][0];
    let column = &table["columns"][1];
    assert_eq!((column["key"].as_str(), column["unit"].as_str()), (Some("object"), Some("object")));
    assert_eq!((column["audience"].as_str(), column["heading"].as_str()), (Some("everyone"), Some("object")));
    assert_eq!(table["rows"].as_array().unwrap().len(), answer.tables[0].rows.len());
    assert_eq!(table["rows"][0][1]["kind"], "number");
    assert_eq!((json["outcome"].as_str(), json["exactness"].as_str()), (Some("answered"), Some("exact")));
    assert_eq!(json["notes"].as_array().unwrap().len(), answer.notes.len());
}

#[test]
fn sessions_answer_at_the_same_time_and_share_heaps() {
    let workspace = workspace();
    let lines = ["top 5 by retained", "leaks", "summary", "dominators", "find size > 64 by retained", "roots"];
    let expected: Vec<String> = {
        let mut alone = session(&Workspace::new(None, Some(1)).unwrap(), "raku.barrow");
        lines.iter().map(|text| serde_json::to_string(&alone.ask(&line(text)).unwrap()).unwrap()).collect()
    };
    std::thread::scope(|scope| {
        for shift in 0..4 {
            let (workspace, expected) = (&workspace, &expected);
            scope.spawn(move || {
                let mut session = session(workspace, "raku.barrow");
                for at in (0..lines.len()).map(|at| (at + shift) % lines.len()) {
                    let answer = session.ask(&line(lines[at])).unwrap();
                    assert_eq!(serde_json::to_string(&answer).unwrap(), expected[at], "{}", lines[at]);
                }
            });
        }
    });
}

/// Counts the phases of the questions that it follows.
#[derive(Default)]
struct Phases(AtomicU64);

impl Watcher for Phases {
    fn begin(&self, _: &str, _: u64, _: &'static str) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn sessions_of_one_recording_compute_its_dominators_once() {
    let workspace = workspace();
    let mut first = session(&workspace, "raku.barrow");
    let mut second = Session::new(Arc::clone(&workspace), Settings { no_index: true, ..Settings::default() });
    second.open_recording("the same", Arc::clone(&first.file().unwrap().recording));
    let phases = [(); 2].map(|()| Arc::new(Phases::default()));
    first.watch_with(Arc::clone(&phases[0]) as _);
    second.watch_with(Arc::clone(&phases[1]) as _);
    let question = line("dominators");
    let answers = [first.ask(&question).unwrap(), second.ask(&question).unwrap()];
    assert_eq!(answers[0].tables[0].rows, answers[1].tables[0].rows);
    let [alone, again] = phases.map(|phases| phases.0.load(Ordering::Relaxed));
    assert!(alone > again, "{alone} phases for the first session, {again} for the second");
}

#[test]
fn only_what_is_allowed_is_answered() {
    let mut session = session(&workspace(), "orders.barrow");
    session.allow(Touches::READ_ONLY);
    for refused in [
        "import a.hprof -o b.barrow",
        "repair -o x.barrow",
        "repack -o x.barrow",
        "resolve -o x.barrow",
        "top > x.txt",
        "top | cat",
        "diff Cargo.toml",
        "assert 'count(size > 1) > 0' --junit x.xml",
        "assert 'no leaks' --baseline other.barrow",
        "assert --from Cargo.toml",
    ] {
        let error = session.ask(&line(refused)).err();
        assert!(matches!(error, Some(QueryError::NotAllowed { .. })), "{refused}: {error:?}");
    }
    for allowed in ["top", "find size > 10", "diff 0 last", "let $a = size > 10", "assert 'count(size > 1) > 0'"] {
        let answer = session.ask(&line(allowed)).unwrap();
        assert_eq!(answer.outcome, Outcome::Answered, "{allowed}");
    }
    session.allow(Touches::RECORDING);
    assert!(session.ask(&line("let $b = size > 10")).is_err());
    assert!(session.ask(&line("top")).is_ok());
}

#[test]
fn every_command_says_what_it_touches() {
    for command in COMMANDS {
        let reads = command.touches.contains(Touches::RECORDING);
        assert!(reads || command.subject != Subject::Recording, "{}", command.name);
        let writes = command.flags.contains(&"-o");
        assert_eq!(command.touches.contains(Touches::WRITES_FILES), writes, "{}", command.name);
    }
}

#[test]
fn every_flag_is_claimed_by_a_command_and_every_claim_is_a_flag() {
    let flags: Vec<String> = question_flags().iter().map(shown).collect();
    for flag in &flags {
        assert!(COMMANDS.iter().any(|command| command.flags.contains(&flag.as_str())), "{flag}");
    }
    for command in COMMANDS {
        for claim in command.flags {
            assert!(flags.iter().any(|flag| flag == claim), "{}: {claim}", command.name);
        }
    }
    // A flag that the verb does not claim is refused, with its form.
    let error = line("top 2 --patches").check().unwrap_err().to_string();
    assert!(error.starts_with("top does not take `--patches`"), "{error}");
}

#[test]
fn a_question_is_stopped_and_the_next_one_is_answered() {
    let mut session = session(&workspace(), "raku.barrow");
    let stop = Stop::new();
    stop.stop();
    session.watch_with(Arc::new(stop));
    assert!(matches!(session.ask(&line("top by retained")), Err(QueryError::Stopped)));
    session.watch_with(Arc::new(Stop::new()));
    assert!(!session.ask(&line("top by retained")).unwrap().tables[0].rows.is_empty());
}

#[test]
fn pieces_together_have_every_row() {
    let mut session = session(&workspace(), "raku.barrow");
    let question = line("find size > 0");
    let rows = |answer: &barrow_query::Answer| answer.tables.last().unwrap().rows.len();
    let pieces: Vec<usize> = session.pieces(&question, true).unwrap().map(|piece| rows(&piece.unwrap())).collect();
    let counted = session.ask(&line("count size > 0")).unwrap();
    let objects = counted.facts.iter().find(|fact| fact.column.key == "objects").unwrap();
    assert!(pieces.len() > 1, "{pieces:?}");
    assert_eq!(Value::Number(pieces.iter().sum::<usize>() as u64), objects.value);
}

#[test]
fn typed_flags_count() {
    let mut session = session(&workspace(), "orders.barrow");
    let shown = |session: &mut Session, depth| {
        let question = Question::new("dominators", [""; 0]).unwrap();
        let answer = session.ask(&question.with(QuestionFlags { depth, ..QuestionFlags::default() })).unwrap();
        answer.tables[0].rows.len()
    };
    assert!(shown(&mut session, Some(1)) < shown(&mut session, Some(3)));
}

#[test]
fn threads_have_a_limit() {
    let mut session = session(&workspace(), "orders.barrow");
    assert!(session.ask(&line("set threads 3")).is_ok());
    for wrong in ["set threads 0", "set threads 1025", "set threads 18446744073709551615"] {
        assert!(matches!(session.ask(&line(wrong)), Err(QueryError::Usage { .. })), "{wrong}");
    }
    assert!(session.ask(&line("top by retained")).is_ok());
}

#[test]
fn a_ceiling_is_one_of_all_sessions() {
    let workspace = Workspace::new(Some(49 << 20), Some(1)).unwrap();
    let mut session = session(&workspace, "raku.barrow");
    let error = session.ask(&line("top by retained")).unwrap_err();
    assert!(error.is_ceiling(), "{error}");
}
