//! `snapshots`: what the recording holds.

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "snapshots",
    aliases: &["ls"],
    group: Group::Snapshots,
    arguments: "",
    about: "The snapshots of the recording, with the selected one marked",
    details: "`stored` is the size of a snapshot in the file.",
    example: "snapshots",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let selected = ask.snapshot().ok();
    let mut rows = Vec::new();
    for id in recording.snapshot_ids() {
        let info = recording.snapshot(id)?;
        rows.push(vec![
            if selected == Some(id) { Value::text("*") } else { Value::None },
            id.0.into(),
            info.label.into(),
            info.gc_number.into(),
            info.time_ns.into(),
            info.totals.objects.into(),
            info.blocks.into(),
            info.stored_bytes.into(),
        ]);
    }
    let none = rows.is_empty();
    let columns = vec![
        Column::new("selected", "", Unit::Text).for_people(),
        Column::new("snapshot", "snapshot", Unit::Number),
        Column::new("label", "label", Unit::Text),
        Column::new("gc_number", "collection", Unit::Number),
        Column::new("time_ns", "time", Unit::Duration),
        Column::new("objects", "objects", Unit::Count),
        Column::new("blocks", "blocks", Unit::Count),
        Column::new("stored_bytes", "stored", Unit::Bytes),
    ];
    let answer =
        Answer::default().table(Table { key: "snapshots", audience: Audience::Everyone, columns, rows }).exact();
    Ok(if none { answer.note("this recording holds no whole snapshot") } else { answer }.into())
}
