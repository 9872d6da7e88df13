//! `site`: one allocation site, with those that called it.

use barrow_analyzer::SiteId;

use crate::answer::{Answer, Audience, Column, Table, Unit};
use crate::error::ReplError;
use crate::ranking;
use crate::session::{Arguments, Session};

use super::snapshot::with_pairs;
use super::{Command, Completion, Group, Subject, more, sites};

pub(super) const COMMAND: Command = Command {
    name: "site",
    aliases: &[],
    group: Group::Snapshots,
    arguments: "ID",
    about: "One allocation site: its objects, and the chain of calls to it",
    details: "ID is a number from `sites` or `info`. The first line of the chain is the site itself, each further \
              one the place that called the function before it. Retained is what single objects of the site \
              dominate, every byte once.",
    example: "site 12",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let words = arguments.words();
    let site = match &words[..] {
        [] => return Err(ReplError::usage("which site? `sites` lists them with their numbers")),
        [word] => match word.parse::<u32>() {
            Ok(number) if number > 0 => SiteId(number),
            _ => return Err(COMMAND.refuses(word)),
        },
        [_, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let heap = session.heap(session.snapshot()?)?;
    let meter = session.meter();
    let totals = heap.site_totals(&meter)?;
    let sum = totals.binary_search_by_key(&site, |&(id, _)| id).map(|at| totals[at].1).unwrap_or_default();
    let details = heap.recording().site(site)?;
    if sum.objects == 0 && details.is_none() {
        return Err(ReplError::usage(format!("there is no site {site}; `sites` lists those that have objects")));
    }
    let retained = sites::retained_by(&heap, 1, |of| (of == site.0).then_some(0), &meter)?;
    drop(meter);
    session.listed.clear();
    let mut answer = Answer::default()
        .fact(Column::new("snapshot", "snapshot", Unit::Number), heap.snapshot().0)
        .fact(Column::new("site", "site", Unit::Number), site.0)
        .fact(Column::new("allocated_at", "place", Unit::Text), details.as_ref().and_then(|site| site.title()))
        .fact(Column::new("objects", "objects", Unit::Count), sum.objects)
        .fact(Column::new("shallow_bytes", "shallow", Unit::Bytes), sum.heap_bytes)
        .fact(Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes), sum.unmanaged_bytes)
        .fact(Column::new("retained_bytes", "≥ retained", Unit::Bytes), retained[0].bytes);
    let Some(details) = details else {
        return Ok(answer.note("the recording has its number only").at_least());
    };
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    answer = with_pairs(answer, "attributes", details.attributes.iter().map(owned).collect());
    let (mut rows, mut next) = (vec![sites::about(&heap, site)?], details.caller);
    // Callers have smaller numbers: the chain ends.
    while let Some(caller) = next {
        rows.push(sites::about(&heap, caller)?);
        next = heap.recording().site(caller)?.and_then(|site| site.caller);
    }
    let table = Table { key: "callers", audience: Audience::Everyone, columns: sites::place_columns(), rows };
    let rows = session.page_rows();
    Ok(more::first_page(session, answer.table(table).at_least().note(ranking::AT_LEAST), rows))
}
