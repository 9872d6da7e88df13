//! `diff A B [KIND] EXPR by path`: the shortest paths of objects in two snapshots, merged by type as `paths` does.

use std::collections::HashMap;

use crate::answer::{Answer, BETWEEN_STEPS, Column, Table, Value, table, units};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::commands::paths::CUT;
use crate::error::QueryError;
use crate::language::operand::Compared;
use crate::tables::each_snapshot::EachSnapshot;
use crate::tables::{found, label, path_change};

/// A path of types on both sides.
struct Node {
    parent: Option<usize>,
    title: String,
    /// The objects that match and are reached through it.
    through: [u64; 2],
    /// The objects in it.
    objects: [u64; 2],
}

/// Bytes of a node, of its place by title, and of the rows that show it. This is an estimate by their fields and
/// texts, not a measurement.
const NODE_BYTES: u64 = 600;

/// Compares the paths of the objects that match, the largest change first.
///
/// # Errors
/// A usage error for words that are no expression; those of the analyzer.
pub(super) fn answer(ask: &Ask, sides: [&Compared; 2], words: &Arguments) -> Result<Answer, QueryError> {
    let each = EachSnapshot::of_sides(ask, sides, words)?;
    let meter = ask.meter();
    let mut nodes: Vec<Node> = Vec::new();
    let mut places: HashMap<(Option<usize>, String), usize> = HashMap::new();
    let (mut objects, mut unreachable, mut are_cut) = ([0; 2], [0; 2], false);
    let is_exact = each.visit(ask, |at, heap, set| {
        let merged = heap.merged_paths(&set, &meter)?;
        let tables = heap.recording().tables()?;
        (objects[at], unreachable[at]) = (set.len(), merged.unreachable);
        are_cut |= merged.are_cut();
        let mut above: Vec<usize> = Vec::new();
        for node in &merged.nodes {
            above.truncate(node.depth as usize);
            let (parent, title) = (above.last().copied(), label::object(tables, node.type_id, node.stands_for));
            let place = *places.entry((parent, title.clone())).or_insert_with(|| {
                nodes.push(Node { parent, title, through: [0; 2], objects: [0; 2] });
                nodes.len() - 1
            });
            nodes[place].through[at] += node.through;
            nodes[place].objects[at] += node.objects;
            above.push(place);
        }
        ask.context.require_rows_of(nodes.len(), NODE_BYTES)?;
        ask.context.check()
    })?;
    drop(places);
    let least = words.flags.least(objects[0].max(objects[1]));
    let all: Vec<usize> =
        (0..nodes.len()).filter(|&at| nodes[at].through[0].max(nodes[at].through[1]) >= least).collect();
    let change = |at: usize| i128::from(nodes[at].through[1]) - i128::from(nodes[at].through[0]);
    let changed = all.iter().filter(|&&at| change(at) != 0).count();
    let (unchanged, small) = (all.len() - changed, nodes.len() - all.len());
    let mut rows = path_change::largest(&all, |at| nodes[at].parent, change);
    rows.retain(|&at| change(at) != 0);
    let carried = changed - rows.len();
    let side = |at: usize| {
        let counts = [("objects", objects[at]), ("unreachable", unreachable[at])];
        sides[at].described(counts.map(|(key, count): (_, u64)| (Column::count(key), count.into())))
    };
    let path = |count: usize| units::counted(count as u64, "path");
    let mut answer = Answer::default()
        .fact(Column::nested("before").for_machines(), side(0))
        .fact(Column::nested("after").for_machines(), side(1))
        .fact(Column::text("by").own_words().for_machines(), "path")
        .fact(Column::count("unchanged").for_machines(), unchanged)
        .table(table(ask, &nodes, &rows)?)
        .note(format!("{} changed, {} unchanged", path(changed), units::grouped(unchanged as u64)))
        .note_if(are_cut, CUT);
    for (count, why) in
        [(carried, "paths below have nine tenths of the change"), (small, "they were always small (`--min`)")]
    {
        answer = answer.note_if(count > 0, format!("{} not shown: {why}", path(count)));
    }
    for (at, side) in ["before", "after"].into_iter().enumerate() {
        let objects = units::counted(unreachable[at], "object");
        answer = answer.note_if(unreachable[at] > 0, format!("{side}: no root reaches {objects} of those that match"));
    }
    each.with_gaps(found::said(answer, is_exact), ask)
}

/// The titles of a node and of those above it, from the roots on.
fn path(nodes: &[Node], node: usize) -> Vec<String> {
    let above = std::iter::successors(Some(node), |&node| nodes[node].parent);
    let mut path: Vec<String> = above.map(|node| nodes[node].title.clone()).collect();
    path.reverse();
    path
}

fn table(ask: &Ask, nodes: &[Node], rows: &[usize]) -> Result<Table, QueryError> {
    Ok(table!("rows", rows, |&at| {
        ask.context.check()?;
        let node = &nodes[at];
        let path = path(nodes, at);
        let [before, after] = node.through;
        Column::text("path").names().for_machines() => path.join(BETWEEN_STEPS),
        Column::text("shown_path").names().called("path").for_people() => Value::Path(path),
        Column::count("objects_before").secondary() => node.objects[0],
        Column::count("objects_after").called("after").secondary() => node.objects[1],
        Column::count("through_before").called("through before") => before,
        Column::count("through_after").called("after") => after,
        Column::count("through_change").called("Δ through") => Value::change(before, after),
    }))
}
