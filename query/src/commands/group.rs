//! `group`: objects or processes by what they have in common.

mod processes;

use std::cmp::Reverse;
use std::sync::Arc;

use barrow_analyzer::{
    Expression, GroupKey, GroupRetained, Heap, Held, KindId, ObjectGroups, Progress, RetainedByGroups, SnapshotId,
};
use barrow_processes::Attribute;

use crate::answer::{Answer, Column, Table, Value, table};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::{self, totals::Total};
use crate::error::QueryError;
use crate::language::aggregates::{Aggregate, ShowClause};
use crate::language::asked::{self, Asked};
use crate::language::request::Request;
use crate::tables::aggregates::{AGGREGATE_BYTES, Aggregates, ObjectNumbers};
use crate::tables::{found, group_keys, held};

use super::{Command, Completion, Content, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "[N] [[KIND] EXPR] by KEY[,KEY].. [show AGGREGATE[, AGGREGATE]..] [by size|count|unmanaged|retained|AGGREGATE]",
    example: "group type = \"Session\" by text by count",
    flags: &["--classes"],
    completion: Completion::Expressions,
    orders,
    fill: with_keys,
    ..Command::new("group", include_str!("../../verbs/group.md"), Group::Objects, run)
};

/// Bytes of the row of a group, and of each key in it. Measured with 416,438 groups of two keys.
const ROW_BYTES: u64 = 400;
const KEY_BYTES: u64 = 100;

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let shown = ShowClause::of(&ask.arguments)?;
    let mut request = Request::of(&shown.rest);
    let order = shown.take_order(&mut request.by)?;
    let columns = Columns { aggregates: &shown.aggregates, order };
    match asked::asked(ask, &request.rest, 0)? {
        Asked::Objects(snapshot, kinds, expression) => {
            found::refuse_wide(&*ask.recording()?, &ask.arguments.text())?;
            of_objects(ask, &request, &columns, snapshot, &kinds, &expression)
        }
        Asked::Processes(expression) => processes::grouped(ask, &request, &columns, &expression),
    }
}

/// The aggregates that groups show, and the place among them of the one that orders the groups.
struct Columns<'a> {
    aggregates: &'a [Aggregate],
    order: Option<usize>,
}

/// Puts the words of keys in the places of their marks.
fn with_keys(text: String) -> String {
    let of_objects = ("{keys of objects}", attributes::group_words());
    let of_processes = ("{keys of processes}", attributes::processes::words(Attribute::groups));
    [of_objects, of_processes].into_iter().fold(text, |text, (mark, words)| {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        text.replace(mark, &words.join(", "))
    })
}

/// What may follow `by`.
fn orders(held: &[Content]) -> Vec<&'static str> {
    let of_objects = attributes::group_words().into_iter().chain(Total::usual_words());
    let of_objects = of_objects.filter(|_| held != [Content::Processes]);
    let of_processes = if held.contains(&Content::Processes) { processes::orders() } else { Vec::new() };
    of_objects.chain(of_processes).collect()
}

