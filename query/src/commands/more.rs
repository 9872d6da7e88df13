//! `more`: the next page of the last answer.

use crate::answer::{Answer, Column, Unit, Value};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::Session;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

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
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, _: &Arguments) -> Result<Answer, QueryError> {
    session.next_page()
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
    session.more = Some(Box::new(move |session| {
        // A command or a file gets every row.
        if session.whole { Ok(rest) } else { Ok(first_page(session, rest, rows)) }
    }));
    answer
}

fn answer_without_rows(facts: &[crate::answer::Fact], table: &crate::answer::Table) -> Answer {
    let table = crate::answer::Table { rows: Vec::<Vec<Value>>::new(), columns: table.columns.clone(), ..*table };
    Answer { facts: facts.to_vec(), tables: vec![table], ..Answer::default() }
}

/// "25 more rows", and how to see them where that is possible.
pub(super) fn more_note(session: &Session, rows: usize) -> String {
    let rows = format!("… {}", crate::answer::units::counted(rows as u64, "more row"));
    if session.paged { format!("{rows}: `more`") } else { rows }
}
