//! `histogram`: all types, kinds or sites of a snapshot.

use std::collections::BTreeMap;

use barrow_analyzer::{GroupRetained, Heap, Progress, TypeTotals};
use barrow_statistics::Modes;

use crate::answer::measured::measured;
use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::flags::Format;
use crate::language::kinds::Kinds;
use crate::language::request::Request;
use crate::tables::found;
use crate::tables::ranking::{self, Order};
use crate::tables::trials::{Named, STATISTICS_BYTES, histogram, modes};
use crate::tables::type_series;

use super::{Command, Completion, Group, more, sites};

pub(super) const COMMAND: Command = Command {
    aliases: &["histo"],
    arguments: "[EXPR | METRIC [PROGRAM]] [by type|kind|site|generation] [by size|count|unmanaged|retained]",
    example: "histogram by kind",
    asks_for_totals: Some(super::asks_for_totals),
    completion: Completion::Rankings,
    ..Command::new("histogram", include_str!("../../verbs/histogram.md"), Group::Snapshots, run)
};

/// What a row is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grouping {
    Type,
    Kind,
    Site,
    Generation,
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    if let Some(answer) = of_trials(ask, &ask.arguments)? {
        return Ok(answer.into());
    }
    let request = Request::of(&ask.arguments);
    let (mut grouping, mut order) = (Grouping::Type, Order::Size);
    for name in &request.by {
        match (name.as_str(), Order::named(name)) {
            ("type", _) => grouping = Grouping::Type,
            ("kind", _) => grouping = Grouping::Kind,
            ("site", _) => grouping = Grouping::Site,
            ("generation", _) => grouping = Grouping::Generation,
            (_, Some(named)) => order = named,
            _ => return Err(COMMAND.refuses(name)),
        }
    }
    if let Some(rows) = request.rows {
        return Err(COMMAND.refuses(&rows.to_string()));
    }
    if !request.rest.words().is_empty() {
        return of_matching(ask, &request.rest, grouping, order);
    }
    let heap = ask.heap(ask.snapshot()?)?;
    let meter = ask.meter();
    let answer = match grouping {
        Grouping::Type => {
            let types = ranking::types(&heap, ask.counted(heap.snapshot()), &Kinds::default(), order, &meter)?;
            let mut answer = ranking::answer(&heap, &types, order, &meter)?;
            if ask.context.settings.with_series {
                type_series::add(ask, &types, order, &mut answer)?;
            }
            answer
        }
        Grouping::Kind => match ask.counted(heap.snapshot()) {
            Some(counted) => of_kinds(&heap, counted.types.clone(), None, order)?,
            None => by_kind(&heap, order, &meter)?,
        },
        Grouping::Site => sites::answer(&heap, order, &meter)?,
        Grouping::Generation => by_generation(&heap, order, &meter)?,
    };
    drop(meter);
    Ok(more::first_page(ask, answer, ask.page_rows()))
}

/// The values of a metric, if its name is asked for, or if the recording holds nothing but trials.
fn of_trials(ask: &Ask, arguments: &Arguments) -> Result<Option<Answer>, QueryError> {
    let (recording, words) = (ask.recording()?, arguments.words());
    if !recording.has_measurements() {
        return Ok(None);
    }
    let trials = ask.trials()?;
    let has_heap = recording.snapshot_count() > 0;
    let is_metric = words.first().is_some_and(|word| trials.metric(word).is_ok());
    let (metric, variant) = match &words[..] {
        _ if has_heap && !is_metric => return Ok(None),
        [] => return Err(QueryError::usage("which metric? `trials` lists them: `histogram wall`")),
        [metric] => (metric, None),
        [metric, variant] => (metric, Some(variant.as_str())),
        [_, _, other, ..] => return Err(COMMAND.refuses(other)),
    };
    let named = Named::of(&trials, metric, variant)?;
    // A table that is drawn shows none of the single values.
    let is_for_machines = ask.context.settings.format != Format::Table || !ask.view.in_pieces;
    let bytes = STATISTICS_BYTES + if is_for_machines { LISTED_BYTES } else { 0 };
    ask.context.require(named.series.len(), bytes)?;
    let found = Modes::of(&named.series.sample());
    let unit = &named.metric().unit;
    let values = named.series.values();
    let list = |of: fn(barrow_trials::Value) -> Value| Value::List(values.clone().map(of).collect());
    let machines = |key| Column::nested(key).for_machines();
    let mut answer = Answer::default();
    for (column, value) in named.facts() {
        answer = answer.fact(column, value);
    }
    if is_for_machines {
        let measured = values.clone().map(|value| measured(value.value, unit)).collect();
        answer = answer
            .fact(machines("values"), Value::List(measured))
            .fact(machines("value_runs"), list(|value| value.run.0.into()))
            .fact(machines("value_iterations"), list(|value| value.iteration.into()));
    }
    answer = answer
        .table(histogram::table(&named.series, &found, unit))
        .note(modes::sentence(&found, named.series.len()))
        .exact();
    Ok(Some(answer))
}

/// What each value of a metric takes as part of an answer for machines, in bytes: three cells and their texts. Measured
/// with 3 million.
const LISTED_BYTES: u64 = 176;

