//! `waste`: what is held for nothing.

use barrow_analyzer::Waste;

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command::new("waste", include_str!("../../verbs/waste.md"), Group::Objects, run);

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
        .of_snapshot(snapshot.0)
        .fact(Column::count("empty_objects").called("empty"), sum(|waste| waste.empty_objects))
        .fact(Column::bytes("empty_bytes").called("empty bytes"), sum(|waste| waste.empty_bytes))
        .fact(Column::bytes("spare_bytes"), Value::Estimate(sum(|waste| waste.spare_bytes)))
        .table(table)
        .note("~: unmanaged bytes of arrays beyond 8 for each element; empty containers are counted exactly");
    answer.exactness = Some("estimate");
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

fn columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::text("type"),
        Column::text("kind").secondary(),
        Column::count("empty_objects").called("empty"),
        Column::bytes("empty_bytes").called("empty bytes"),
        Column::count("spare_objects").called("arrays with spare"),
        Column::bytes("spare_bytes"),
        Column::object("example"),
    ]
}
