//! `repair`: a clean recording of what is whole.

use barrow_analyzer::LostSnapshot;
use barrow_rewrite::{KeptSnapshot, Repaired};

use crate::answer::units;
use crate::answer::{Answer, Audience, Column, Outcome, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::sources::destination::Destination;
use crate::touches::Touches;

use super::{Command, Group};

pub(super) const COMMAND: Command = Command {
    arguments: "-o DST [--force]",
    example: "repair -o whole.barrow",
    flags: &["-o", "--force"],
    touches: Touches::RECORDING.with(Touches::WRITES_FILES),
    ..Command::new("repair", include_str!("../../verbs/repair.md"), Group::File, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let destination = Destination::new(
        ask.arguments.flags.output.as_deref(),
        ask.arguments.flags.force,
        recording.path().as_slice(),
    )?;
    // It replaces the destination itself, when the new file is complete.
    let repaired = barrow_rewrite::repair(&recording, destination.path(), &ask.meter())?;
    let dropped = repaired.dropped().iter().map(Value::text).collect();
    let written = repaired.bytes.map(|_| destination.shown());
    let mut answer = Answer::default()
        .fact(Column::text("written"), written)
        .fact(Column::count("snapshots"), repaired.kept.len())
        .fact(Column::bytes("length_bytes"), repaired.bytes)
        .fact(Column::text("is_whole").for_machines(), Value::Flag(!repaired.has_lost()))
        .fact(Column::nested("dropped").for_machines(), Value::List(dropped))
        .fact(Column::nested("harmless").for_machines(), texts(&repaired.harmless))
        .table(table(&repaired));
    answer = repaired.harmless.iter().fold(answer, |answer, sentence| answer.note(format!("not whole: {sentence}")));
    let verdict = verdict(&repaired, destination.shown());
    let is_lost = repaired.has_lost() || repaired.bytes.is_none();
    (answer.lost, answer.outcome) = (is_lost.then(|| verdict.clone()), outcome(&repaired));
    Ok(Reply::aside(if is_lost { answer } else { answer.note(verdict) }))
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

/// What became of every snapshot, by number; then what else was left out.
fn table(repaired: &Repaired) -> Table {
    let columns = vec![
        Column::number("snapshot"),
        Column::number("last_snapshot").called("to"),
        Column::text("label"),
        Column::count("objects"),
        Column::text("result"),
        Column::number("offset").called("at byte"),
        Column::text("cause"),
    ];
    let kept = repaired.kept.iter().map(|kept| (kept.snapshot, kept_row(kept)));
    let lost = repaired.lost.iter().map(|lost| (lost.snapshot, lost_row(lost)));
    let mut numbered: Vec<_> = kept.chain(lost).collect();
    numbered.sort_by_key(|(snapshot, _)| *snapshot);
    let mut rows: Vec<Vec<Value>> = numbered.into_iter().map(|(_, row)| row).collect();
    rows.extend(repaired.left_out.iter().map(|left_out| {
        let [snapshot, last, label, objects] = [Value::None, Value::None, Value::None, Value::None];
        let (offset, cause) = (left_out.offset.into(), Value::text(&left_out.cause));
        vec![snapshot, last, label, objects, Value::text("left out"), offset, cause]
    }));
    Table { key: "results", audience: Audience::Everyone, columns, rows }
}

fn kept_row(kept: &KeptSnapshot) -> Vec<Value> {
    let (result, lost) = match &kept.lost_threads {
        None => ("kept", None),
        Some(lost) => ("kept in part", Some(lost)),
    };
    vec![
        kept.snapshot.0.into(),
        Value::None,
        kept.label.clone().into(),
        kept.objects.into(),
        Value::text(result),
        lost.and_then(|lost| lost.offset).into(),
        lost.map(|lost| lost.cause.clone()).into(),
    ]
}

fn lost_row(lost: &LostSnapshot) -> Vec<Value> {
    vec![
        lost.snapshot.0.into(),
        (lost.last != lost.snapshot).then_some(lost.last.0).into(),
        lost.label.clone().into(),
        Value::None,
        Value::text("lost"),
        lost.offset.into(),
        Value::text(&lost.cause),
    ]
}

/// One sentence about all of it.
fn verdict(repaired: &Repaired, written: &str) -> String {
    let kept = units::counted(repaired.kept.len() as u64, "snapshot");
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
