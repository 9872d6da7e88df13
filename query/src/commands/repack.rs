//! `repack`: the recording anew, snapshots as differences.

use barrow_analyzer::SerialOrigin;
use barrow_rewrite::RepackOptions;

use crate::sources::destination::Destination;

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "-o DST [--level N] [--force]",
    example: "repack -o small.barrow",
    flags: &["-o", "--level", "--force"],
    touches: Touches::RECORDING.with(Touches::WRITES_FILES),
    ..Command::new("repack", include_str!("../../verbs/repack.md"), Group::File, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let flags = &ask.arguments.flags;
    let destination = Destination::new(flags.output.as_deref(), flags.force, recording.path().as_slice())?;
    let options = flags.level.map_or_else(RepackOptions::default, |level| RepackOptions { level });
    // It replaces the destination itself, when the new file is complete.
    let repacked = barrow_rewrite::repack(&recording, destination.path(), options, &ask.meter())?;
    let answer = Answer::default()
        .fact(Column::text("written"), destination.shown())
        .fact(Column::bytes("length_bytes"), repacked.bytes)
        .fact(Column::bytes("before_bytes"), recording.length_bytes())
        .table(table!("snapshots", &repacked.snapshots, |snapshot| {
            let pairing = snapshot.pairing;
            Column::number("snapshot") => snapshot.snapshot.0,
            Column::number("base") => snapshot.base.map(|base| base.0),
            Column::bytes("stored_bytes") => snapshot.stored_bytes,
            Column::count("objects") => snapshot.objects,
            Column::count("paired") => pairing.map(|pairing| pairing.pairs),
            Column::share("confidence") => pairing.map(|pairing| Value::Share(pairing.confidence())),
        }));
    Ok(Reply::aside(match repacked.origin {
        SerialOrigin::Runtime => answer,
        SerialOrigin::Matched | SerialOrigin::Repacked => {
            answer.note("the runtime gave no serials: objects were matched with those of the snapshot before")
        }
    }))
}
