//! A shortest path from a root as a chain of arrows and objects, where it is part of a longer answer.
//!
//! ```text
//!   --[ sticky class ]--> class Jobs @12            the root's end is always there
//!   --[ queue ]--> Node @40
//!   --[ next ]--> Node ×59,984                      objects of one type below each other are one step
//!   --[ next ]--> Node @60024
//!   --[ load ]--> byte[] @60025
//! ```

use std::ops::Range;

use barrow_analyzer::{Heap, KindRole, ObjectId, Path, PathOptions, Silent, Step, StringId, Tables, TypeId, objects};

use crate::answer::{Column, Fact, Value, units};
use crate::error::QueryError;
use crate::progress::Meter;
use crate::tables::label;

/// Objects of one type in a row that are shown one by one; of more, the first and the last.
const LONGEST_RUN: usize = 4;
/// Steps of a longer chain that are shown from its beginning and from its end where paths are shortened.
const SHOWN_STEPS: (usize, usize) = (20, 80);
/// The same elsewhere, where only a hostile heap has more.
const MOST_STEPS: (usize, usize) = (1_000, 99_000);

/// The objects on the path from a root to the requested object.
pub(crate) struct Chain {
    steps: Vec<Link>,
}

/// An object with the arrow that leads to it, or several that resemble each other.
struct Link {
    arrow: String,
    object: ObjectId,
    title: Value,
    /// The title of its type, for machines.
    type_title: String,
    /// More than one of several in a row, of which it is the first.
    times: usize,
}

impl Chain {
    /// The chain to an object; empty if no root reaches it.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn to(heap: &Heap, object: ObjectId, meter: &Meter) -> Result<Self, QueryError> {
        let tables = heap.recording().tables()?;
        let paths = heap.paths(object, &PathOptions::default(), meter)?;
        let Some(path) = paths.first() else { return Ok(Chain { steps: Vec::new() }) };
        let mut steps = Vec::new();
        for part in parts(heap, path, meter)? {
            let (first, times, told) = match part {
                Part::Steps(range) => (range.start, 1, heap.steps(path, range)?),
                Part::Run(range) => (range.start, range.len(), heap.steps(path, range.start..range.start + 1)?),
                Part::Gap(length) => {
                    steps.push(Link::gap(length, path));
                    continue;
                }
            };
            let link = |(at, Step { object, reference }): (usize, Step)| Link {
                arrow: match at {
                    0 => format!("--[ {} ]-->", label::root(tables, &path.root)),
                    _ => label::arrow(tables, reference),
                },
                object: object.id,
                title: label::title(tables, object.type_id, object.name),
                type_title: tables.type_title(object.type_id),
                times,
            };
            steps.extend((first..).zip(told).map(link));
        }
        Ok(Chain { steps })
    }

    /// A line for each step.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.steps.iter().map(Link::line).collect()
    }

    /// The objects, for machines.
    pub(crate) fn value(&self) -> Value {
        Value::List(self.steps.iter().filter(|link| !link.is_gap()).map(Link::value).collect())
    }
}

impl Link {
    /// In place of steps that are left out.
    fn gap(length: usize, path: &Path) -> Self {
        let (arrow, object) = (format!("… {} …", units::counted(length as u64, "step")), path.objects[0]);
        Link { arrow, object, title: Value::None, type_title: String::new(), times: 0 }
    }

    fn is_gap(&self) -> bool {
        self.times == 0
    }

    fn line(&self) -> String {
        let Link { arrow, object, times, .. } = self;
        let title = match &self.title {
            Value::Text(title) | Value::Line(title) => title,
            _ => "",
        };
        match times {
            0 => arrow.clone(),
            1 => format!("{arrow} {title} @{object}"),
            _ => format!("{arrow} {title} ×{}", units::grouped(*times as u64)),
        }
    }

    fn value(&self) -> Value {
        let mut fields = vec![
            Fact::new(Column::object("object"), self.object.0),
            Fact::new(Column::text("type").names(), self.type_title.as_str()),
            Fact::new(Column::text("title").names(), self.title.clone()),
        ];
        if self.times > 1 {
            fields.push(Fact::new(Column::count("times"), self.times));
        }
        Value::Record(fields)
    }
}

