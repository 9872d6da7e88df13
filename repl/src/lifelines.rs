//! When objects were born and died, as `born`, `died`, `survived`, `age` and `survival` tell it.

use std::sync::Arc;

use barrow_analyzer::{Between, ObjectSet, SerialOrigin, SnapshotId};

use crate::answer::{Answer, Column, Unit, Value};
use crate::error::ReplError;
use crate::ranking::{self, Order};
use crate::selection;
use crate::session::{Arguments, Session};

/// Says what an answer rests on: serials of the runtime, or matches.
pub(crate) fn with_origin(answer: Answer, origin: SerialOrigin, confidence: Option<f64>) -> Answer {
    let (name, note) = match origin {
        SerialOrigin::Runtime => ("runtime", None),
        SerialOrigin::Repacked => {
            ("matched when repacked", Some("by matching snapshots when they were repacked".to_owned()))
        }
        SerialOrigin::Matched => {
            let sure = confidence.map_or_else(String::new, |sure| {
                format!("; {:.1} % of the references of matched objects agree", 100.0 * sure)
            });
            ("matched", Some(format!("by matching snapshots{sure}")))
        }
    };
    let answer = answer
        .fact(Column::new("serials", "", Unit::Text).for_machines(), name)
        .fact(Column::new("matching_confidence", "", Unit::Share).for_machines(), confidence.map(Value::Share));
    match note {
        None => answer.exact(),
        Some(note) => {
            let mut answer = answer.note(format!("objects are known again {note}: an estimate"));
            answer.exactness = Some("estimate");
            answer
        }
    }
}

/// Lifelines are those of all objects.
///
/// # Errors
/// A usage error if something is thought away.
pub(crate) fn refuse_without(session: &Session) -> Result<(), ReplError> {
    match session.away.is_empty() {
        true => Ok(()),
        false => Err(ReplError::usage("lifelines are those of all objects; `without clear` first")),
    }
}

/// Reads `A..B` and compares the two snapshots, object by object.
///
/// # Errors
/// A usage error for other words, or if A is not before B; those of the analyzer.
pub(crate) fn between(
    session: &Session,
    arguments: &Arguments,
    verb: &str,
) -> Result<(SnapshotId, SnapshotId, Between), ReplError> {
    refuse_without(session)?;
    let usage = || ReplError::usage(format!("`{verb}` takes two snapshots of the recording, like `{verb} 0..last`"));
    let words = arguments.words();
    let [word] = &words[..] else { return Err(usage()) };
    if !word.contains("..") {
        return Err(usage());
    }
    let snapshots = selection::several(&words, &session.snapshots()?)?;
    let [earlier, .., later] = snapshots[..] else { return Err(usage()) };
    let between = Between::of(&*session.recording()?, earlier, later, &session.meter())?;
    Ok((earlier, later, between))
}

/// The types of a set of objects, the largest first. The set becomes the last result.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn by_type(session: &mut Session, set: ObjectSet) -> Result<Answer, ReplError> {
    let heap = session.heap(set.snapshot())?;
    let meter = session.meter();
    let totals = heap.type_totals_of(&set, &meter)?;
    let types = ranking::ranked(&totals, Order::Size);
    let answer = ranking::answer(&heap, &types, Order::Size, &meter)?;
    session.sets.set_last(Arc::new(set));
    session.listed.clear();
    Ok(answer)
}
