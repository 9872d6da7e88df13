//! `paths`: the paths of many objects, merged.

use std::collections::HashMap;

use barrow_analyzer::{Heap, MergedPaths, ObjectId, StringId, objects};

use crate::answer::label;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::found;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "paths",
    aliases: &["merge-paths"],
    group: Group::Alive,
    arguments: "[KIND] EXPR",
    about: "The shortest paths of many objects, merged into one tree with counts",
    details: "Objects of one type that are reached in the same way are one line. A class or a module is a line of its \
              own, with its name, and a line of one object has that object's name. `through` counts how many of the \
              requested objects are reached through the line. `--depth N` cuts the tree. `--min 1%` leaves out lines \
              through which fewer objects are reached.",
    example: "paths type = \"Session\"",
    flags: &["--depth", "--min"],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Expressions,
    run,
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
        Column::new("through", "through", Unit::Count),
        Column::new("depth", "depth", Unit::Number).for_machines(),
        Column::new("", "type", Unit::Text).for_people(),
        Column::new("type", "type", Unit::Text).for_machines(),
        Column::new("kind", "kind", Unit::Text).secondary(),
        Column::new("objects", "objects", Unit::Count),
        Column::new("members", "asked for", Unit::Count),
        Column::new("example", "example", Unit::Object),
        Column::new("title", "title", Unit::Text).for_machines(),
    ];
    let mut answer = Answer::default()
        .of_snapshot(snapshot)
        .fact(Column::new("objects", "objects", Unit::Count), counted.objects)
        .fact(Column::new("unreachable", "unreachable", Unit::Count), merged.unreachable)
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