fn of_objects(
    ask: &Ask,
    request: &Request,
    shown: &Columns<'_>,
    snapshot: SnapshotId,
    kinds: &[KindId],
    expression: &Expression,
) -> Result<Reply, QueryError> {
    let (keys, order) = group_keys::keys_and_order(&COMMAND, &request.by, Total::named)?;
    let numbers = ObjectNumbers::of(shown.aggregates)?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let (set, _) = heap.select(kinds, expression, &meter)?;
    let found = heap.groups(&set, &keys, &meter)?;
    let retained = if order == Total::Retained { Some(found.retained(&meter)?) } else { None };
    let cell_bytes = KEY_BYTES * keys.len() as u64 + AGGREGATE_BYTES * shown.aggregates.len() as u64;
    ask.context.require_rows_of(found.groups.len(), ROW_BYTES + cell_bytes)?;
    let group_of = if shown.aggregates.is_empty() { Vec::new() } else { found.numbers(&meter)? };
    let aggregates =
        numbers.aggregates(shown.aggregates, &heap, &set, found.groups.len(), |at| group_of[at] as usize, &meter)?;
    let table = table(&keys, &found, retained.as_ref(), (order, shown.order), &aggregates, &heap, &meter)?;
    drop(meter);
    ask.context.check()?;
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
    answer = found::with_exactness(answer.table(table), ask, found::Wanted { snapshot, kinds, expression })?;
    answer = numbers.with_exactness(aggregates.told(answer, "object"), &heap, &ask.meter())?;
    if retained.is_some_and(|retained| !retained.are_exact) {
        let why = "what a group retains is a lower bound, because ephemerons are involved; what is shared has the rest";
        answer = answer.at_least().note(why);
    }
    answer = group_keys::with_doubts(answer, &keys, &found, &heap, &set, &ask.meter())?;
    let is_absent = |held: &Held| *held == Held::Missing;
    if found.groups.iter().any(|group| found.held(group).iter().any(is_absent)) {
        answer = found::with_lost_numbers(answer, heap.recording())?;
    }
    if set.is_empty() {
        answer = answer.note("no object matches");
    }
    let rows = request.rows.unwrap_or_else(|| ask.page_rows());
    Ok(more::first_page(ask, answer, rows).with_last(Arc::new(set)))
}

/// A row for each group, the largest first, and one for shared objects.
fn table(
    keys: &[GroupKey],
    found: &ObjectGroups<'_>,
    retained: Option<&RetainedByGroups>,
    (order, by_aggregate): (Total, Option<usize>),
    aggregates: &Aggregates<'_>,
    heap: &Heap,
    progress: &dyn Progress,
) -> Result<Table, QueryError> {
    let (groups, tables) = (&found.groups, heap.recording().tables()?);
    let lines = group_keys::lines(found, heap, progress)?;
    let mut cells = group_keys::cells(keys, found, &lines, heap)?;
    let key_columns = group_keys::columns(keys, &cells);
    let named: Vec<&GroupKey> = keys.iter().filter(|key| !key.is_held()).collect();
    let mut ranks = Vec::with_capacity(groups.len());
    for (at, group) in groups.iter().enumerate() {
        let totals = group_keys::totals([group].into_iter());
        ranks.push(order.of(&totals, retained.map(|retained| retained.groups[at])));
    }
    let mut sorted: Vec<usize> = (0..groups.len()).collect();
    sorted.sort_by_cached_key(|&at| {
        let names: Vec<_> = named.iter().map(|key| groups[at].key(key, tables)).collect();
        let places: Vec<_> = found.held(&groups[at]).iter().map(|held| held::order(held, &lines, tables)).collect();
        (Reverse(ranks[at]), names, places)
    });
    if let Some(aggregate) = by_aggregate {
        sorted.sort_by(|&one, &other| aggregates.compared(aggregate, one, other));
    }
    let shared = retained.map_or(GroupRetained::default(), |retained| retained.shared);
    let whole = ranks.iter().copied().fold(shared.bytes, u64::wrapping_add);
    let places = sorted.into_iter().map(Some).chain((shared.bytes > 0).then_some(None));
    Ok(table!("rows", places, |place| {
        let totals = group_keys::totals(place.map(|at| &groups[at]).into_iter());
        let of_row = retained.map(|retained| place.map_or(shared, |at| retained.groups[at]));
        ..key_columns => place.map_or_else(|| vec![Value::None; keys.len()], |at| std::mem::take(&mut cells[at])),
        Column::count("objects") => totals.objects,
        Column::bytes("shallow_bytes") => totals.heap_bytes,
        Column::bytes("unmanaged_bytes").secondary() => totals.unmanaged_bytes,
        ..retained.map(|_| Column::bytes("retained_bytes")) => of_row.map(|retained| retained.bytes),
        ..retained.map(|_| Column::text("part")) => of_row.map(|_| if place.is_some() { "group" } else { "shared" }),
        ..aggregates.columns() => place.map_or_else(|| vec![Value::None; aggregates.columns().len()], |at| aggregates.cells(at)),
        ..by_aggregate.is_none().then(|| Column::share("share").for_people())
            => by_aggregate.is_none().then(|| Value::share(place.map_or(shared.bytes, |at| ranks[at]), whole)),
    }))
}