/// Steps of a path, by their numbers.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// They are shown one by one.
    Steps(Range<usize>),
    /// They are objects of one type, and are shown as one.
    Run(Range<usize>),
    /// This number of steps is left out.
    Gap(usize),
}

fn parts(heap: &Heap, path: &Path, meter: &Meter) -> Result<Vec<Part>, QueryError> {
    let tables = heap.recording().tables()?;
    let types = heap.types_of(&path.objects, &Silent)?;
    let role = |type_id: TypeId| tables.kind_role(tables.type_kind(type_id));
    // Classes have a type in common, and are all different.
    let shown = if meter.short_paths { SHOWN_STEPS } else { MOST_STEPS };
    Ok(abridged(runs(&types, |type_id| role(type_id) == KindRole::Object), shown))
}

/// Puts objects of one type in a row together, but the first and the last of them.
fn runs(types: &[TypeId], may_repeat: impl Fn(TypeId) -> bool) -> Vec<Part> {
    let (mut parts, mut at) = (Vec::new(), 0);
    for same in types.chunk_by(|one, other| one == other && may_repeat(*one)) {
        let end = at + same.len();
        if same.len() > LONGEST_RUN {
            parts.extend([Part::Steps(at..at + 1), Part::Run(at + 1..end - 1), Part::Steps(end - 1..end)]);
        } else {
            parts.extend((at..end).map(|at| Part::Steps(at..at + 1)));
        }
        at = end;
    }
    parts
}

/// Leaves out the middle of what is still too long.
fn abridged(mut parts: Vec<Part>, (first, last): (usize, usize)) -> Vec<Part> {
    if parts.len() <= first + last {
        return parts;
    }
    let end = parts.len() - last;
    let length = |part: &Part| match part {
        Part::Steps(range) | Part::Run(range) => range.len(),
        Part::Gap(length) => *length,
    };
    let left_out = parts[first..end].iter().map(length).sum();
    parts.splice(first..end, [Part::Gap(left_out)]);
    parts
}

/// An object as people name it.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn title(heap: &Heap, object: ObjectId) -> Result<Value, QueryError> {
    Ok(named(heap, object, label::title)?.into())
}

/// An object as people name it, with its number: `Cache @12`, `class Jobs @35`.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn titled(heap: &Heap, object: ObjectId) -> Result<String, QueryError> {
    let title = named(heap, object, label::object)?.unwrap_or_default();
    Ok(format!("{title} @{object}"))
}

/// An object under the name that `name` gives it.
fn named<T>(
    heap: &Heap,
    object: ObjectId,
    name: fn(&Tables, TypeId, Option<StringId>) -> T,
) -> Result<Option<T>, QueryError> {
    let tables = heap.recording().tables()?;
    let found = objects(heap.recording(), heap.snapshot(), &[object])?;
    Ok(found.first().map(|object| name(tables, object.type_id, object.name)))
}

/// The type of an object, for machines.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn type_title(heap: &Heap, object: ObjectId) -> Result<String, QueryError> {
    let types = heap.types_of(&[object], &Silent)?;
    let tables = heap.recording().tables()?;
    Ok(types.first().map(|&type_id| tables.type_title(type_id)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_any_length_is_one_step_between_its_ends() {
        let types: Vec<TypeId> = [7, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3].map(TypeId).to_vec();
        let step = |at: usize| Part::Steps(at..at + 1);
        let expected = vec![
            step(0),
            step(1),
            Part::Run(2..6),
            step(6),
            step(7),
            step(8),
            step(9),
            step(10),
            step(11),
            step(12),
            step(13),
        ];
        assert_eq!(runs(&types, |type_id| type_id != TypeId(3)), expected);
    }

    #[test]
    fn both_ends_of_a_long_chain_stay() {
        let types: Vec<TypeId> = (0..200).map(TypeId).collect();
        let parts = abridged(runs(&types, |_| true), SHOWN_STEPS);
        assert_eq!((parts.len(), &parts[0], &parts[20]), (101, &Part::Steps(0..1), &Part::Gap(100)));
        assert_eq!(parts.last(), Some(&Part::Steps(199..200)));
    }
}
