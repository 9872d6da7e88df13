//! Repairing a recording: a new file with every complete snapshot, and an index.

use std::collections::HashMap;
use std::path::Path;

use barrow_analyzer::raw::{Frames, is_table};
use barrow_analyzer::{AnalyzerError, LostSnapshot, Problem, Recording, Threads, verify};
use barrow_format::SnapshotId;
use barrow_format::commit::Commit;
use barrow_format::frame::{Frame, SectionType};
use barrow_progress::Progress;

use crate::copy::{refuse_same_file, write_anew};
use crate::error::Result;

/// The result of a repair.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Repaired {
    /// Snapshots that were kept, by number.
    pub kept: Vec<KeptSnapshot>,
    /// Snapshots that were committed and could not be kept, by number.
    pub lost: Vec<LostSnapshot>,
    /// Other parts left out: parts that all snapshots share, and places where more may be lost.
    pub left_out: Vec<LeftOut>,
    /// Damage or unfinished parts without loss of committed data, a sentence each.
    pub harmless: Vec<String>,
    /// Length of the new file, in bytes; `None` if none was written, since nothing could be kept.
    pub bytes: Option<u64>,
}

/// A snapshot that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSnapshot {
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// Its label.
    pub label: Option<String>,
    /// Number of its objects.
    pub objects: u64,
    /// The reason why its threads were left out, if they were.
    pub lost_threads: Option<LeftOut>,
}

/// A part that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Offset of the damage in the file, in bytes, if known.
    pub offset: Option<u64>,
    /// The part that is lost, or may be, and the reason.
    pub cause: String,
}

impl LeftOut {
    fn of(error: &AnalyzerError, what: &str) -> Self {
        let offset = if let AnalyzerError::Section { offset, .. } = error { Some(*offset) } else { None };
        LeftOut { offset, cause: format!("{what}: {error}") }
    }
}

impl Repaired {
    /// Whether any committed data is lost, or may be.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty() || !self.left_out.is_empty() || self.kept.iter().any(|kept| kept.lost_threads.is_some())
    }

    /// Every part that was left out, a sentence each.
    #[must_use]
    pub fn dropped(&self) -> Vec<String> {
        let lost = self.lost.iter().map(|lost| format!("left out {lost}: {}", lost.cause));
        let threads = self.kept.iter().filter_map(|kept| {
            let cause = &kept.lost_threads.as_ref()?.cause;
            Some(format!("left out of snapshot {}: {cause}", kept.snapshot))
        });
        lost.chain(threads).chain(self.left_out.iter().map(|left_out| left_out.cause.clone())).collect()
    }
}

/// Verifies `recording` and writes the complete parts to `destination`, which is replaced when the new file is
/// complete. Snapshots keep their numbers. If there are snapshots and none can be kept, nothing is written.
///
/// # Errors
/// [`SameFile`](crate::RewriteError::SameFile), [`Io`](crate::RewriteError::Io),
/// [`Cancelled`](crate::RewriteError::Cancelled), or the tables cannot be read.
pub fn repair(recording: &Recording, destination: &Path, progress: &dyn Progress) -> Result<Repaired> {
    refuse_same_file(recording, destination)?;
    let mut repaired = Repaired::default();
    let rescanned = match Frames::of(recording).table_problem() {
        None => None,
        Some(error) => {
            let what = "rows of shared tables, such as allocation sites, from the damage on";
            repaired.left_out.push(LeftOut::of(&error, what));
            Some(Frames::of(recording).rescanned(error.to_string())?)
        }
    };
    let recording = rescanned.as_ref().unwrap_or(recording);
    repaired.judge_damage(recording);
    repaired.judge_snapshots(recording, progress)?;
    let has_logs = recording.has_processes() || recording.has_measurements();
    if repaired.kept.is_empty() && !has_logs && (recording.damage().is_some() || repaired.has_lost()) {
        return Ok(repaired);
    }
    let bytes = write_anew(recording, recording.uuid(), destination, |copy| {
        copy.tables()?;
        repaired.kept.iter().try_for_each(|kept| copy.snapshot(kept.snapshot, kept.lost_threads.is_none()))
    })?;
    repaired.bytes = Some(bytes);
    Ok(repaired)
}

