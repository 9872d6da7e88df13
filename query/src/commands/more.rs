//! `more`: the next page of the last answer.

use std::ops::Range;
use std::sync::Arc;

use crate::answer::{Answer, Column, Table, Value, units};
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
    let more = ask.more.as_ref();
    more.ok_or_else(|| QueryError::usage("there is no more; ask something that has several pages first"))?(ask)
}

/// Cuts the last table of `answer` to `rows`; the others wait for `more`.
pub(super) fn first_page(ask: &Ask, mut answer: Answer, rows: usize) -> Reply {
    let Some(table) = answer.tables.last_mut().filter(|table| table.rows.len() > rows) else {
        return answer.into();
    };
    let rest = table.rows.split_off(rows);
    let left = rest.len();
    let rest = Rest { answer: Arc::new(with_rows(&answer, rest)), shown: 0, rows };
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
        let all = &self.answer.tables[0].rows;
        let rows = if ask.view.is_whole { usize::MAX } else { self.rows };
        let end = self.shown.saturating_add(rows).min(all.len());
        let answer = with_rows(&self.answer, all[self.shown..end].to_vec());
        let left = all.len() - end;
        if left == 0 {
            return Reply::from(answer).listing_page(ask, Listed::default());
        }
        let rest = Rest { shown: end, ..self.clone() };
        let reply = Reply::from(with_left(ask, answer, left, self.rows)).listing_page(ask, Listed::default());
        reply.with_more(move |ask| Ok(rest.page(ask)))
    }
}

/// An answer of later rows of the last table, with the same facts and notes.
fn with_rows(answer: &Answer, rows: Vec<Vec<Value>>) -> Answer {
    let table = &answer.tables[answer.tables.len() - 1];
    Answer {
        facts: answer.facts.clone(),
        tables: vec![Table { rows, columns: table.columns.clone(), ..*table }],
        notes: answer.notes.clone(),
        exactness: answer.exactness,
        ..Answer::default()
    }
}

/// Adds the number of rows that follow a page.
fn with_left(ask: &Ask, mut answer: Answer, left: usize, rows: usize) -> Answer {
    answer.notes.insert(0, more_note(ask, left));
    // An answer with the number of rows that was asked for is whole.
    if rows == ask.ranking_rows(None) {
        answer.cut = Some(cut_note(ask, left));
    }
    answer.fact(Column::count("more_rows").for_machines(), left)
}

/// Rows of a page at a terminal, otherwise of a piece of the answer.
pub(super) fn rows_at_once(ask: &Ask, is_paged: bool) -> usize {
    match ask.view {
        _ if is_paged => ask.page_rows(),
        View { is_whole: true, piece, .. } => piece,
        View { in_pieces: true, .. } => PIECE_ROWS,
        // A library that asks for one answer gets it in one piece.
        _ => usize::MAX,
    }
}

/// An answer whose last table is made when it is shown, a range of its rows at a time.
pub(super) struct OnDemand {
    /// The answer without that table.
    pub(super) answer: Answer,
    /// Number of rows.
    pub(super) count: usize,
    /// Number of rows of a page, if the question says.
    pub(super) rows: Option<usize>,
    /// A terminal gets a page, and the rest with `more`.
    pub(super) has_pages: bool,
    pub(super) make: Make,
}

/// Makes the table of a range of rows, and lists the objects in them.
type Make = Box<dyn Fn(&Ask, Range<usize>) -> Result<(Table, Listed), QueryError> + Send + Sync>;

impl OnDemand {
    /// The first page, or the first piece of an answer that has every row.
    ///
    /// # Errors
    /// Those of `make`.
    pub(super) fn begin(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        if let Some(rows) = self.rows.take_if(|_| ask.view.is_whole) {
            self.count = self.count.min(rows);
        }
        let skip = ask.view.skip.filter(|_| ask.view.is_whole);
        let from = skip.map_or(0, |skip| usize::try_from(skip).unwrap_or(usize::MAX).min(self.count));
        let notes = if skip.is_some() { self.answer.notes.clone() } else { Vec::new() };
        let reply = Arc::new(self).piece(ask, from)?.skipping(skip.is_some());
        // Of a window the first answer counts, otherwise notes follow the last row.
        Ok(reply.map(|answer| if answer.goes_on { Answer { notes, ..answer } } else { answer }))
    }

    fn piece(self: &Arc<Self>, ask: &Ask, from: usize) -> Result<Reply, QueryError> {
        let is_all = self.rows.is_none() && (ask.page_rows() == usize::MAX || !self.has_pages);
        let goes_on = ask.view.is_whole || is_all;
        let page = self.rows.filter(|_| !goes_on).unwrap_or_else(|| rows_at_once(ask, !goes_on));
        let end = self.count.min(from.saturating_add(page));
        let (table, listed) = (self.make)(ask, from..end)?;
        let mut answer = self.answer.clone().table(table);
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

/// The note on stderr where `rows` more are left out of JSON or CSV.
pub(super) fn cut_note(ask: &Ask, rows: usize) -> String {
    let rows = units::counted(rows as u64, "more row");
    let way = match ask.view.is_paged {
        true => "`more` shows them",
        false => "`barrow FILE -e 'set rows N' -e 'QUESTION'` has N rows",
    };
    format!("{rows} left out; {way}")
}

/// "25 more rows", and how to see them where that is possible.
pub(super) fn more_note(ask: &Ask, rows: usize) -> String {
    let rows = format!("… {}", units::counted(rows as u64, "more row"));
    if ask.view.is_paged { format!("{rows}: `more`") } else { rows }
}
