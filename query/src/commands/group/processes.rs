//! Programs that processes executed, by what they have in common.

use std::collections::BTreeMap;

use barrow_processes::{
    ATTRIBUTES, Aggregate, Attribute, AttributeValue, Classes, Expression, ImageId, ImageSet, ProcessTree, Selection,
    Values,
};

use crate::answer::{Answer, Column, Table, Value, table, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::{processes, totals::COUNT};
use crate::error::QueryError;
use crate::language::asked;
use crate::language::request::Request;
use crate::tables::aggregates::{AGGREGATE_BYTES, Aggregates, ProcessNumbers};

use super::{Columns, KEY_BYTES, ROW_BYTES, more};

/// The number that orders groups, the largest first.
#[derive(Clone, Copy)]
enum Order {
    Count,
    Of(&'static Attribute, Aggregate),
}

impl Order {
    /// The number of a group, if known, and the number of programs for which it is not.
    fn of(self, group: &Selection) -> (Option<u64>, u32) {
        match self {
            Order::Count => (Some(group.images), 0),
            Order::Of(_, aggregate) => (aggregate.of)(group),
        }
    }

    /// Whether the numbers of the groups add up.
    fn adds_up(self) -> bool {
        match self {
            Order::Count => true,
            Order::Of(_, aggregate) => aggregate.document.is_none(),
        }
    }

    fn is_of(self, attribute: &Attribute) -> bool {
        matches!(self, Order::Of(own, _) if own.word() == attribute.word())
    }
}

/// What may follow `by`.
pub(super) fn orders() -> Vec<&'static str> {
    let totals = processes::words(|attribute| attribute.aggregate().is_some());
    processes::words(Attribute::groups).into_iter().chain([COUNT]).chain(totals).collect()
}

/// The keys and the order of the words that follow `by`.
fn keys_and_order(by: &[String]) -> Result<(Vec<&'static Attribute>, Order), QueryError> {
    let (mut keys, mut order) = (Vec::<&'static Attribute>::new(), None);
    for word in by.iter().flat_map(|words| words.split(',')).filter(|word| !word.is_empty()) {
        let attribute = Attribute::named(word);
        match (attribute.filter(|one| one.groups()), attribute.and_then(|one| Some((one, one.aggregate()?)))) {
            (Some(key), _) if keys.iter().any(|known| known.word() == key.word()) => {}
            (Some(key), _) => keys.push(key),
            (None, Some((attribute, aggregate))) => order = Some(Order::Of(attribute, aggregate)),
            (None, None) if word == COUNT => order = Some(Order::Count),
            (None, None) => {
                let known = processes::words(Attribute::groups).join(", ");
                return Err(QueryError::usage(format!("`{word}` is no key of processes; there are {known}")));
            }
        }
    }
    if keys.is_empty() {
        let known = processes::words(Attribute::groups).join(", ");
        return Err(QueryError::usage(format!("by which key? there are {known}: `group failed by command`")));
    }
    let cpu = || Attribute::named("cpu").and_then(|cpu| Some(Order::Of(cpu, cpu.aggregate()?)));
    Ok((keys, order.or_else(cpu).unwrap_or(Order::Count)))
}

/// Groups the programs that match.
///
/// # Errors
/// A usage error for a word that is no key; those of the tree and its classes.
pub(super) fn grouped(
    ask: &Ask,
    request: &Request,
    shown: &Columns<'_>,
    expression: &Expression,
) -> Result<Reply, QueryError> {
    let (keys, order) = keys_and_order(&request.by)?;
    let numbers = ProcessNumbers::of(shown.aggregates)?;
    let flags = &ask.arguments.flags;
    let (tree, set) = asked::select(ask, expression, flags)?;
    let classes = asked::classes(ask, &tree, expression, flags)?;
    let notes = asked::notes(ask, expression, flags)?;
    let groups = groups(&keys, &tree, &classes, &set);
    let cell_bytes = KEY_BYTES * keys.len() as u64 + AGGREGATE_BYTES * shown.aggregates.len() as u64;
    ask.context.require_rows_of(groups.len(), ROW_BYTES + cell_bytes)?;
    let (groups, images): (Vec<Key<'_>>, Vec<Vec<ImageId>>) = groups.into_iter().unzip();
    let aggregates = numbers.aggregates(shown.aggregates, &tree, &classes, &images);
    let selections = images.into_iter().map(|images| Selection::of_images(&tree, images));
    let groups = groups.into_iter().zip(selections).collect();
    let answer = Answer::default().table(table(&keys, groups, (order, shown.order), &aggregates));
    let all = Selection::of(&tree, &set);
    let mut answer = answer.fact(Column::count("programs"), all.images);
    let (noun, unknown) = match order {
        Order::Count => ("", 0),
        Order::Of(_, aggregate) => (aggregate.noun, order.of(&all).1),
    };
    answer = match unknown {
        0 => answer.exact(),
        unknown => {
            let programs = units::counted(unknown.into(), "program");
            answer.at_least().note(format!("the {noun} of {programs} was not recorded and is not included"))
        }
    };
    answer = notes.on(aggregates.told(answer, "program"));
    if set.is_empty() {
        answer = answer.note("no process matches");
    }
    let rows = request.rows.unwrap_or_else(|| ask.page_rows());
    Ok(more::first_page(ask, answer, rows).with_last_images(set))
}

/// The values of the keys of a group; `None` where its programs have no such value, or it was not recorded.
type Key<'t> = Vec<Option<AttributeValue<'t>>>;

fn groups<'t>(
    keys: &[&'static Attribute],
    tree: &'t ProcessTree,
    classes: &'t Classes,
    set: &ImageSet,
) -> BTreeMap<Key<'t>, Vec<ImageId>> {
    let values: Vec<Values<'t>> = keys.iter().map(|key| Values::of(key, tree, classes)).collect();
    let mut groups: BTreeMap<Key<'t>, Vec<ImageId>> = BTreeMap::new();
    for image in set.iter() {
        groups.entry(values.iter().map(|values| values.get(image)).collect()).or_default().push(image);
    }
    groups
}

/// A row for each group, the largest first. A narrow terminal leaves out what does not order them.
fn table(
    keys: &[&'static Attribute],
    groups: Vec<(Key<'_>, Selection)>,
    (order, by_aggregate): (Order, Option<usize>),
    aggregates: &Aggregates<'_>,
) -> Table {
    let mut sorted: Vec<(usize, (Key<'_>, Selection))> = groups.into_iter().enumerate().collect();
    sorted.sort_by(|(one_at, (_, one)), (other_at, (_, other))| match by_aggregate {
        Some(aggregate) => aggregates.compared(aggregate, *one_at, *other_at),
        None => order.of(other).0.cmp(&order.of(one).0),
    });
    let whole = sorted.iter().filter_map(|(_, (_, group))| order.of(group).0).fold(0, u64::saturating_add);
    let totals: Vec<(&Attribute, Aggregate)> =
        ATTRIBUTES.iter().filter_map(|attribute| Some((attribute, attribute.aggregate()?))).collect();
    let columns = totals.iter().map(|(attribute, _)| {
        let column = processes::column(attribute);
        if order.is_of(attribute) { column } else { column.secondary() }
    });
    let share = |group: &Selection| order.of(group).0.map(|part| Value::share(part, whole));
    let has_share = order.adds_up() && by_aggregate.is_none();
    table!("rows", sorted, |(at, (key, group))| {
        ..keys.iter().map(|key| processes::column(key)) => key.into_iter().map(processes::cell),
        Column::count("programs") => group.images,
        ..columns => totals.iter().map(|(_, total)| Value::from((total.of)(&group).0)),
        ..aggregates.columns() => aggregates.cells(at),
        ..has_share.then(|| Column::share("share").for_people()) => has_share.then(|| share(&group)),
    })
}
