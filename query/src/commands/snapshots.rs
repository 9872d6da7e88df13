//! `snapshots`: what the recording holds.

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    aliases: &["ls"],
    ..Command::new("snapshots", include_str!("../../verbs/snapshots.md"), Group::Snapshots, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let selected = ask.snapshot().ok();
    let table = table!("snapshots", recording.snapshot_ids(), |id| {
        let info = recording.snapshot(id)?;
        Column::text("selected").own_words().called("").for_people() => (selected == Some(id)).then_some("*"),
        Column::number("snapshot") => id.0,
        Column::text("label").names() => info.label,
        Column::number("gc_number").called("collection") => info.gc_number,
        Column::duration("time_ns") => info.time_ns,
        Column::count("objects") => info.totals.objects,
        Column::count("blocks") => info.blocks,
        Column::bytes("stored_bytes") => info.stored_bytes,
    });
    let note = table.rows.is_empty().then(|| "this recording holds no whole snapshot".to_owned());
    Ok(Answer::default().table(table).exact().lines(note).into())
}
