//! Assertions and their judge, from words, flags and files.

use std::fs;
use std::path::Path;

use barrow_analyzer::SnapshotId;

use super::{Assertion, Judge, Scope, judge::Baseline};
use crate::arguments::Arguments;
use crate::assertion;
use crate::error::QueryError;
use crate::flags::SnapshotName;
use crate::language::asked;
use crate::language::operand::{Compared, Operand};
use crate::session::state::State;
use crate::sources::opening::{self, OpenFile};

/// Parses these assertions and those of `--from`, about `snapshot` unless they name another.
///
/// # Errors
/// A usage error with the place; a file that cannot be read.
pub(crate) fn assertions_of(
    state: &State,
    snapshot: SnapshotId,
    texts: &[String],
    arguments: &Arguments,
) -> Result<Vec<Assertion>, QueryError> {
    // `watch` reads assertions before there is a recording.
    let recording = state.file().map(|file| &file.recording);
    let has_processes = recording.is_some_and(|recording| recording.has_processes());
    let has_snapshots = recording.is_some_and(|recording| recording.snapshot_ids().next().is_some());
    let only_processes = has_processes && !has_snapshots;
    let has_trials = recording.is_some_and(|recording| recording.has_measurements());
    let only_trials = has_trials && !has_processes && !has_snapshots;
    let (objects, processes) = (state.scope(snapshot), asked::Scope { state, flags: &arguments.flags });
    let scope = Scope { objects: &objects, processes: &processes, has_processes, only_trials, only_processes };
    let mut assertions = texts.iter().map(|text| Assertion::parse(text, &scope)).collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &arguments.flags.from {
        let text = read(path)?;
        let lines = (1..).zip(text.lines().map(str::trim));
        for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let place = |error| QueryError::usage(format!("{}, line {number}: {error}", path.display()));
            assertions.push(Assertion::parse(line, &scope).map_err(place)?);
        }
    }
    Ok(assertions)
}

fn read(path: &Path) -> Result<String, QueryError> {
    fs::read_to_string(path).map_err(|error| QueryError::unreadable(path.display(), error))
}

/// A judge with the baseline and the known leaks of the flags.
///
/// # Errors
/// A file that cannot be read; a line of `--allow` that is no fingerprint.
pub(crate) fn judge(state: &State, arguments: &Arguments) -> Result<Judge, QueryError> {
    let mut judge = Judge::default();
    judge.flags = arguments.flags.clone();
    if let Some(name) = &arguments.flags.baseline {
        judge.baseline = Some(baseline(state, name)?);
    }
    if let Some(path) = &arguments.flags.allow {
        let known = assertion::fingerprints(&read(path)?);
        judge.allowed = known.map_err(|error| QueryError::usage(format!("{}: {}", path.display(), error.message)))?;
    }
    Ok(judge)
}

/// Opens `FILE` or `FILE:3`; a number is a snapshot of the open recording. A file with processes or trials need not hold
/// a snapshot.
fn baseline(state: &State, name: &str) -> Result<Baseline, QueryError> {
    let file = || Operand::Other(name.to_owned(), SnapshotName::Last);
    let operand = Operand::named(name, &|_| false).unwrap_or_else(file);
    if let Operand::Other(file, SnapshotName::Last) = &operand {
        let OpenFile { name, recording, damage, .. } = opening::open(file, &state.context)?;
        if recording.has_processes() || recording.has_measurements() {
            let snapshot = recording.snapshot_ids().next_back();
            return Ok(Baseline { file: name, recording, snapshot, damage });
        }
    }
    let Compared { file, recording, snapshot, damage } = operand.look_up(state, "assert")?;
    Ok(Baseline { file, recording, snapshot: Some(snapshot), damage })
}
