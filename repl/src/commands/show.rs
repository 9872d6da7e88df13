//! `show`: what an object refers to.

use barrow_analyzer::{Label, ObjectId, Reference, SnapshotId, StrengthId, Tables, objects, outgoing};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::error::ReplError;
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, More, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "show",
    aliases: &["out", "refs"],
    group: Group::Objects,
    arguments: "ID",
    about: "The outgoing references of an object, in their order",
    details: "ID is written as for `info`. `show %3` follows the reference in row 3.",
    example: "show @123",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Nothing,
    run,
};

/// References that are yet to be shown.
pub(crate) struct References {
    snapshot: SnapshotId,
    object: ObjectId,
    rest: Vec<Reference>,
}

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let words = arguments.words();
    let (snapshot, object) = match &words[..] {
        [] => return Err(ReplError::usage("which object? `show @123`, or `show %3` for row 3 of the last table")),
        [name] => session.object(name)?,
        [_, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let recording = session.recording()?;
    let rest = outgoing(&recording, snapshot, object)?;
    session.listed.clear();
    References { snapshot, object, rest }.answer(session)
}

impl References {
    /// The next page.
    pub(super) fn answer(mut self, session: &mut Session) -> Result<Answer, ReplError> {
        let recording = session.recording()?;
        let count = session.page_rows().min(self.rest.len());
        let later = self.rest.split_off(count);
        let targets: Vec<ObjectId> = self.rest.iter().map(|reference| reference.target).collect();
        let details = objects(&recording, self.snapshot, &targets)?;
        let tables = recording.tables()?;
        let first = session.listed.len() + 1;
        let rows = self.rest.iter().zip(&details).enumerate().map(|(at, (reference, target))| {
            vec![
                Value::from(first + at),
                label(tables, reference.label),
                strength(tables, reference.strength),
                reference.target.0.into(),
                Value::text(tables.type_title(target.type_id)),
                Value::text(tables.kind_name(tables.type_kind(target.type_id))),
                target.shallow_bytes.into(),
            ]
        });
        let table = Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows: rows.collect() };
        let mut answer = Answer::default()
            .fact(Column::new("snapshot", "snapshot", Unit::Number), self.snapshot.0)
            .fact(Column::new("object", "object", Unit::Object), self.object.0)
            .table(table)
            .exact();
        session.listed.extend(targets.into_iter().map(|target| (self.snapshot, target)));
        if first == 1 && count == 0 {
            answer = answer.note("it refers to nothing");
        }
        if !later.is_empty() {
            answer = answer.note(more::more_note(session, later.len()));
            session.more = Some(More::References(References { rest: later, ..self }));
        }
        Ok(answer)
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("row", "%", Unit::Number).for_people(),
        Column::new("label", "reference", Unit::Text),
        Column::new("strength", "strength", Unit::Text),
        Column::new("target", "target", Unit::Object),
        Column::new("type", "type", Unit::Text),
        Column::new("kind", "kind", Unit::Text),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
    ]
}

/// A name, or a place like `[3]`.
fn label(tables: &Tables, label: Label) -> Value {
    match label {
        Label::Unknown => Value::None,
        Label::Index(index) => Value::Text(format!("[{index}]")),
        Label::Name(name) => Value::text(tables.string(name)),
    }
}

/// Nothing for an ordinary reference: only others are worth a word.
fn strength(tables: &Tables, strength: StrengthId) -> Value {
    if strength == StrengthId(0) { Value::None } else { Value::text(tables.strength_name(strength)) }
}
