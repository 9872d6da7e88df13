//! Changes between two snapshots, by path of types: `diff A B by path`.

use std::cmp::Reverse;
use std::collections::HashMap;

use barrow_analyzer::Growth;

use crate::answer::{Answer, Column, Table, Value, table, units};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::language::operand::Compared;
use crate::session::state::State;
use crate::tables::type_path;

/// A row with this part of the change of a path above it, and in the same direction, represents that, too. This is a
/// judgement: the rest is worth no row.
const CARRIED: f64 = 0.9;

/// Compares two snapshots, the largest change first.
///
/// # Errors
/// Those of the analyzer; a usage error for an amount of `--min`.
pub(crate) fn answer(state: &State, sides: [&Compared; 2], arguments: &Arguments) -> Result<Answer, QueryError> {
    let meter = state.meter();
    let mut growth = Growth::new(2, type_path::least_share(arguments)?);
    let [before, after] = sides;
    let heap = |side: &Compared| type_path::heap(state, &side.recording, side.snapshot);
    growth.fold(0, &before.recording, &*heap(before)?, &meter)?;
    growth.fold(1, &after.recording, &*heap(after)?, &meter)?;
    // Paths that are new in the second snapshot have no number yet in the first.
    if !growth.is_complete(0) {
        growth.fold(0, &before.recording, &*heap(before)?, &meter)?;
    }
    drop(meter);
    let (mut rows, unchanged) = changed(&growth);
    let note =
        format!("{} changed, {} unchanged", units::counted(rows.len() as u64, "path"), units::grouped(unchanged));
    let changes: Vec<i128> = rows.iter().map(|&node| change_of(&growth, node).signum()).collect();
    let deeper = type_path::deeper_rounds(&growth, &rows, |one, other| changes[one] == changes[other]);
    let mut kept = deeper.iter().map(|is_deeper| !is_deeper);
    rows.retain(|_| kept.next().unwrap_or(true));
    let side = |at: usize| sides[at].described([(Column::bytes("reachable_bytes"), growth.heap_bytes()[at].into())]);
    let answer = Answer::default()
        .fact(Column::nested("before").for_machines(), side(0))
        .fact(Column::nested("after").for_machines(), side(1))
        .fact(Column::text("by").own_words().for_machines(), "path")
        .fact(Column::count("unchanged").for_machines(), unchanged)
        .table(table(&growth, &rows))
        .note(note)
        .with_exactness(growth.is_exact());
    let deeper = deeper.iter().filter(|is_deeper| **is_deeper).count();
    Ok(type_path::told(answer, &growth, deeper, rows.iter().copied()))
}

/// The change of what a node retains, in bytes.
fn change_of(growth: &Growth<'_>, node: usize) -> i128 {
    let [before, after] = [0, 1].map(|at| growth.nodes()[node].retained_bytes[at].unwrap_or(0));
    i128::from(after) - i128::from(before)
}

/// The nodes whose retained size or count changed, without those that one below represents; and how many
/// did not change.
fn changed(growth: &Growth<'_>) -> (Vec<usize>, u64) {
    let change = |node: usize| change_of(growth, node);
    let large: Vec<usize> = growth.large().collect();
    let differs = |node: usize| {
        let node = &growth.nodes()[node];
        node.retained_bytes[0] != node.retained_bytes[1] || node.objects[0] != node.objects[1]
    };
    let unchanged = large.iter().filter(|&&node| !differs(node)).count() as u64;
    let rows = largest(&large, |node| growth.nodes()[node].parent, change);
    (rows.into_iter().filter(|&node| differs(node)).collect(), unchanged)
}

/// Nodes of a tree of paths by their changes, the largest first, without those that one further down represents. `nodes`
/// has parents before children.
pub(crate) fn largest(
    nodes: &[usize],
    parent: impl Fn(usize) -> Option<usize>,
    change: impl Fn(usize) -> i128,
) -> Vec<usize> {
    // The largest change of a row at or below the children of a node.
    let mut below: HashMap<usize, i128> = HashMap::new();
    let mut rows = Vec::new();
    for &node in nodes.iter().rev() {
        let (own, mut row) = (change(node), below.get(&node).copied().unwrap_or(0));
        let is_carried = own != 0 && own.signum() == row.signum() && row.abs() as f64 >= CARRIED * own.abs() as f64;
        if !is_carried {
            rows.push(node);
            row = own;
        }
        if let Some(most) = parent(node).map(|parent| below.entry(parent).or_insert(0))
            && row.abs() > most.abs()
        {
            *most = row;
        }
    }
    rows.sort_by_key(|&node| (Reverse(change(node).abs()), node));
    rows
}

fn table(growth: &Growth<'_>, rows: &[usize]) -> Table {
    table!("rows", rows, |&node| {
        let found = &growth.nodes()[node];
        let [objects_before, objects_after] = [found.objects[0], found.objects[1]];
        let [retained_before, retained_after] = [found.retained_bytes[0], found.retained_bytes[1]];
        Column::text("path").names().for_machines() => type_path::whole(growth, node),
        Column::nested("steps").for_machines() => type_path::steps(growth, node),
        Column::text("shown_path").names().called("path").for_people() => type_path::shown(growth, node),
        Column::count("objects_before").secondary() => objects_before,
        Column::count("objects_after").called("after").secondary() => objects_after,
        Column::count("objects_change").called("Δ objects") => change(objects_before, objects_after),
        Column::bytes("retained_bytes_before").called("retained before").secondary() => retained_before,
        Column::bytes("retained_bytes_after").called("after") => retained_after,
        Column::bytes("retained_bytes_change").called("Δ retained") => change(retained_before, retained_after),
        Column::nested("steps_bytes_change").for_machines() => Value::List(changes_of_steps(growth, node)),
    })
}

/// What each step of a path retains more than before, from the outermost on; none for what one snapshot does not have.
fn changes_of_steps(growth: &Growth<'_>, node: usize) -> Vec<Value> {
    let nodes = std::iter::successors(Some(&growth.nodes()[node]), |node| node.parent.map(|at| &growth.nodes()[at]));
    let steps = nodes.take_while(|node| node.parent.is_some());
    let changes = steps.map(|step| change(step.retained_bytes[0], step.retained_bytes[1]).unwrap_or(Value::None));
    let mut changes: Vec<Value> = changes.collect();
    changes.reverse();
    changes
}

/// The change of a number that both snapshots have.
fn change(before: Option<u64>, after: Option<u64>) -> Option<Value> {
    Some(Value::change(before?, after?))
}
