//! `dups`: objects that look the same.

use barrow_analyzer::Duplicates;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    aliases: &["duplicates"],
    ..Command::new("dups", include_str!("../../verbs/dups.md"), Group::Objects, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let found = heap.duplicates(&ask.meter())?;
    let tables = heap.recording().tables()?;
    let table = table!("rows", found.iter().enumerate(), |(at, one)| {
        Column::row_number() => at + 1,
        Column::text("type").names() => tables.type_title(one.type_id),
        Column::text("kind").names().secondary() => tables.kind_name(tables.type_kind(one.type_id)),
        Column::count("groups") => one.groups,
        Column::count("objects") => one.objects,
        Column::count("superfluous") => one.superfluous(),
        Column::bytes("wasted_bytes") => one.wasted_bytes,
        Column::object("example") => one.example.0,
        Column::count("copies") => one.example_count,
    });
    let wasted_bytes = found.iter().map(|one| one.wasted_bytes).fold(0, u64::wrapping_add);
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("groups"), found.iter().map(|one| one.groups).sum::<u64>())
        .fact(Column::count("superfluous"), found.iter().map(Duplicates::superfluous).sum::<u64>())
        .fact(Column::bytes("wasted_bytes"), wasted_bytes)
        .table(table)
        .note("compared: type, name or text, shallow and unmanaged size, all references in order, and, without a name, fields;")
        .note(
            "left out are objects of which none of this tells enough; where texts were shortened, only their beginnings \
             were compared",
        )
        .exact();
    let examples = found.iter().map(|one| one.example);
    Ok(more::first_page(ask, answer, ask.page_rows()).listing_objects(snapshot, examples))
}
