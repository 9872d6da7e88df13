//! `roots`: where the collector starts from.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use barrow_analyzer::{Dominators, Heap, ObjectId, SnapshotId, StringId, Tables, objects};

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::language::names::{self, Match};
use crate::session::listed::Listed;
use crate::tables::label;

use super::unreachable::{only_remembered, remembered_note};

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "[CATEGORY]",
    ..Command::new("roots", include_str!("../../verbs/roots.md"), Group::Alive, run)
};

/// Roots of a category, of which the first are shown.
#[derive(Clone)]
pub(crate) struct Roots {
    snapshot: SnapshotId,
    category: StringId,
    exactness: &'static str,
    roots: Arc<[Root]>,
    shown: usize,
}

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
    let category = if words.is_empty() { None } else { Some(category(&heap, &words)?) };
    let meter = ask.meter();
    heap.ask_dominators(&meter, |dominators| {
        let Some(category) = category else { return by_category(ask, &heap, dominators) };
        let of_category = heap.roots()?.rows().iter().filter(|root| root.category == category);
        let mut roots: Vec<Root> = of_category
            .map(|root| {
                let retained_bytes = dominators.retained_bytes(root.target);
                Root { label: root.label, object: root.target, retained_bytes }
            })
            .collect();
        roots.sort_by_key(|root| (Reverse(root.retained_bytes), root.object, root.label));
        Roots { snapshot, category, exactness: exactness(dominators), roots: roots.into(), shown: 0 }.answer(ask)
    })
}

/// The category that `word` begins, in any case.
fn category(heap: &Heap, word: &str) -> Result<StringId, QueryError> {
    let tables = heap.recording().tables()?;
    let categories = heap.roots()?.categories();
    let lower: Vec<String> = categories.iter().map(|category| tables.string(category.name).to_lowercase()).collect();
    let list = |indices: &mut dyn Iterator<Item = usize>| {
        indices.map(|at| tables.string(categories[at].name)).collect::<Vec<_>>().join(", ")
    };
    match names::find(&word.to_lowercase(), lower.iter().enumerate().map(|(at, name)| (name.as_str(), at))) {
        Match::One(at) => Ok(categories[at].name),
        Match::Several(found) => Err(QueryError::usage(format!("`{word}` may be {}", list(&mut found.into_iter())))),
        Match::None if categories.is_empty() => Err(QueryError::usage("this snapshot has no roots")),
        Match::None => Err(QueryError::usage(format!(
            "`{word}` is no category of roots; there are {}",
            list(&mut (0..categories.len()))
        ))),
    }
}

fn by_category(ask: &Ask, heap: &Heap, dominators: &Dominators) -> Result<Reply, QueryError> {
    let (tables, roots) = (heap.recording().tables()?, heap.roots()?);
    let mut counts: HashMap<StringId, u64> = HashMap::new();
    roots.rows().iter().for_each(|root| *counts.entry(root.category).or_default() += 1);
    let mut categories: Vec<_> = roots.categories().iter().collect();
    let retained = |category| dominators.group_bytes(category);
    categories.sort_by_key(|category| (Reverse(retained(category.name)), category.name));
    let rows = categories.iter().map(|category| {
        vec![
            Value::text(tables.string(category.name)),
            counts.get(&category.name).copied().unwrap_or(0).into(),
            category.targets.len().into(),
            retained(category.name).into(),
            Value::share(retained(category.name), dominators.reachable_bytes()),
        ]
    });
    let table = Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows: rows.collect() };
    let (groups, listed) = groups(ask, heap, dominators)?;
    let mut answer = Answer::default()
        .of_snapshot(heap.snapshot().0)
        .fact(Column::count("roots"), roots.rows().len())
        .fact(Column::bytes("reachable_bytes"), dominators.reachable_bytes())
        .table(table);
    if !groups.rows.is_empty() {
        answer = answer.table(groups);
    }
    answer.exactness = Some(exactness(dominators));
    if let Some(held) = only_remembered(heap, &ask.meter())? {
        answer = answer.note(remembered_note(held));
    }
    Ok(Reply::from(with_bound_note(answer)).listing(listed))
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("category"),
        Column::count("roots"),
        Column::count("objects"),
        Column::bytes("retained_bytes"),
        Column::share("share").for_people(),
    ]
}

