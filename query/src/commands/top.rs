//! `top`: the types or objects that hold most.

use std::sync::Arc;

use barrow_analyzer::{Heap, KindId, Largest, ObjectId, ObjectSet, Progress, SnapshotId, TypeId, objects};

use crate::answer::{Answer, Column, Value, table};
use crate::ask::reply::Reply;
use crate::ask::{Ask, PIECE_ROWS};
use crate::attributes::totals::Total;
use crate::error::QueryError;
use crate::language::kinds::{Kinds, leading_kind};
use crate::language::request::Request;
use crate::tables::ranking;
use crate::tables::{found, held, label, type_series};

use super::{Command, Completion, Group, more, sites};

pub(super) const COMMAND: Command = Command {
    arguments: "[N] [KIND] [EXPR] [by size|count|unmanaged|retained]",
    example: "top 10 objects by retained",
    asks_for_totals: Some(super::asks_for_totals),
    completion: Completion::Rankings,
    orders: |_| Total::usual_words(),
    ..Command::new("top", include_str!("../../verbs/top.md"), Group::Snapshots, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let snapshot = ask.snapshot()?;
    let request = Request::of(&ask.arguments);
    let rows = ask.ranking_rows(request.rows);
    let order = order(&request)?;
    let words = request.rest.words();
    if words.first().is_some_and(|word| is_sites(word)) {
        return match words.get(1) {
            None => sites::top(ask, rows, order),
            Some(word) => Err(COMMAND.refuses(word)),
        };
    }
    let kinds = match words.is_empty() {
        true => Kinds::default(),
        false => leading_kind(recording.tables()?, &words).unwrap_or_default(),
    };
    let is_of_types = words.first().is_some_and(|word| word.eq_ignore_ascii_case("types")) && kinds.ids.is_empty();
    if kinds.words < words.len() {
        return of_matching(ask, &request, is_of_types, order, rows);
    }
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    if order == Total::Retained && !is_of_types {
        return by_retained(ask, &Wanted { kinds: &kinds, set: None }, rows);
    }
    let types = ranking::types(&heap, ask.counted(snapshot), &kinds, order, &meter)?;
    let mut answer = ranking::answer(&heap, &types, order, &meter)?;
    type_series::add(ask, &types, order, &Column::picture("series").secondary(), &mut answer)?;
    drop(meter);
    Ok(more::first_page(ask, answer, rows))
}

/// The number that ranks types or objects.
fn order(request: &Request) -> Result<Total, QueryError> {
    match &request.by[..] {
        [] => Ok(Total::default()),
        [name] => Total::named(name).ok_or_else(|| {
            let words: Vec<String> = Total::usual_words().iter().map(|word| format!("`by {word}`")).collect();
            let (last, others) = words.split_last().map_or(("", &[][..]), |(last, others)| (last, others));
            QueryError::usage(format!("there is no order `{name}`; try {} or {last}", others.join(", ")))
        }),
        [_, other, ..] => Err(COMMAND.refuses(&format!("by {other}"))),
    }
}

/// The objects that match and retain most, or their types.
fn of_matching(
    ask: &Ask,
    request: &Request,
    is_of_types: bool,
    order: Total,
    rows: usize,
) -> Result<Reply, QueryError> {
    let snapshot = ask.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression(ask, snapshot, &request.rest, 0)?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let (set, _) = heap.select(&kinds, &expression, &meter)?;
    if order == Total::Retained && !is_of_types {
        drop(meter);
        let reply = by_retained(ask, &Wanted { kinds: &Kinds::default(), set: Some(&set) }, rows)?;
        let wanted = found::Wanted { snapshot, kinds: &kinds, expression: &expression };
        return reply.try_map(|answer| found::with_gaps(answer, ask, wanted));
    }
    let types = ranking::types_of(&heap, &set, order, &meter)?;
    let mut answer = ranking::answer(&heap, &types, order, &meter)?;
    drop(meter);
    if set.is_empty() {
        answer = answer.note("no object matches");
    }
    let answer =
        found::with_exactness(answer, ask, found::Wanted { snapshot, kinds: &kinds, expression: &expression })?;
    Ok(more::first_page(ask, answer, rows))
}

/// The objects that a ranking is about.
struct Wanted<'a> {
    kinds: &'a Kinds,
    /// Only these.
    set: Option<&'a ObjectSet>,
}

impl Wanted<'_> {
    fn has(&self, kind: KindId, object: ObjectId) -> bool {
        self.kinds.contain(kind) && self.set.is_none_or(|set| set.contains(object))
    }
}

/// Returns whether the word asks for allocation sites rather than a kind.
pub(super) fn is_sites(word: &str) -> bool {
    word.eq_ignore_ascii_case("sites")
}

