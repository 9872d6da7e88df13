//! `find`: objects that match an expression.

mod processes;

pub(super) use processes::found as found_processes;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use barrow_analyzer::{Expression, FoundPage, Heap, KindId, ObjectId, ObjectSet, Page, Progress, SnapshotId, objects};

use crate::answer::units;
use crate::answer::{Answer, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::{self, ObjectAttribute};
use crate::error::QueryError;
use crate::language::asked::{self, Asked};
use crate::language::request::Request;
use crate::session::listed::Listed;
use crate::tables::found;

use super::{Command, Completion, Group};

pub(super) const COMMAND: Command = Command {
    arguments: "[N] [KIND] [EXPR] [by ATTRIBUTE]",
    example: "find 5 objects type = \"Int\" and size > 1K",
    flags: &["--classes"],
    completion: Completion::Expressions,
    ..Command::new("find", include_str!("../../verbs/find.md"), Group::Objects, run)
};

/// The column of retained sizes, which may be lower bounds.
const RETAINED: &str = "retained_bytes";
/// Objects that are looked at at once while the largest are looked for.
const PAGE_OBJECTS: usize = 1 << 16;

/// A search that can go on.
#[derive(Clone)]
pub(crate) struct Question {
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
    let (snapshot, kinds, expression) = match asked::asked(ask, &request.rest, 0)? {
        Asked::Objects(snapshot, kinds, expression) => (snapshot, kinds, expression),
        Asked::Processes(expression) => {
            let by = match &request.by[..] {
                [] => None,
                [name] => Some(name.as_str()),
                [_, other, ..] => return Err(COMMAND.refuses(&format!("by {other}"))),
            };
            return processes::found(ask, &COMMAND, &expression, by, request.rows);
        }
    };
    if request.rows == Some(0) {
        return Err(QueryError::usage("0 objects are none: `count` counts them"));
    }
    let question = Question { snapshot, kinds, expression, from: ObjectId(0), rows: request.rows, matching: None };
    match &request.by[..] {
        [] => question.answer(ask),
        [name] => {
            let by = ranking(name)?;
            Ranked { question, by, largest: Arc::default(), shown: 0, matching: 0 }.answer(ask)
        }
        [_, other, ..] => Err(COMMAND.refuses(&format!("by {other}"))),
    }
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

/// The objects that match, those that have most first, and those last that have no such number; equal ones by their number.
#[derive(Clone)]
pub(crate) struct Ranked {
    question: Question,
    by: &'static ObjectAttribute,
    /// The first of them.
    largest: Arc<[ObjectId]>,
    /// How many of these were shown.
    shown: usize,
    /// How many match.
    matching: u64,
}

impl Ranked {
    /// The next page.
    pub(super) fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let snapshot = self.question.snapshot;
        let heap = ask.heap(snapshot)?;
        let is_first = self.shown == 0;
        let skip = ask.view.skip.filter(|_| self.is_whole(ask));
        let piece = if self.is_whole(ask) { ask.view.piece } else { ask.ranking_rows(self.question.rows) };
        if let Some(skip) = skip {
            // A window: what comes after it is not looked for.
            let skip = usize::try_from(skip).unwrap_or(usize::MAX);
            self.search(&heap, skip.saturating_add(piece), &ask.meter())?;
            self.shown = skip.min(self.largest.len());
        } else if self.shown == self.largest.len() {
            let rows = ask.ranking_rows(self.question.rows);
            self.search(&heap, self.shown.saturating_add(rows), &ask.meter())?;
        }
        let end = self.largest.len().min(self.shown.saturating_add(piece));
        let page = &self.largest[self.shown..end];
        ask.context.require_rows(page.len())?;
        let details = objects(heap.recording(), self.question.snapshot, page)?;
        let mut table = found::table(ask, &heap, &details)?;
        let by_retained = self.by.column().key == RETAINED;
        let is_exact = !by_retained || heap.dominators(&ask.meter())?.is_exact();
        let mut column = self.by.column();
        if table.columns.iter().all(|known| known.key != column.key) {
            if !is_exact {
                column.heading = format!("≥ {}", column.heading).into();
            }
            table.columns.push(column);
            let cells = (self.by.read)(&details, &heap, &ask.meter())?;
            table.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        }
        self.shown = end;
        let page = page.iter().copied().map(|id| (snapshot, id)).collect();
        let answer = self.about(ask, table, is_exact)?;
        let mut reply = Reply::from(answer).listing_page(ask, page).skipping(skip.is_some());
        if is_first || !self.is_whole(ask) {
            reply = reply.with_last(self.named(ask)?);
        }
        Ok(if (self.shown as u64) < self.matching {
            reply.with_more(move |ask| self.clone().answer(ask))
        } else {
            reply
        })
    }

    /// All that is listed by now, or all that will be.
    fn named(&self, ask: &Ask) -> Result<Arc<ObjectSet>, QueryError> {
        let named = if self.is_whole(ask) { &self.largest[..] } else { &self.largest[..self.shown] };
        ask.set_of(self.question.snapshot, named.iter().copied())
    }

    fn is_whole(&self, ask: &Ask) -> bool {
        ask.view.is_whole && self.question.rows.is_none()
    }

    /// Finds the first `rows` of them.
    fn search(&mut self, heap: &Heap, rows: usize, progress: &dyn Progress) -> Result<(), QueryError> {
        let mut largest = BinaryHeap::new();
        let mut from = Some(ObjectId(0));
        self.matching = 0;
        while let Some(start) = from {
            let page = Page { from: start, limit: PAGE_OBJECTS };
            let found = heap.find(&self.question.kinds, &self.question.expression, page, progress)?;
            self.matching += found.objects.len() as u64;
            let cells = (self.by.read)(&found.objects, heap, progress)?;
            for (object, cell) in found.objects.iter().zip(cells) {
                largest.push(Reverse((rank(&cell), Reverse(object.id))));
                if largest.len() > rows {
                    largest.pop();
                }
            }
            from = found.next;
        }
        let sorted = largest.into_sorted_vec().into_iter();
        self.largest = sorted.map(|Reverse((_, Reverse(id)))| id).collect();
        Ok(())
    }

    fn about(&self, ask: &Ask, table: Table, is_exact: bool) -> Result<Answer, QueryError> {
        let left = self.matching - self.shown as u64;
        let is_whole = self.is_whole(ask);
        let mut answer = Answer::default()
            .of_snapshot(self.question.snapshot.0)
            .fact(Column::text("complete").for_machines(), Value::Flag(left == 0 || is_whole))
            .table(table);
        answer.goes_on = is_whole && left > 0;
        answer.all_rows = Some(self.matching).filter(|_| is_whole);
        if self.matching == 0 {
            answer = answer.note("no object matches");
        } else if left > 0 && !is_whole {
            let way = if ask.view.is_paged { "`more`" } else { "`find N …` lists N" };
            let all = units::counted(self.matching, "object");
            let note = format!("… {} of {all} that match: {way}", units::grouped(self.shown as u64));
            answer = if self.question.rows.is_none() { answer.cut(note) } else { answer.note(note) };
        }
        let answer = found::with_exactness(answer, ask, self.question.snapshot, &self.question.expression)?;
        Ok(if is_exact { answer } else { answer.at_least() })
    }
}

/// Puts values in order; what has none comes before all others. Shares are positive, and those have the order of their bits.
fn rank(cell: &Value) -> Option<u64> {
    match cell {
        Value::Number(number) => Some(*number),
        Value::Share(share) => Some(share.to_bits()),
        _ => None,
    }
}

impl Question {
    /// The next page.
    pub(super) fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let is_whole = ask.view.is_whole && self.rows.is_none();
        let found = if is_whole { self.piece(ask)? } else { self.page(ask)? };
        let table = found::table(ask, &*ask.heap(self.snapshot)?, &found.objects)?;
        let page: Listed = found.objects.iter().map(|object| (self.snapshot, object.id)).collect();
        let last = if is_whole { self.matching.clone() } else { Some(ask.set_of_pages(self.snapshot, &page)?) };
        let mut answer = Answer::default()
            .of_snapshot(self.snapshot.0)
            .fact(Column::text("complete").for_machines(), Value::Flag(found.next.is_none() || is_whole))
            .table(table);
        answer = found::with_exactness(answer, ask, self.snapshot, &self.expression)?;
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

    fn page(&self, ask: &Ask) -> Result<FoundPage, QueryError> {
        let page = Page { from: self.from, limit: ask.ranking_rows(self.rows) };
        Ok(ask.heap(self.snapshot)?.find(&self.kinds, &self.expression, page, &ask.meter())?)
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
        let recording = ask.recording()?;
        Ok(FoundPage { objects: objects(&recording, self.snapshot, &ids)?, next })
    }
}
