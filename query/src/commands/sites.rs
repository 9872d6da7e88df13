//! `sites`: the allocation sites that hold most.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use barrow_analyzer::{Heap, Progress, SiteId};

use crate::attributes::totals::Total;
use crate::language::request::Request;
use crate::tables::ranking;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "[N] [by size|count|unmanaged|retained]",
    example: "sites 10 by count",
    completion: Completion::Rankings,
    orders: |_| Total::usual_words(),
    ..Command::new("sites", include_str!("../../verbs/sites.md"), Group::Snapshots, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let request = Request::of(&ask.arguments);
    let order = match (&request.by[..], request.rest.words().first()) {
        (_, Some(word)) => return Err(COMMAND.refuses(word)),
        ([], None) => Total::default(),
        ([name], None) => Total::named(name).ok_or_else(|| COMMAND.refuses(name))?,
        ([_, other, ..], None) => return Err(COMMAND.refuses(other)),
    };
    top(ask, ask.ranking_rows(request.rows), order)
}

/// The first `rows` sites.
pub(super) fn top(ask: &Ask, rows: usize, order: Total) -> Result<Reply, QueryError> {
    let heap = ask.heap(ask.snapshot()?)?;
    let answer = answer(&heap, order, &ask.meter())?;
    Ok(more::first_page(ask, answer, rows))
}

/// A row for every site that has objects, the largest first.
pub(super) fn answer(heap: &Heap, order: Total, progress: &dyn Progress) -> Result<Answer, QueryError> {
    let is_retained = order == Total::Retained;
    let groups = if is_retained { BTreeMap::from_iter(heap.retained_by_site(progress)?) } else { BTreeMap::new() };
    let mut sites = Vec::new();
    for (site, totals) in heap.site_totals(progress)? {
        let retained = is_retained.then(|| groups.get(&site).copied().unwrap_or_default());
        sites.push((Reverse(order.of(&totals, retained)), site, totals, retained));
    }
    sites.sort_by_key(|&(measure, site, ..)| (measure, site));
    let whole = sites.iter().map(|(Reverse(measure), ..)| *measure).fold(0, u64::wrapping_add);
    let retained_column = is_retained.then(|| Column::bytes("retained_bytes").called("≥ retained"));
    let table = table!("rows", sites, |(Reverse(measure), site, totals, retained)| {
        ..place_columns() => place(heap, site)?,
        Column::count("objects") => totals.objects,
        Column::bytes("shallow_bytes") => totals.heap_bytes,
        Column::bytes("unmanaged_bytes") => totals.unmanaged_bytes,
        ..retained_column => retained.map(|group| group.bytes),
        // Groups may dominate the same objects: there is no whole.
        Column::share("share").for_people() => (!is_retained).then(|| Value::share(measure, whole)),
    });
    let answer = Answer::default().of_snapshot(heap.snapshot().0).table(table);
    Ok(if is_retained { answer.at_least().note(ranking::AT_LEAST) } else { answer.exact() })
}

/// The columns of [`place`].
pub(super) fn place_columns() -> [Column; 5] {
    [
        Column::number("site"),
        Column::text("function").names(),
        Column::text("file"),
        Column::number("line"),
        Column::number("column"),
    ]
}

/// The number, function, file, line and column of a site.
pub(super) fn place(heap: &Heap, site: SiteId) -> Result<[Value; 5], QueryError> {
    if site.0 == 0 {
        return Ok([Value::None, Value::text("not recorded"), Value::None, Value::None, Value::None]);
    }
    let details = heap.recording().site(site)?.unwrap_or_default();
    Ok([site.0.into(), details.function.into(), details.file.into(), details.line.into(), details.column.into()])
}
