//! `waste`: what is held for nothing.

use barrow_analyzer::Waste;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command::new("waste", include_str!("../../verbs/waste.md"), Group::Objects, run);

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let found = heap.waste(&ask.meter())?;
    let tables = heap.recording().tables()?;
    let listed: Listed = found.iter().map(|waste| (snapshot, waste.example)).collect();
    let table = table!("rows", found.iter().enumerate(), |(at, waste)| {
        // Zero is exact.
        let spare = if waste.spare_bytes == 0 { 0u64.into() } else { Value::Estimate(waste.spare_bytes) };
        Column::row_number() => at + 1,
        Column::text("type").names() => tables.type_title(waste.type_id),
        Column::text("kind").names().secondary() => tables.kind_name(tables.type_kind(waste.type_id)),
        Column::count("empty_objects").called("empty") => waste.empty_objects,
        Column::bytes("empty_bytes").called("empty bytes") => waste.empty_bytes,
        Column::count("spare_objects").called("arrays with spare") => waste.spare_objects,
        Column::bytes("spare_bytes") => spare,
        Column::object("example") => waste.example.0,
    });
    let mut answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("empty_objects").called("empty"), sum(&found, |waste| waste.empty_objects))
        .fact(Column::bytes("empty_bytes").called("empty bytes"), sum(&found, |waste| waste.empty_bytes))
        .fact(Column::bytes("spare_bytes"), Value::Estimate(sum(&found, |waste| waste.spare_bytes)))
        .table(table)
        .note("~: unmanaged bytes of arrays beyond 8 for each element; empty containers are counted exactly");
    answer.exactness = Some("estimate");
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

fn sum(found: &[Waste], of: fn(&Waste) -> u64) -> u64 {
    found.iter().map(of).fold(0, u64::wrapping_add)
}
