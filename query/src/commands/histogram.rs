//! `histogram`: all types, kinds or sites of a snapshot.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use barrow_analyzer::{GroupRetained, Heap, KindId, Progress, TypeTotals};
use barrow_statistics::Modes;

use crate::answer::{Answer, Column, Unit, Value, table};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::totals::Total;
use crate::error::QueryError;
use crate::language::kinds::Kinds;
use crate::language::request::Request;
use crate::tables::found;
use crate::tables::ranking;
use crate::tables::trials::{Named, STATISTICS_BYTES, histogram, modes};
use crate::tables::type_series;

use super::{Command, Completion, Content, Group, more, sites};

pub(super) const COMMAND: Command = Command {
    aliases: &["histo"],
    arguments: "[EXPR | METRIC [PROGRAM]] [by type|kind|site|generation] [by size|count|unmanaged|retained]",
    example: "histogram by kind",
    asks_for_totals: Some(super::asks_for_totals),
    completion: Completion::Rankings,
    orders,
    ..Command::new("histogram", include_str!("../../verbs/histogram.md"), Group::Snapshots, run)
};

/// The groups of objects that rows are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grouping {
    Type,
    Kind,
    Site,
    Generation,
}

/// The attributes of which totals are kept or are one pass over sites, so they have rows of their own here; `group` takes
/// all.
const GROUPINGS: [(&str, Grouping); 4] = [
    ("type", Grouping::Type),
    ("kind", Grouping::Kind),
    ("site", Grouping::Site),
    ("generation", Grouping::Generation),
];

/// What may follow `by`.
fn orders(_: &[Content]) -> Vec<&'static str> {
    GROUPINGS.into_iter().map(|(word, _)| word).chain(Total::usual_words()).collect()
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    if let Some(answer) = of_trials(ask, &ask.arguments)? {
        return Ok(answer.into());
    }
    let request = Request::of(&ask.arguments);
    let (mut grouping, mut order) = (Grouping::Type, Total::Size);
    for name in &request.by {
        match (GROUPINGS.into_iter().find(|(known, _)| known == name), Total::named(name)) {
            (Some((_, named)), _) => grouping = named,
            (None, Some(named)) => order = named,
            (None, None) => return Err(COMMAND.refuses(name)),
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
            type_series::add(ask, &types, order, &Column::picture("series").for_machines(), &mut answer)?;
            answer
        }
        Grouping::Kind => match ask.counted(heap.snapshot()) {
            Some(counted) => by_kind(&heap, counted.types.clone(), None, order)?,
            None => {
                let retained = (order == Total::Retained).then(|| heap.retained_by_kind(&meter)).transpose()?;
                by_kind(&heap, heap.type_totals(&meter)?, retained, order)?
            }
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
    ask.context.require(named.series.len(), STATISTICS_BYTES + LISTED_BYTES)?;
    let found = Modes::of(&named.series.sample());
    let unit = &named.metric().unit;
    let mut answer = Answer::default();
    for (column, value) in named.facts() {
        answer = answer.fact(column, value);
    }
    let (mut values, mut runs, mut iterations) = (Vec::new(), Vec::new(), Vec::new());
    for value in named.series.values() {
        values.push(Some(value.value));
        runs.push(Some(f64::from(value.run.0)));
        iterations.push(value.iteration.map(|number| number as f64));
    }
    for (key, numbers) in [("values", values), ("value_runs", runs), ("value_iterations", iterations)] {
        let series = Value::Series { numbers, unit: Unit::Number };
        answer = answer.fact(Column::nested(key).for_machines(), series);
    }
    answer = answer
        .table(histogram::table(&named.series, &found, unit))
        .note(modes::sentence(&found, named.series.len()))
        .exact();
    Ok(Some(answer))
}

/// Bytes of a value of a metric in an answer: its numbers in three series, and the text of one of them in JSON.
const LISTED_BYTES: u64 = 72;

/// The same of the objects that match.
fn of_matching(ask: &Ask, expression: &Arguments, grouping: Grouping, order: Total) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression(ask, snapshot, expression, 0)?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let (set, _) = heap.select(&kinds, &expression, &meter)?;
    let types = ranking::types_of(&heap, &set, order, &meter)?;
    let mut answer = match grouping {
        Grouping::Type => ranking::answer(&heap, &types, order, &meter)?,
        Grouping::Kind => by_kind(&heap, heap.type_totals_of(&set, &meter)?, None, order)?,
        Grouping::Site | Grouping::Generation => {
            return Err(QueryError::usage("the histogram of an expression is by type or by kind"));
        }
    };
    drop(meter);
    if set.is_empty() {
        answer = answer.note("no object matches");
    }
    let answer =
        found::with_exactness(answer, ask, found::Wanted { snapshot, kinds: &kinds, expression: &expression })?;
    Ok(more::first_page(ask, answer, ask.page_rows()))
}

