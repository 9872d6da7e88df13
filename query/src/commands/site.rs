//! `site`: one allocation site, with those that called it.

use barrow_analyzer::SiteId;

use crate::tables::ranking;

use super::snapshot::with_pairs;
use super::{more, prelude::*, sites};

pub(super) const COMMAND: Command = Command {
    arguments: "ID",
    example: "site 12",
    ..Command::new("site", include_str!("../../verbs/site.md"), Group::Snapshots, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let [word] = COMMAND.words(&ask.arguments)?;
    let word = word.ok_or_else(|| QueryError::usage("which site? `sites` lists them with their numbers"))?;
    let site = word.parse().ok().filter(|&number| number > 0).map(SiteId).ok_or_else(|| COMMAND.refuses(&word))?;
    let heap = ask.heap(ask.snapshot()?)?;
    let meter = ask.meter();
    let site = heap.recording().site_place(site)?;
    let totals = heap.site_totals(&meter)?;
    let sum = totals.binary_search_by_key(&site, |&(id, _)| id).map(|at| totals[at].1).unwrap_or_default();
    let details = heap.recording().site(site)?;
    if sum.objects == 0 && details.is_none() {
        return Err(QueryError::usage(format!("there is no site {site}; `sites` lists those that have objects")));
    }
    let retained = heap.retained_by_site(&meter)?;
    let retained = retained.iter().find(|(of, _)| *of == site).map_or(0, |(_, retained)| retained.bytes);
    let generations = heap.generation_totals(Some(site), &meter)?;
    drop(meter);
    let mut answer = Answer::default()
        .of_snapshot(heap.snapshot().0)
        .fact(Column::number("site"), site.0)
        .fact(Column::text("allocated_at").names().called("place"), details.as_ref().and_then(|site| site.title()))
        .fact(Column::count("objects"), sum.objects)
        .fact(Column::bytes("shallow_bytes"), sum.heap_bytes)
        .fact(Column::bytes("unmanaged_bytes"), sum.unmanaged_bytes)
        .fact(Column::bytes("retained_bytes").called("≥ retained"), retained);
    let Some(details) = details else {
        return Ok(answer.note("the recording has its number only").at_least().into());
    };
    let tells_generations = generations.keys().any(Option::is_some);
    let attributes = details.attributes.iter().filter(|(key, _)| !(tells_generations && *key == "generation"));
    let attributes = attributes.map(|&(key, value)| (key.to_owned(), value.to_owned()));
    answer = with_pairs(answer, "attributes", attributes.collect());
    if tells_generations {
        answer = answer.table(table!("generations", generations, |(generation, sum)| {
            Column::number("generation") => generation,
            Column::count("objects") => sum.objects,
            Column::bytes("shallow_bytes") => sum.heap_bytes,
            Column::bytes("unmanaged_bytes") => sum.unmanaged_bytes,
        }));
    }
    let (mut callers, mut next) = (vec![site], details.caller);
    // Callers have smaller numbers: the chain ends.
    while let Some(caller) = next {
        callers.push(caller);
        next = heap.recording().site(caller)?.and_then(|site| site.caller);
    }
    let table = table!("callers", callers, |site| {
        ..sites::place_columns() => sites::place(&heap, site)?,
    });
    Ok(more::first_page(ask, answer.table(table).at_least().note(ranking::AT_LEAST), ask.page_rows()))
}
