//! `idom`: who keeps an object alive alone.

use barrow_analyzer::{Holder, ObjectId, Tables, objects};

use crate::tables::{held, label};

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "ID",
    example: "idom @123",
    ..Command::new("idom", include_str!("../../verbs/idom.md"), Group::Alive, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let [name] = COMMAND.words(&ask.arguments)?;
    let (snapshot, object) = ask.object(&name.ok_or_else(|| {
        QueryError::usage("of which object? `idom @123`, or `idom %3` for row 3 of the last table")
    })?)?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let asked = heap.ask_dominators(&meter, |dominators| {
        let holders = dominators.holders(object).map(|holder| match holder {
            Holder::Object(dominator) => (holder, dominators.retained_bytes(dominator)),
            Holder::Roots(name) => (holder, dominators.group_bytes(name)),
            Holder::Everything => (holder, dominators.reachable_bytes()),
        });
        Ok::<_, QueryError>((holders.collect::<Vec<_>>(), dominators.is_reachable(object), dominators.is_exact()))
    });
    let (holders, is_reachable, is_exact) = asked?;
    let dominators: Vec<ObjectId> = holders.iter().filter_map(|(holder, _)| holder.object()).collect();
    let details = objects(heap.recording(), snapshot, &dominators)?;
    let said = held::lines_of(&heap, &details, &meter)?;
    let mut details = details.into_iter();
    drop(meter);
    let tables = heap.recording().tables()?;
    let mut listed = Listed::default();
    let table = table!("rows", holders, |(holder, bytes)| {
        ask.context.check()?;
        let dominator = holder.object();
        let object = dominator.and_then(|_| details.next());
        let type_id = object.map(|object| object.type_id);
        let title = match holder {
            Holder::Object(_) => object.map_or_else(String::new, |one| {
                held::title_with_line(label::object(tables, one.type_id, one.name), &said, one.id)
            }),
            Holder::Roots(name) => format!("roots: {}", tables.string(name)),
            Holder::Everything => "all roots".to_owned(),
        };
        Column::row_number() => dominator.map(|dominator| listed.push((snapshot, dominator))),
        Column::object("object") => dominator.map(|dominator| dominator.0),
        Column::shown("type", Unit::Text) => title.as_str(),
        Column::text("type").names().for_machines() => type_id.map_or(title, |type_id| tables.type_title(type_id)),
        Column::text("roots").for_machines() => roots_of(holder, tables),
        Column::text("kind").names() => type_id.map(|type_id| tables.kind_name(tables.type_kind(type_id))),
        Column::bytes("retained_bytes") => bytes,
    });
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::object("object"), object.0)
        .table(table)
        .with_exactness(is_exact)
        .note_if(!is_reachable, "no root reaches it: nothing keeps it alive");
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

/// The group of roots that a holder is, if it is one.
pub(super) fn roots_of(holder: Holder, tables: &Tables) -> Option<&str> {
    match holder {
        Holder::Roots(name) => Some(tables.string(name)),
        Holder::Object(_) | Holder::Everything => None,
    }
}
