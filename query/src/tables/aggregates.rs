//! Aggregates of objects or processes: a number for each group of them.

use std::cmp::Ordering;

use barrow_analyzer::{
    Decimal, FieldPath, Heap, Number, NumberTotals, ObjectId, ObjectSet, Progress, Time, number_order, objects,
};
use barrow_processes::{Attribute, AttributeValue, Classes, ImageId, ProcessTree, Quantity, Values};

use crate::answer::{Answer, Column, Unit, Value, measured::measured, units};
use crate::attributes::{self, ObjectAttribute, processes};
use crate::error::QueryError;
use crate::language::aggregates::{Aggregate, Function};
use crate::language::field;

/// Bytes of an aggregate of a group: its totals and its cell. This is an estimate by their fields.
pub(crate) const AGGREGATE_BYTES: u64 = 300;

/// A number that each object may have.
enum ObjectNumber {
    /// Each counts one.
    One,
    Field(FieldPath),
    Attribute(&'static ObjectAttribute),
}

/// The numbers that the aggregates of objects are made of, each once.
pub(crate) struct ObjectNumbers(Vec<(String, ObjectNumber)>);

/// The same of processes.
pub(crate) struct ProcessNumbers(Vec<(String, Option<&'static Attribute>)>);

/// A number of each group, and what it is.
struct Totals {
    operand: String,
    unit: Unit,
    /// Objects without this number certainly have none.
    is_certain: bool,
    groups: Vec<NumberTotals>,
}

/// The aggregates of groups.
pub(crate) struct Aggregates<'a> {
    aggregates: &'a [Aggregate],
    totals: Vec<Totals>,
}

/// The operands, each once.
fn operands(aggregates: &[Aggregate]) -> Vec<(&str, &Aggregate)> {
    let mut found: Vec<(&str, &Aggregate)> = Vec::new();
    for aggregate in aggregates {
        let operand = aggregate.operand.as_deref().unwrap_or_default();
        if !found.iter().any(|(known, _)| *known == operand) {
            found.push((operand, aggregate));
        }
    }
    found
}

/// Refuses sums and means of numbers that name something.
fn require_amounts(aggregates: &[Aggregate], operand: &str) -> Result<(), QueryError> {
    let adds = |one: &&Aggregate| matches!(one.function, Function::Sum | Function::Mean);
    match aggregates.iter().filter(adds).find(|one| one.operand.as_deref() == Some(operand)) {
        None => Ok(()),
        Some(one) => Err(QueryError::usage(format!(
            "`{}` means nothing: `{operand}` is a number that names something; `min` and `max` of it can be shown",
            one.key
        ))),
    }
}

/// Refuses sums of numbers that count a part several times.
fn refuse_overlaps(aggregates: &[Aggregate], operand: &str, instead: &str) -> Result<(), QueryError> {
    let is_sum = |one: &&Aggregate| one.function == Function::Sum && one.operand.as_deref() == Some(operand);
    match aggregates.iter().find(is_sum) {
        None => Ok(()),
        Some(one) => Err(QueryError::usage(format!("`{}` would count the same several times; {instead}", one.key))),
    }
}

impl ObjectNumbers {
    /// Looks up the operands.
    ///
    /// # Errors
    /// A usage error for one that is no number of objects.
    pub(crate) fn of(aggregates: &[Aggregate]) -> Result<Self, QueryError> {
        let named = |(operand, _): (&str, &Aggregate)| {
            let number = match operand {
                "" => ObjectNumber::One,
                path if path.starts_with('.') => ObjectNumber::Field(field::typed(path)?),
                word => ObjectNumber::Attribute(attribute(aggregates, word)?),
            };
            Ok((operand.to_owned(), number))
        };
        operands(aggregates).into_iter().map(named).collect::<Result<_, _>>().map(ObjectNumbers)
    }

    /// The aggregates of the objects of a set, which belong to `groups` groups: `group_of` has the group of each, by its
    /// place in the set.
    ///
    /// # Errors
    /// Those of reading fields and attributes.
    pub(crate) fn aggregates<'a>(
        &self,
        aggregates: &'a [Aggregate],
        heap: &Heap,
        set: &ObjectSet,
        groups: usize,
        group_of: impl Fn(usize) -> usize,
        progress: &dyn Progress,
    ) -> Result<Aggregates<'a>, QueryError> {
        let mut totals = Vec::new();
        for (operand, number) in &self.0 {
            let mut of_groups = vec![NumberTotals::default(); groups];
            number.add(heap, set, progress, |at, add| add(&mut of_groups[group_of(at)]))?;
            let unit = match number {
                ObjectNumber::One => Unit::Count,
                ObjectNumber::Field(_) => Unit::Number,
                ObjectNumber::Attribute(attribute) => attribute.unit(),
            };
            let is_certain = number.is_attribute("distance");
            totals.push(Totals { operand: operand.clone(), unit, is_certain, groups: of_groups });
        }
        Ok(Aggregates { aggregates, totals })
    }

