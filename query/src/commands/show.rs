//! `show`: what an object refers to.

use barrow_analyzer::{ObjectId, SnapshotId, objects, outgoing_page};

use crate::answer::{Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::held;
use crate::tables::references::{self, Wanted};
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "show",
    aliases: &["out", "refs"],
    group: Group::Objects,
    arguments: "ID [by type | FROM.. | FROM..TO]",
    about: "The outgoing references of an object, in their order",
    details: "ID is written as for `info`. `show %3` follows the reference in row 3. References are counted from 0: \
              `show @123 1000..` begins with number 1000, `show @123 1000..1999` ends with 1999. `by type` adds them \
              up by the types of their targets: references, different objects, their shallow size, and an example.",
    example: "show @123",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
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
                Value::name(tables, target.name),
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
            answer = answer.fact(Column::new("more_rows", "", Unit::Count).for_machines(), left);
        }
        let reply = Reply::from(answer).listing_page(ask, listed).skipping(ask.view.skip.is_some());
        Ok(if left > 0 { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::new("label", "reference", Unit::Text),
        Column::new("strength", "strength", Unit::Text),
        Column::new("target", "target", Unit::Object),
        Column::new("type", "type", Unit::Text),
        Column::new("name", "name", Unit::Text),
        Column::new("line", "line", Unit::Text),
        Column::new("kind", "kind", Unit::Text),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
    ]
}
