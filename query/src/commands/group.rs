//! `group`: objects by what they have in common.

use barrow_analyzer::{GroupKey, GroupRetained, Heap, ObjectGroups, Progress, RetainedByGroups};

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::language::request::Request;
use crate::tables::ranking::Order;
use crate::tables::{found, group_keys, held};

use super::{Command, Completion, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "[N] [[KIND] EXPR] by KEY[,KEY].. [by size|count|unmanaged|retained]",
    example: "group type = \"Session\" by text by count",
    completion: Completion::Expressions,
    ..Command::new("group", include_str!("../../verbs/group.md"), Group::Objects, run)
};

/// What the row of a group takes, in bytes, and each key in it. Measured with 416,438 groups of two keys.
const ROW_BYTES: u64 = 400;
const KEY_BYTES: u64 = 100;

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let request = Request::of(&ask.arguments);
    let (keys, order) = group_keys::keys_and_order(&COMMAND, &request.by)?;
    let snapshot = ask.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression_or_all(ask, snapshot, &request.rest, 0)?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let (set, _) = heap.select(&kinds, &expression, &meter)?;
    let found = heap.groups(&set, &keys, &meter)?;
    let retained = if order == Order::Retained { Some(found.retained(&meter)?) } else { None };
    ask.context.require_rows_of(found.groups.len(), ROW_BYTES + KEY_BYTES * keys.len() as u64)?;
    let rows = rows(&keys, &found, retained.as_ref(), order, &heap, &meter)?;
    drop(meter);
    let rows = ask.context.collect(rows.into_iter())?;
    let columns = columns(&keys, &rows, retained.is_some());
    let table = Table { key: "rows", audience: Audience::Everyone, columns, rows };
    let sum = group_keys::totals(found.groups.iter());
    let mut answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("groups"), found.groups.len())
        .fact(Column::count("objects"), sum.objects)
        .fact(Column::bytes("shallow_bytes"), sum.heap_bytes)
        .fact(Column::bytes("unmanaged_bytes"), sum.unmanaged_bytes);
    if let Some(retained) = &retained {
        let all = retained.groups.iter().chain([&retained.shared]).map(|one| one.bytes).fold(0, u64::wrapping_add);
        answer = answer.fact(Column::bytes("retained_bytes"), all);
        answer = answer.fact(Column::bytes("shared_bytes"), retained.shared.bytes);
    }
    answer = found::with_exactness(answer.table(table), ask, snapshot, &expression)?;
    if retained.is_some_and(|retained| !retained.are_exact) {
        let why = "what a group retains is a lower bound, because ephemerons are involved; what is shared has the rest";
        answer = answer.at_least().note(why);
    }
    if set.is_empty() {
        answer = answer.note("no object matches");
    }
    let rows = request.rows.unwrap_or_else(|| ask.page_rows());
    Ok(more::first_page(ask, answer, rows).with_last(std::sync::Arc::new(set)))
}

/// A row for each group, the largest first, and one for what is shared.
fn rows(
    keys: &[GroupKey],
    found: &ObjectGroups<'_>,
    retained: Option<&RetainedByGroups>,
    order: Order,
    heap: &Heap,
    progress: &dyn Progress,
) -> Result<Vec<Vec<Value>>, QueryError> {
    let (groups, tables) = (&found.groups, heap.recording().tables()?);
    let lines = group_keys::lines(found, heap, progress)?;
    let mut cells = group_keys::cells(keys, found, &lines, heap)?;
    let retained_of = |at: usize| retained.map(|retained| retained.groups[at]);
    let rank = |at: usize| order.of(&group_keys::totals([&groups[at]].into_iter()), retained_of(at));
    let named: Vec<&GroupKey> = keys.iter().filter(|key| !key.is_held()).collect();
    let names = |at: usize| named.iter().map(|key| groups[at].key(key, tables)).collect::<Vec<_>>();
    let place = |held| held::order(held, &lines, tables);
    let places = |at: usize| found.held(&groups[at]).iter().map(place).collect::<Vec<_>>();
    let mut sorted: Vec<usize> = (0..groups.len()).collect();
    sorted.sort_by_cached_key(|&at| (std::cmp::Reverse(rank(at)), names(at), places(at)));
    let shared = retained.map_or(GroupRetained::default(), |retained| retained.shared);
    let mut whole = sorted.iter().map(|&at| rank(at)).fold(0, u64::wrapping_add);
    if order == Order::Retained {
        whole = whole.wrapping_add(shared.bytes);
    }
    let mut row = |at: usize| {
        let group = &groups[at];
        let mut row = std::mem::take(&mut cells[at]);
        row.extend([group.objects.into(), group.heap_bytes.into(), group.unmanaged_bytes.into()]);
        row.extend(retained_of(at).into_iter().flat_map(|retained| [retained.bytes.into(), "group".into()]));
        row.push(Value::share(rank(at), whole));
        row
    };
    let mut rows: Vec<Vec<Value>> = sorted.into_iter().map(&mut row).collect();
    if shared.bytes > 0 {
        let mut row = vec![Value::None; keys.len()];
        row.extend([0_u64.into(), 0_u64.into(), 0_u64.into(), shared.bytes.into(), "shared".into()]);
        row.push(Value::share(shared.bytes, whole));
        rows.push(row);
    }
    Ok(rows)
}

fn columns(keys: &[GroupKey], rows: &[Vec<Value>], are_retained: bool) -> Vec<Column> {
    let mut columns = group_keys::columns(keys, rows);
    columns.extend([
        Column::count("objects"),
        Column::bytes("shallow_bytes"),
        Column::bytes("unmanaged_bytes").secondary(),
    ]);
    if are_retained {
        columns.push(Column::bytes("retained_bytes"));
        columns.push(Column::text("part"));
    }
    columns.push(Column::share("share").for_people());
    columns
}
