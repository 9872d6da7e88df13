//! `paths`: the paths of many objects, merged.

use std::collections::HashMap;

use barrow_analyzer::{Heap, MergedPaths, ObjectId, StringId, objects};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::found;
use crate::tables::label;

use super::{Command, Completion, Group, more};

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
    let meter = ask.meter();
    let merged = heap.merged_paths(&set, &meter)?;
    drop(meter);
    let tables = heap.recording().tables()?;
    let names = names_of_single_objects(&heap, &merged)?;
    let least = ask.arguments.flags.least(counted.objects);
    let depth = ask.arguments.flags.depth.unwrap_or(u32::MAX);
    let (mut rows, mut listed) = (Vec::new(), Listed::default());
    for node in merged.nodes.iter().filter(|node| node.depth < depth && node.through >= least) {
        ask.context.check()?;
        let indent = "  ".repeat((node.depth as usize).min(60));
        let name = node.stands_for.or_else(|| names.get(&node.example).copied());
        let title = label::object(tables, node.type_id, name);
        rows.push(vec![
            Value::from(listed.push((snapshot, node.example))),
            node.through.into(),
            node.depth.into(),
            Value::Text(format!("{indent}{title}")),
            Value::text(tables.type_title(node.type_id)),
            Value::text(tables.kind_name(tables.type_kind(node.type_id))),
            node.objects.into(),
            node.members.into(),
            node.example.0.into(),
            Value::Text(title),
        ]);
    }
    let columns = vec![
        Column::row_number(),
        Column::count("through"),
        Column::number("depth").for_machines(),
        Column::shown("type", Unit::Text),
        Column::text("type").for_machines(),
        Column::text("kind").secondary(),
        Column::count("objects"),
        Column::count("members").called("asked for"),
        Column::object("example"),
        Column::text("title").for_machines(),
    ];
    let mut answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("objects"), counted.objects)
        .fact(Column::count("unreachable"), merged.unreachable)
        .table(Table { key: "rows", audience: Audience::Everyone, columns, rows });
    if counted.objects == 0 {
        answer = answer.note("no object matches");
    }
    let rows = ask.page_rows();
    answer = found::with_exactness(answer, ask, snapshot, &expression)?;
    Ok(more::first_page(ask, answer, rows).listing(listed).with_last(set))
}

/// The names of objects that are a line alone.
fn names_of_single_objects(heap: &Heap, merged: &MergedPaths) -> Result<HashMap<ObjectId, StringId>, QueryError> {
    let single: Vec<ObjectId> = merged.nodes.iter().filter(|node| node.objects == 1).map(|node| node.example).collect();
    let found = objects(heap.recording(), heap.snapshot(), &single)?;
    Ok(found.iter().filter_map(|object| Some((object.id, object.name?))).collect())
}