fn by_kind(
    heap: &Heap,
    types: Vec<TypeTotals>,
    retained: Option<Vec<GroupRetained>>,
    order: Total,
) -> Result<Answer, QueryError> {
    let tables = heap.recording().tables()?;
    let mut sums: BTreeMap<KindId, TypeTotals> = BTreeMap::new();
    for totals in types {
        let sum = sums.entry(tables.type_kind(totals.type_id)).or_default();
        sum.objects += totals.objects;
        sum.heap_bytes = sum.heap_bytes.wrapping_add(totals.heap_bytes);
        sum.unmanaged_bytes = sum.unmanaged_bytes.wrapping_add(totals.unmanaged_bytes);
    }
    // Equal ones are in the order of their names.
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|&(kind, _)| tables.kind_name(kind));
    let rows = sums.into_iter().map(|(kind, totals)| {
        let retained = retained.as_ref().map(|retained| retained[kind.index()]);
        (Value::text(tables.kind_name(kind)), totals, retained)
    });
    Ok(grouped(heap, Column::text("kind").names(), rows.collect(), order))
}

fn by_generation(heap: &Heap, order: Total, progress: &dyn Progress) -> Result<Answer, QueryError> {
    let totals = heap.generation_totals(None, progress)?;
    if totals.keys().all(Option::is_none) {
        return Ok(Answer::default().note("the recording does not tell in which generation objects were allocated"));
    }
    let mut retained = None;
    if order == Total::Retained {
        retained = Some(BTreeMap::from_iter(heap.retained_by_generation(progress)?));
    }
    let rows = totals.into_iter().map(|(generation, totals)| {
        let retained = retained.as_ref().map(|groups| groups.get(&generation).copied().unwrap_or_default());
        (generation.map_or(Value::text("not recorded"), Value::from), totals, retained)
    });
    Ok(grouped(heap, Column::number("generation"), rows.collect(), order))
}

/// A row per group, the largest first.
fn grouped(
    heap: &Heap,
    name: Column,
    mut rows: Vec<(Value, TypeTotals, Option<GroupRetained>)>,
    order: Total,
) -> Answer {
    rows.sort_by_key(|(_, totals, retained)| Reverse(order.of(totals, *retained)));
    let is_retained = order == Total::Retained;
    let retained_column = is_retained.then(|| Column::bytes("retained_bytes").called("≥ retained"));
    // Retained sizes of groups overlap: there is no whole.
    let whole = match is_retained {
        true => 0,
        false => rows.iter().map(|(_, totals, retained)| order.of(totals, *retained)).sum(),
    };
    let table = table!("rows", rows, |(name_of_row, totals, retained)| {
        name => name_of_row,
        Column::count("objects") => totals.objects,
        Column::bytes("shallow_bytes") => totals.heap_bytes,
        Column::bytes("unmanaged_bytes") => totals.unmanaged_bytes,
        ..retained_column => retained.map(|retained| retained.bytes),
        Column::share("share").for_people() => Value::share(order.of(&totals, retained), whole),
    });
    let answer = Answer::default().of_snapshot(heap.snapshot().0).table(table);
    if is_retained { answer.at_least().note(ranking::AT_LEAST) } else { answer.exact() }
}
