//! A shortest path from a root as a chain of arrows and objects, where it is part of a longer answer.
//!
//! ```text
//!   --[ sticky class ]--> class Jobs @12            the root's end is always there
//!   --[ queue ]--> Node @40
//!   --[ next ]--> Node ×59,984                      objects of one type below each other are one step, and
//!                                                   (--[ next ]--> Node --[ item ]--> Item) ×59,984 of several
//!   --[ next ]--> Node @60024
//!   --[ load ]--> byte[] @60025
//! ```

use std::ops::Range;

use barrow_analyzer::{Heap, KindRole, ObjectId, Path, PathOptions, Silent, Step, StringId, Tables, TypeId, objects};

use crate::answer::path::{self, Fold};
use crate::answer::{Column, Fact, Value, units};
use crate::error::QueryError;
use crate::progress::Meter;
use crate::tables::label;

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
    /// The name of the reference, or that of the root.
    reference: Option<String>,
    object: ObjectId,
    title: Value,
    /// The title of its type, for machines.
    type_title: String,
    /// More than one if it is of the first of several rounds.
    times: usize,
    /// Steps of a round that begins with it; 0 if it does not begin one.
    period: usize,
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
        let shown = if meter.short_paths { SHOWN_STEPS } else { MOST_STEPS };
        let parts = parts(heap, path, shown)?;
        // Read at once: neighbours of the path are in many blocks in turn.
        let ranges: Vec<Range<usize>> = parts.iter().map(Part::shown).collect();
        let mut read = heap.steps_of(path, &ranges)?.into_iter();
        for (part, range) in parts.into_iter().zip(ranges) {
            let (first, period, times) = match part {
                Part::Steps(range) => (range.start, 1, 1),
                Part::Run(Fold { start, period, rounds }) => (start, period, rounds),
                Part::Gap(range) => {
                    steps.push(Link::gap(range.len(), path));
                    continue;
                }
            };
            let told = read.by_ref().take(range.len());
            let link = |(at, Step { object, reference }): (usize, Step)| Link {
                arrow: match at {
                    0 => format!("--[ {} ]-->", label::root(tables, &path.root)),
                    _ => label::arrow(tables, reference),
                },
                reference: match at {
                    0 => Some(format!("[{}]", label::root(tables, &path.root))),
                    _ => label::reference(tables, reference),
                },
                object: object.id,
                title: label::title(tables, object.type_id, object.name),
                type_title: tables.type_title(object.type_id),
                times,
                period: if at == first { period } else { 0 },
            };
            steps.extend((first..).zip(told).map(link));
        }
        Ok(Chain { steps })
    }

    /// A line for each step.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut steps = self.steps.iter();
        std::iter::from_fn(|| {
            let first = steps.next()?;
            let Some(others) = first.period.checked_sub(2) else { return Some(first.line()) };
            let round: Vec<String> =
                [first].into_iter().chain(steps.by_ref().take(others + 1)).map(Link::step).collect();
            Some(format!("({}) ×{}", round.join(" "), units::grouped(first.times as u64)))
        })
        .collect()
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
        Link { arrow, reference: None, object, title: Value::None, type_title: String::new(), times: 0, period: 1 }
    }

    fn is_gap(&self) -> bool {
        self.times == 0
    }

    fn line(&self) -> String {
        match self.times {
            0 => self.arrow.clone(),
            1 => format!("{} @{}", self.step(), self.object),
            times => format!("{} ×{}", self.step(), units::grouped(times as u64)),
        }
    }

    /// Without what tells the object from others.
    fn step(&self) -> String {
        let title = match &self.title {
            Value::Text(title) | Value::Line(title) => title,
            _ => "",
        };
        format!("{} {title}", self.arrow)
    }

    fn value(&self) -> Value {
        let mut fields = vec![
            Fact::new(Column::object("object"), self.object.0),
            Fact::new(Column::text("type").names(), self.type_title.as_str()),
            Fact::new(Column::text("title").names(), self.title.clone()),
            Fact::new(Column::text("reference"), self.reference.clone()),
        ];
        if self.times > 1 {
            fields.push(Fact::new(Column::count("times"), self.times));
        }
        if self.period > 1 {
            fields.push(Fact::new(Column::count("period"), self.period));
        }
        Value::Record(fields)
    }
}

