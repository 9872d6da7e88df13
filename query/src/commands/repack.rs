//! `repack`: the recording anew, snapshots as differences.

use barrow_analyzer::SerialOrigin;
use barrow_rewrite::{RepackOptions, Repacked, RepackedSnapshot};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::sources::destination::Destination;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "repack",
    aliases: &[],
    group: Group::File,
    arguments: "-o DST [--level N] [--force]",
    about: "Writes the recording again, with snapshots as differences",
    details: "The file becomes several times smaller. It also says which object is which in all snapshots: by the \
              serials of the runtime, or by matching snapshots with each other. Objects get new numbers. N is the \
              level of zstd (default 9). An existing DST is replaced only with `--force`.",
    example: "repack -o small.barrow",
    flags: &["-o", "--level", "--force"],
    subject: Subject::Recording,
    touches: Touches::RECORDING.with(Touches::WRITES_FILES),
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
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
        .fact(Column::new("written", "written", Unit::Text), destination.shown())
        .fact(Column::new("length_bytes", "length", Unit::Bytes), repacked.bytes)
        .fact(Column::new("before_bytes", "before", Unit::Bytes), recording.length_bytes())
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
        Column::new("snapshot", "snapshot", Unit::Number),
        Column::new("base", "base", Unit::Number),
        Column::new("stored_bytes", "stored", Unit::Bytes),
        Column::new("objects", "objects", Unit::Count),
        Column::new("paired", "paired", Unit::Count),
        Column::new("confidence", "confidence", Unit::Share),
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