    /// Marks an answer inexact if it has retained sizes that are lower bounds.
    ///
    /// # Errors
    /// Those of dominators.
    pub(crate) fn with_exactness(
        &self,
        answer: Answer,
        heap: &Heap,
        progress: &dyn Progress,
    ) -> Result<Answer, QueryError> {
        if !self.0.iter().any(|(_, number)| number.is_attribute("retained")) {
            return Ok(answer);
        }
        let are_exact = heap.ask_dominators(progress, |dominators| Ok::<_, QueryError>(dominators.is_exact()))?;
        Ok(if are_exact { answer } else { answer.with_exactness(false) })
    }
}

/// The attribute of objects whose numbers can be put together.
fn attribute(aggregates: &[Aggregate], word: &str) -> Result<&'static ObjectAttribute, QueryError> {
    let found = attributes::named(word).filter(|attribute| attribute.ranks()).ok_or_else(|| {
        let words = attributes::ranking_words().join(", ");
        QueryError::usage(format!("`{word}` is no number of objects; there are fields, as `.count`, and {words}"))
    })?;
    if matches!(found.unit(), Unit::Number | Unit::Address) {
        require_amounts(aggregates, word)?;
    }
    if found.of.word() == "retained" {
        refuse_overlaps(aggregates, word, "`retained EXPR` and `group … by KEY by retained` count each byte once")?;
    }
    Ok(found)
}

impl ObjectNumber {
    /// Returns whether it is the attribute with this usual word.
    fn is_attribute(&self, word: &str) -> bool {
        matches!(self, ObjectNumber::Attribute(attribute) if attribute.of.word() == word)
    }

    /// Calls `add` for each object of the set, in order, with a function that adds its number to the totals of its group.
    fn add(
        &self,
        heap: &Heap,
        set: &ObjectSet,
        progress: &dyn Progress,
        mut add: impl FnMut(usize, &dyn Fn(&mut NumberTotals)),
    ) -> Result<(), QueryError> {
        match self {
            ObjectNumber::One => {
                (0..set.len() as usize).for_each(|at| add(at, &|totals| totals.add(Number::Whole(1))));
            }
            ObjectNumber::Field(path) => {
                heap.field_numbers(set, path, progress, &mut |at, found| {
                    add(at, &|totals| totals.add_found(found.clone()))
                })?;
            }
            ObjectNumber::Attribute(attribute) => {
                let ids: Vec<ObjectId> = set.iter().collect();
                let at_once = heap.objects_at_once();
                for (part, ids) in ids.chunks(at_once).enumerate() {
                    let details = objects(heap.recording(), heap.snapshot(), ids)?;
                    let cells = attribute.read(&details, heap, progress)?;
                    for (at, cell) in cells.iter().enumerate() {
                        add(part * at_once + at, &|totals| add_cell(totals, cell));
                    }
                }
            }
        }
        Ok(())
    }
}

fn add_cell(totals: &mut NumberTotals, cell: &Value) {
    match cell {
        Value::Number(number) => totals.add(Number::Whole((*number).into())),
        Value::Share(share) => totals.add(Number::Real(*share)),
        _ => totals.unknown += 1,
    }
}

impl ProcessNumbers {
    /// Looks up the operands.
    ///
    /// # Errors
    /// A usage error for one that is no number of processes.
    pub(crate) fn of(aggregates: &[Aggregate]) -> Result<Self, QueryError> {
        let named = |(operand, _): (&str, &Aggregate)| {
            let attribute = if operand.is_empty() { None } else { Some(processes::ranking(operand)?) };
            if attribute.is_some_and(|attribute| attribute.quantity() == Some(Quantity::Number)) {
                require_amounts(aggregates, operand)?;
            }
            if operand.starts_with("total.") {
                refuse_overlaps(aggregates, operand, "processes contain what they started")?;
            }
            Ok((operand.to_owned(), attribute))
        };
        operands(aggregates).into_iter().map(named).collect::<Result<_, _>>().map(ProcessNumbers)
    }

