//! `show`: what an object refers to.

use barrow_analyzer::{ObjectId, SnapshotId, objects, outgoing_page};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::Session;
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
pub(crate) struct References {
    snapshot: SnapshotId,
    object: ObjectId,
    wanted: Wanted,
}

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let words = arguments.words();
    let (name, wanted) = Wanted::of_words(&COMMAND, &words)?;
    let (snapshot, object) = references::object(session, name)?;
    if !wanted.by_type {
        session.listed.clear();
        return References { snapshot, object, wanted }.answer(session);
    }
    let heap = session.heap(snapshot)?;
    let types = heap.outgoing_by_type(object, &session.meter())?;
    let is_empty = types.is_empty();
    let answer = references::by_type(session, &heap, object, types)?;
    let rows = session.page_rows();
    Ok(more::first_page(session, if is_empty { answer.note("it refers to nothing") } else { answer }, rows))
}

impl References {
    /// The next page.
    pub(super) fn answer(mut self, session: &mut Session) -> Result<Answer, QueryError> {
        let (recording, heap) = (session.recording()?, session.heap(self.snapshot)?);
        self.wanted.pass(session.take_skip());
        let most = self.wanted.page(session, u64::MAX);
        let (mut found, total) = outgoing_page(&recording, self.snapshot, self.object, self.wanted.from, most)?;
        self.wanted.from = self.wanted.from.saturating_add(found.len() as u64);
        let before = found.len();
        found.retain(|reference| heap.has_reference(self.object, reference));
        let gone = before - found.len();
        let targets: Vec<ObjectId> = found.iter().map(|reference| reference.target).collect();
        let details = objects(&recording, self.snapshot, &targets)?;
        let tables = recording.tables()?;
        let lines = held::lines_of(&heap, &details, &session.meter())?;
        let first = session.listed.len() + 1;
        let rows = found.iter().zip(&details).enumerate().map(|(at, (reference, target))| {
            vec![
                session.row_number(first + at),
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
        let table = Table {
            key: "rows",
            audience: Audience::Everyone,
            columns: columns(),
            rows: session.context.collect(rows)?,
        };
        let mut answer = references::about(self.snapshot, self.object, total).table(table);
        session.list(self.snapshot, targets);
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
        if left > 0 && session.whole {
            answer.goes_on = true;
            session.more = Some(Box::new(move |session| self.answer(session)));
        } else if left > 0 {
            answer = answer.cut(references::rest_note(session, COMMAND.name, self.object, self.wanted.from, left));
            answer = answer.fact(Column::new("more_rows", "", Unit::Count).for_machines(), left);
            session.more = Some(Box::new(move |session| self.answer(session)));
        }
        Ok(answer)
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
