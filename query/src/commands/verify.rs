//! `verify`: decodes and checks the whole file.

use std::time::Duration;

use barrow_analyzer::{Problem, Verification, verify};

use super::prelude::*;

/// Number of problems that people are shown: about a screen. Machines get all.
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
    // All of them for machines, the first for people.
    let shown = &verification.problems[..verification.problems.len().min(SHOWN_PROBLEMS)];
    let left = verification.problems.len() - shown.len();
    let mut answer = Answer::default()
        .fact(Column::text("sound").own_words().for_machines(), sound)
        .table(snapshots(&verification))
        .table(problems(&verification.problems).for_readers(Audience::Machines))
        .table(problems(shown).for_readers(Audience::People))
        .lines((left > 0).then(|| format!("… and {}", units::counted(left as u64, "more problem"))))
        .note(verdict(&verification, damaged))
        .note(rate(&verification, elapsed))
        .exact();
    answer.outcome = if sound { Outcome::Answered } else { Outcome::DamageFound };
    Ok(answer.into())
}

fn snapshots(verification: &Verification) -> Table {
    table!("snapshots", &verification.snapshots, |snapshot| {
        let result = match snapshot.problems {
            0 => "ok".to_owned(),
            many => units::counted(many as u64, "problem"),
        };
        Column::number("snapshot") => snapshot.snapshot.0,
        Column::count("objects") => snapshot.totals.objects,
        Column::count("references") => snapshot.totals.references,
        Column::count("roots") => snapshot.totals.roots,
        Column::count("blocks") => snapshot.blocks,
        Column::count("problems").for_machines() => snapshot.problems,
        Column::text("result").own_words().for_people() => result,
    })
}

fn problems(problems: &[Problem]) -> Table {
    table!("problems", problems, |problem| {
        Column::number("snapshot") => problem.snapshot.map(|snapshot| snapshot.0),
        Column::number("offset") => problem.offset,
        Column::text("problem") => problem.message.as_str(),
    })
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
    let [objects, references] =
        [verification.objects, verification.references].map(|count| units::rounded(count as f64 / seconds.max(1e-6)));
    format!("took {seconds:.2} s: {objects} objects/s, {references} references/s")
}
