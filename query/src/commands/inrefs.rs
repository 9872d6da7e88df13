//! `inrefs`: who refers to an object.

use std::sync::Arc;

use barrow_analyzer::{Heap, ObjectId, Referrers};

use crate::answer::{Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::references::{self, Wanted};
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "inrefs",
    aliases: &["in", "retainers"],
    group: Group::Objects,
    arguments: "ID [by type | FROM.. | FROM..TO]",
    about: "The incoming references of an object, weak ones too",
    details: "A row for each reference, in the order of the objects at which they start. `inrefs %3` continues with \
              the object of row 3. ID is written as for `info`; references are counted from 0, as for `show`. `by \
              type` adds them up by the types of the objects at which they start. The first question reads all \
              references of the snapshot. The second one transposes them, so that later ones are quick.",
    example: "inrefs @123",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
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
                Value::name(tables, source.name),
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
            answer = answer.fact(Column::new("more_rows", "", Unit::Count).for_machines(), left);
        }
        let reply = Reply::from(answer).listing_page(ask, listed).skipping(ask.view.skip.is_some());
        Ok(if left > 0 { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::new("source", "source", Unit::Object),
        Column::new("type", "type", Unit::Text),
        Column::new("name", "name", Unit::Text),
        Column::new("kind", "kind", Unit::Text),
        Column::new("label", "reference", Unit::Text),
        Column::new("strength", "strength", Unit::Text),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
    ]
}