/// Objects that retain most, of which the first are shown.
#[derive(Clone)]
struct Retaining {
    snapshot: SnapshotId,
    /// The objects, the largest first, with what they retain.
    objects: Arc<[(ObjectId, u64)]>,
    shown: usize,
    /// Size of all reachable objects, in bytes.
    whole: u64,
    is_exact: bool,
}

/// The wanted objects that retain most.
fn by_retained(ask: &Ask, wanted: &Wanted<'_>, rows: usize) -> Result<Reply, QueryError> {
    let heap = ask.heap(ask.snapshot()?)?;
    let meter = ask.meter();
    let known = heap.largest(&meter)?;
    let objects = largest(&heap, known, wanted, rows, &meter)?;
    drop(meter);
    let (snapshot, objects) = (heap.snapshot(), Arc::from(objects));
    let (whole, is_exact) = (known.reachable_bytes(), known.is_exact());
    let reply = Retaining { snapshot, objects: Arc::clone(&objects), shown: 0, whole, is_exact }.answer(ask)?;
    Ok(match wanted.set {
        Some(_) => reply.with_last(ask.set_of(snapshot, objects.iter().map(|&(object, _)| object))?),
        None => reply,
    })
}

impl Retaining {
    /// The next page: all of them, unless there may be too many for the memory.
    fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let recording = ask.recording()?;
        let skip = ask.view.skip.map_or(0, |skip| usize::try_from(skip).unwrap_or(usize::MAX));
        self.shown = self.shown.saturating_add(skip).min(self.objects.len());
        let end = if ask.view.is_whole { self.shown + ask.view.piece } else { usize::MAX };
        let page = &self.objects[self.shown..end.min(self.objects.len())];
        ask.context.require_rows(page.len())?;
        let ids: Vec<ObjectId> = page.iter().map(|&(id, _)| id).collect();
        let details = objects(&recording, self.snapshot, &ids)?;
        let (tables, first) = (recording.tables()?, ask.listed_before() + 1);
        let heap = ask.heap(self.snapshot)?;
        let lines = held::lines_of(&heap, &details, &ask.meter())?;
        let rows = details.iter().zip(page).enumerate();
        let table = table!("rows", rows, |(at, (object, &(_, retained)))| {
            Column::row_number() => ask.row_number(first + at),
            Column::object("object") => object.id.0,
            Column::text("type").names() => tables.type_title(object.type_id),
            Column::text("name") => label::name(tables, object.name),
            Column::text("line") => lines.get(&object.id).cloned(),
            Column::text("kind").names().secondary() => tables.kind_name(tables.type_kind(object.type_id)),
            Column::bytes("shallow_bytes") => object.shallow_bytes,
            Column::bytes("unmanaged_bytes").secondary() => object.unmanaged_bytes,
            ranking::retained_column(self.is_exact) => retained,
            Column::share("share").for_people() => Value::share(retained, self.whole),
        });
        let listed = ids.into_iter().map(|id| (self.snapshot, id)).collect();
        self.shown += details.len();
        let mut answer = Answer::default().of_snapshot(self.snapshot.0).table(table).with_exactness(self.is_exact);
        answer.all_rows = Some(self.objects.len() as u64);
        answer.goes_on = self.shown < self.objects.len();
        let goes_on = answer.goes_on;
        let reply = Reply::from(answer).listing_page(ask, listed).skipping(ask.view.skip.is_some());
        Ok(if goes_on { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }
}

/// The first `rows` of the wanted objects, with what they retain: of the largest ones that are known, or
/// of all if they are not enough.
fn largest(
    heap: &Heap,
    known: &Largest,
    wanted: &Wanted<'_>,
    rows: usize,
    progress: &dyn Progress,
) -> Result<Vec<(ObjectId, u64)>, QueryError> {
    let tables = heap.recording().tables()?;
    let mut found = Vec::new();
    for part in known.objects().chunks(rows.clamp(64, PIECE_ROWS)) {
        let ids: Vec<ObjectId> = part.iter().map(|&(object, _)| object).collect();
        let details = objects(heap.recording(), heap.snapshot(), &ids)?;
        found.extend(
            part.iter()
                .zip(&details)
                .filter_map(|(&row, object)| wanted.has(tables.type_kind(object.type_id), object.id).then_some(row)),
        );
        if found.len() >= rows {
            break;
        }
    }
    if found.len() < rows && known.has_more() {
        let dominators = heap.dominators(progress)?;
        let types = heap.types(progress)?;
        let largest =
            dominators.largest(rows, |object| wanted.has(tables.type_kind(TypeId(types[object.index()])), object));
        found = largest.into_iter().map(|object| (object, dominators.retained_bytes(object))).collect();
    }
    found.truncate(rows);
    Ok(found)
}
