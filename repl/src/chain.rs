//! A shortest path from a root as a chain of arrows and objects, where it is part of a longer answer.

use barrow_analyzer::{Heap, ObjectId, PathOptions};

use crate::answer::Value;
use crate::error::ReplError;
use crate::label;
use crate::progress::Meter;
use crate::units;

/// Steps that are shown of a longer chain: those at its end.
const SHOWN_STEPS: usize = 12;

/// The objects from a root to one that was asked for, each with the arrow that leads to it.
pub(crate) struct Chain(Vec<(String, ObjectId)>);

impl Chain {
    /// The chain to an object; empty if no root reaches it.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn to(heap: &Heap, object: ObjectId, meter: &Meter) -> Result<Self, ReplError> {
        let tables = heap.recording().tables()?;
        let paths = heap.paths(object, &PathOptions::default(), meter)?;
        let Some(path) = paths.first() else { return Ok(Chain(Vec::new())) };
        let root = format!("--[ {} ]-->", tables.string(path.root.category));
        let arrow = |(at, step): (usize, &barrow_analyzer::Step)| {
            let arrow = if at == 0 { root.clone() } else { label::arrow(tables, step.reference) };
            (arrow, step.object)
        };
        Ok(Chain(path.steps.iter().enumerate().map(arrow).collect()))
    }

    /// A line for each step, or for the last of many.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn lines(&self, heap: &Heap) -> Result<Vec<String>, ReplError> {
        let skipped = self.0.len().saturating_sub(SHOWN_STEPS);
        let mut lines = Vec::new();
        if skipped > 0 {
            lines.push(format!("… {} …", units::counted(skipped as u64, "step")));
        }
        for (arrow, object) in &self.0[skipped..] {
            lines.push(format!("{arrow} {}", titled(heap, *object)?));
        }
        Ok(lines)
    }

    /// The objects, for machines.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn value(&self, heap: &Heap) -> Result<Value, ReplError> {
        let step = |(_, object): &(String, ObjectId)| {
            let title = Value::Text(title(heap, *object)?);
            Ok(Value::Record(vec![("object".to_owned(), object.0.into()), ("type".to_owned(), title)]))
        };
        Ok(Value::List(self.0.iter().map(step).collect::<Result<_, ReplError>>()?))
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
