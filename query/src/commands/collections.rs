//! `collections`: how full collections are.

use barrow_analyzer::{CollectionType, Collections, Heap};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::held;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "collections",
    aliases: &[],
    group: Group::Objects,
    arguments: "",
    about: "How full collections are, boxed numbers, and arrays of one value",
    details: "Collections are objects whose type says where the number of their elements is: those of the JDK, for \
              instance. `empty bytes` is what those without elements need, with the arrays of their slots. `unused` is the \
              room of slots without elements in the others: what arrays of the right length would save. A slot counts as \
              the largest power of two of bytes that fits in the longest such array as often as it has slots. In a hash \
              table several elements may share a slot: \
              `collided` counts those that are not the first of theirs, and `by chance` how many these would be if slots \
              were random; many more mean a bad hash function. Of a collection that a program changes on many threads at \
              once the number of elements may be unknown. Boxed numbers with equal values could be one object; \
              `superfluous` is what this would save. Arrays of one value hold it in every element, of which they have \
              at least two. Expressions ask for the same: `elements > 1M`, `fill < 25%`, `.every = 0`.",
    example: "collections",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let found = heap.collections(&ask.meter())?;
    let sum = |of: fn(&CollectionType) -> u64| found.types.iter().map(of).fold(0, u64::wrapping_add);
    let superfluous = found.boxed.iter().map(|row| row.superfluous_bytes).sum::<u64>();
    let uniform = found.uniform.iter().map(|row| row.bytes).sum::<u64>();
    let mut listed = Listed::default();
    let answer = Answer::default()
        .of_snapshot(snapshot)
        .fact(Column::new("empty_bytes", "empty bytes", Unit::Bytes), sum(|row| row.empty_bytes))
        .fact(Column::new("unused_bytes", "unused", Unit::Bytes), sum(|row| row.unused_bytes.unwrap_or(0)))
        .fact(Column::new("boxed_superfluous_bytes", "boxed, superfluous", Unit::Bytes), superfluous)
        .fact(Column::new("uniform_bytes", "arrays of one value", Unit::Bytes), uniform)
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
        Column::new("type", "type", Unit::Text),
        Column::new("objects", "objects", Unit::Count),
        Column::new("unknown", "unknown", Unit::Count).secondary(),
        Column::new("empty", "empty", Unit::Count),
        Column::new("empty_bytes", "empty bytes", Unit::Bytes),
        Column::new("single", "of one", Unit::Count).secondary(),
        Column::new("elements", "elements", Unit::Count).secondary(),
        Column::new("slots", "slots", Unit::Count).secondary(),
        Column::new("fill", "fill", Unit::Share),
        Column::new("unused_bytes", "unused", Unit::Bytes),
        Column::new("collided", "collided", Unit::Count).secondary(),
        Column::new("collided_by_chance", "by chance", Unit::Count).secondary(),
        Column::new("example", "example", Unit::Object),
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
        Column::new("type", "boxed numbers", Unit::Text),
        Column::new("objects", "objects", Unit::Count),
        Column::new("distinct", "values", Unit::Count),
        Column::new("bytes", "bytes", Unit::Bytes),
        Column::new("superfluous_bytes", "superfluous", Unit::Bytes),
        Column::new("example", "most frequent", Unit::Object),
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
        Column::new("type", "arrays of one value", Unit::Text),
        Column::new("element", "every element", Unit::Number),
        Column::new("objects", "objects", Unit::Count),
        Column::new("bytes", "bytes", Unit::Bytes),
        Column::new("example", "largest", Unit::Object),
    ];
    Ok(Table { key: "uniform", audience: Audience::Everyone, columns, rows: rows.collect() })
}