/// Steps of a path, by their numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// They are shown one by one.
    Steps(Range<usize>),
    /// Rounds of objects of the same types, of which the first is shown for all.
    Run(Fold),
    /// They are left out.
    Gap(Range<usize>),
}

impl Part {
    fn steps(&self) -> Range<usize> {
        match self {
            Part::Steps(range) | Part::Gap(range) => range.clone(),
            Part::Run(fold) => fold.steps(),
        }
    }

    /// The steps that are shown: those of a run's first round.
    pub(crate) fn shown(&self) -> Range<usize> {
        match self {
            Part::Steps(range) => range.clone(),
            Part::Run(fold) => fold.start..fold.start + fold.period,
            Part::Gap(range) => range.start..range.start,
        }
    }
}

/// Divides a path, of which so many lines are shown from its beginning and from its end.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn parts(heap: &Heap, path: &Path, shown: (usize, usize)) -> Result<Vec<Part>, QueryError> {
    let tables = heap.recording().tables()?;
    let types = heap.types_of(&path.objects, &Silent)?;
    let role = |type_id: TypeId| tables.kind_role(tables.type_kind(type_id));
    // Classes have a type in common, and are all different.
    Ok(joined(abridged(runs(&types, |type_id| role(type_id) == KindRole::Object), shown)))
}

/// Joins steps that are shown one by one, so that they are read together.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), &part) {
            (Some(Part::Steps(before)), Part::Steps(range)) => before.end = range.end,
            _ => joined.push(part),
        }
    }
    joined
}

/// Puts rounds of objects of the same types together, but the first and the last round.
fn runs(types: &[TypeId], may_repeat: impl Fn(TypeId) -> bool) -> Vec<Part> {
    let is_same = |one: usize, other: usize| types[one] == types[other] && may_repeat(types[one]);
    let mut parts = Vec::new();
    for Fold { start, period, rounds } in path::folds(types.len(), is_same) {
        let steps = |first: usize| (first..first + period).map(|at| Part::Steps(at..at + 1));
        parts.extend(steps(start));
        if rounds > 1 {
            parts.push(Part::Run(Fold { start: start + period, period, rounds: rounds - 2 }));
            parts.extend(steps(start + period * (rounds - 1)));
        }
    }
    parts
}

/// Leaves out the middle of what is still too long.
fn abridged(mut parts: Vec<Part>, (first, last): (usize, usize)) -> Vec<Part> {
    if parts.len() <= first + last {
        return parts;
    }
    let end = parts.len() - last;
    let gap = parts[first].steps().start..parts[end].steps().start;
    parts.splice(first..end, [Part::Gap(gap)]);
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
        let types: Vec<TypeId> = [7, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3].map(TypeId).to_vec();
        let step = |at: usize| Part::Steps(at..at + 1);
        let mut expected = vec![step(0), step(1), Part::Run(Fold { start: 2, period: 1, rounds: 4 })];
        expected.extend((6..15).map(step));
        assert_eq!(runs(&types, |type_id| type_id != TypeId(3)), expected);
    }

    #[test]
    fn rounds_of_several_types_are_one_step_between_the_first_and_the_last() {
        let types: Vec<TypeId> = [7, 1, 2, 1, 2, 1, 2, 1, 2, 5].map(TypeId).to_vec();
        let step = |at: usize| Part::Steps(at..at + 1);
        let run = Part::Run(Fold { start: 3, period: 2, rounds: 2 });
        assert_eq!(runs(&types, |_| true), [step(0), step(1), step(2), run, step(7), step(8), step(9)]);
    }

    #[test]
    fn both_ends_of_a_long_chain_stay() {
        let types: Vec<TypeId> = (0..200).map(TypeId).collect();
        let parts = abridged(runs(&types, |_| true), SHOWN_STEPS);
        assert_eq!((parts.len(), &parts[0], &parts[20]), (101, &Part::Steps(0..1), &Part::Gap(20..120)));
        assert_eq!(parts.last(), Some(&Part::Steps(199..200)));
    }
}
