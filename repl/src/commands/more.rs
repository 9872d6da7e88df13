//! `more`: the next page of the last answer.

use crate::answer::{Answer, Column, Unit, Value};
use crate::error::ReplError;
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, Subject, dominators, find, inrefs, roots, show, top};

/// Where the last answer broke off.
pub(crate) enum More {
    /// Rows that are there already: the answer with those that are left, and the rows of a page.
    Rows(Answer, usize),
    /// Objects that are still to be found.
    Find(find::Question),
    /// Objects of `find … by`.
    Ranked(Box<find::Ranked>),
    /// Objects of `top … by retained`.
    Retaining(Box<top::Retaining>),
    /// References that are still to be looked up.
    References(show::References),
    /// Incoming references that are still to be looked up.
    Incoming(inrefs::Incoming),
    /// Roots that are still to be looked up.
    Roots(roots::Roots),
    /// Lines of the dominator tree that are still to be walked.
    Dominators(Box<dominators::Lines>),
}

pub(super) const COMMAND: Command = Command {
    name: "more",
    aliases: &[],
    group: Group::Session,
    arguments: "",
    about: "The next page of the last answer",
    details: "A page has 15 rows unless `set rows` or the question says otherwise.",
    example: "more",
    flags: &[],
    subject: Subject::Session,
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    if let Some(word) = arguments.words().first() {
        return Err(COMMAND.refuses(word));
    }
    next(session)
}

/// What comes after the last answer; with every row of it where the answer goes to a command or a file.
pub(crate) fn next(session: &mut Session) -> Result<Answer, ReplError> {
    match session.more.take() {
        None => Err(ReplError::usage("there is no more; ask something that has several pages first")),
        Some(More::Rows(answer, _)) if session.whole => Ok(answer),
        Some(More::Rows(answer, rows)) => Ok(first_page(session, answer, rows)),
        Some(More::Ranked(ranked)) => ranked.answer(session),
        Some(More::Retaining(retaining)) => retaining.answer(session),
        Some(More::Find(question)) => question.answer(session),
        Some(More::References(references)) => references.answer(session),
        Some(More::Incoming(incoming)) => incoming.answer(session),
        Some(More::Roots(roots)) => roots.answer(session),
        Some(More::Dominators(lines)) => lines.answer(session),
    }
}

/// Cuts the last table of `answer` to `rows`; the others wait for `more`.
pub(super) fn first_page(session: &mut Session, mut answer: Answer, rows: usize) -> Answer {
    let Some(table) = answer.tables.last_mut().filter(|table| table.rows.len() > rows) else {
        return answer;
    };
    let mut rest = answer_without_rows(&answer.facts, table);
    rest.tables[0].rows = table.rows.split_off(rows);
    (rest.notes, rest.exactness) = (answer.notes.clone(), answer.exactness);
    let more = rest.tables[0].rows.len();
    answer.notes.insert(0, more_note(session, more));
    answer = answer.fact(Column::new("more_rows", "", Unit::Count).for_machines(), more);
    session.more = Some(More::Rows(rest, rows));
    answer
}

fn answer_without_rows(facts: &[crate::answer::Fact], table: &crate::answer::Table) -> Answer {
    let table = crate::answer::Table { rows: Vec::<Vec<Value>>::new(), columns: table.columns.clone(), ..*table };
    Answer { facts: facts.to_vec(), tables: vec![table], ..Answer::default() }
}

/// "25 more rows", and how to see them where somebody can.
pub(super) fn more_note(session: &Session, rows: usize) -> String {
    let rows = format!("… {}", crate::units::counted(rows as u64, "more row"));
    if session.paged { format!("{rows}: `more`") } else { rows }
}
