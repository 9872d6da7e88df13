//! `entries`: what a map, a list or a set holds.

use std::sync::Arc;

use barrow_analyzer::{Entries, Entry, Heap, ObjectId};

use crate::answer::{Answer, Column, Table, Value, table, units};
use crate::tables::entry_rows::EntryRows;
use crate::tables::ranking;
use crate::tables::references::{self, Wanted};

use super::{inrefs, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "ID [FROM.. | FROM..TO]",
    example: "entries @123",
    ..Command::new("entries", include_str!("../../verbs/entries.md"), Group::Objects, run)
};

/// Entries that are yet to be shown.
#[derive(Clone)]
struct Listing {
    heap: Arc<Heap>,
    object: ObjectId,
    wanted: Wanted,
    found: Arc<Entries>,
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let (name, wanted) = Wanted::of_words(&COMMAND, &words)?;
    if let Some(by) = wanted.by {
        return Err(COMMAND.refuses(&format!("by {by}")));
    }
    let (snapshot, object) = references::object(ask, name)?;
    let heap = ask.heap(snapshot)?;
    let found = heap.entries(object, usize::MAX, &ask.meter())?.ok_or_else(|| {
        QueryError::usage(format!(
            "the type of @{object} does not say where entries are; `info @{object}` has its fields"
        ))
    })?;
    Listing { heap, object, wanted, found: Arc::new(found) }.answer(ask)
}

/// Adds the number of elements that are null.
pub(super) fn with_nulls(answer: Answer, found: &Entries) -> Answer {
    let answer = answer.fact(Column::count("null_elements").for_machines(), found.nulls);
    match found.nulls {
        None | Some(0) => answer,
        Some(1) => answer.note("1 element is null, and left out"),
        Some(nulls) => answer.note(format!("{} elements are null, and left out", units::grouped(nulls))),
    }
}

impl Listing {
    /// The next page.
    fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let total = self.found.entries.len() as u64;
        self.wanted.pass(ask.view.skip);
        let start = self.wanted.from.min(total);
        self.wanted.from = start + self.wanted.page(ask, total) as u64;
        let page = &self.found.entries[start as usize..self.wanted.from as usize];
        let (mut answer, objects) = self.table(ask, page)?;
        if total == 0 && self.found.are_known {
            answer = answer.note("it holds nothing");
        } else if total > 0 && page.is_empty() {
            answer = answer.note(format!("its entries have the numbers 0 to {}", total - 1));
        }
        answer = answer.note_if(!self.found.are_known, "there may be more: the recording does not tell everything");
        if self.found.has_more {
            answer = answer.cut(format!("only the first {} entries are told", units::grouped(total)));
        }
        answer = with_nulls(answer, &self.found);
        let snapshot = self.heap.snapshot();
        let listed = objects.into_iter().map(|object| (snapshot, object.unwrap_or(self.object))).collect();
        let about = (self.wanted, total, COMMAND.name, self.object);
        Ok(inrefs::page(ask, answer, listed, about, move |ask| self.clone().answer(ask)))
    }

    /// A row for each entry, and the objects in the rows, if they are objects.
    fn table(&self, ask: &Ask, page: &[Entry]) -> Result<(Answer, Vec<Option<ObjectId>>), QueryError> {
        let heap = &self.heap;
        let EntryRows { table: Table { columns, rows, .. }, objects } = EntryRows::of(heap, page, &ask.meter())?;
        let asked = heap.ask_dominators(&ask.meter(), |dominators| {
            let retained = rows.iter().map(|row| match row[3] {
                Value::Number(id) => {
                    let id = ObjectId(u32::try_from(id).unwrap_or(u32::MAX));
                    dominators.is_reachable(id).then(|| dominators.retained_bytes(id))
                }
                _ => None,
            });
            Ok::<_, QueryError>((retained.collect::<Vec<_>>(), dominators.is_exact()))
        });
        let (retained, is_exact) = asked?;
        let first = ask.listed_before() + 1;
        let table = table!("rows", rows.into_iter().zip(retained).enumerate(), |(at, (row, retained))| {
            ask.context.check()?;
            Column::row_number() => ask.row_number(first + at),
            ..columns => row,
            ranking::retained_column(is_exact) => retained,
        });
        let count = Some(self.found.entries.len()).filter(|_| self.found.are_known && !self.found.has_more);
        let answer = Answer::default()
            .of_snapshot(heap.snapshot().0)
            .fact(Column::object("object"), self.object.0)
            .fact(Column::count("entries"), count)
            .table(table);
        Ok((answer.with_exactness(is_exact), objects))
    }
}
