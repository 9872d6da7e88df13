//! `snapshot`: selects one.

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::{Change, Reply};
use crate::error::QueryError;
use crate::flags::SnapshotName;
use crate::language::selection;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "snapshot",
    aliases: &["use"],
    group: Group::Snapshots,
    arguments: "[N | last]",
    about: "Selects the snapshot that questions are about, and describes it",
    details: "Without an argument it describes the selected snapshot. In the beginning the last one is selected.",
    example: "snapshot 0",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING.with(Touches::SESSION),
    asks_for_totals: None,
    completion: Completion::Snapshots,
    run,
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let named = match &ask.arguments.words()[..] {
        [] => None,
        [word] => {
            let name: SnapshotName = word.parse().map_err(QueryError::usage)?;
            Some(name)
        }
        [_, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let info = recording.snapshot(selection::one(named.unwrap_or(ask.selected), &ask.snapshots()?)?)?;
    let answer = Answer::default()
        .of_snapshot(info.id)
        .fact(Column::new("label", "label", Unit::Text), info.label)
        .fact(Column::new("gc_number", "collection", Unit::Number), info.gc_number)
        .fact(Column::new("time_ns", "time", Unit::Duration), info.time_ns)
        .fact(Column::new("objects", "objects", Unit::Count), info.totals.objects)
        .fact(Column::new("references", "references", Unit::Count), info.totals.references)
        .fact(Column::new("roots", "roots", Unit::Count), info.totals.roots)
        .fact(Column::new("stored_bytes", "stored", Unit::Bytes), info.stored_bytes)
        .exact();
    let reply = Reply::aside(with_pairs(answer, "key_values", info.key_values));
    Ok(named.map(Change::Selected).into_iter().fold(reply, Reply::changing))
}

/// Adds what the recorder noted: an object for machines, a table for people.
pub(super) fn with_pairs(answer: Answer, key: &'static str, pairs: Vec<(String, String)>) -> Answer {
    let columns = vec![Column::new("key", "key", Unit::Text), Column::new("value", "value", Unit::Text)];
    let rows = pairs.iter().map(|(key, value)| vec![Value::text(key), Value::text(value)]).collect();
    let record = pairs.into_iter().map(|(key, value)| (key, Value::Text(value))).collect();
    answer.fact(Column::new(key, "", Unit::Nested).for_machines(), Value::Record(record)).table(Table {
        key,
        audience: Audience::People,
        columns,
        rows,
    })
}