/// The same of the objects that match.
fn of_matching(ask: &Ask, expression: &Arguments, grouping: Grouping, order: Order) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression(ask, snapshot, expression, 0)?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let (set, _) = heap.select(&kinds, &expression, &meter)?;
    let types = ranking::types_of(&heap, &set, order, &meter)?;
    let mut answer = match grouping {
        Grouping::Type => ranking::answer(&heap, &types, order, &meter)?,
        Grouping::Kind => of_kinds(&heap, heap.type_totals_of(&set, &meter)?, None, order)?,
        Grouping::Site | Grouping::Generation => {
            return Err(QueryError::usage("the histogram of an expression is by type or by kind"));
        }
    };
    drop(meter);
    if set.is_empty() {
        answer = answer.note("no object matches");
    }
    let answer = found::with_exactness(answer, ask, snapshot, &expression)?;
    Ok(more::first_page(ask, answer, ask.page_rows()))
}

fn by_kind(heap: &Heap, order: Order, progress: &dyn Progress) -> Result<Answer, QueryError> {
    let retained = if order == Order::Retained { Some(heap.retained_by_kind(progress)?) } else { None };
    of_kinds(heap, heap.type_totals(progress)?, retained, order)
}

fn of_kinds(
    heap: &Heap,
    types: Vec<TypeTotals>,
    retained: Option<Vec<GroupRetained>>,
    order: Order,
) -> Result<Answer, QueryError> {
    let tables = heap.recording().tables()?;
    let mut sums: BTreeMap<usize, TypeTotals> = BTreeMap::new();
    for totals in types {
        add(sums.entry(tables.type_kind(totals.type_id).index()).or_default(), &totals);
    }
    let kind_name = |kind: usize| tables.kind_name(barrow_analyzer::KindId(kind as u32));
    let name = |kind: usize| Value::text(kind_name(kind));
    // Equal ones are in the order of their names.
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|&(kind, _)| kind_name(kind));
    let rows = sums.into_iter().map(|(kind, sum)| (name(kind), sum, retained.as_ref().map(|bytes| bytes[kind])));
    Ok(grouped(heap, Column::text("kind"), rows.collect(), order))
}

fn by_generation(heap: &Heap, order: Order, progress: &dyn Progress) -> Result<Answer, QueryError> {
    let totals = heap.generation_totals(None, progress)?;
    if totals.keys().all(Option::is_none) {
        return Ok(Answer::default().note("the recording does not tell in which generation objects were allocated"));
    }
    let mut retained = None;
    if order == Order::Retained {
        retained = Some(BTreeMap::from_iter(heap.retained_by_generation(progress)?));
    }
    let of = |generation| retained.as_ref().map(|groups| groups.get(&generation).copied().unwrap_or_default());
    let name = |generation: Option<u64>| generation.map_or(Value::text("not recorded"), Value::from);
    let rows = totals.into_iter().map(|(generation, sum)| (name(generation), sum, of(generation)));
    Ok(grouped(heap, Column::number("generation"), rows.collect(), order))
}

/// A row per group, the largest first.
fn grouped(
    heap: &Heap,
    name: Column,
    mut rows: Vec<(Value, TypeTotals, Option<GroupRetained>)>,
    order: Order,
) -> Answer {
    let of = |(_, totals, retained): &(Value, TypeTotals, Option<GroupRetained>)| order.of(totals, *retained);
    rows.sort_by_key(|row| std::cmp::Reverse(of(row)));
    let whole: u64 = rows.iter().map(of).sum();
    let is_retained = order == Order::Retained;
    let cells = rows.iter().map(|row| {
        let (name, totals, retained) = row;
        let mut cells =
            vec![name.clone(), totals.objects.into(), totals.heap_bytes.into(), totals.unmanaged_bytes.into()];
        cells.extend(retained.map(|retained| Value::from(retained.bytes)));
        // What groups dominate overlaps: there is no whole.
        cells.push(if is_retained { Value::None } else { Value::share(of(row), whole) });
        cells
    });
    let mut columns = kind_columns();
    columns[0] = name;
    if is_retained {
        columns.insert(4, Column::bytes("retained_bytes").called("≥ retained"));
    }
    let table = Table { key: "rows", audience: Audience::Everyone, columns, rows: cells.collect() };
    let answer = Answer::default().of_snapshot(heap.snapshot().0);
    let answer = answer.table(table);
    if is_retained { answer.at_least().note(ranking::AT_LEAST) } else { answer.exact() }
}

fn add(sum: &mut TypeTotals, totals: &TypeTotals) {
    sum.objects += totals.objects;
    sum.heap_bytes = sum.heap_bytes.wrapping_add(totals.heap_bytes);
    sum.unmanaged_bytes = sum.unmanaged_bytes.wrapping_add(totals.unmanaged_bytes);
}

/// The columns of a row per kind.
pub(super) fn kind_columns() -> Vec<Column> {
    vec![
        Column::text("kind"),
        Column::count("objects"),
        Column::bytes("shallow_bytes"),
        Column::bytes("unmanaged_bytes"),
        Column::share("share").for_people(),
    ]
}