impl Repaired {
    /// Adds the losses of a file without a complete index.
    fn judge_damage(&mut self, recording: &Recording) {
        let Some(damage) = recording.damage() else { return };
        self.lost
            .extend(damage.lost.iter().cloned().map(|lost| LostSnapshot { label: label_of(recording, &lost), ..lost }));
        if let Some(offset) = damage.suspect_offset {
            let cause = format!("later snapshots may be lost: what begins at byte {offset} cannot be read");
            self.left_out.push(LeftOut { offset: Some(offset), cause });
        }
        let tail = damage.file_length.saturating_sub(damage.committed_end);
        if self.left_out.iter().any(|left_out| left_out.cause.contains(&damage.reason)) {
            return;
        }
        self.harmless.push(match tail {
            _ if self.has_lost() => damage.reason.clone(),
            0 => format!("{}; nothing follows the last snapshot", damage.reason),
            tail => format!("{}; {tail} bytes after the last commit belong to no snapshot", damage.reason),
        });
    }

    /// Decides for each snapshot whether it is kept. Problems in threads affect only these.
    fn judge_snapshots(&mut self, recording: &Recording, progress: &dyn Progress) -> Result<()> {
        let verification = verify(recording, progress)?;
        let damage = recording.damage().map(ToString::to_string);
        let frames = Frames::of(recording);
        let mut problem_of: HashMap<SnapshotId, &Problem> = HashMap::new();
        for problem in &verification.problems {
            match problem.snapshot {
                Some(id) if frames.commit(id).is_ok_and(|commit| commit.threads.contains(&problem.offset)) => {}
                Some(id) => drop(problem_of.entry(id).or_insert(problem)),
                None if damage.as_ref() == Some(&problem.message) => {}
                None => self.judge_shared(recording, problem),
            }
        }
        for id in recording.snapshot_ids() {
            let base = || frames.commit(id).map(|commit| Some(SnapshotId(commit.patched.as_ref()?.base)));
            match problem_of.get(&id) {
                Some(problem) => self.lose(recording, id, Some(problem.offset), problem.message.clone()),
                None => match base()?.filter(|base| !self.kept.iter().any(|kept| kept.snapshot == *base)) {
                    Some(base) => {
                        let cause = format!("it is stored as the difference to snapshot {base}, which is lost");
                        self.lose(recording, id, frames.commit_offset(id).ok(), cause);
                    }
                    None => self.keep(recording, id)?,
                },
            }
        }
        self.lost.sort_by_key(|lost| lost.snapshot);
        Ok(())
    }

    /// Adds a problem that belongs to no snapshot. An index has every commit, so a frame that it does not have was not
    /// committed, unless it is a commit or a table itself.
    fn judge_shared(&mut self, recording: &Recording, problem: &Problem) {
        let section = Frame::parse(Frames::of(recording).bytes(), problem.offset).map(|frame| frame.header.section);
        if section.is_ok_and(|section| section == SectionType::COMMIT || is_table(section)) {
            let (offset, cause) = (Some(problem.offset), problem.message.clone());
            self.left_out.push(LeftOut { offset, cause });
        } else {
            self.harmless.push(problem.message.clone());
        }
    }

    fn keep(&mut self, recording: &Recording, snapshot: SnapshotId) -> Result<()> {
        let info = recording.snapshot(snapshot)?;
        let threads = Threads::read(recording, snapshot);
        let lost_threads = threads.err().map(|error| LeftOut::of(&error, "its threads"));
        self.kept.push(KeptSnapshot { snapshot, label: info.label, objects: info.totals.objects, lost_threads });
        Ok(())
    }

    fn lose(&mut self, recording: &Recording, snapshot: SnapshotId, offset: Option<u64>, cause: String) {
        let label = recording.snapshot(snapshot).ok().and_then(|info| info.label);
        self.lost.push(LostSnapshot { snapshot, last: snapshot, label, offset, cause });
    }
}

/// The label of a snapshot whose commit cannot be used, if it can be read.
fn label_of(recording: &Recording, lost: &LostSnapshot) -> Option<String> {
    let frame = Frames::of(recording).frame(SectionType::COMMIT, Some(lost.snapshot), lost.offset?).ok()?;
    let label = frame.body().and_then(Commit::parse).ok()?.label?;
    let tables = recording.tables().ok()?;
    (label.index() < tables.string_count()).then(|| tables.string(label).to_owned())
}
