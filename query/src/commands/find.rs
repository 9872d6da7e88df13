//! `find`: objects that match an expression.

mod processes;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use barrow_analyzer::{
    Expression, FoundPage, Heap, KindId, ObjectDetails, ObjectId, ObjectSet, Page, Progress, SnapshotId, objects,
};

use crate::answer::units;
use crate::answer::{Answer, Column, Table, Unit, Value};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::language::asked::{self, Asked};
use crate::language::request::Request;
use crate::session::Session;
use crate::tables::found;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "find",
    aliases: &[],
    group: Group::Objects,
    arguments: "[N] [KIND] [EXPR] [by size|unmanaged|retained|references|ATTRIBUTE]",
    about: "Objects or processes that match an expression",
    details: "The first N of them (default 15) in the order of their numbers, of every kind unless KIND is given. \
              `by` lists the N largest instead, the largest first. At the prompt `| COMMAND` and `> FILE` get all of \
              them unless N is given. Afterwards `%3` is the object in row 3, and `$_` the set of all listed objects. \
              In a recording of processes it lists these, a row for each program that a process executed, in the \
              order in which they began; `by` takes each attribute that is a number: `find failed by total.cpu`. In a \
              recording that holds both, EXPR is about processes if it names one of their attributes or follows the \
              word `processes`. `help expressions` describes EXPR; in a shell put it in single quotes.",
    example: "find 5 objects type = \"Int\" and size > 1K",
    flags: &["--classes"],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Expressions,
    run,
};

/// Objects that are looked at at once while the largest are looked for.
const PAGE_OBJECTS: usize = 1 << 16;

/// A search that can go on.
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

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let request = Request::of(arguments);
    let (snapshot, kinds, expression) = match asked::asked(session, &request.rest, 0)? {
        Asked::Objects(snapshot, kinds, expression) => (snapshot, kinds, expression),
        Asked::Processes(expression) => {
            let by = match &request.by[..] {
                [] => None,
                [name] => Some(name.as_str()),
                [_, other, ..] => return Err(COMMAND.refuses(&format!("by {other}"))),
            };
            return processes::found(session, &expression, by, request.rows, &arguments.flags);
        }
    };
    if request.rows == Some(0) {
        return Err(QueryError::usage("0 objects are none: `count` counts them"));
    }
    let question = Question { snapshot, kinds, expression, from: ObjectId(0), rows: request.rows, matching: None };
    session.listed.clear();
    match &request.by[..] {
        [] => question.answer(session),
        [name] => {
            let amount = Amount::named(name).ok_or_else(|| {
                let orders = "`by size`, `by unmanaged`, `by retained` or `by references`";
                QueryError::usage(format!("objects have no order `{name}`; try {orders}"))
            })?;
            Ranked { question, amount, largest: Vec::new(), shown: 0, matching: 0 }.answer(session)
        }
        [_, other, ..] => Err(COMMAND.refuses(&format!("by {other}"))),
    }
}

/// What objects are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amount {
    Shallow,
    Unmanaged,
    Retained,
    References,
}

impl Amount {
    fn named(word: &str) -> Option<Self> {
        let names = [
            ("size", Amount::Shallow),
            ("shallow", Amount::Shallow),
            ("unmanaged", Amount::Unmanaged),
            ("retained", Amount::Retained),
            ("references", Amount::References),
            ("refs", Amount::References),
        ];
        let word = word.to_ascii_lowercase();
        names.into_iter().find(|(name, _)| !word.is_empty() && name.starts_with(&word)).map(|(_, amount)| amount)
    }
}

/// The objects that match, those that have most first; equal ones by their number.
pub(crate) struct Ranked {
    question: Question,
    amount: Amount,
    /// The first of them, and what each has.
    largest: Vec<(u64, ObjectId)>,
    /// How many of these were shown.
    shown: usize,
    /// How many match.
    matching: u64,
}

