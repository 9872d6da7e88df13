//! Several dumps in one file, from a program that appends each to the one before: they are a series.

use super::Lines;
use crate::context::Outcome;
use crate::error::{Damage, Stop};

/// Imports the dumps that begin at `starts`, in order. `import` returns the part that its dump lacks. `missing` names
/// the part that a dump without a snapshot lacks.
pub(crate) fn import_each<'d>(
    lines: &Lines<'d>,
    starts: &[usize],
    missing: &'static str,
    outcome: &mut Outcome,
    mut import: impl FnMut(&mut Lines<'d>, &mut Outcome) -> Result<Result<(), Damage>, Stop>,
) {
    let mut lost = None;
    for (number, &start) in (0..).zip(starts) {
        let mut part = lines.part(start, starts.get(number as usize + 1).copied());
        let (before, imported) = (outcome.notes.len(), outcome.snapshots.len());
        let end = match import(&mut part, outcome) {
            Ok(end) => end,
            Err(stop) => {
                outcome.end = Err(stop.in_snapshot(number));
                return;
            }
        };
        let is_empty = outcome.snapshots.len() == imported;
        let without_objects = is_empty.then(|| Damage::Unfinished { length: part.length(), missing });
        // The first loss is reported as that of the whole file, the others as notes.
        match part.lost().or(end.err()).or(without_objects) {
            of_part @ Some(_) if lost.is_none() => lost = of_part,
            Some(further) => outcome.notes.push(further.to_string()),
            None => {}
        }
        for note in &mut outcome.notes[before..] {
            *note = format!("heap dump {}: {note}", number + 1);
        }
    }
    outcome.end = lost.map_or(Ok(()), |lost| Err(outcome.cut(lost)));
}
