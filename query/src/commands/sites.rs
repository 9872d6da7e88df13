//! `sites`: the allocation sites that hold most.

use std::collections::BTreeMap;

use barrow_analyzer::{GroupRetained, Heap, Progress, SiteId, TypeTotals};

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::language::request::Request;
use crate::tables::ranking::{self, Order};

use super::{Command, Completion, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "[N] [by size|count|unmanaged|retained]",
    example: "sites 10 by count",
    completion: Completion::Rankings,
    ..Command::new("sites", include_str!("../../verbs/sites.md"), Group::Snapshots, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let request = Request::of(&ask.arguments);
    let order = match (&request.by[..], request.rest.words().first()) {
        (_, Some(word)) => return Err(COMMAND.refuses(word)),
        ([], None) => Order::default(),
        ([name], None) => Order::named(name).ok_or_else(|| COMMAND.refuses(name))?,
        ([_, other, ..], None) => return Err(COMMAND.refuses(other)),
    };
    top(ask, ask.ranking_rows(request.rows), order)
}

/// The first `rows` sites.
pub(super) fn top(ask: &Ask, rows: usize, order: Order) -> Result<Reply, QueryError> {
    let heap = ask.heap(ask.snapshot()?)?;
    let answer = answer(&heap, order, &ask.meter())?;
    Ok(more::first_page(ask, answer, rows))
}

/// A row for every site that has objects, the largest first.
pub(super) fn answer(heap: &Heap, order: Order, progress: &dyn Progress) -> Result<Answer, QueryError> {
    let totals = heap.site_totals(progress)?;
    let mut retained = None;
    if order == Order::Retained {
        retained = Some(BTreeMap::from_iter(heap.retained_by_site(progress)?));
    }
    let mut sites: Vec<(SiteId, TypeTotals, Option<GroupRetained>)> = Vec::with_capacity(totals.len());
    for (site, sum) in totals {
        sites.push((site, sum, retained.as_ref().map(|groups| groups.get(&site).copied().unwrap_or_default())));
    }
    let of = |(_, totals, retained): &(SiteId, TypeTotals, Option<GroupRetained>)| order.of(totals, *retained);
    sites.sort_by_key(|row| (std::cmp::Reverse(of(row)), row.0));
    let whole: u64 = sites.iter().map(of).fold(0, u64::wrapping_add);
    let is_retained = order == Order::Retained;
    let mut rows = Vec::with_capacity(sites.len());
    for row in &sites {
        let (site, totals, retained) = row;
        let mut cells = about(heap, *site)?;
        cells.extend([totals.objects, totals.heap_bytes, totals.unmanaged_bytes].map(Value::Number));
        cells.extend(retained.map(|retained| Value::from(retained.bytes)));
        // What groups dominate overlaps: there is no whole.
        cells.push(if is_retained { Value::None } else { Value::share(of(row), whole) });
        rows.push(cells);
    }
    let mut columns = place_columns();
    columns.push(Column::count("objects"));
    columns.push(Column::bytes("shallow_bytes"));
    columns.push(Column::bytes("unmanaged_bytes"));
    columns.extend(is_retained.then_some(Column::bytes("retained_bytes").called("≥ retained")));
    columns.push(Column::share("share").for_people());
    let answer = Answer::default().of_snapshot(heap.snapshot().0).table(Table {
        key: "rows",
        audience: Audience::Everyone,
        columns,
        rows,
    });
    Ok(if is_retained { answer.at_least().note(ranking::AT_LEAST) } else { answer.exact() })
}

/// The columns of [`about`].
pub(super) fn place_columns() -> Vec<Column> {
    vec![
        Column::number("site"),
        Column::text("function"),
        Column::text("file"),
        Column::number("line"),
        Column::number("column"),
    ]
}

/// What a recording says of a site: its number, function, file, line and column.
pub(super) fn about(heap: &Heap, site: SiteId) -> Result<Vec<Value>, QueryError> {
    if site.0 == 0 {
        return Ok(vec![Value::None, Value::text("not recorded"), Value::None, Value::None, Value::None]);
    }
    let details = heap.recording().site(site)?.unwrap_or_default();
    Ok(vec![site.0.into(), details.function.into(), details.file.into(), details.line.into(), details.column.into()])
}
