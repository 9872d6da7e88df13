//! `without`: excludes objects or references, as if they were gone.

use std::cmp::Reverse;
use std::sync::Arc;

use barrow_analyzer::{SnapshotId, Tables, TypeTotals};

use crate::arguments::Arguments;
use crate::removal::{ObjectFilter, Removal, Target};
use crate::tables::found;

use super::{count, more, prelude::*, unreachable};

pub(super) const COMMAND: Command = Command {
    arguments: "[KIND] EXPR | references NAME [from EXPR] | clear",
    example: "without type = \"Cache\"",
    touches: Touches::RECORDING.with(Touches::SESSION),
    completion: Completion::Expressions,
    ..Command::new("without", include_str!("../../verbs/without.md"), Group::Alive, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let text = ask.arguments.text();
    match text.trim() {
        "" if ask.away.is_empty() => return Ok(Reply::aside(Answer::text("nothing is excluded"))),
        // Every answer says it.
        "" => return Ok(Reply::aside(Answer::default())),
        // Pages of what was asked before would be of another heap.
        "clear" => {
            let answer = Answer::text("every object and reference is there again");
            return Ok(Reply::from(answer).changing(Change::Away(Vec::new())));
        }
        _ => {}
    }
    let before = ask.heap(ask.snapshot()?)?;
    let removal = parse(ask, before.snapshot(), &text)?;
    let meter = ask.meter();
    let heap = Arc::new(removal.applied(&before, &meter)?);
    let is_exact = removal.is_exact(&before, &meter)?;
    let mut answer = found::said(Answer::default(), is_exact);
    if let Some(ObjectFilter { kinds, expression }) = removal.objects() {
        let wanted = found::Wanted { snapshot: before.snapshot(), kinds, expression };
        answer = found::with_gaps(answer, ask, wanted)?;
    }
    let mut freed = heap.exclusion().map(|without| without.freed().clone()).expect("something is excluded");
    // Unreachable objects are garbage already, or freed by an earlier exclusion.
    freed.difference_with(&before.unreachable(&meter)?);
    let types = ask.whole_heap(heap.snapshot())?.type_totals_of(&freed, &meter)?;
    drop(meter);
    let away: Vec<_> = ask.away.iter().cloned().chain([Arc::new(removal)]).collect();
    ask.context.workspace.keep(Arc::clone(&heap), &away, &ask.meter());
    let Answer { exactness, notes, .. } = answer;
    let answer = by_type(heap.recording().tables()?, heap.snapshot(), types, "would be freed").lines(notes);
    let reply = more::first_page(ask, Answer { exactness, ..answer }, ask.page_rows());
    Ok(reply.with_last(Arc::new(freed)).changing(Change::Away(away)))
}

/// The totals of a set of objects, and a row per type, the largest first.
pub(super) fn by_type(tables: &Tables, snapshot: SnapshotId, mut types: Vec<TypeTotals>, what: &str) -> Answer {
    let sum = unreachable::sum_of(&types);
    let bytes = sum.heap_bytes.wrapping_add(sum.unmanaged_bytes);
    types.sort_by_key(|row| (Reverse(row.heap_bytes.wrapping_add(row.unmanaged_bytes)), row.type_id));
    count::with_totals(Answer::default(), snapshot, sum)
        .fact(Column::bytes("retained_bytes").called("together"), bytes)
        .table(table!("rows", types, |row| {
            Column::text("type").names() => tables.type_title(row.type_id),
            Column::text("kind").names() => tables.kind_name(tables.type_kind(row.type_id)),
            Column::count("objects") => row.objects,
            Column::bytes("shallow_bytes") => row.heap_bytes,
            Column::bytes("unmanaged_bytes") => row.unmanaged_bytes,
        }))
        .note(format!("{} {what}", units::size(bytes)))
}

/// Reads the words after `without`.
///
/// # Errors
/// A usage error that points at its place in the words.
fn parse(state: &State, snapshot: SnapshotId, text: &str) -> Result<Removal, QueryError> {
    let arguments = Arguments::of_text(text)?;
    let words = arguments.words();
    // Another object may be in that row later.
    let lasting = text.split(' ').map(|word| match word.starts_with('%').then(|| state.object(word)) {
        Some(Ok((_, object))) => format!("@{object}"),
        _ => word.to_owned(),
    });
    let text = lasting.collect::<Vec<_>>().join(" ");
    if !words.first().is_some_and(|word| matches!(word.as_str(), "references" | "reference")) {
        return Ok(Removal { text, target: Target::Objects(objects(state, snapshot, &arguments, 0)?) });
    }
    let from = match words.get(2).map(String::as_str) {
        Some("from") => Some(objects(state, snapshot, &arguments, 3)?),
        _ => None,
    };
    match (words.get(1), from.is_some() || words.len() == 2) {
        (Some(name), true) => Ok(Removal { text, target: Target::References { name: name.clone(), from } }),
        _ => Err(QueryError::usage("which references? `without references cache`, or `… from type = \"Session\"`")),
    }
}

fn objects(
    state: &State,
    snapshot: SnapshotId,
    arguments: &Arguments,
    first: usize,
) -> Result<ObjectFilter, QueryError> {
    let (kinds, expression) = found::kinds_and_expression(state, snapshot, arguments, first)?;
    Ok(ObjectFilter { kinds, expression })
}
