//! `inrefs`: who refers to an object.

use std::sync::Arc;

use barrow_analyzer::{Heap, ObjectId, Referrers};

use crate::answer::{Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::label;
use crate::tables::references::{self, Wanted};

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    aliases: &["in", "retainers"],
    arguments: "ID [by type | FROM.. | FROM..TO]",
    example: "inrefs @123",
    ..Command::new("inrefs", include_str!("../../verbs/inrefs.md"), Group::Objects, run)
};

/// References that are yet to be shown.
#[derive(Clone)]
pub(crate) struct Incoming {
    heap: Arc<Heap>,
    object: ObjectId,
    referrers: Arc<Referrers>,
    wanted: Wanted,
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let (name, wanted) = Wanted::of_words(&COMMAND, &words)?;
    let (snapshot, object) = references::object(ask, name)?;
    let heap = ask.heap(snapshot)?;
    if !wanted.by_type {
        let referrers = Arc::new(heap.referrers(object, &ask.meter())?);
        return Incoming { heap, object, referrers, wanted }.answer(ask);
    }
    let types = heap.incoming_by_type(object, &ask.meter())?;
    let is_empty = types.is_empty();
    let (answer, listed) = references::by_type(&heap, object, types)?;
    let answer = if is_empty { answer.note("nothing refers to it") } else { answer };
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

impl Incoming {
    /// The next page.
    pub(super) fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let total = self.referrers.count();
        self.wanted.pass(ask.view.skip);
        let most = self.wanted.page(ask, total);
        let found = self.heap.incoming_page(&self.referrers, self.wanted.from, most)?;
        self.wanted.from = self.wanted.from.saturating_add(most as u64);
        let tables = self.heap.recording().tables()?;
        let (snapshot, first) = (self.heap.snapshot(), ask.listed_before() + 1);
        let rows = found.iter().enumerate().map(|(at, reference)| {
            let source = &reference.source;
            vec![
                ask.row_number(first + at),
                source.id.0.into(),
                Value::text(tables.type_title(source.type_id)),
                label::name(tables, source.name),
                Value::text(tables.kind_name(tables.type_kind(source.type_id))),
                references::label(tables, reference.label),
                references::strength(tables, reference.strength),
                source.shallow_bytes.into(),
            ]
        });
        let table =
            Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows: ask.context.collect(rows)? };
        let mut answer = references::about(snapshot, self.object, total).table(table);
        let listed = found.iter().map(|reference| (snapshot, reference.source.id)).collect();
        if total == 0 {
            answer = answer.note("nothing refers to it");
        } else if most == 0 {
            answer = answer.note(format!("the references to it have the numbers 0 to {}", total - 1));
        }
        answer.all_rows = Some(self.wanted.all(total));
        let left = self.wanted.left(total);
        if left > 0 && ask.view.is_whole {
            answer.goes_on = true;
        } else if left > 0 {
            answer = answer.cut(references::rest_note(ask, COMMAND.name, self.object, self.wanted.from, left));
            answer = answer.fact(Column::count("more_rows").for_machines(), left);
        }
        let reply = Reply::from(answer).listing_page(ask, listed).skipping(ask.view.skip.is_some());
        Ok(if left > 0 { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::object("source"),
        Column::text("type"),
        Column::text("name"),
        Column::text("kind"),
        Column::text("label").called("reference"),
        Column::text("strength"),
        Column::bytes("shallow_bytes"),
    ]
}
