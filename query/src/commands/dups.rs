//! `dups`: objects that look the same.

use barrow_analyzer::Duplicates;

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "dups",
    aliases: &["duplicates"],
    group: Group::Objects,
    arguments: "",
    about: "Objects that look the same as far as a recording knows, by type",
    details: "Compared are type, name or text where it was recorded, shallow and unmanaged size, all outgoing references \
              in their order (labels, strengths and targets), and, of objects without name or text, what their fields hold, \
              as far as that was recorded. The array with the characters of a JVM's string is not compared, because the text \
              is. The end of a shortened text is not, so objects that look the same may still differ there. Objects \
              without name and references are left out, because nothing distinguishes them, and so are objects without \
              name whose only reference is one that all objects of the type have, like that to a class; but not arrays of \
              numbers whose elements were all recorded (`--contents all`), nor boxed numbers. `superfluous` counts all objects of a group \
              but one, and `wasted` is their shallow and unmanaged size. For strings of a JVM it includes their arrays, all \
              but one of each text, but none that strings with several texts share. The example is from the group of the type \
              whose own objects waste most; `copies` is the number of objects that look like it.",
    example: "dups",
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
        .of_snapshot(snapshot)
        .fact(Column::new("groups", "groups", Unit::Count), sum(|one| one.groups))
        .fact(Column::new("superfluous", "superfluous", Unit::Count), sum(Duplicates::superfluous))
        .fact(Column::new("wasted_bytes", "wasted", Unit::Bytes), sum(|one| one.wasted_bytes))
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
        Column::new("type", "type", Unit::Text),
        Column::new("kind", "kind", Unit::Text).secondary(),
        Column::new("groups", "groups", Unit::Count),
        Column::new("objects", "objects", Unit::Count),
        Column::new("superfluous", "superfluous", Unit::Count),
        Column::new("wasted_bytes", "wasted", Unit::Bytes),
        Column::new("example", "example", Unit::Object),
        Column::new("copies", "copies", Unit::Count),
    ]
}