/// Objects that represent groups of roots: those of kinds with that role. A row for each.
fn groups(ask: &Ask, heap: &Heap, dominators: &Dominators) -> Result<(Table, Listed), QueryError> {
    let tables = heap.recording().tables()?;
    let mut found = objects(heap.recording(), heap.snapshot(), &heap.root_groups(&ask.meter())?)?;
    found.sort_by_key(|object| (Reverse(dominators.retained_bytes(object.id)), object.id));
    let rows = found.iter().enumerate().map(|(at, object)| {
        vec![
            Value::from(at + 1),
            Value::text(tables.type_title(object.type_id)),
            object.id.0.into(),
            object.references.into(),
            dominators.retained_bytes(object.id).into(),
            Value::share(dominators.retained_bytes(object.id), dominators.reachable_bytes()),
        ]
    });
    let columns = vec![
        Column::row_number(),
        Column::text("group"),
        Column::object("object"),
        Column::count("references"),
        Column::bytes("retained_bytes"),
        Column::share("share").for_people(),
    ];
    let listed = found.iter().map(|object| (heap.snapshot(), object.id)).collect();
    Ok((Table { key: "groups", audience: Audience::Everyone, columns, rows: rows.collect() }, listed))
}

impl Roots {
    /// The next page.
    pub(super) fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let recording = ask.recording()?;
        let end = self.shown.saturating_add(ask.piece_rows()).min(self.roots.len());
        let page = &self.roots[self.shown..end];
        let ids: Vec<ObjectId> = page.iter().map(|root| root.object).collect();
        let details = objects(&recording, self.snapshot, &ids)?;
        let tables = recording.tables()?;
        let first = ask.listed_before() + 1;
        let rows = page.iter().zip(&details).enumerate().map(|(at, (root, object))| {
            vec![
                ask.row_number(first + at),
                root.label.map(|label| tables.string(label)).into(),
                root.object.0.into(),
                Value::text(tables.type_title(object.type_id)),
                label::name(tables, object.name),
                Value::text(tables.kind_name(tables.type_kind(object.type_id))),
                root.retained_bytes.into(),
            ]
        });
        let table = Table {
            key: "rows",
            audience: Audience::Everyone,
            columns: root_columns(),
            rows: ask.context.collect(rows)?,
        };
        let mut answer = self.heading(tables).table(table);
        self.shown = end;
        let left = self.roots.len() - end;
        if left > 0 && ask.view.is_whole {
            answer.goes_on = true;
        } else if left > 0 {
            answer = answer.note(more::more_note(ask, left));
            answer.cut = Some(more::cut_note(ask, left));
        }
        let listed = ids.into_iter().map(|id| (self.snapshot, id)).collect();
        let reply = Reply::from(with_bound_note(answer)).listing_page(ask, listed);
        Ok(if left > 0 { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }

    fn heading(&self, tables: &Tables) -> Answer {
        let answer = Answer::default()
            .of_snapshot(self.snapshot.0)
            .fact(Column::text("category"), tables.string(self.category))
            .fact(Column::count("roots"), self.roots.len());
        Answer { exactness: Some(self.exactness), ..answer }
    }
}

fn root_columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::text("label").called("root"),
        Column::object("object"),
        Column::text("type"),
        Column::text("name"),
        Column::text("kind").secondary(),
        Column::bytes("retained_bytes"),
    ]
}

/// What JSON says of retained sizes.
fn exactness(dominators: &Dominators) -> &'static str {
    if dominators.is_exact() { "exact" } else { LOWER_BOUND }
}

const LOWER_BOUND: &str = "lower bound";

fn with_bound_note(answer: Answer) -> Answer {
    if answer.exactness != Some(LOWER_BOUND) {
        return answer;
    }
    answer.note("≥: retained sizes are lower bounds, as ephemerons keep objects alive too")
}
