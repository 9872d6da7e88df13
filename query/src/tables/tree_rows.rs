//! Rows for places of the dominator tree.

use barrow_analyzer::{Heap, Holder, objects};

use crate::answer::{Column, Unit, Value};
use crate::ask::Ask;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::label;
use crate::tables::tree_walk::TreeLine;

/// The columns of a row for a place.
pub(crate) fn columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::number("depth").for_machines(),
        Column::object("object"),
        Column::shown("type", Unit::Text),
        Column::text("type").for_machines(),
        Column::text("name").for_machines(),
        Column::text("roots").for_machines(),
        Column::text("kind").secondary(),
        Column::bytes("shallow_bytes").secondary(),
        Column::bytes("unmanaged_bytes").secondary(),
        Column::count("retained_objects").called("retains objects"),
        Column::bytes("retained_bytes"),
        Column::count("left_out").called("smaller ones"),
        Column::bytes("left_out_bytes").called("they retain").secondary(),
    ]
}

/// A row for each line, and the objects in them, which get numbers for `%`.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn rows(heap: &Heap, ask: &Ask, lines: &[TreeLine]) -> Result<(Vec<Vec<Value>>, Listed), QueryError> {
    let tables = heap.recording().tables()?;
    let ids: Vec<_> = lines.iter().filter_map(|line| line.holder.object()).collect();
    let mut details = objects(heap.recording(), heap.snapshot(), &ids)?.into_iter();
    let (mut rows, mut listed) = (Vec::new(), Listed::default());
    for line in lines {
        let object = line.holder.object().and_then(|_| details.next());
        let group = match line.holder {
            Holder::Roots(name) => Some(tables.string(name)),
            _ => None,
        };
        let title = match (group, &object) {
            (Some(name), _) => format!("roots: {name}"),
            (_, Some(object)) => label::object(tables, object.type_id, object.name),
            _ => "all roots".to_owned(),
        };
        let row = object.map(|object| {
            let row = listed.push((heap.snapshot(), object.id));
            ask.row_number(ask.listed_before() + row)
        });
        let left_out = |value: u64| if line.left_out.0 == 0 { Value::None } else { Value::Number(value) };
        rows.push(vec![
            row.unwrap_or(Value::None),
            line.depth.into(),
            object.map(|object| object.id.0).into(),
            Value::Text(format!("{}{title}", "  ".repeat((line.depth as usize).min(60)))),
            Value::Text(object.map_or(title, |object| tables.type_title(object.type_id))),
            label::name(tables, object.and_then(|object| object.name)),
            group.into(),
            object.map(|object| tables.kind_name(tables.type_kind(object.type_id))).into(),
            object.map(|object| object.shallow_bytes).into(),
            object.map(|object| object.unmanaged_bytes).into(),
            line.retained.0.into(),
            line.retained.1.into(),
            left_out(line.left_out.0),
            left_out(line.left_out.1),
        ]);
    }
    Ok((rows, listed))
}