    /// The aggregates of groups of images.
    pub(crate) fn aggregates<'a>(
        &self,
        aggregates: &'a [Aggregate],
        tree: &ProcessTree,
        classes: &Classes,
        groups: &[Vec<ImageId>],
    ) -> Aggregates<'a> {
        let totals = self.0.iter().map(|(operand, attribute)| {
            let values = attribute.map(|attribute| Values::of(attribute, tree, classes));
            let of_group = |images: &Vec<ImageId>| {
                let mut totals = NumberTotals::default();
                for &image in images {
                    match values.as_ref().map(|values| values.get(image)) {
                        None => totals.add(Number::Whole(1)),
                        Some(Some(AttributeValue::Number(number))) => totals.add(Number::Whole(number.into())),
                        Some(_) => totals.unknown += 1,
                    }
                }
                totals
            };
            let unit = attribute.map_or(Unit::Count, |attribute| processes::column(attribute).unit);
            let groups = groups.iter().map(of_group).collect();
            Totals { operand: operand.clone(), unit, is_certain: operand == "ended", groups }
        });
        Aggregates { aggregates, totals: totals.collect() }
    }
}

impl Aggregates<'_> {
    fn totals(&self, aggregate: &Aggregate) -> &Totals {
        let operand = aggregate.operand.as_deref().unwrap_or_default();
        self.totals.iter().find(|totals| totals.operand == operand).expect("each operand has totals")
    }

    /// A column for each aggregate.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let column = |aggregate: &Aggregate| {
            let totals = self.totals(aggregate);
            let unit = match aggregate.function {
                Function::Count => Unit::Count,
                Function::Min | Function::Max if totals.groups.iter().any(|group| group.times() > 0) => Unit::Text,
                _ => totals.unit,
            };
            let column = Column::named(aggregate.key.clone(), unit);
            // What is computed of sizes repeats nothing of the program.
            if matches!(unit, Unit::Number | Unit::Text) { column } else { column.own_words() }
        };
        self.aggregates.iter().map(column).collect()
    }

    /// The cells of a group.
    pub(crate) fn cells(&self, group: usize) -> Vec<Value> {
        self.aggregates.iter().map(|aggregate| self.totals(aggregate).cell(aggregate.function, group)).collect()
    }

    /// The order of two groups by an aggregate: the greatest first, and last those without a number.
    pub(crate) fn compared(&self, aggregate: usize, one: usize, other: usize) -> Ordering {
        match (self.number(aggregate, one), self.number(aggregate, other)) {
            (Some(one), Some(other)) => number_order(&other, &one),
            (None, None) => match (self.time(aggregate, one), self.time(aggregate, other)) {
                (Some(one), Some(other)) => other.moment.order(&one.moment),
                (one, other) => other.is_some().cmp(&one.is_some()),
            },
            (one, other) => other.is_some().cmp(&one.is_some()),
        }
    }

    fn time(&self, aggregate: usize, group: usize) -> Option<&Time> {
        let aggregate = &self.aggregates[aggregate];
        self.totals(aggregate).time(aggregate.function, group)
    }

    fn number(&self, aggregate: usize, group: usize) -> Option<Number> {
        let (aggregate, totals) = (&self.aggregates[aggregate], self.totals(&self.aggregates[aggregate]));
        let of_group = &totals.groups[group];
        match aggregate.function {
            Function::Count => Some(Number::Whole((of_group.known + of_group.times()).into())),
            Function::Sum => of_group.sum(),
            Function::Mean => of_group.mean().map(Number::Real),
            Function::Min => of_group.least().cloned(),
            Function::Max => of_group.greatest().cloned(),
        }
    }

    /// Adds the aggregates of the only group.
    pub(crate) fn facts(&self, answer: Answer) -> Answer {
        self.columns().into_iter().zip(self.cells(0)).fold(answer, |answer, (column, cell)| answer.fact(column, cell))
    }

    /// Adds how many objects have no number that is known, and what else the numbers do not say.
    pub(crate) fn told(&self, answer: Answer, noun: &str) -> Answer {
        self.totals.iter().fold(answer, |answer, totals| {
            let Totals { operand, is_certain, groups, .. } = totals;
            let absent: u64 = groups.iter().map(|totals| totals.absent).sum();
            let unknown: u64 = groups.iter().map(|totals| totals.unknown).sum();
            let (absent, unknown) = if *is_certain { (absent + unknown, 0) } else { (absent, unknown) };
            let [none, doubtful] = [absent, unknown].map(|count| units::counted(count, noun));
            let answer = self.told_of_sums(answer, totals, noun);
            let have = if absent == 1 { "has" } else { "have" };
            let answer =
                answer.note_if(absent > 0, format!("`{operand}` does not include {none} that {have} no number"));
            match unknown {
                0 => answer,
                _ => answer.inexact(
                    "as far as numbers are known",
                    &format!("`{operand}` does not include {doubtful} of which it is not known"),
                ),
            }
        })
    }

    /// Adds which sums are rounded, and what is not done with dates and times.
    fn told_of_sums(&self, answer: Answer, Totals { operand, groups, .. }: &Totals, noun: &str) -> Answer {
        let is_shown = |functions: &[Function]| {
            let of_operand = |one: &&Aggregate| one.operand.as_deref().unwrap_or_default() == operand;
            self.aggregates.iter().filter(of_operand).any(|one| functions.contains(&one.function))
        };
        let [has_sum, has_mean] = [Function::Sum, Function::Mean].map(|function| is_shown(&[function]));
        let has_sums = has_sum || has_mean;
        let times: u64 = groups.iter().map(NumberTotals::times).sum();
        let of_times = groups.iter().filter(|group| group.first_and_last().is_none());
        let without_order: u64 = of_times.map(NumberTotals::times).sum();
        let [told, unordered] = [times, without_order].map(|count| units::counted(count, noun));
        let answer = answer
            .note_if(
                has_sums && times > 0,
                format!("`{operand}` of {told} is a date or a time: these have `min` and `max`, but no sum"),
            )
            .note_if(
                is_shown(&[Function::Min, Function::Max]) && without_order > 0,
                format!(
                    "`min` and `max` of `{operand}` do not include dates and times of {unordered}: these have no common \
                     order with numbers, and those with a zone none with others"
                ),
            );
        let rounded = match groups.iter().any(NumberTotals::is_rounded) {
            true if has_sums => "sum and mean of",
            false if has_mean && groups.iter().any(NumberTotals::is_mean_rounded) => "mean of",
            _ => return answer,
        };
        let are = if rounded == "mean of" { "is" } else { "are" };
        let note = format!("{rounded} `{operand}` {are} rounded to 64 binary bits");
        match answer.exactness {
            None | Some("exact") => answer.inexact("rounded", &note),
            Some(_) => answer.note(note),
        }
    }
}

