//! `paths`: the paths of many objects, merged.

use std::collections::HashMap;

use barrow_analyzer::{Heap, MergedPaths, ObjectId, StringId, objects};

use crate::tables::{found, label};

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    aliases: &["merge-paths"],
    arguments: "[KIND] EXPR",
    example: "paths type = \"Session\"",
    flags: &["--depth", "--min"],
    completion: Completion::Expressions,
    ..Command::new("paths", include_str!("../../verbs/paths.md"), Group::Alive, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    if ask.arguments.words().is_empty() {
        return Err(QueryError::usage(format!("the paths of which objects? `{}`", COMMAND.example)));
    }
    let (kinds, expression) = found::kinds_and_expression(ask, snapshot, &ask.arguments, 0)?;
    let (set, counted) = found::select(ask, snapshot, &kinds, &expression)?;
    let heap = ask.heap(snapshot)?;
    let merged = heap.merged_paths(&set, &ask.meter())?;
    let tables = heap.recording().tables()?;
    let names = names_of_single_objects(&heap, &merged)?;
    let least = ask.arguments.flags.least(counted.objects);
    let depth = ask.arguments.flags.depth.unwrap_or(u32::MAX);
    let mut listed = Listed::default();
    let shown = merged.nodes.iter().filter(|node| node.depth < depth && node.through >= least);
    let table = table!("rows", shown, |node| {
        ask.context.check()?;
        let indent = "  ".repeat((node.depth as usize).min(60));
        let name = node.stands_for.or_else(|| names.get(&node.example).copied());
        let title = label::object(tables, node.type_id, name);
        Column::row_number() => listed.push((snapshot, node.example)),
        Column::count("through") => node.through,
        Column::number("depth").for_machines() => node.depth,
        Column::shown("type", Unit::Text) => format!("{indent}{title}"),
        Column::text("type").names().for_machines() => tables.type_title(node.type_id),
        Column::text("kind").names().secondary() => tables.kind_name(tables.type_kind(node.type_id)),
        Column::count("objects") => node.objects,
        Column::count("members").called("asked for") => node.members,
        Column::object("example") => node.example.0,
        Column::text("title").for_machines() => title,
    });
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("objects"), counted.objects)
        .fact(Column::count("unreachable"), merged.unreachable)
        .table(table)
        .note_if(counted.objects == 0, "no object matches");
    let answer = found::with_exactness(answer, ask, snapshot, &expression)?;
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed).with_last(set))
}

/// The names of objects that are a line alone.
fn names_of_single_objects(heap: &Heap, merged: &MergedPaths) -> Result<HashMap<ObjectId, StringId>, QueryError> {
    let single: Vec<ObjectId> = merged.nodes.iter().filter(|node| node.objects == 1).map(|node| node.example).collect();
    let found = objects(heap.recording(), heap.snapshot(), &single)?;
    Ok(found.iter().filter_map(|object| Some((object.id, object.name?))).collect())
}
