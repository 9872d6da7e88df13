use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Session;
use crate::ask::View;
use crate::command::{Command, Subject};
use crate::commands::COMMANDS;
use crate::context::Settings;
use crate::progress::{Unwatched, Watcher};
use crate::question::Question;
use crate::touches::Touches;
use crate::workspace::Workspace;

const RECORDINGS: [&str; 3] = ["orders.barrow", "build.barrow", "trial.barrow"];

/// A session with rows on the screen, pages that wait, and sets, as far as the recording has what that takes.
fn session(recording: &str) -> Session {
    let settings = Settings { no_index: true, rows: 3, ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, Some(1)).unwrap(), settings);
    session.open(&barrow_testdata::path(recording).display().to_string()).unwrap();
    session.allow(Touches::READ_ONLY);
    session.set_paged(true);
    session.remember("let $large = all size > 16");
    for line in ["let $large = all size > 16", "let $long = processes wall > 1ms", "runs", "find processes", "find all"]
    {
        // Each recording has some of this.
        let _ = session.ask(&Question::of_line(line).unwrap().unwrap());
    }
    session
}

/// All that a question could change in a session.
fn state(session: &Session) -> String {
    let state = &session.state;
    let sets: Vec<String> = state.sets.iter().map(|(name, set)| format!("{name} {set:?}")).collect();
    let more = session.more.as_ref().map(|more| Arc::as_ptr(more).cast::<()>());
    format!(
        "{:?} {sets:?} {more:?} {:?} {:?} {} {:?} {:?} {}",
        state.listed,
        state.selected,
        state.context.settings,
        state.away.len(),
        state.history,
        state.file.as_ref().map(|file| (&file.name, Arc::as_ptr(&file.recording))),
        session.ended,
    )
}

/// Lines of a verb that are wrong in one way each, for most verbs.
fn wrong(command: &Command) -> Vec<String> {
    let rests = [
        "nonsense",
        "@4000000000",
        "%999999",
        "size >",
        "by nonsense",
        "1 2 3 4 5",
        "99..100",
        "$nothing",
        "$nothing = all",
        "'",
        "all /(/",
        "0..last nonsense nonsense",
        "nonsense nonsense nonsense",
        "--at 77",
        "wall nonsense nonsense nonsense",
        "$_ = ",
        "without",
        "size > 1000 by distance",
        "--min 200%",
        "rows -1",
        "nonsense 3",
    ];
    let mut lines: Vec<String> = rests.iter().map(|rest| format!("{} {rest}", command.name)).collect();
    lines.push(command.name.to_owned());
    lines.push(command.example.to_owned());
    lines
}

/// Stops a question after some looks at the watch.
struct Patience(AtomicU64);

impl Watcher for Patience {
    fn is_stopped(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn a_question_without_an_answer_changes_nothing() {
    for recording in RECORDINGS {
        let mut session = session(recording);
        let mut refused = std::collections::BTreeSet::new();
        for command in COMMANDS.iter().filter(|command| command.subject != Subject::Program) {
            for line in wrong(command) {
                for patience in [0, 1, 5, u64::MAX] {
                    let Ok(Some(question)) = Question::of_line(&line) else { continue };
                    let before = state(&session);
                    session.watch_with(Arc::new(Patience(AtomicU64::new(patience))));
                    let answer = session.ask(&question);
                    session.watch_with(Arc::new(Unwatched));
                    if answer.is_err() {
                        assert_eq!(state(&session), before, "{recording}: {line} ({patience} looks)");
                        refused.insert(command.name);
                    } else if state(&session) != before {
                        session = self::session(recording);
                    }
                }
            }
        }
        let never: Vec<&str> =
            COMMANDS.iter().map(|command| command.name).filter(|name| !refused.contains(name)).collect();
        // These take no words, or any: `exit` ends, and `summary` of another recording has nothing to refuse.
        assert!(never.len() <= 12, "{recording}: never refused: {never:?}");
    }
}

#[test]
fn rows_can_be_named_after_a_refused_line() {
    let mut session = session("orders.barrow");
    let mut ask = |line: &str| session.ask(&Question::of_line(line).unwrap().unwrap());
    let found = ask("find 3 size > 16").unwrap();
    assert!(ask("find 3 size > 16 by nonsense").is_err());
    let first = &found.tables[0].rows[0][1];
    let told = ask("info %1").unwrap();
    assert!(told.facts.iter().any(|fact| fact.column.key == "object" && fact.value == *first));
}

#[test]
fn questions_of_one_session_run_at_once() {
    let session = session("orders.barrow");
    let lines =
        ["find all by retained", "count all", "top 5 by retained", "summary all", "find all size > 16", "roots"];
    let questions: Vec<Question> = lines.iter().map(|line| Question::of_line(line).unwrap().unwrap()).collect();
    let answer = |question: &Question| {
        let reply = session.run_command(question, View::default()).unwrap();
        format!("{:?}", reply.answer)
    };
    let in_turn: Vec<String> = questions.iter().map(answer).collect();
    let before = state(&session);
    let at_once = std::thread::scope(|threads| {
        let running: Vec<_> = questions.iter().map(|question| threads.spawn(move || answer(question))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(at_once, in_turn);
    assert_eq!(state(&session), before);
}

/// Flags of a question hold for that question only.
#[test]
fn flags_change_nothing_for_later_questions() {
    let mut session = session("orders.barrow");
    let before = (session.settings().format, session.state.selected);
    for line in ["snapshot", "set --format json", "set rows 4 --format csv"] {
        session.ask(&Question::of_line(line).unwrap().unwrap()).unwrap();
        assert_eq!((session.settings().format, session.state.selected), before, "{line}");
    }
    assert_eq!(session.settings().rows, 4);
}