impl Totals {
    /// The time that a function has in a group without numbers.
    fn time(&self, function: Function, group: usize) -> Option<&Time> {
        let (first, last) = self.groups[group].first_and_last()?;
        match function {
            Function::Min => Some(first),
            Function::Max => Some(last),
            Function::Count | Function::Sum | Function::Mean => None,
        }
    }

    fn cell(&self, function: Function, group: usize) -> Value {
        let (totals, unit) = (&self.groups[group], self.unit);
        if let Some(time) = self.time(function, group) {
            return Value::Line(time.text.clone());
        }
        match function {
            Function::Count => (totals.known + totals.times()).into(),
            Function::Sum => totals.sum().map(|sum| cell(&sum, unit)).into(),
            Function::Min => totals.least().map(|number| cell(number, unit)).into(),
            Function::Max => totals.greatest().map(|number| cell(number, unit)).into(),
            Function::Mean => totals
                .mean()
                .map(|mean| match unit {
                    Unit::Bytes => measured(mean, "bytes"),
                    Unit::Duration => measured(mean, "ns"),
                    Unit::Count => measured(mean, ""),
                    _ => cell(&Number::Real(mean), unit),
                })
                .into(),
        }
    }
}

fn cell(number: &Number, unit: Unit) -> Value {
    match number {
        Number::Whole(whole) => u64::try_from(*whole).map_or(Value::Signed(*whole), Value::Number),
        Number::Real(real) if !real.is_finite() => Value::text(real.to_string()),
        Number::Real(share) if unit == Unit::Share => Value::Share(*share),
        Number::Real(real) => Value::Rate(*real),
        Number::Decimal(decimal) => exact(decimal),
    }
}

/// A decimal number: a number if a reader of JSON, which has 64 bits for it, finds the same digits; otherwise a text.
fn exact(decimal: &Decimal) -> Value {
    let value = decimal.real();
    let is_same = value.is_finite() && Decimal::parse(&value.to_string()).as_ref() == Some(decimal);
    match u8::try_from(decimal.decimals()) {
        Ok(decimals) if is_same => Value::Decimal { value, decimals },
        _ => Value::text(decimal.to_string()),
    }
}
