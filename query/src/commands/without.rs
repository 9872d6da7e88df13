//! `without`: what if these objects or references were gone?

use std::sync::Arc;

use barrow_analyzer::{SnapshotId, TypeTotals};

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::{Change, Reply};
use crate::error::QueryError;
use crate::removal::{Objects, Removal, What};
use crate::session::state::State;
use crate::tables::found;
use crate::touches::Touches;

use super::{Command, Completion, Group, more};

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
    let mut freed = heap.exclusion().map(|without| without.freed().clone()).expect("something is excluded");
    // What no root reaches is garbage already, or freed by what was excluded before.
    freed.difference_with(&before.unreachable(&meter)?);
    let types = ask.whole_heap(heap.snapshot())?.type_totals_of(&freed, &meter)?;
    drop(meter);
    let away: Vec<_> = ask.away.iter().cloned().chain([Arc::new(removal)]).collect();
    ask.context.workspace.keep(Arc::clone(&heap), &away);
    let answer = by_type(heap.recording().tables()?, heap.snapshot(), &types, "would be freed")?;
    let reply = more::first_page(ask, found::said(answer, is_exact), ask.page_rows());
    Ok(reply.with_last(Arc::new(freed)).changing(Change::Away(away)))
}

/// The totals of a set of objects, and a row per type, the largest first.
pub(super) fn by_type(
    tables: &barrow_analyzer::Tables,
    snapshot: barrow_analyzer::SnapshotId,
    types: &[TypeTotals],
    what: &str,
) -> Result<Answer, QueryError> {
    let sum = |of: fn(&TypeTotals) -> u64| types.iter().map(of).fold(0, u64::wrapping_add);
    let size = |row: &TypeTotals| row.heap_bytes.wrapping_add(row.unmanaged_bytes);
    let mut types = types.to_vec();
    types.sort_by_key(|row| (std::cmp::Reverse(size(row)), row.type_id));
    let rows = types.iter().map(|row| {
        vec![
            Value::text(tables.type_title(row.type_id)),
            Value::text(tables.kind_name(tables.type_kind(row.type_id))),
            row.objects.into(),
            row.heap_bytes.into(),
            row.unmanaged_bytes.into(),
        ]
    });
    let columns = vec![
        Column::text("type"),
        Column::text("kind"),
        Column::count("objects"),
        Column::bytes("shallow_bytes"),
        Column::bytes("unmanaged_bytes"),
    ];
    let bytes = sum(|row| row.heap_bytes).wrapping_add(sum(|row| row.unmanaged_bytes));
    let table = Table { key: "rows", audience: Audience::Everyone, columns, rows: rows.collect() };
    Ok(Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("objects"), sum(|row| row.objects))
        .fact(Column::bytes("shallow_bytes"), sum(|row| row.heap_bytes))
        .fact(Column::bytes("unmanaged_bytes"), sum(|row| row.unmanaged_bytes))
        .fact(Column::bytes("retained_bytes").called("together"), bytes)
        .table(table)
        .note(format!("{} {what}", crate::answer::units::size(bytes))))
}

/// Reads the words after `without`.
///
/// # Errors
/// A usage error that points at its place in the words.
fn parse(state: &State, snapshot: SnapshotId, text: &str) -> Result<Removal, QueryError> {
    let arguments = Arguments::of_text(text)?;
    let words = arguments.words();
    let objects = |first| {
        let (kinds, expression) = found::kinds_and_expression(state, snapshot, &arguments, first)?;
        Ok::<_, QueryError>(Objects { kinds, expression })
    };
    // Another object may be in that row later.
    let lasting = |word: &str| match state.object(word) {
        Ok((_, object)) => format!("@{object}"),
        Err(_) => word.to_owned(),
    };
    let text: Vec<String> =
        text.split(' ').map(|word| if word.starts_with('%') { lasting(word) } else { word.to_owned() }).collect();
    let text = text.join(" ");
    if !words.first().is_some_and(|word| matches!(word.as_str(), "references" | "reference")) {
        return Ok(Removal { text, what: What::Objects(objects(0)?) });
    }
    let form = || QueryError::usage("which references? `without references cache`, or `… from type = \"Session\"`");
    let from = match words.get(2).map(String::as_str) {
        None => None,
        Some("from") => Some(objects(3)?),
        Some(_) => return Err(form()),
    };
    let name = words.get(1).ok_or_else(form)?.clone();
    Ok(Removal { text, what: What::References { name, from } })
}
