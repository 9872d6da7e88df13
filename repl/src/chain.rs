//! A shortest path from a root as a chain of arrows and objects, where it is part of a longer answer.

use barrow_analyzer::{Heap, ObjectId, PathOptions, Step};

use crate::answer::Value;
use crate::error::ReplError;
use crate::label;
use crate::progress::Meter;
use crate::units;

/// Steps that people see of a longer chain: those at its end.
const SHOWN_STEPS: usize = 12;
/// Steps that machines get of a longer one.
const MOST_STEPS: usize = 100;

/// The objects from a root to one that was asked for, or the last of many.
pub(crate) struct Chain {
    /// How many there are in all.
    length: usize,
    steps: Vec<Link>,
}

/// An object with the arrow that leads to it.
struct Link {
    arrow: String,
    object: ObjectId,
    title: String,
}

impl Chain {
    /// The chain to an object; empty if no root reaches it.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn to(heap: &Heap, object: ObjectId, meter: &Meter) -> Result<Self, ReplError> {
        let tables = heap.recording().tables()?;
        let paths = heap.paths(object, &PathOptions::default(), meter)?;
        let Some(path) = paths.first() else { return Ok(Chain { length: 0, steps: Vec::new() }) };
        let length = path.objects.len();
        let first = length.saturating_sub(MOST_STEPS);
        let link = |(at, step): (usize, Step)| Link {
            arrow: match at {
                0 => format!("--[ {} ]-->", tables.string(path.root.category)),
                _ => label::arrow(tables, step.reference),
            },
            object: step.object.id,
            title: tables.type_title(step.object.type_id),
        };
        let steps = (first..).zip(heap.steps(path, first..length)?).map(link).collect();
        Ok(Chain { length, steps })
    }

    /// A line for each step, or for the last of many.
    pub(crate) fn lines(&self) -> Vec<String> {
        let skipped = self.length.saturating_sub(SHOWN_STEPS);
        let gap = (skipped > 0).then(|| format!("… {} …", units::counted(skipped as u64, "step")));
        let shown = &self.steps[self.steps.len().saturating_sub(SHOWN_STEPS)..];
        let line = |link: &Link| format!("{} {} @{}", link.arrow, link.title, link.object);
        gap.into_iter().chain(shown.iter().map(line)).collect()
    }

    /// The objects, for machines.
    pub(crate) fn value(&self) -> Value {
        let step = |link: &Link| {
            let title = Value::text(&link.title);
            Value::Record(vec![("object".to_owned(), link.object.0.into()), ("type".to_owned(), title)])
        };
        Value::List(self.steps.iter().map(step).collect())
    }
}

/// The type of an object.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn title(heap: &Heap, object: ObjectId) -> Result<String, ReplError> {
    let types = heap.types_of(&[object], &barrow_analyzer::Silent)?;
    let tables = heap.recording().tables()?;
    Ok(types.first().map(|&type_id| tables.type_title(type_id)).unwrap_or_default())
}

/// The type and the number of an object: `Cache @12`.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn titled(heap: &Heap, object: ObjectId) -> Result<String, ReplError> {
    Ok(format!("{} @{object}", title(heap, object)?))
}
