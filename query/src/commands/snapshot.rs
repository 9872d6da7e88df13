//! `snapshot`: selects one.

use crate::answer::{Answer, Audience, Column, Fact, Value, table};
use crate::flags::SnapshotName;
use crate::language::selection;

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    aliases: &["use"],
    arguments: "[N | last]",
    example: "snapshot 0",
    touches: Touches::RECORDING.with(Touches::SESSION),
    completion: Completion::Snapshots,
    ..Command::new("snapshot", include_str!("../../verbs/snapshot.md"), Group::Snapshots, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let [word] = COMMAND.words(&ask.arguments)?;
    let named = word.map(|word| word.parse::<SnapshotName>()).transpose().map_err(QueryError::usage)?;
    let info = recording.snapshot(selection::one(named.unwrap_or(ask.selected), &ask.snapshots()?)?)?;
    let answer = Answer::default()
        .of_snapshot(info.id.0)
        .fact(Column::text("label").names(), info.label)
        .fact(Column::number("gc_number").called("collection"), info.gc_number)
        .fact(Column::duration("time_ns"), info.time_ns)
        .fact(Column::count("objects"), info.totals.objects)
        .fact(Column::count("references"), info.totals.references)
        .fact(Column::count("roots"), info.totals.roots)
        .fact(Column::bytes("stored_bytes"), info.stored_bytes)
        .exact();
    let reply = Reply::aside(with_pairs(answer, "key_values", info.key_values));
    Ok(named.map(Change::Selected).into_iter().fold(reply, Reply::changing))
}

/// Adds what the recorder noted: an object for machines, a table for people.
pub(super) fn with_pairs(answer: Answer, key: &'static str, pairs: Vec<(String, String)>) -> Answer {
    let table = table!(key, &pairs, |(key, value)| {
        Column::text("key").names() => key.as_str(),
        Column::text("value") => value.as_str(),
    });
    let record = pairs.iter().map(|(key, value)| Fact::noted(key, value)).collect();
    answer.fact(Column::nested(key).for_machines(), Value::Record(record)).table(table.for_readers(Audience::People))
}