impl Ranked {
    /// The next page.
    pub(super) fn answer(mut self, session: &mut Session) -> Result<Answer, QueryError> {
        let heap = session.heap(self.question.snapshot)?;
        let is_first = self.shown == 0;
        let piece = if self.is_whole(session) { session.piece } else { session.ranking_rows(self.question.rows) };
        if let Some(skip) = if self.is_whole(session) { session.take_skip() } else { None } {
            // A window: what comes after it is not looked for.
            let skip = usize::try_from(skip).unwrap_or(usize::MAX);
            self.search(&heap, skip.saturating_add(piece), &session.meter())?;
            self.shown = skip.min(self.largest.len());
        } else if self.shown == self.largest.len() {
            let rows = session.ranking_rows(self.question.rows);
            self.search(&heap, self.shown.saturating_add(rows), &session.meter())?;
        }
        let end = self.largest.len().min(self.shown.saturating_add(piece));
        let page = &self.largest[self.shown..end];
        session.context.require_rows(page.len())?;
        let ids: Vec<ObjectId> = page.iter().map(|&(_, id)| id).collect();
        let details = objects(heap.recording(), self.question.snapshot, &ids)?;
        let mut table = found::table(session, &heap, &details)?;
        let is_exact = self.amount != Amount::Retained || heap.dominators(&session.meter())?.is_exact();
        if self.amount == Amount::Retained {
            let heading = if is_exact { "retained" } else { "≥ retained" };
            table.columns.push(Column::new("retained_bytes", heading, Unit::Bytes));
            table.rows.iter_mut().zip(page).for_each(|(cells, &(bytes, _))| cells.push(bytes.into()));
        }
        session.list(self.question.snapshot, ids);
        self.shown = end;
        if is_first || !self.is_whole(session) {
            self.name_listed(session)?;
        }
        let answer = self.about(session, table, is_exact)?;
        if (self.shown as u64) < self.matching {
            session.more = Some(Box::new(move |session| self.answer(session)));
        }
        Ok(answer)
    }

    /// Makes `$_` all that is listed by now, or all that will be.
    fn name_listed(&self, session: &mut Session) -> Result<(), QueryError> {
        let snapshot = self.question.snapshot;
        if !self.is_whole(session) {
            return session.set_last_to(snapshot, self.largest[..self.shown].iter().map(|&(_, id)| id));
        }
        session.set_last_to(snapshot, self.largest.iter().map(|&(_, id)| id))
    }

    fn is_whole(&self, session: &Session) -> bool {
        session.whole && self.question.rows.is_none()
    }

    /// Finds the first `rows` of them.
    fn search(&mut self, heap: &Heap, rows: usize, progress: &dyn Progress) -> Result<(), QueryError> {
        let dominators = if self.amount == Amount::Retained { Some(heap.dominators(progress)?) } else { None };
        let of = |object: &ObjectDetails| match self.amount {
            Amount::Shallow => object.shallow_bytes,
            Amount::Unmanaged => object.unmanaged_bytes,
            Amount::References => object.references,
            Amount::Retained => dominators.map_or(0, |dominators| dominators.retained_bytes(object.id)),
        };
        let mut largest = BinaryHeap::new();
        let mut from = Some(ObjectId(0));
        self.matching = 0;
        while let Some(start) = from {
            let page = Page { from: start, limit: PAGE_OBJECTS };
            let found = heap.find(&self.question.kinds, &self.question.expression, page, progress)?;
            self.matching += found.objects.len() as u64;
            for object in &found.objects {
                largest.push(Reverse((of(object), Reverse(object.id))));
                if largest.len() > rows {
                    largest.pop();
                }
            }
            from = found.next;
        }
        let sorted = largest.into_sorted_vec().into_iter();
        self.largest = sorted.map(|Reverse((amount, Reverse(id)))| (amount, id)).collect();
        Ok(())
    }

