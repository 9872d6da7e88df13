//! `histogram`: all types or kinds of a snapshot.

use barrow_analyzer::{Recording, SnapshotId, summary};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::error::ReplError;
use crate::kinds::Kinds;
use crate::ranking::{self, Order};
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "histogram",
    aliases: &["histo"],
    group: Group::Snapshots,
    arguments: "[by type|kind]",
    about: "Objects and sizes of every type, or of every kind",
    details: "The whole table, the largest shallow size first; at the prompt page by page.",
    example: "histogram by kind",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Rankings,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let recording = session.recording()?;
    let snapshot = session.snapshot()?;
    let words = arguments.words();
    let answer = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["by", "type"] => {
            let types = ranking::types(&recording, snapshot, &Kinds::default(), Order::Size)?;
            ranking::answer(recording.tables()?, snapshot, &types, Order::Size)
        }
        ["by", "kind"] => by_kind(&recording, snapshot)?,
        ["by", word, ..] | [word, ..] => return Err(COMMAND.refuses(word)),
    };
    session.listed.clear();
    let rows = session.page_rows();
    Ok(more::first_page(session, answer, rows))
}

fn by_kind(recording: &Recording, snapshot: SnapshotId) -> Result<Answer, ReplError> {
    let tables = recording.tables()?;
    let mut kinds = summary(recording, snapshot)?.kinds;
    kinds.sort_by_key(|kind| (std::cmp::Reverse(kind.heap_bytes), kind.kind));
    let whole = kinds.iter().map(|kind| kind.heap_bytes).sum();
    let rows = kinds.iter().map(|kind| {
        vec![
            Value::text(tables.kind_name(kind.kind)),
            kind.objects.into(),
            kind.heap_bytes.into(),
            kind.unmanaged_bytes.into(),
            Value::share(kind.heap_bytes, whole),
        ]
    });
    let table = Table { key: "rows", audience: Audience::Everyone, columns: kind_columns(), rows: rows.collect() };
    Ok(Answer::default().fact(Column::new("snapshot", "snapshot", Unit::Number), snapshot.0).table(table).exact())
}

/// The columns of a row per kind.
pub(super) fn kind_columns() -> Vec<Column> {
    vec![
        Column::new("kind", "kind", Unit::Text),
        Column::new("objects", "objects", Unit::Count),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
        Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes),
        Column::new("share", "share", Unit::Share).for_people(),
    ]
}
