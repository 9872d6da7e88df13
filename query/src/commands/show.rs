//! `show`: what an object refers to.

use barrow_analyzer::{ObjectId, SnapshotId, objects, outgoing_page};

use crate::answer::{Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::held;
use crate::tables::label;
use crate::tables::references::{self, Wanted};

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    aliases: &["out", "refs"],
    arguments: "ID [by type | FROM.. | FROM..TO]",
    example: "show @123",
    ..Command::new("show", include_str!("../../verbs/show.md"), Group::Objects, run)
};

/// References that are yet to be shown.
#[derive(Clone)]
pub(crate) struct References {
    snapshot: SnapshotId,
    object: ObjectId,
    wanted: Wanted,
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let (name, wanted) = Wanted::of_words(&COMMAND, &words)?;
    let (snapshot, object) = references::object(ask, name)?;
    if !wanted.by_type {
        return References { snapshot, object, wanted }.answer(ask);
    }
    let heap = ask.heap(snapshot)?;
    let types = heap.outgoing_by_type(object, &ask.meter())?;
    let is_empty = types.is_empty();
    let (answer, listed) = references::by_type(&heap, object, types)?;
    let answer = if is_empty { answer.note("it refers to nothing") } else { answer };
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

impl References {
    /// The next page.
    pub(super) fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let (recording, heap) = (ask.recording()?, ask.heap(self.snapshot)?);
        self.wanted.pass(ask.view.skip);
        let most = self.wanted.page(ask, u64::MAX);
        let (mut found, total) = outgoing_page(&recording, self.snapshot, self.object, self.wanted.from, most)?;
        self.wanted.from = self.wanted.from.saturating_add(found.len() as u64);
        let before = found.len();
        found.retain(|reference| heap.has_reference(self.object, reference));
        let gone = before - found.len();
        let targets: Vec<ObjectId> = found.iter().map(|reference| reference.target).collect();
        let details = objects(&recording, self.snapshot, &targets)?;
        let tables = recording.tables()?;
        let lines = held::lines_of(&heap, &details, &ask.meter())?;
        let first = ask.listed_before() + 1;
        let rows = found.iter().zip(&details).enumerate().map(|(at, (reference, target))| {
            vec![
                ask.row_number(first + at),
                references::label(tables, reference.label),
                references::strength(tables, reference.strength),
                reference.target.0.into(),
                Value::text(tables.type_title(target.type_id)),
                label::name(tables, target.name),
                lines.get(&target.id).cloned().into(),
                Value::text(tables.kind_name(tables.type_kind(target.type_id))),
                target.shallow_bytes.into(),
            ]
        });
        let table =
            Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows: ask.context.collect(rows)? };
        let mut answer = references::about(self.snapshot, self.object, total).table(table);
        let listed = targets.into_iter().map(|target| (self.snapshot, target)).collect();
        if total == 0 {
            answer = answer.note("it refers to nothing");
        } else if before == 0 {
            answer = answer.note(format!("its references have the numbers 0 to {}", total - 1));
        }
        if gone > 0 {
            answer = answer
                .note(format!("… {} to what is excluded", crate::answer::units::counted(gone as u64, "reference")));
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
        Column::text("label").called("reference"),
        Column::text("strength"),
        Column::object("target"),
        Column::text("type"),
        Column::text("name"),
        Column::text("line"),
        Column::text("kind"),
        Column::bytes("shallow_bytes"),
    ]
}
