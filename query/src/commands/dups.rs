//! `dups`: objects that look the same.

use std::ops::Range;
use std::sync::Arc;

use barrow_analyzer::{DuplicateGroups, Duplicates, FieldReferences, Heap, Label, Tables};

use crate::answer::record;
use crate::language::request::Request;
use crate::tables::{found, label, references};

use super::more::{self, OnDemand};
use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    aliases: &["duplicates"],
    arguments: "[N] [[KIND] EXPR] [by type|group]",
    example: "dups type = \"java.lang.String\" by group",
    completion: Completion::Expressions,
    orders: |_| vec!["type", "group"],
    ..Command::new("dups", include_str!("../../verbs/dups.md"), Group::Objects, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let request = Request::of(&ask.arguments);
    let by: Vec<&str> = request.by.iter().map(String::as_str).collect();
    let is_about_all = request.rest.words().is_empty();
    match by[..] {
        [] | ["type"] if is_about_all => by_type(ask, request.rows),
        [] | ["group"] => by_group(ask, &request),
        ["type"] => Err(QueryError::usage("`by type` is about all objects; `dups EXPR by group` lists groups of some")),
        [word] | [_, word, ..] => Err(COMMAND.refuses(&format!("by {word}"))),
    }
}

fn by_type(ask: &Ask, rows: Option<usize>) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let found = heap.duplicates(&ask.meter())?;
    let tables = heap.recording().tables()?;
    let table = table!("rows", found.iter().enumerate(), |(at, one)| {
        Column::row_number() => at + 1,
        Column::text("type").names() => tables.type_title(one.type_id),
        Column::text("kind").names().secondary() => tables.kind_name(tables.type_kind(one.type_id)),
        Column::count("groups") => one.groups,
        Column::count("objects") => one.objects,
        Column::count("superfluous") => one.superfluous(),
        Column::bytes("wasted_bytes") => one.wasted_bytes,
        Column::object("example") => one.example.0,
        Column::count("copies") => one.example_count,
    });
    let wasted_bytes = found.iter().map(|one| one.wasted_bytes).fold(0, u64::wrapping_add);
    let groups = found.iter().map(|one| one.groups).sum();
    let superfluous = found.iter().map(Duplicates::superfluous).sum();
    let answer = about(&heap, [groups, superfluous, wasted_bytes]).table(table);
    let examples = found.iter().map(|one| one.example);
    Ok(more::first_page(ask, answer, rows.unwrap_or_else(|| ask.page_rows())).listing_objects(snapshot, examples))
}

/// An answer about groups, superfluous objects and wasted bytes.
fn about(heap: &Heap, [groups, superfluous, wasted_bytes]: [u64; 3]) -> Answer {
    Answer::default()
        .of_snapshot(heap.snapshot().0)
        .fact(Column::count("groups"), groups)
        .fact(Column::count("superfluous"), superfluous)
        .fact(Column::bytes("wasted_bytes"), wasted_bytes)
        .note("compared: type, name or text, shallow and unmanaged size, all references in order, and, without a name, fields;")
        .note(
            "left out are objects of which none of this tells enough; where texts were shortened, only their beginnings \
             were compared",
        )
        .exact()
}

/// The groups that have an object that matches, the largest waste first. Holders are found a page at a time.
fn by_group(ask: &Ask, request: &Request) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let about_some = match request.rest.words().is_empty() {
        true => None,
        false => Some(found::kinds_and_expression(ask, snapshot, &request.rest, 0)?),
    };
    let among = match &about_some {
        None => None,
        Some((kinds, expression)) => Some(found::select(ask, snapshot, kinds, expression)?.0),
    };
    let found = Arc::new(heap.duplicate_groups(among.as_deref(), &ask.meter())?);
    let superfluous = found.groups.iter().map(|group| group.objects - 1).sum();
    let wasted_bytes = found.groups.iter().map(|group| group.wasted_bytes).fold(0, u64::wrapping_add);
    let mut answer = about(&heap, [found.groups.len() as u64, superfluous, wasted_bytes]);
    if let Some((kinds, expression)) = &about_some {
        answer = found::with_exactness(answer, ask, found::Wanted { snapshot, kinds, expression })?;
    }
    let count = request.rows.unwrap_or(usize::MAX).min(found.groups.len());
    let rest = (found.groups.len() - count) as u64;
    answer = answer.note_if(rest > 0, format!("… {}", units::counted(rest, "more group")));
    let all = ask.set_of(snapshot, found.groups.iter().flat_map(|group| found.objects(group)))?;
    let make = move |ask: &Ask, rows: Range<usize>| page(ask, &heap, &found, rows);
    Ok(OnDemand { answer, count, rows: None, has_pages: true, make: Box::new(make) }.begin(ask)?.with_last(all))
}

/// A row for each group.
fn page(
    ask: &Ask,
    heap: &Heap,
    found: &Arc<DuplicateGroups>,
    rows: Range<usize>,
) -> Result<(Table, Listed), QueryError> {
    let (tables, first) = (heap.recording().tables()?, ask.listed_before() + 1);
    let groups = &found.groups[rows.clone()];
    ask.context.require_rows(groups.len())?;
    let holders = heap.holders(found, groups, &ask.meter())?;
    let table = table!("rows", groups.iter().zip(&holders).enumerate(), |(at, (group, holders))| {
        ask.context.check()?;
        Column::row_number() => ask.row_number(first + at),
        Column::text("text") => label::name(tables, group.text),
        Column::text("type").names() => tables.type_title(group.type_id),
        Column::count("objects") => group.objects,
        Column::bytes("each_bytes").secondary() => group.each_bytes,
        Column::bytes("wasted_bytes") => group.wasted_bytes,
        Column::text("held_by").for_people() => held_by(tables, holders),
        Column::nested("holders").for_machines() => Value::List(holders.iter().map(|one| holder(tables, one)).collect()),
        Column::object("example").secondary() => group.first.0,
    });
    Ok((table, Listed::of_groups(found, rows)))
}

/// Holders of a group that people see.
const SHOWN_HOLDERS: usize = 3;

/// `Session.tenant 2,700, Object[] 30`
fn held_by(tables: &Tables, holders: &[FieldReferences]) -> String {
    let mut told: Vec<String> = Vec::new();
    for one in holders.iter().take(SHOWN_HOLDERS) {
        let dot = if let Label::Name(_) = one.label { "." } else { "" };
        let field = references::field(tables, one.label).unwrap_or_default();
        told.push(format!("{}{dot}{field} {}", tables.type_title(one.source), units::grouped(one.references)));
    }
    if holders.len() > SHOWN_HOLDERS {
        told.push(format!("{} more", units::grouped((holders.len() - SHOWN_HOLDERS) as u64)));
    }
    told.join(", ")
}

fn holder(tables: &Tables, one: &FieldReferences) -> Value {
    record! {
        Column::text("type").names() => tables.type_title(one.source),
        Column::text("label") => references::field(tables, one.label),
        Column::count("references") => one.references,
        Column::object("example") => one.example.0,
    }
}
