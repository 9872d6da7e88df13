//! `collections`: how full collections are.

use crate::tables::held;

use super::{more, prelude::*};

pub(super) const COMMAND: Command =
    Command::new("collections", include_str!("../../verbs/collections.md"), Group::Objects, run);

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let tables = heap.recording().tables()?;
    let found = heap.collections(&ask.meter())?;
    let empty_bytes = found.types.iter().map(|row| row.empty_bytes).fold(0, u64::wrapping_add);
    let unused_bytes = found.types.iter().map(|row| row.unused_bytes.unwrap_or(0)).fold(0, u64::wrapping_add);
    let mut listed = Listed::default();
    let types = table!("rows", &found.types, |row| {
        let hashed = row.hashed.as_ref();
        Column::row_number() => listed.push((snapshot, row.example)),
        Column::text("type").names() => tables.type_title(row.type_id),
        Column::count("objects") => row.objects,
        Column::count("unknown").secondary() => row.unknown,
        Column::count("empty") => row.empty,
        Column::bytes("empty_bytes").called("empty bytes") => row.empty_bytes,
        Column::count("single").called("of one").secondary() => row.single,
        Column::count("elements").secondary() => row.elements,
        Column::count("slots").secondary() => Some(row.slots).filter(|&slots| slots > 0),
        Column::share("fill") => row.share().map(Value::Share),
        Column::bytes("unused_bytes") => row.unused_bytes,
        Column::count("collided").secondary() => hashed.map(|hashed| hashed.collided),
        Column::count("collided_by_chance").called("by chance").secondary() => {
            hashed.map(|hashed| Value::Estimate(hashed.expected.round() as u64))
        },
        Column::object("example") => row.example.0,
    });
    let boxed = table!("boxed", &found.boxed, |row| {
        Column::row_number() => listed.push((snapshot, row.example)),
        Column::text("type").names().called("boxed numbers") => tables.type_title(row.type_id),
        Column::count("objects") => row.objects,
        Column::count("distinct").called("values") => row.distinct,
        Column::bytes("bytes") => row.bytes,
        Column::bytes("superfluous_bytes") => row.superfluous_bytes,
        Column::object("example").called("most frequent") => row.example.0,
    });
    let elements: Vec<_> = found.uniform.iter().map(|row| row.element).collect();
    let elements = held::cells(heap.recording(), snapshot, &elements)?;
    let uniform = table!("uniform", found.uniform.iter().zip(elements), |(row, element)| {
        Column::row_number() => listed.push((snapshot, row.example)),
        Column::text("type").names().called("arrays of one value") => tables.type_title(row.type_id),
        Column::number("element").called("every element") => element,
        Column::count("objects") => row.objects,
        Column::bytes("bytes") => row.bytes,
        Column::object("example").called("largest") => row.example.0,
    });
    let superfluous_bytes: u64 = found.boxed.iter().map(|row| row.superfluous_bytes).sum();
    let uniform_bytes: u64 = found.uniform.iter().map(|row| row.bytes).sum();
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::bytes("empty_bytes").called("empty bytes"), empty_bytes)
        .fact(Column::bytes("unused_bytes"), unused_bytes)
        .fact(Column::bytes("boxed_superfluous_bytes").called("boxed, superfluous"), superfluous_bytes)
        .fact(Column::bytes("uniform_bytes").called("arrays of one value"), uniform_bytes)
        .table(types)
        .table(boxed)
        .table(uniform);
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}
