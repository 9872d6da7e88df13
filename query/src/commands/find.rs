//! `find`: objects that match an expression.

mod page;
mod processes;
mod ranking;

pub(super) use page::ListPage;
pub(super) use ranking::Ranking;

use std::sync::Arc;

use barrow_analyzer::{Expression, FoundPage, KindId, ObjectId, ObjectSet, Page, RankOrder, SnapshotId, objects};
use barrow_processes::Attribute;

use crate::answer::{Answer, Column, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::{self, ObjectAttribute};
use crate::context::ROW_BYTES;
use crate::error::QueryError;
use crate::language::asked::{self, Asked};
use crate::language::request::Request;
use crate::session::listed::Listed;
use crate::tables::found;

use super::{Command, Completion, Content, Group};

pub(super) const COMMAND: Command = Command {
    arguments: "[N] [KIND] [EXPR] [by ATTRIBUTE]",
    example: "find 5 objects type = \"Int\" and size > 1K",
    flags: &["--classes"],
    completion: Completion::Expressions,
    orders,
    ..Command::new("find", include_str!("../../verbs/find.md"), Group::Objects, run)
};

/// The column of retained sizes, which may be lower bounds.
const RETAINED: &str = "retained_bytes";
/// Bytes of the details of an object while its row is made.
const DETAIL_BYTES: u64 = 100;

/// A search that can go on.
#[derive(Clone)]
struct Question {
    snapshot: SnapshotId,
    kinds: Vec<KindId>,
    expression: Expression,
    from: ObjectId,
    /// Rows of a page, if given.
    rows: Option<usize>,
    /// All that match, where all are listed.
    matching: Option<Arc<ObjectSet>>,
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let request = Request::of(&ask.arguments);
    let by = match &request.by[..] {
        [] => Ok(None),
        [name] => Ok(Some(name.as_str())),
        [_, other, ..] => Err(COMMAND.refuses(&format!("by {other}"))),
    };
    let (snapshot, kinds, expression) = match asked::asked(ask, &request.rest, 0)? {
        Asked::Objects(snapshot, kinds, expression) => (snapshot, kinds, expression),
        Asked::Processes(expression) => return processes::found(ask, &expression, by?, request.rows),
    };
    if request.rows == Some(0) {
        return Err(QueryError::usage("0 objects are none: `count` counts them"));
    }
    let question = Question { snapshot, kinds, expression, from: ObjectId(0), rows: request.rows, matching: None };
    let Some(name) = by? else { return question.answer(ask) };
    let by = ranking(name)?;
    let (set, _) = found::select(ask, snapshot, &question.kinds, &question.expression)?;
    Ranked { question, by, ranking: Ranking::of(set, by, RankOrder::Descending), shown: 0 }.answer(ask)
}

/// What may follow `by`.
fn orders(held: &[Content]) -> Vec<&'static str> {
    let of_objects = if held == [Content::Processes] { Vec::new() } else { attributes::ranking_words() };
    let has_processes = held.contains(&Content::Processes);
    let of_processes = if has_processes { attributes::processes::words(Attribute::ranks) } else { Vec::new() };
    of_objects.into_iter().chain(of_processes).collect()
}

/// The attribute that ranks objects: a number that has this name, or the first one that begins with it.
fn ranking(name: &str) -> Result<&'static ObjectAttribute, QueryError> {
    let word = name.to_ascii_lowercase();
    let known = attributes::ranking_words();
    let longer = known.iter().find(|known| !word.is_empty() && known.starts_with(&word));
    let found = attributes::named(&word).or_else(|| attributes::named(longer?));
    found.filter(|attribute| attribute.ranks()).ok_or_else(|| {
        QueryError::usage(match found {
            Some(_) => format!("`{word}` is no number; `list … of {word} by {word}` puts objects in its order"),
            None => format!("objects have no order `{name}`; there are {}", known.join(", ")),
        })
    })
}

/// The objects that match, those that have most first.
#[derive(Clone)]
struct Ranked {
    question: Question,
    by: &'static ObjectAttribute,
    ranking: Ranking,
    /// Number of rows that were shown.
    shown: usize,
}

