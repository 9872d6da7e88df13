//! `more`: the next page of the last answer.

use std::ops::Range;
use std::sync::Arc;

use crate::answer::{Answer, Column, Value};
use crate::ask::reply::Reply;
use crate::ask::{Ask, PIECE_ROWS, View};
use crate::error::QueryError;
use crate::session::listed::Listed;

use super::{Command, Group, Subject};

pub(super) const COMMAND: Command = Command {
    subject: Subject::Session,
    ..Command::new("more", include_str!("../../verbs/more.md"), Group::Session, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    next_page(&Ask { view: View { is_next_page: true, ..ask.view }, ..ask.clone() })
}

/// The next page of the last answer.
///
/// # Errors
/// A usage error if there is none.
pub(crate) fn next_page(ask: &Ask) -> Result<Reply, QueryError> {
    let none = || QueryError::usage("there is no more; ask something that has several pages first");
    ask.more.as_ref().ok_or_else(none)?(ask)
}

/// Cuts the last table of `answer` to `rows`; the others wait for `more`.
pub(super) fn first_page(ask: &Ask, mut answer: Answer, rows: usize) -> Reply {
    let Some(table) = answer.tables.last_mut().filter(|table| table.rows.len() > rows) else {
        return answer.into();
    };
    let mut rest = answer_without_rows(&answer.facts, table);
    rest.tables[0].rows = table.rows.split_off(rows);
    (rest.notes, rest.exactness) = (answer.notes.clone(), answer.exactness);
    let left = rest.tables[0].rows.len();
    let rest = Rest { answer: Arc::new(rest), shown: 0, rows };
    Reply::from(with_left(ask, answer, left, rows)).with_more(move |ask| Ok(rest.page(ask)))
}

/// The rows of an answer that wait for `more`.
#[derive(Clone)]
struct Rest {
    answer: Arc<Answer>,
    shown: usize,
    /// Rows of a page.
    rows: usize,
}

impl Rest {
    /// The next page; a command or a file gets every row.
    fn page(&self, ask: &Ask) -> Reply {
        let table = &self.answer.tables[0];
        let rows = if ask.view.is_whole { usize::MAX } else { self.rows };
        let end = self.shown.saturating_add(rows).min(table.rows.len());
        let mut answer = answer_without_rows(&self.answer.facts, table);
        answer.tables[0].rows = table.rows[self.shown..end].to_vec();
        (answer.notes, answer.exactness) = (self.answer.notes.clone(), self.answer.exactness);
        let left = table.rows.len() - end;
        if left == 0 {
            return Reply::from(answer).listing_page(ask, Listed::default());
        }
        let rest = Rest { shown: end, ..self.clone() };
        let reply = Reply::from(with_left(ask, answer, left, self.rows)).listing_page(ask, Listed::default());
        reply.with_more(move |ask| Ok(rest.page(ask)))
    }
}

/// Says of a page how many rows follow it.
fn with_left(ask: &Ask, mut answer: Answer, left: usize, rows: usize) -> Answer {
    answer.notes.insert(0, more_note(ask, left));
    // An answer with the number of rows that was asked for is whole.
    if rows == ask.ranking_rows(None) {
        answer.cut = Some(cut_note(ask, left));
    }
    answer.fact(Column::count("more_rows").for_machines(), left)
}

/// An answer whose last table, still empty, gets its rows when they are shown: `make` makes those of a range of places.
pub(super) struct OnDemand {
    pub(super) answer: Answer,
    /// How many rows there are.
    pub(super) count: usize,
    /// Whether a terminal gets a page, and the rest with `more`.
    pub(super) has_pages: bool,
    pub(super) make: Make,
}

/// Makes the rows of a range of places, and tells which objects are in them.
type Make = Box<dyn Fn(&Ask, Range<usize>) -> Result<(Vec<Vec<Value>>, Listed), QueryError> + Send + Sync>;

impl OnDemand {
    /// The first page, or the first piece of an answer that has every row.
    ///
    /// # Errors
    /// Those of `make`.
    pub(super) fn begin(self, ask: &Ask) -> Result<Reply, QueryError> {
        let skip = ask.view.skip.filter(|_| ask.view.is_whole);
        let from = skip.map_or(0, |skip| usize::try_from(skip).unwrap_or(usize::MAX).min(self.count));
        let notes = if skip.is_some() { self.answer.notes.clone() } else { Vec::new() };
        let reply = Arc::new(self).piece(ask, from)?.skipping(skip.is_some());
        // Of a window the first answer counts, otherwise notes follow the last row.
        Ok(reply.map(|answer| if answer.goes_on { Answer { notes, ..answer } } else { answer }))
    }

    fn piece(self: &Arc<Self>, ask: &Ask, from: usize) -> Result<Reply, QueryError> {
        let goes_on = ask.view.is_whole || ask.page_rows() == usize::MAX || !self.has_pages;
        let page = match (goes_on, ask.view.is_whole) {
            (false, _) => ask.page_rows(),
            (true, true) => ask.view.piece,
            (true, false) if ask.view.in_pieces => PIECE_ROWS,
            // A library that asks for one answer gets it in one piece.
            (true, false) => usize::MAX,
        };
        let end = self.count.min(from.saturating_add(page));
        let mut answer = self.answer.clone();
        let (rows, listed) = (self.make)(ask, from..end)?;
        if let Some(table) = answer.tables.last_mut() {
            table.rows = rows;
        }
        answer.all_rows = ask.view.is_whole.then_some(self.count as u64);
        let left = self.count - end;
        if left == 0 {
            return Ok(Reply::from(answer).listing_page(ask, listed));
        }
        if goes_on {
            answer.notes.clear();
            answer.goes_on = true;
        } else {
            answer = with_left(ask, answer, left, page);
        }
        let rest = Arc::clone(self);
        let reply = Reply::from(answer).listing_page(ask, listed);
        Ok(reply.with_more(move |ask| rest.piece(ask, end)))
    }
}

fn answer_without_rows(facts: &[crate::answer::Fact], table: &crate::answer::Table) -> Answer {
    let table = crate::answer::Table { rows: Vec::<Vec<Value>>::new(), columns: table.columns.clone(), ..*table };
    Answer { facts: facts.to_vec(), tables: vec![table], ..Answer::default() }
}

/// What stderr says where `rows` more are left out of JSON or CSV.
pub(super) fn cut_note(ask: &Ask, rows: usize) -> String {
    let rows = crate::answer::units::counted(rows as u64, "more row");
    let way = match ask.view.is_paged {
        true => "`more` shows them",
        false => "`barrow FILE -e 'set rows N' -e 'QUESTION'` has N rows",
    };
    format!("{rows} left out; {way}")
}

/// "25 more rows", and how to see them where that is possible.
pub(super) fn more_note(ask: &Ask, rows: usize) -> String {
    let rows = format!("… {}", crate::answer::units::counted(rows as u64, "more row"));
    if ask.view.is_paged { format!("{rows}: `more`") } else { rows }
}
