//! `roots`: where the collector starts from.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use barrow_analyzer::{Dominators, Heap, ObjectId, StringId, objects};

use crate::language::names::{self, Match};
use crate::tables::{held, label};

use super::more::OnDemand;
use super::prelude::*;
use super::unreachable::{only_remembered, remembered_note};

pub(super) const COMMAND: Command = Command {
    arguments: "[CATEGORY]",
    ..Command::new("roots", include_str!("../../verbs/roots.md"), Group::Alive, run)
};

/// A root, with what its object retains.
struct Root {
    label: Option<StringId>,
    object: ObjectId,
    retained_bytes: u64,
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let words = ask.arguments.words().join(" ");
    let category = (!words.is_empty()).then(|| category(&heap, &words)).transpose()?;
    let meter = ask.meter();
    heap.ask_dominators(&meter, |dominators| {
        let Some(category) = category else { return by_category(ask, &heap, dominators) };
        let of_category = heap.roots()?.rows().iter().filter(|root| root.category == category);
        let mut roots: Vec<Root> = of_category
            .map(|&barrow_analyzer::Root { label, target: object, .. }| Root {
                label,
                object,
                retained_bytes: dominators.retained_bytes(object),
            })
            .collect();
        roots.sort_by_key(|root| (Reverse(root.retained_bytes), root.object, root.label));
        in_category(ask, &heap, category, roots, dominators.is_exact())
    })
}

/// The category that `word` begins, in any case.
fn category(heap: &Heap, word: &str) -> Result<StringId, QueryError> {
    let tables = heap.recording().tables()?;
    let categories = heap.roots()?.categories();
    let names = categories.iter().map(|category| tables.string(category.name));
    let lower: Vec<String> = names.clone().map(str::to_lowercase).collect();
    match names::find(&word.to_lowercase(), lower.iter().enumerate().map(|(at, name)| (name.as_str(), at))) {
        Match::One(at) => Ok(categories[at].name),
        Match::Several(found) => {
            let found: Vec<&str> = found.into_iter().map(|at| tables.string(categories[at].name)).collect();
            Err(QueryError::usage(format!("`{word}` may be {}", found.join(", "))))
        }
        Match::None if categories.is_empty() => Err(QueryError::usage("this snapshot has no roots")),
        Match::None => {
            let all = names.collect::<Vec<_>>().join(", ");
            Err(QueryError::usage(format!("`{word}` is no category of roots; there are {all}")))
        }
    }
}

fn by_category(ask: &Ask, heap: &Heap, dominators: &Dominators) -> Result<Reply, QueryError> {
    let (tables, roots) = (heap.recording().tables()?, heap.roots()?);
    let mut counts: HashMap<StringId, u64> = HashMap::new();
    roots.rows().iter().for_each(|root| *counts.entry(root.category).or_default() += 1);
    let mut categories: Vec<_> = roots.categories().iter().collect();
    categories.sort_by_key(|category| (Reverse(dominators.group_bytes(category.name)), category.name));
    let table = table!("rows", categories, |category| {
        let retained_bytes = dominators.group_bytes(category.name);
        Column::text("category") => tables.string(category.name),
        Column::count("roots") => counts.get(&category.name).copied().unwrap_or(0),
        Column::count("objects") => category.targets.len(),
        Column::bytes("retained_bytes") => retained_bytes,
        Column::share("share").for_people() => Value::share(retained_bytes, dominators.reachable_bytes()),
    });
    let (groups, listed) = groups(ask, heap, dominators)?;
    let mut answer = Answer::default()
        .of_snapshot(heap.snapshot().0)
        .fact(Column::count("roots"), roots.rows().len())
        .fact(Column::bytes("reachable_bytes"), dominators.reachable_bytes())
        .table(table);
    answer.tables.extend((!groups.rows.is_empty()).then_some(groups));
    answer = answer.lines(only_remembered(heap, &ask.meter())?.map(remembered_note));
    Ok(Reply::from(with_exactness(answer, dominators.is_exact())).listing(listed))
}

/// Objects that represent groups of roots: those of kinds with that role. A row for each.
fn groups(ask: &Ask, heap: &Heap, dominators: &Dominators) -> Result<(Table, Listed), QueryError> {
    let tables = heap.recording().tables()?;
    let mut found = objects(heap.recording(), heap.snapshot(), &heap.root_groups(&ask.meter())?)?;
    found.sort_by_key(|object| (Reverse(dominators.retained_bytes(object.id)), object.id));
    let table = table!("groups", found.iter().enumerate(), |(at, object)| {
        let retained_bytes = dominators.retained_bytes(object.id);
        Column::row_number() => at + 1,
        Column::text("group") => tables.type_title(object.type_id),
        Column::object("object") => object.id.0,
        Column::count("references") => object.references,
        Column::bytes("retained_bytes") => retained_bytes,
        Column::share("share").for_people() => Value::share(retained_bytes, dominators.reachable_bytes()),
    });
    Ok((table, found.iter().map(|object| (heap.snapshot(), object.id)).collect()))
}

/// A row for each root of a category.
fn in_category(
    ask: &Ask,
    heap: &Heap,
    category: StringId,
    roots: Vec<Root>,
    is_exact: bool,
) -> Result<Reply, QueryError> {
    let (snapshot, count) = (heap.snapshot(), roots.len());
    let answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::text("category"), heap.recording().tables()?.string(category))
        .fact(Column::count("roots"), count);
    let make = move |ask: &Ask, range: Range<usize>| {
        let (recording, first, page) = (ask.recording()?, ask.listed_before() + 1, &roots[range]);
        let ids: Vec<ObjectId> = page.iter().map(|root| root.object).collect();
        let details = objects(&recording, snapshot, &ids)?;
        let tables = recording.tables()?;
        let heap = ask.heap(snapshot)?;
        let lines = held::lines_of(&heap, &details, &ask.meter())?;
        let table = table!("rows", page.iter().zip(&details).enumerate(), |(at, (root, object))| {
            ask.context.check()?;
            Column::row_number() => ask.row_number(first + at),
            Column::text("label").called("root") => root.label.map(|label| tables.string(label)),
            Column::object("object") => root.object.0,
            Column::text("type").names() => tables.type_title(object.type_id),
            Column::text("name") => label::name(tables, object.name),
            Column::text("line") => lines.get(&object.id).cloned(),
            Column::text("kind").names().secondary() => tables.kind_name(tables.type_kind(object.type_id)),
            Column::bytes("retained_bytes") => root.retained_bytes,
        });
        Ok((table, ids.into_iter().map(|id| (snapshot, id)).collect()))
    };
    OnDemand { answer: with_exactness(answer, is_exact), count, rows: None, has_pages: true, make: Box::new(make) }
        .begin(ask)
}

fn with_exactness(answer: Answer, is_exact: bool) -> Answer {
    match is_exact {
        true => answer.exact(),
        false => answer.at_least().note("≥: retained sizes are lower bounds, as ephemerons keep objects alive too"),
    }
}
