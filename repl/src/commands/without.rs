//! `without`: what if these objects or references were gone?

use std::sync::Arc;

use barrow_analyzer::TypeTotals;

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::error::ReplError;
use crate::found;
use crate::session::{Arguments, Session};
use crate::without::Removal;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "without",
    aliases: &[],
    group: Group::Alive,
    arguments: "[KIND] EXPR | references NAME [from EXPR] | clear",
    about: "What would be freed if these objects or references were gone",
    details: "Every later question is about the heap without them and what they alone kept alive, until \
              `without clear`; a second `without` thinks more away. NAME is the name of references, a glob \
              pattern or `/regex/`. Without words it lists what is thought away.",
    example: "without type = \"Cache\"",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Expressions,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let text = arguments.text();
    match text.trim() {
        "" if session.away.is_empty() => return Ok(Answer::text("nothing is thought away")),
        // Every answer says it.
        "" => return Ok(Answer::default()),
        "clear" => {
            session.away.clear();
            session.ask_of(None);
            // Pages of what was asked before would be of another heap.
            session.more = None;
            return Ok(Answer::text("every object and reference is there again"));
        }
        _ => {}
    }
    let before = session.heap(session.snapshot()?)?;
    let removal = Removal::parse(session, before.snapshot(), &text)?;
    let meter = session.meter();
    let heap = Arc::new(removal.applied(&before, &meter)?);
    let is_exact = removal.is_exact(&before, &meter)?;
    let freed_before = before.exclusion().map(|without| without.freed().clone());
    let mut freed = heap.exclusion().map(|without| without.freed().clone()).expect("something is thought away");
    if let Some(before) = freed_before {
        freed.difference_with(&before);
    }
    let types = session.whole_heap(heap.snapshot())?.type_totals_of(&freed, &meter)?;
    drop(meter);
    session.away.push(removal);
    session.sets.set_last(Arc::new(freed));
    session.ask_of(Some(Arc::clone(&heap)));
    session.more = None;
    session.listed.clear();
    let answer = by_type(heap.recording().tables()?, heap.snapshot(), &types, "would be freed")?;
    let rows = session.page_rows();
    Ok(more::first_page(session, found::said(answer, is_exact), rows))
}

/// The totals of a set of objects, and a row per type, the largest first.
pub(super) fn by_type(
    tables: &barrow_analyzer::Tables,
    snapshot: barrow_analyzer::SnapshotId,
    types: &[TypeTotals],
    what: &str,
) -> Result<Answer, ReplError> {
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
        Column::new("type", "type", Unit::Text),
        Column::new("kind", "kind", Unit::Text),
        Column::new("objects", "objects", Unit::Count),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
        Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes),
    ];
    let bytes = sum(|row| row.heap_bytes).wrapping_add(sum(|row| row.unmanaged_bytes));
    let table = Table { key: "rows", audience: Audience::Everyone, columns, rows: rows.collect() };
    Ok(Answer::default()
        .fact(Column::new("snapshot", "snapshot", Unit::Number), snapshot.0)
        .fact(Column::new("objects", "objects", Unit::Count), sum(|row| row.objects))
        .fact(Column::new("shallow_bytes", "shallow", Unit::Bytes), sum(|row| row.heap_bytes))
        .fact(Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes), sum(|row| row.unmanaged_bytes))
        .fact(Column::new("retained_bytes", "together", Unit::Bytes), bytes)
        .table(table)
        .note(format!("{} {what}", crate::units::size(bytes))))
}
