//! `repack`: the recording anew, snapshots as differences.

use barrow_analyzer::SerialOrigin;
use barrow_rewrite::{RepackOptions, Repacked, RepackedSnapshot};

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::sources::destination::Destination;
use crate::touches::Touches;

use super::{Command, Group};

pub(super) const COMMAND: Command = Command {
    arguments: "-o DST [--level N] [--force]",
    example: "repack -o small.barrow",
    flags: &["-o", "--level", "--force"],
    touches: Touches::RECORDING.with(Touches::WRITES_FILES),
    ..Command::new("repack", include_str!("../../verbs/repack.md"), Group::File, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let destination = Destination::new(
        ask.arguments.flags.output.as_deref(),
        ask.arguments.flags.force,
        recording.path().as_slice(),
    )?;
    let options = ask.arguments.flags.level.map_or_else(RepackOptions::default, |level| RepackOptions { level });
    // It replaces the destination itself, when the new file is complete.
    let repacked = barrow_rewrite::repack(&recording, destination.path(), options, &ask.meter())?;
    let answer = Answer::default()
        .fact(Column::text("written"), destination.shown())
        .fact(Column::bytes("length_bytes"), repacked.bytes)
        .fact(Column::bytes("before_bytes"), recording.length_bytes())
        .table(table(&repacked));
    Ok(match repacked.origin {
        SerialOrigin::Runtime => Reply::aside(answer),
        SerialOrigin::Matched | SerialOrigin::Repacked => {
            let note = "the runtime gave no serials: objects were matched with those of the snapshot before";
            Reply::aside(answer.note(note))
        }
    })
}

/// How each snapshot is stored.
fn table(repacked: &Repacked) -> Table {
    let columns = vec![
        Column::number("snapshot"),
        Column::number("base"),
        Column::bytes("stored_bytes"),
        Column::count("objects"),
        Column::count("paired"),
        Column::share("confidence"),
    ];
    let row = |snapshot: &RepackedSnapshot| {
        let pairing = snapshot.pairing;
        vec![
            snapshot.snapshot.0.into(),
            snapshot.base.map(|base| u64::from(base.0)).into(),
            snapshot.stored_bytes.into(),
            snapshot.objects.into(),
            pairing.map(|pairing| pairing.pairs).into(),
            pairing.map_or(Value::None, |pairing| Value::Share(pairing.confidence())),
        ]
    };
    let rows = repacked.snapshots.iter().map(row).collect();
    Table { key: "snapshots", audience: Audience::Everyone, columns, rows }
}
