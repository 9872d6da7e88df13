//! `collections`: how full collections are.

use barrow_analyzer::{CollectionType, Collections, Heap};

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::held;

use super::{Command, Group, more};

pub(super) const COMMAND: Command =
    Command::new("collections", include_str!("../../verbs/collections.md"), Group::Objects, run);

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let found = heap.collections(&ask.meter())?;
    let sum = |of: fn(&CollectionType) -> u64| found.types.iter().map(of).fold(0, u64::wrapping_add);
    let superfluous = found.boxed.iter().map(|row| row.superfluous_bytes).sum::<u64>();
    let uniform = found.uniform.iter().map(|row| row.bytes).sum::<u64>();
    let mut listed = Listed::default();
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::bytes("empty_bytes").called("empty bytes"), sum(|row| row.empty_bytes))
        .fact(Column::bytes("unused_bytes"), sum(|row| row.unused_bytes.unwrap_or(0)))
        .fact(Column::bytes("boxed_superfluous_bytes").called("boxed, superfluous"), superfluous)
        .fact(Column::bytes("uniform_bytes").called("arrays of one value"), uniform)
        .table(types(&heap, &found, &mut listed)?)
        .table(boxed(&heap, &found, &mut listed)?)
        .table(uniform_arrays(&heap, &found, &mut listed)?);
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

fn types(heap: &Heap, found: &Collections, listed: &mut Listed) -> Result<Table, QueryError> {
    let tables = heap.recording().tables()?;
    let rows = found.types.iter().map(|row| {
        let hashed = row.hashed.as_ref();
        vec![
            Value::from(listed.push((heap.snapshot(), row.example))),
            Value::text(tables.type_title(row.type_id)),
            row.objects.into(),
            row.unknown.into(),
            row.empty.into(),
            row.empty_bytes.into(),
            row.single.into(),
            row.elements.into(),
            Some(row.slots).filter(|&slots| slots > 0).into(),
            row.share().map_or(Value::None, Value::Share),
            row.unused_bytes.into(),
            hashed.map(|hashed| hashed.collided).into(),
            hashed.map_or(Value::None, |hashed| Value::Estimate(hashed.expected.round() as u64)),
            row.example.0.into(),
        ]
    });
    let columns = vec![
        Column::row_number(),
        Column::text("type"),
        Column::count("objects"),
        Column::count("unknown").secondary(),
        Column::count("empty"),
        Column::bytes("empty_bytes").called("empty bytes"),
        Column::count("single").called("of one").secondary(),
        Column::count("elements").secondary(),
        Column::count("slots").secondary(),
        Column::share("fill"),
        Column::bytes("unused_bytes"),
        Column::count("collided").secondary(),
        Column::count("collided_by_chance").called("by chance").secondary(),
        Column::object("example"),
    ];
    Ok(Table { key: "rows", audience: Audience::Everyone, columns, rows: rows.collect() })
}

fn boxed(heap: &Heap, found: &Collections, listed: &mut Listed) -> Result<Table, QueryError> {
    let tables = heap.recording().tables()?;
    let rows = found.boxed.iter().map(|row| {
        vec![
            Value::from(listed.push((heap.snapshot(), row.example))),
            Value::text(tables.type_title(row.type_id)),
            row.objects.into(),
            row.distinct.into(),
            row.bytes.into(),
            row.superfluous_bytes.into(),
            row.example.0.into(),
        ]
    });
    let columns = vec![
        Column::row_number(),
        Column::text("type").called("boxed numbers"),
        Column::count("objects"),
        Column::count("distinct").called("values"),
        Column::bytes("bytes"),
        Column::bytes("superfluous_bytes"),
        Column::object("example").called("most frequent"),
    ];
    Ok(Table { key: "boxed", audience: Audience::Everyone, columns, rows: rows.collect() })
}

fn uniform_arrays(heap: &Heap, found: &Collections, listed: &mut Listed) -> Result<Table, QueryError> {
    let tables = heap.recording().tables()?;
    let elements: Vec<_> = found.uniform.iter().map(|row| row.element).collect();
    let elements = held::cells(heap.recording(), heap.snapshot(), &elements)?;
    let rows = found.uniform.iter().zip(elements).map(|(row, element)| {
        vec![
            Value::from(listed.push((heap.snapshot(), row.example))),
            Value::text(tables.type_title(row.type_id)),
            element,
            row.objects.into(),
            row.bytes.into(),
            row.example.0.into(),
        ]
    });
    let columns = vec![
        Column::row_number(),
        Column::text("type").called("arrays of one value"),
        Column::number("element").called("every element"),
        Column::count("objects"),
        Column::bytes("bytes"),
        Column::object("example").called("largest"),
    ];
    Ok(Table { key: "uniform", audience: Audience::Everyone, columns, rows: rows.collect() })
}
