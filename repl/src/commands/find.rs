//! `find`: objects that match an expression.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use barrow_analyzer::{Dominators, Expression, KindId, ObjectDetails, ObjectId, Page, SnapshotId, objects};

use crate::answer::{Answer, Column, Unit, Value};
use crate::error::ReplError;
use crate::request::Request;
use crate::session::{Arguments, Session};
use crate::{found, units};

use super::{Command, Completion, Group, More, Subject};

pub(super) const COMMAND: Command = Command {
    name: "find",
    aliases: &[],
    group: Group::Objects,
    arguments: "[N] [KIND] [EXPR] [by size|unmanaged|retained|references]",
    about: "Objects that match an expression",
    details: "The first N of them, 15 unless told, in the order of their numbers, and of every kind, unless KIND \
              is told. `by` lists the N that have most instead, the largest first. `%3` names the object in row 3 afterwards, `$_` the set of all that are listed. `help expressions` describes EXPR; in a shell put it in single quotes.",
    example: "find 5 objects type = \"Int\" and size > 1K",
    flags: &[],
    subject: Subject::Recording,
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
    rows: usize,
}

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let snapshot = session.snapshot()?;
    let request = Request::of(arguments);
    let (kinds, expression) = found::kinds_and_expression_or_all(session, snapshot, &request.rest, 0)?;
    let rows = request.rows.unwrap_or(session.settings.rows).max(1);
    let question = Question { snapshot, kinds, expression, from: ObjectId(0), rows };
    session.listed.clear();
    match &request.by[..] {
        [] => question.answer(session),
        [name] => {
            let amount = Amount::named(name).ok_or_else(|| {
                let orders = "`by size`, `by unmanaged`, `by retained` or `by references`";
                ReplError::usage(format!("objects have no order `{name}`; try {orders}"))
            })?;
            question.largest(session, amount)
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

impl Question {
    /// The objects that match and have most, the largest first; equal ones by their number.
    fn largest(self, session: &mut Session, amount: Amount) -> Result<Answer, ReplError> {
        let heap = session.heap(self.snapshot)?;
        let meter = session.meter();
        let dominators = if amount == Amount::Retained { Some(heap.dominators(&meter)?) } else { None };
        let of = |object: &ObjectDetails| match amount {
            Amount::Shallow => object.shallow_bytes,
            Amount::Unmanaged => object.unmanaged_bytes,
            Amount::References => object.references,
            Amount::Retained => dominators.map_or(0, |dominators| dominators.retained_bytes(object.id)),
        };
        let mut largest = BinaryHeap::new();
        let (mut from, mut matching) = (Some(ObjectId(0)), 0u64);
        while let Some(start) = from {
            let page = Page { from: start, limit: PAGE_OBJECTS };
            let found = heap.find(&self.kinds, &self.expression, page, &meter)?;
            matching += found.objects.len() as u64;
            for object in &found.objects {
                largest.push(Reverse((of(object), Reverse(object.id))));
                if largest.len() > self.rows {
                    largest.pop();
                }
            }
            from = found.next;
        }
        drop(meter);
        let ranked = largest.into_sorted_vec();
        let ids: Vec<ObjectId> = ranked.iter().map(|Reverse((_, Reverse(id)))| *id).collect();
        let details = objects(heap.recording(), self.snapshot, &ids)?;
        let mut table = found::table(heap.recording().tables()?, &details, 1)?;
        if amount == Amount::Retained {
            let heading = if dominators.is_some_and(Dominators::is_exact) { "retained" } else { "≥ retained" };
            table.columns.push(Column::new("retained_bytes", heading, Unit::Bytes));
            let bytes = ranked.iter().map(|Reverse((bytes, _))| *bytes);
            table.rows.iter_mut().zip(bytes).for_each(|(cells, bytes)| cells.push(bytes.into()));
        }
        session.listed.extend(ids.into_iter().map(|id| (self.snapshot, id)));
        session.set_last_to_listed(self.snapshot)?;
        let left = matching - ranked.len() as u64;
        let answer = Answer::default()
            .fact(Column::new("snapshot", "snapshot", Unit::Number), self.snapshot.0)
            .fact(Column::new("complete", "", Unit::Text).for_machines(), Value::Flag(left == 0))
            .table(table);
        let answer = match (matching, left) {
            (0, _) => answer.note("no object matches"),
            (_, 0) => answer,
            _ => answer.note(format!(
                "… {} of {} that match; `find N …` lists N",
                ranked.len(),
                units::counted(matching, "object")
            )),
        };
        let answer = found::with_exactness(answer, session, self.snapshot, &self.expression)?;
        Ok(if dominators.is_some_and(|dominators| !dominators.is_exact()) { answer.at_least() } else { answer })
    }

    /// The next page.
    pub(super) fn answer(mut self, session: &mut Session) -> Result<Answer, ReplError> {
        let recording = session.recording()?;
        let meter = session.meter();
        let page = Page { from: self.from, limit: self.rows };
        let found = session.heap(self.snapshot)?.find(&self.kinds, &self.expression, page, &meter)?;
        drop(meter);
        let table = found::table(recording.tables()?, &found.objects, session.listed.len() + 1)?;
        session.listed.extend(found.objects.iter().map(|object| (self.snapshot, object.id)));
        session.set_last_to_listed(self.snapshot)?;
        let mut answer = Answer::default()
            .fact(Column::new("snapshot", "snapshot", Unit::Number), self.snapshot.0)
            .fact(Column::new("complete", "", Unit::Text).for_machines(), Value::Flag(found.next.is_none()))
            .table(table);
        answer = found::with_exactness(answer, session, self.snapshot, &self.expression)?;
        if found.objects.is_empty() {
            answer = answer.note("no object matches");
        }
        if let Some(next) = found.next {
            answer = answer.note(if session.paged { "… more match: `more`" } else { "… more match" });
            self.from = next;
            session.more = Some(More::Find(self));
        }
        Ok(answer)
    }
}
