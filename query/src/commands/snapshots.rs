//! `snapshots`: what the recording holds.

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;

use super::{Command, Group};

pub(super) const COMMAND: Command = Command {
    aliases: &["ls"],
    ..Command::new("snapshots", include_str!("../../verbs/snapshots.md"), Group::Snapshots, run)
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
        Column::text("selected").called("").for_people(),
        Column::number("snapshot"),
        Column::text("label"),
        Column::number("gc_number").called("collection"),
        Column::duration("time_ns"),
        Column::count("objects"),
        Column::count("blocks"),
        Column::bytes("stored_bytes"),
    ];
    let answer =
        Answer::default().table(Table { key: "snapshots", audience: Audience::Everyone, columns, rows }).exact();
    Ok(if none { answer.note("this recording holds no whole snapshot") } else { answer }.into())
}
