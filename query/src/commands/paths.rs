//! `paths`: the paths of many objects, merged.

use std::collections::HashMap;

use barrow_analyzer::{Heap, KindRole, MergedNode, MergedPaths, ObjectId, StringId, TypeId, objects};

use crate::answer::path;
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

/// The note on paths that are longer than they are followed.
pub(super) const CUT: &str = "paths are followed for 200 steps; what is deeper counts for the last of these";

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
    let shown: Vec<&MergedNode> =
        merged.nodes.iter().filter(|node| node.depth < depth && node.through >= least).collect();
    let is_object = |id| tables.kind_role(tables.type_kind(id)) == KindRole::Object;
    let rows = rows(&shown, ask.context.settings.short_paths, is_object);
    let table = table!("rows", rows, |Row { node, level, all, period }| {
        ask.context.check()?;
        let indent = "  ".repeat(level.min(60));
        let name = node.stands_for.or_else(|| names.get(&node.example).copied());
        let title = match all.len() {
            1 => label::object(tables, node.type_id, name),
            _ => {
                let types: Vec<String> = all[..period].iter().map(|node| tables.type_title(node.type_id)).collect();
                path::repeated(&types, (all.len() / period) as u64)
            }
        };
        Column::row_number() => listed.push((snapshot, node.example)),
        Column::count("through") => node.through,
        Column::depth() => node.depth,
        Column::shown("type", Unit::Text) => format!("{indent}{title}"),
        Column::text("type").names().for_machines() => tables.type_title(node.type_id),
        Column::text("kind").names().secondary() => tables.kind_name(tables.type_kind(node.type_id)),
        Column::count("objects") => all.iter().map(|node| node.objects).sum::<u64>(),
        Column::count("members").called("asked for") => all.iter().map(|node| node.members).sum::<u64>(),
        Column::object("example") => node.example.0,
        Column::text("title").for_machines() => title,
    });
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("objects"), counted.objects)
        .fact(Column::count("unreachable"), merged.unreachable)
        .table(table)
        .note_if(counted.objects == 0, "no object matches")
        .note_if(merged.are_cut(), CUT);
    let answer =
        found::with_exactness(answer, ask, found::Wanted { snapshot, kinds: &kinds, expression: &expression })?;
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed).with_last(set))
}

/// A line: a node, or nodes below each other that repeat.
struct Row<'m> {
    node: &'m MergedNode,
    /// The number of lines above it.
    level: usize,
    all: &'m [&'m MergedNode],
    /// The number of nodes that repeat.
    period: usize,
}

/// A row for each node, or, where paths are shortened, one for nodes below each other of which each is the only one and
/// whose types repeat.
fn rows<'m>(nodes: &'m [&'m MergedNode], are_short: bool, may_repeat: impl Fn(TypeId) -> bool) -> Vec<Row<'m>> {
    let mut children = vec![0_u32; nodes.len()];
    let mut above: Vec<usize> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        above.truncate(node.depth as usize);
        if let Some(&parent) = above.last() {
            children[parent] += 1;
        }
        above.push(at);
    }
    let is_same = |one: &MergedNode, other: &MergedNode| {
        one.type_id == other.type_id
            && one.stands_for.is_none()
            && other.stands_for.is_none()
            && may_repeat(one.type_id)
    };
    // Levels that are folded away above the nodes of a depth and below.
    let mut folded: Vec<(u32, usize)> = Vec::new();
    let (mut rows, mut at) = (Vec::new(), 0);
    while at < nodes.len() {
        let alone = if are_short { 1 + (at..nodes.len()).take_while(|&at| children[at] == 1).count() } else { 1 };
        for fold in path::folds(alone, |one, other| is_same(nodes[at + one], nodes[at + other])) {
            let node = nodes[at + fold.start];
            while folded.last().is_some_and(|&(depth, _)| node.depth <= depth) {
                folded.pop();
            }
            let before = folded.last().map_or(0, |&(_, levels)| levels);
            let all = &nodes[at + fold.start..at + fold.steps().end];
            rows.push(Row { node, level: node.depth as usize - before, all, period: fold.period });
            folded.push((node.depth, before + fold.steps().len() - 1));
        }
        at += alone;
    }
    rows
}

/// The names of objects that are a line alone.
fn names_of_single_objects(heap: &Heap, merged: &MergedPaths) -> Result<HashMap<ObjectId, StringId>, QueryError> {
    let single: Vec<ObjectId> = merged.nodes.iter().filter(|node| node.objects == 1).map(|node| node.example).collect();
    let found = objects(heap.recording(), heap.snapshot(), &single)?;
    Ok(found.iter().filter_map(|object| Some((object.id, object.name?))).collect())
}
