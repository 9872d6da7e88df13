//! `repair`: a clean recording of what is whole.

use barrow_analyzer::{Recording, SnapshotId};
use barrow_rewrite::Repaired;

use crate::sources::destination::Destination;

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "-o DST [--force]",
    example: "repair -o whole.barrow",
    flags: &["-o", "--force"],
    touches: Touches::RECORDING.with(Touches::WRITES_FILES),
    ..Command::new("repair", include_str!("../../verbs/repair.md"), Group::File, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let flags = &ask.arguments.flags;
    let destination = Destination::new(flags.output.as_deref(), flags.force, recording.path().as_slice())?;
    // It replaces the destination itself, when the new file is complete.
    let repaired = barrow_rewrite::repair(&recording, destination.path(), &ask.meter())?;
    let mut answer = Answer::default()
        .fact(Column::text("written"), repaired.bytes.map(|_| destination.shown()))
        .fact(Column::count("snapshots"), repaired.kept.len())
        .fact(Column::bytes("length_bytes"), repaired.bytes)
        .fact(Column::text("is_whole").own_words().for_machines(), !repaired.has_lost())
        .fact(Column::nested("dropped").for_machines(), texts(&repaired.dropped()))
        .fact(Column::nested("harmless").for_machines(), texts(&repaired.harmless))
        .table(table(&repaired))
        .lines(repaired.harmless.iter().map(|sentence| format!("not whole: {sentence}")));
    let verdict = verdict(&recording, &repaired, destination.shown());
    answer.outcome = outcome(&repaired);
    if answer.outcome == Outcome::Saved {
        answer = answer.note(verdict);
    } else {
        answer.lost = Some(verdict);
    }
    Ok(Reply::aside(answer))
}

fn texts(sentences: &[String]) -> Value {
    Value::List(sentences.iter().map(Value::text).collect())
}

fn outcome(repaired: &Repaired) -> Outcome {
    match repaired.bytes {
        None => Outcome::NothingKept,
        Some(_) if repaired.has_lost() => Outcome::Lost,
        Some(_) => Outcome::Saved,
    }
}

/// The fate of a snapshot, or of something else that was left out.
#[derive(Default)]
struct Fate<'r> {
    snapshot: Option<SnapshotId>,
    /// The last one, if there are several.
    last: Option<SnapshotId>,
    label: Option<&'r str>,
    objects: Option<u64>,
    result: &'static str,
    offset: Option<u64>,
    cause: Option<&'r str>,
}

/// A row for each snapshot, by number; then one for everything else that was left out.
fn table(repaired: &Repaired) -> Table {
    let kept = repaired.kept.iter().map(|kept| Fate {
        snapshot: Some(kept.snapshot),
        label: kept.label.as_deref(),
        objects: Some(kept.objects),
        result: if kept.lost_threads.is_some() { "kept in part" } else { "kept" },
        offset: kept.lost_threads.as_ref().and_then(|lost| lost.offset),
        cause: kept.lost_threads.as_ref().map(|lost| lost.cause.as_str()),
        ..Fate::default()
    });
    let lost = repaired.lost.iter().map(|lost| Fate {
        snapshot: Some(lost.snapshot),
        last: (lost.last != lost.snapshot).then_some(lost.last),
        label: lost.label.as_deref(),
        result: "lost",
        offset: lost.offset,
        cause: Some(&lost.cause),
        ..Fate::default()
    });
    let mut fates: Vec<Fate<'_>> = kept.chain(lost).collect();
    fates.sort_by_key(|fate| fate.snapshot);
    fates.extend(repaired.left_out.iter().map(|left_out| Fate {
        result: "left out",
        offset: left_out.offset,
        cause: Some(&left_out.cause),
        ..Fate::default()
    }));
    table!("results", fates, |fate| {
        Column::number("snapshot") => fate.snapshot.map(|snapshot| snapshot.0),
        Column::number("last_snapshot").called("to") => fate.last.map(|last| last.0),
        Column::text("label").names() => fate.label,
        Column::count("objects") => fate.objects,
        Column::text("result").own_words() => fate.result,
        Column::number("offset").called("at byte") => fate.offset,
        Column::text("cause") => fate.cause,
    })
}

/// What was kept, in words: of processes and trials, which are not counted, that there are some.
fn kept(recording: &Recording, repaired: &Repaired) -> String {
    let logs = [(recording.has_processes(), "processes"), (recording.has_measurements(), "trials")];
    let logs = logs.into_iter().filter(|(is_there, _)| *is_there).map(|(_, logs)| logs.to_owned());
    let mut kept: Vec<String> = logs.collect();
    if !repaired.kept.is_empty() || kept.is_empty() {
        kept.insert(0, units::counted(repaired.kept.len() as u64, "snapshot"));
    }
    kept.join(" and ")
}

/// One sentence about all of it.
fn verdict(recording: &Recording, repaired: &Repaired, written: &str) -> String {
    let kept = kept(recording, repaired);
    let dropped = repaired.dropped().join("; ");
    match (repaired.bytes, repaired.has_lost()) {
        (None, false) => format!("no snapshot was ever committed: nothing to keep, so {written} was not written"),
        (None, true) => format!("no snapshot could be kept, so {written} was not written: {dropped}"),
        (Some(_), true) => format!("{kept} kept; {dropped}"),
        (Some(_), false) if repaired.harmless.is_empty() => {
            format!("the recording was whole: {kept} kept, nothing lost")
        }
        (Some(_), false) => format!("{kept} kept; nothing that was committed is lost, as far as the file tells"),
    }
}
