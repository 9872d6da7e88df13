//! `dups`: objects that look the same.

use barrow_analyzer::Duplicates;

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    aliases: &["duplicates"],
    ..Command::new("dups", include_str!("../../verbs/dups.md"), Group::Objects, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let found = heap.duplicates(&ask.meter())?;
    let tables = heap.recording().tables()?;
    let listed: Listed = found.iter().map(|duplicates| (snapshot, duplicates.example)).collect();
    let rows = found.iter().enumerate().map(|(at, one)| {
        vec![
            Value::from(at + 1),
            Value::text(tables.type_title(one.type_id)),
            Value::text(tables.kind_name(tables.type_kind(one.type_id))),
            one.groups.into(),
            one.objects.into(),
            one.superfluous().into(),
            one.wasted_bytes.into(),
            one.example.0.into(),
            one.example_count.into(),
        ]
    });
    let sum = |of: fn(&Duplicates) -> u64| found.iter().map(of).fold(0, u64::wrapping_add);
    let table = Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows: rows.collect() };
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("groups"), sum(|one| one.groups))
        .fact(Column::count("superfluous"), sum(Duplicates::superfluous))
        .fact(Column::bytes("wasted_bytes"), sum(|one| one.wasted_bytes))
        .table(table)
        .note("compared: type, name or text, shallow and unmanaged size, all references in order, and, without a name, fields;")
        .note(
            "left out are objects of which none of this tells enough; where texts were shortened, only their beginnings \
             were compared",
        )
        .exact();
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

fn columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::text("type"),
        Column::text("kind").secondary(),
        Column::count("groups"),
        Column::count("objects"),
        Column::count("superfluous"),
        Column::bytes("wasted_bytes"),
        Column::object("example"),
        Column::count("copies"),
    ]
}
