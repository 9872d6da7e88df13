//! `assert`: checks statements about a recording, for CI.

use std::fs;

use barrow_analyzer::SnapshotId;

use crate::arguments::Arguments;
use crate::assertion::input::{assertions_of, judge};
use crate::assertion::junit;
use crate::assertion::measure::MEASURES;
use crate::assertion::{self, Assertion, Judged, junit_cases};

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "ASSERTION..",
    example: "assert 'retained(type = \"Cache\") < 64M'",
    flags: &["--from", "--allow", "--baseline", "--junit", "--min", "--classes"],
    completion: Completion::Expressions,
    fill: with_measures,
    ..Command::new("assert", include_str!("../../verbs/assert.md"), Group::Alive, run)
};

/// Puts the documents of measures, by subject, in the places of their marks.
fn with_measures(text: String) -> String {
    let subjects = ["objects", "processes", "trials"].into_iter().zip(MEASURES.iter());
    subjects.fold(text, |text, (subject, measures)| {
        let documents: Vec<&str> = measures.iter().map(|measure| &*measure.document).collect();
        text.replace(&format!("{{measures of {subject}}}"), &documents.join(" "))
    })
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let assertions = assertions(ask, &ask.arguments)?;
    let mut judge = judge(ask, &ask.arguments)?;
    let judged = assertions.iter().map(|assertion| Judged::new(&mut judge, ask, assertion));
    let judged = judged.collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &ask.arguments.flags.junit {
        let suite = ask.file().map_or("", |file| file.name.as_str());
        let xml = junit::document(suite, &junit_cases(&judged));
        fs::write(path, xml).map_err(|error| QueryError::file(path, error))?;
    }
    let mut answer = assertion::answer(&judged);
    answer.lost = judge.baseline.and_then(|baseline| Some(format!("{}: {}", baseline.file, baseline.damage?)));
    Ok(answer.into())
}

/// Parses the assertions of the line and of `--from`.
fn assertions(state: &State, arguments: &Arguments) -> Result<Vec<Assertion>, QueryError> {
    // A recording of processes or trials need not hold a snapshot.
    let snapshot = match state.snapshot() {
        Err(QueryError::NoSnapshot) if state.recording()?.has_processes() || state.recording()?.has_measurements() => {
            SnapshotId(0)
        }
        snapshot => snapshot?,
    };
    let assertions = assertions_of(state, snapshot, &arguments.assertions(), arguments)?;
    if assertions.is_empty() {
        return Err(QueryError::usage(format!("what should hold? `{}`", COMMAND.example)));
    }
    Ok(assertions)
}