impl Ranked {
    /// The next page.
    fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let Question { snapshot, rows, .. } = self.question;
        let heap = ask.heap(snapshot)?;
        let is_first = self.shown == 0;
        let page = ListPage::next(ask, rows, self.shown, self.ranking.total());
        let listed = self.ranking.up_to(&page, &heap, ask)?.to_vec();
        let ids = &listed[page.rows.clone()];
        ask.context.require_rows_of(ids.len(), ROW_BYTES + DETAIL_BYTES)?;
        let details = objects(heap.recording(), snapshot, ids)?;
        let mut table = found::table(ask, &heap, &details)?;
        let mut column = self.by.column();
        let is_exact =
            column.key != RETAINED || heap.ask_dominators(&ask.meter(), |tree| Ok::<_, QueryError>(tree.is_exact()))?;
        if table.columns.iter().all(|known| known.key != column.key) {
            if !is_exact {
                column.heading = format!("≥ {}", column.heading).into();
            }
            table.columns.push(column);
            let cells = self.by.read(&details, &heap, &ask.meter())?;
            for (row, cell) in table.rows.iter_mut().zip(cells) {
                // Otherwise all rows take twice as much.
                row.reserve_exact(1);
                row.push(cell);
            }
        }
        self.shown = page.rows.end;
        let mut answer = page.told(ask, Answer::default().of_snapshot(snapshot.0).table(table), "object", COMMAND.name);
        if self.ranking.total() == 0 {
            answer = answer.note("no object matches");
        }
        answer = found::with_exactness(answer, ask, self.question.wanted())?;
        if !is_exact {
            answer = answer.at_least();
        }
        let rows = ids.iter().map(|&id| (snapshot, id)).collect();
        let mut reply = Reply::from(answer).listing_page(ask, rows).skipping(page.has_skipped);
        if is_first || !page.is_whole {
            // All that is listed by now, or all that will be.
            let is_all = page.is_whole && !page.has_skipped;
            reply = reply.with_last(if is_all { self.ranking.set() } else { ask.set_of(snapshot, listed)? });
        }
        Ok(if page.has_more() { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }
}

impl Question {
    fn wanted(&self) -> found::Wanted<'_> {
        found::Wanted { snapshot: self.snapshot, kinds: &self.kinds, expression: &self.expression }
    }

    /// The next page.
    fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let is_whole = ask.view.is_whole && self.rows.is_none();
        let found = if is_whole {
            self.piece(ask)?
        } else {
            let page = Page { from: self.from, limit: ask.ranking_rows(self.rows) };
            ask.heap(self.snapshot)?.find(&self.kinds, &self.expression, page, &ask.meter())?
        };
        let table = found::table(ask, &*ask.heap(self.snapshot)?, &found.objects)?;
        let page: Listed = found.objects.iter().map(|object| (self.snapshot, object.id)).collect();
        let last = if is_whole { self.matching.clone() } else { Some(ask.set_of_pages(self.snapshot, &page)?) };
        let mut answer = Answer::default()
            .of_snapshot(self.snapshot.0)
            .fact(Column::text("complete").own_words().for_machines(), found.next.is_none() || is_whole)
            .table(table);
        answer = found::with_exactness(answer, ask, self.wanted())?;
        answer.all_rows = self.matching.as_ref().filter(|_| is_whole).map(|matching| matching.len());
        if found.objects.is_empty() && !ask.view.is_next_page && answer.all_rows.is_none_or(|rows| rows == 0) {
            answer = answer.note("no object matches");
        }
        if let Some(next) = found.next {
            answer.goes_on = is_whole;
            if !is_whole {
                answer = answer.note(if ask.view.is_paged { "… more match: `more`" } else { "… more match" });
                if self.rows.is_none() {
                    let found = units::counted(found.objects.len() as u64, "object");
                    let way = if ask.view.is_paged { "`more` shows them" } else { "`find N …` finds N" };
                    answer.cut = Some(format!("more match than the {found} here; {way}"));
                }
            }
            self.from = next;
        }
        let mut reply = Reply::from(answer).listing_page(ask, page).skipping(is_whole && ask.view.skip.is_some());
        if let Some(last) = last {
            reply = reply.with_last(last);
        }
        Ok(if found.next.is_some() { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }

    /// The next of all that match. They are found once, as a set of a bit for each object.
    fn piece(&mut self, ask: &Ask) -> Result<FoundPage, QueryError> {
        let matching = match &self.matching {
            Some(matching) => Arc::clone(matching),
            None => found::select(ask, self.snapshot, &self.kinds, &self.expression)?.0,
        };
        if let Some(skip) = ask.view.skip {
            self.from = matching.nth(skip).unwrap_or(ObjectId(u32::MAX));
        }
        let piece = ask.view.piece;
        let mut ids: Vec<ObjectId> = matching.iter_from(self.from).take(piece + 1).collect();
        let next = ids.get(piece).copied();
        ids.truncate(piece);
        self.matching = Some(matching);
        Ok(FoundPage { objects: objects(&*ask.recording()?, self.snapshot, &ids)?, next })
    }
}
