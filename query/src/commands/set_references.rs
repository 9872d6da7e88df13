//! References from and to the objects of a set, as `show` and `inrefs` answer them.

use std::ops::Range;
use std::sync::Arc;

use barrow_analyzer::{Direction, Heap, ObjectId, ObjectReferences, ObjectSet, objects};

use crate::language::object_name::ObjectName;
use crate::language::request::Request;
use crate::tables::references::{self, ORDERS};
use crate::tables::{found, held, label};

use super::more::{self, OnDemand};
use super::prelude::*;

/// Returns whether a question is about a set: its first word names no object, or a group of objects, or is a number of rows
/// before an expression.
pub(super) fn is_about_set(state: &State, words: &[String]) -> bool {
    let [first, rest @ ..] = words else { return false };
    let begins_expression = rest.first().is_some_and(|next| next != "by" && references::range(next).is_none());
    first.parse::<ObjectName>().is_err()
        || state.names_group(first)
        || first.parse::<usize>().is_ok() && begins_expression
}

/// The references of the objects that an expression describes, added up by the word after `by`, or else by type.
///
/// # Errors
/// A usage error for other words; those of the expression.
pub(super) fn of_expression(ask: &Ask, command: &Command, direction: Direction) -> Result<Reply, QueryError> {
    let request = Request::of(&ask.arguments);
    let order = match &request.by[..] {
        [] => ORDERS[0],
        [by] => ORDERS.into_iter().find(|order| order == by).ok_or_else(|| command.refuses(by))?,
        [_, by, ..] => return Err(command.refuses(by)),
    };
    let snapshot = ask.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression(ask, snapshot, &request.rest, 0)?;
    let (set, _) = found::select(ask, snapshot, &kinds, &expression)?;
    let reply = of_set(ask, ask.heap(snapshot)?, &set, direction, order, request.rows)?;
    Ok(reply.map(|answer| answer.fact(Column::count("objects"), set.len())).with_last(set))
}

/// The same of one object.
pub(super) fn of_object(
    ask: &Ask,
    heap: Arc<Heap>,
    object: ObjectId,
    direction: Direction,
    order: &str,
) -> Result<Reply, QueryError> {
    let set = ObjectSet::from_sorted(heap.snapshot(), heap.object_count(), [object]);
    let reply = of_set(ask, heap, &set, direction, order, None)?;
    Ok(reply.map(|answer| answer.fact(Column::object("object"), object.0)))
}

/// The references of a set, added up in one of the [`ORDERS`].
fn of_set(
    ask: &Ask,
    heap: Arc<Heap>,
    set: &ObjectSet,
    direction: Direction,
    order: &str,
    rows: Option<usize>,
) -> Result<Reply, QueryError> {
    let first = rows.unwrap_or_else(|| ask.page_rows());
    match order {
        "object" => by_object(ask, heap, set, direction, rows),
        "field" => {
            let (answer, listed) = by_field(ask, &heap, set, direction)?;
            Ok(more::first_page(ask, answer, first).listing(listed))
        }
        _ => {
            let types = heap.references_by_type(set, direction, &ask.meter())?;
            let (table, total, listed) = references::table_by_type(&heap, types)?;
            Ok(more::first_page(ask, about(&heap, total).table(table), first).listing(listed))
        }
    }
}

/// An answer about the references of a set.
fn about(heap: &Heap, references: u64) -> Answer {
    Answer::default().of_snapshot(heap.snapshot().0).fact(Column::count("references"), references).exact()
}

fn by_field(ask: &Ask, heap: &Heap, set: &ObjectSet, direction: Direction) -> Result<(Answer, Listed), QueryError> {
    let fields = heap.references_by_field(set, direction, &ask.meter())?;
    let tables = heap.recording().tables()?;
    let table = table!("rows", fields.iter().enumerate(), |(at, field)| {
        Column::row_number() => at + 1,
        Column::text("type").names() => tables.type_title(field.source),
        Column::text("label").called("reference") => references::field(tables, field.label),
        Column::count("references") => field.references,
        Column::object("example") => field.example.0,
    });
    let total = fields.iter().map(|field| field.references).sum();
    let listed = fields.iter().map(|field| (heap.snapshot(), field.example)).collect();
    Ok((about(heap, total).table(table), listed))
}

fn by_object(
    ask: &Ask,
    heap: Arc<Heap>,
    set: &ObjectSet,
    direction: Direction,
    rows: Option<usize>,
) -> Result<Reply, QueryError> {
    let found = heap.references_by_object(set, direction, &ask.meter())?;
    let answer = about(&heap, found.iter().map(|one| one.references).sum());
    let answer = answer.fact(Column::count("rows").called("objects at the other end"), found.len());
    let count = found.len();
    let make = move |ask: &Ask, range: Range<usize>| objects_page(ask, &heap, &found[range]);
    OnDemand { answer, count, rows, has_pages: true, make: Box::new(make) }.begin(ask)
}

/// A row for each object at the other end of references.
fn objects_page(ask: &Ask, heap: &Heap, page: &[ObjectReferences]) -> Result<(Table, Listed), QueryError> {
    let (snapshot, tables, first) = (heap.snapshot(), heap.recording().tables()?, ask.listed_before() + 1);
    let ids: Vec<ObjectId> = page.iter().map(|one| one.object).collect();
    let details = objects(heap.recording(), snapshot, &ids)?;
    let lines = held::lines_of(heap, &details, &ask.meter())?;
    let table = table!("rows", page.iter().zip(&details).enumerate(), |(at, (one, object))| {
        ask.context.check()?;
        Column::row_number() => ask.row_number(first + at),
        Column::object("object") => one.object.0,
        Column::text("type").names() => tables.type_title(object.type_id),
        Column::text("name") => label::name(tables, object.name),
        Column::text("line") => lines.get(&object.id).cloned(),
        Column::count("references") => one.references,
        Column::bytes("shallow_bytes") => object.shallow_bytes,
    });
    Ok((table, ids.into_iter().map(|id| (snapshot, id)).collect()))
}
