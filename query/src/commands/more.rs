//! `more`: the next page of the last answer.

use std::ops::Range;

use crate::answer::{Answer, Column, Unit, Value};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::{PIECE_ROWS, Session};
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
    // An answer with the number of rows that was asked for is whole.
    if rows == session.ranking_rows(None) {
        answer.cut = Some(cut_note(session, more));
    }
    answer = answer.fact(Column::new("more_rows", "", Unit::Count).for_machines(), more);
    session.more = Some(Box::new(move |session| {
        // A command or a file gets every row.
        if session.whole { Ok(rest) } else { Ok(first_page(session, rest, rows)) }
    }));
    answer
}

/// An answer whose last table, still empty, gets its rows when they are shown: `make` makes those of a range of places.
pub(super) struct OnDemand<M> {
    pub(super) answer: Answer,
    /// How many rows there are.
    pub(super) count: usize,
    /// Whether a terminal gets a page, and the rest with `more`.
    pub(super) has_pages: bool,
    pub(super) make: M,
}

impl<M> OnDemand<M>
where
    M: FnMut(&mut Session, Range<usize>) -> Result<Vec<Vec<Value>>, QueryError> + Send + Sync + 'static,
{
    /// The first page, or the first piece of an answer that has every row.
    ///
    /// # Errors
    /// Those of `make`.
    pub(super) fn begin(self, session: &mut Session) -> Result<Answer, QueryError> {
        let skip = if session.whole { session.take_skip() } else { None };
        let from = skip.map_or(0, |skip| usize::try_from(skip).unwrap_or(usize::MAX).min(self.count));
        let notes = if skip.is_some() { self.answer.notes.clone() } else { Vec::new() };
        let mut answer = self.piece(session, from)?;
        // Of a window the first answer counts, otherwise notes follow the last row.
        if answer.goes_on {
            answer.notes = notes;
        }
        Ok(answer)
    }

    fn piece(mut self, session: &mut Session, from: usize) -> Result<Answer, QueryError> {
        let goes_on = session.whole || session.page_rows() == usize::MAX || !self.has_pages;
        let rows = match (goes_on, session.whole) {
            (false, _) => session.page_rows(),
            (true, true) => session.piece,
            (true, false) if session.in_pieces => PIECE_ROWS,
            // A library that asks for one answer gets it in one piece.
            (true, false) => usize::MAX,
        };
        let end = self.count.min(from.saturating_add(rows));
        let mut answer = self.answer.clone();
        if let Some(table) = answer.tables.last_mut() {
            table.rows = (self.make)(session, from..end)?;
        }
        answer.all_rows = session.whole.then_some(self.count as u64);
        let left = self.count - end;
        if left == 0 {
            return Ok(answer);
        }
        if goes_on {
            answer.notes.clear();
            answer.goes_on = true;
        } else {
            answer.notes.insert(0, more_note(session, left));
            if rows == session.ranking_rows(None) {
                answer.cut = Some(cut_note(session, left));
            }
            answer = answer.fact(Column::new("more_rows", "", Unit::Count).for_machines(), left);
        }
        session.more = Some(Box::new(move |session| self.piece(session, end)));
        Ok(answer)
    }
}

fn answer_without_rows(facts: &[crate::answer::Fact], table: &crate::answer::Table) -> Answer {
    let table = crate::answer::Table { rows: Vec::<Vec<Value>>::new(), columns: table.columns.clone(), ..*table };
    Answer { facts: facts.to_vec(), tables: vec![table], ..Answer::default() }
}

/// What stderr says where `rows` more are left out of JSON or CSV.
pub(super) fn cut_note(session: &Session, rows: usize) -> String {
    let rows = crate::answer::units::counted(rows as u64, "more row");
    let way = match session.paged {
        true => "`more` shows them",
        false => "`barrow FILE -e 'set rows N' -e 'QUESTION'` has N rows",
    };
    format!("{rows} left out; {way}")
}

/// "25 more rows", and how to see them where that is possible.
pub(super) fn more_note(session: &Session, rows: usize) -> String {
    let rows = format!("… {}", crate::answer::units::counted(rows as u64, "more row"));
    if session.paged { format!("{rows}: `more`") } else { rows }
}