    fn about(&self, session: &Session, table: Table, is_exact: bool) -> Result<Answer, QueryError> {
        let left = self.matching - self.shown as u64;
        let is_whole = self.is_whole(session);
        let mut answer = Answer::default()
            .of_snapshot(self.question.snapshot)
            .fact(Column::new("complete", "", Unit::Text).for_machines(), Value::Flag(left == 0 || is_whole))
            .table(table);
        answer.goes_on = is_whole && left > 0;
        answer.all_rows = Some(self.matching).filter(|_| is_whole);
        if self.matching == 0 {
            answer = answer.note("no object matches");
        } else if left > 0 && !is_whole {
            let way = if session.paged { "`more`" } else { "`find N …` lists N" };
            let all = units::counted(self.matching, "object");
            let note = format!("… {} of {all} that match: {way}", units::grouped(self.shown as u64));
            answer = if self.question.rows.is_none() { answer.cut(note) } else { answer.note(note) };
        }
        let answer = found::with_exactness(answer, session, self.question.snapshot, &self.question.expression)?;
        Ok(if is_exact { answer } else { answer.at_least() })
    }
}

impl Question {
    /// The next page.
    pub(super) fn answer(mut self, session: &mut Session) -> Result<Answer, QueryError> {
        let is_whole = session.whole && self.rows.is_none();
        let is_first = session.listed.is_empty();
        let found = if is_whole { self.piece(session)? } else { self.page(session)? };
        let table = found::table(session, &*session.heap(self.snapshot)?, &found.objects)?;
        session.list(self.snapshot, found.objects.iter().map(|object| object.id));
        if !is_whole {
            session.set_last_to_listed(self.snapshot)?;
        }
        let mut answer = Answer::default()
            .of_snapshot(self.snapshot)
            .fact(Column::new("complete", "", Unit::Text).for_machines(), Value::Flag(found.next.is_none() || is_whole))
            .table(table);
        answer = found::with_exactness(answer, session, self.snapshot, &self.expression)?;
        answer.all_rows = self.matching.as_ref().filter(|_| is_whole).map(|matching| matching.len());
        if found.objects.is_empty() && is_first && answer.all_rows.is_none_or(|rows| rows == 0) {
            answer = answer.note("no object matches");
        }
        if let Some(next) = found.next {
            answer.goes_on = is_whole;
            if !is_whole {
                answer = answer.note(if session.paged { "… more match: `more`" } else { "… more match" });
                if self.rows.is_none() {
                    let found = units::counted(found.objects.len() as u64, "object");
                    let way = if session.paged { "`more` shows them" } else { "`find N …` finds N" };
                    answer.cut = Some(format!("more match than the {found} here; {way}"));
                }
            }
            self.from = next;
            session.more = Some(Box::new(move |session| self.answer(session)));
        }
        Ok(answer)
    }

    fn page(&self, session: &Session) -> Result<FoundPage, QueryError> {
        let page = Page { from: self.from, limit: session.ranking_rows(self.rows) };
        Ok(session.heap(self.snapshot)?.find(&self.kinds, &self.expression, page, &session.meter())?)
    }

    /// The next of all that match. They are found once, as a set of a bit for each object.
    fn piece(&mut self, session: &mut Session) -> Result<FoundPage, QueryError> {
        let matching = match &self.matching {
            Some(matching) => Arc::clone(matching),
            None => found::select(session, self.snapshot, &self.kinds, &self.expression)?.0,
        };
        if let Some(skip) = session.take_skip() {
            self.from = matching.nth(skip).unwrap_or(ObjectId(u32::MAX));
        }
        let piece = session.piece;
        let mut ids: Vec<ObjectId> = matching.iter_from(self.from).take(piece + 1).collect();
        let next = ids.get(piece).copied();
        ids.truncate(piece);
        self.matching = Some(matching);
        let recording = session.recording()?;
        Ok(FoundPage { objects: objects(&recording, self.snapshot, &ids)?, next })
    }
}
