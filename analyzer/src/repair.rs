//! Repairing a recording: a new file with every snapshot that is whole, and an index.

use std::collections::HashMap;
use std::path::Path;

use barrow_format::SnapshotId;
use barrow_format::header::PATCHES;

use crate::copy::{refuse_same_file, write_anew};
use crate::error::{AnalyzerError, Result};
use crate::progress::Progress;
use crate::recording::Recording;
use crate::threads::Threads;
use crate::verify::{Problem, verify};

/// What a repaired recording holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// Snapshots that were kept.
    pub snapshots: u32,
    /// Length of the new file, in bytes.
    pub bytes: u64,
    /// What was left out, a sentence each.
    pub dropped: Vec<String>,
}

/// Verifies `recording` and writes what is whole to `destination`, which is replaced when all of it
/// is there. Snapshots keep their numbers.
///
/// # Errors
/// [`SameFile`](crate::AnalyzerError::SameFile), [`Io`](crate::AnalyzerError::Io),
/// [`Cancelled`](crate::AnalyzerError::Cancelled), or that not even the tables can be read.
pub fn repair(recording: &Recording, destination: &Path, progress: &dyn Progress) -> Result<Repaired> {
    refuse_same_file(recording, destination)?;
    let rescanned = match table_problem(recording) {
        None => None,
        Some(error) => Some(recording.rescanned(error.to_string())?),
    };
    let recording = rescanned.as_ref().unwrap_or(recording);
    let mut dropped: Vec<String> = recording.damage().map(ToString::to_string).into_iter().collect();
    let mut kept = Vec::new();
    for id in whole_snapshots(recording, progress, &mut dropped)? {
        let threads = Threads::read(recording, id);
        kept.push((id, threads.is_ok()));
        dropped.extend(threads.err().map(|error| format!("left out the threads of snapshot {id}: {error}")));
    }

    let header = recording.header();
    let bytes = write_anew(recording, destination, header.incompatible_features & PATCHES != 0, |copy| {
        copy.tables()?;
        kept.iter().try_for_each(|&(id, with_threads)| copy.snapshot(id, with_threads))
    })?;
    Ok(Repaired { snapshots: u32::try_from(kept.len()).unwrap_or(u32::MAX), bytes, dropped })
}

/// What is wrong with the tables, all of which a copy holds.
fn table_problem(recording: &Recording) -> Option<AnalyzerError> {
    match recording.sites().and_then(|_| recording.tables()) {
        Ok(tables) => tables.string_problems().into_iter().next(),
        Err(error) => Some(error),
    }
}

/// The snapshots without any problem but in their threads; the others are reported.
fn whole_snapshots(
    recording: &Recording,
    progress: &dyn Progress,
    dropped: &mut Vec<String>,
) -> Result<Vec<SnapshotId>> {
    let verification = verify(recording, progress)?;
    let mut problem_of = HashMap::new();
    let of_threads = |problem: &&Problem| {
        problem.snapshot.is_some_and(|id| recording.contents().threads_of(id).any(|offset| offset == problem.offset))
    };
    for problem in verification.problems.iter().filter(|problem| !of_threads(problem)) {
        problem_of.entry(problem.snapshot).or_insert(problem);
    }
    let mut kept = Vec::new();
    for id in recording.snapshot_ids() {
        match problem_of.get(&Some(id)) {
            None => match recording.commit(id)?.patched.as_ref().map(|patched| SnapshotId(patched.base)) {
                Some(base) if !kept.contains(&base) => {
                    dropped.push(format!(
                        "left out snapshot {id}: it is the difference to snapshot {base}, which is lost"
                    ));
                }
                _ => kept.push(id),
            },
            Some(problem) => dropped.push(format!("left out {problem}")),
        }
    }
    Ok(kept)
}
