//! `waste`: what is held for nothing.

use barrow_analyzer::Waste;

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "waste",
    aliases: &[],
    group: Group::Objects,
    arguments: "",
    about: "Empty containers, and room for elements that do not exist",
    details: "An object is an empty container if it has no elements and others of its type have some. Elements are \
              references with an index, and in a dictionary those named by keys of its own. References without a name \
              may be anything, so they do not count. `empty bytes` is the shallow and unmanaged size of such objects. \
              `spare` is the unmanaged size of arrays beyond 8 bytes for each element. It is an estimate: it assumes \
              that an element is a pointer, and a recording does not say what unmanaged bytes are for.",
    example: "waste",
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
    let found = heap.waste(&ask.meter())?;
    let tables = heap.recording().tables()?;
    let listed: Listed = found.iter().map(|waste| (snapshot, waste.example)).collect();
    let rows = found.iter().enumerate().map(|(at, waste)| {
        vec![
            Value::from(at + 1),
            Value::text(tables.type_title(waste.type_id)),
            Value::text(tables.kind_name(tables.type_kind(waste.type_id))),
            waste.empty_objects.into(),
            waste.empty_bytes.into(),
            waste.spare_objects.into(),
            // That there is nothing is no estimate.
            if waste.spare_bytes == 0 { 0u64.into() } else { Value::Estimate(waste.spare_bytes) },
            waste.example.0.into(),
        ]
    });
    let table = Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows: rows.collect() };
    let sum = |of: fn(&Waste) -> u64| found.iter().map(of).fold(0, u64::wrapping_add);
    let mut answer = Answer::default()
        .of_snapshot(snapshot)
        .fact(Column::new("empty_objects", "empty", Unit::Count), sum(|waste| waste.empty_objects))
        .fact(Column::new("empty_bytes", "empty bytes", Unit::Bytes), sum(|waste| waste.empty_bytes))
        .fact(Column::new("spare_bytes", "spare", Unit::Bytes), Value::Estimate(sum(|waste| waste.spare_bytes)))
        .table(table)
        .note("~: unmanaged bytes of arrays beyond 8 for each element; empty containers are counted exactly");
    answer.exactness = Some("estimate");
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

fn columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::new("type", "type", Unit::Text),
        Column::new("kind", "kind", Unit::Text).secondary(),
        Column::new("empty_objects", "empty", Unit::Count),
        Column::new("empty_bytes", "empty bytes", Unit::Bytes),
        Column::new("spare_objects", "arrays with spare", Unit::Count),
        Column::new("spare_bytes", "spare", Unit::Bytes),
        Column::new("example", "example", Unit::Object),
    ]
}
