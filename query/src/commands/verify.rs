//! `verify`: decodes and checks the whole file.

use std::time::Duration;

use barrow_analyzer::{Problem, Verification, verify};

use crate::answer::units;
use crate::answer::{Answer, Audience, Column, Outcome, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;

use super::{Command, Group};

/// How many problems people are shown.
const SHOWN_PROBLEMS: usize = 20;

pub(super) const COMMAND: Command = Command::new("verify", include_str!("../../verbs/verify.md"), Group::File, run);

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let meter = ask.meter();
    let verification = verify(&recording, &meter)?;
    let elapsed = meter.elapsed();
    drop(meter);
    let damaged = ask.file().is_some_and(|file| file.damage.is_some());
    let sound = verification.problems.is_empty() && !damaged;
    let mut answer = Answer::default()
        .fact(Column::text("sound").for_machines(), Value::Flag(sound))
        .table(snapshots(&verification));
    answer = problems(answer, &verification.problems);
    answer = answer.note(verdict(&verification, damaged)).note(rate(&verification, elapsed)).exact();
    answer.outcome = if sound { Outcome::Answered } else { Outcome::DamageFound };
    Ok(answer.into())
}

fn snapshots(verification: &Verification) -> Table {
    let columns = vec![
        Column::number("snapshot"),
        Column::count("objects"),
        Column::count("references"),
        Column::count("roots"),
        Column::count("blocks"),
        Column::count("problems").for_machines(),
        Column::text("result").for_people(),
    ];
    let rows = verification.snapshots.iter().map(|snapshot| {
        vec![
            snapshot.snapshot.0.into(),
            snapshot.totals.objects.into(),
            snapshot.totals.references.into(),
            snapshot.totals.roots.into(),
            snapshot.blocks.into(),
            snapshot.problems.into(),
            match snapshot.problems {
                0 => Value::text("ok"),
                many => Value::Text(units::counted(many as u64, "problem")),
            },
        ]
    });
    Table { key: "snapshots", audience: Audience::Everyone, columns, rows: rows.collect() }
}

/// All of them for machines, the first for people.
fn problems(answer: Answer, problems: &[Problem]) -> Answer {
    let columns = vec![Column::number("snapshot"), Column::number("offset"), Column::text("problem")];
    let row = |problem: &Problem| {
        vec![problem.snapshot.map(|snapshot| snapshot.0).into(), problem.offset.into(), Value::text(&problem.message)]
    };
    let table = |audience, problems: &[Problem]| Table {
        key: "problems",
        audience,
        columns: columns.clone(),
        rows: problems.iter().map(row).collect(),
    };
    let shown = &problems[..problems.len().min(SHOWN_PROBLEMS)];
    let answer = answer.table(table(Audience::Machines, problems)).table(table(Audience::People, shown));
    match problems.len() - shown.len() {
        0 => answer,
        more => answer.note(format!("… and {}", units::counted(more as u64, "more problem"))),
    }
}

fn verdict(verification: &Verification, damaged: bool) -> String {
    let blocks = units::counted(verification.blocks, "block");
    let whole = format!("{blocks}, {}", units::size(verification.stored_bytes));
    match verification.problems.len() {
        0 if damaged => format!("every committed snapshot is sound ({whole}), but the file is not whole"),
        0 => format!("the recording is sound: {whole}"),
        many => format!("{} in {whole}", units::counted(many as u64, "problem")),
    }
}

fn rate(verification: &Verification, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let per_second = |count: u64| units::rounded(count as f64 / seconds.max(1e-6));
    format!(
        "took {seconds:.2} s: {} objects/s, {} references/s",
        per_second(verification.objects),
        per_second(verification.references)
    )
}
