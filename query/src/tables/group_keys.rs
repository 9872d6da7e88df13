//! Keys of groups of objects: as people type them, and as cells and columns.

use std::collections::BTreeMap;

use barrow_analyzer::{
    FieldValue, GroupKey, Heap, Held, Line, ObjectGroup, ObjectGroups, ObjectId, ObjectSet, Progress, TypeTotals,
    is_shortened,
};

use crate::answer::{Absence, Answer, Column, Unit, Value, units};
use crate::attributes;
use crate::command::Command;
use crate::error::QueryError;
use crate::language::field;
use crate::tables::{found, held};

/// The keys and the order of groups, from the words that follow `by`. `ordering` is what orders groups, by its name.
pub(crate) fn keys_and_order<T: Default>(
    command: &Command,
    by: &[String],
    ordering: fn(&str) -> Option<T>,
) -> Result<(Vec<GroupKey>, T), QueryError> {
    let (mut keys, mut order) = (Vec::new(), T::default());
    for word in by.iter().flat_map(|words| field::listed(words)) {
        let key = match word.starts_with('.') {
            true => Some(GroupKey::Field(field::typed(word)?)),
            false => attributes::named(word).and_then(|attribute| attribute.group.clone()),
        };
        match (key, ordering(word)) {
            (Some(key), _) if keys.contains(&key) => {}
            (Some(key), _) => keys.push(key),
            (None, Some(named)) => order = named,
            (None, None) => {
                return Err(QueryError::usage(format!("`{word}` is no key; there are {}", known_keys())));
            }
        }
    }
    match keys.is_empty() {
        true => {
            let (known, example) = (known_keys(), command.example);
            Err(QueryError::usage(format!("by which key? there are {known}: `{example}`")))
        }
        false => Ok((keys, order)),
    }
}

fn known_keys() -> String {
    format!("{} and fields, as `.state`", attributes::group_words().join(", "))
}

/// The sums over groups.
pub(crate) fn totals<'g>(groups: impl Iterator<Item = &'g ObjectGroup>) -> TypeTotals {
    groups.fold(TypeTotals::default(), |sum, group| TypeTotals {
        objects: sum.objects + group.objects,
        heap_bytes: sum.heap_bytes.wrapping_add(group.heap_bytes),
        unmanaged_bytes: sum.unmanaged_bytes.wrapping_add(group.unmanaged_bytes),
        ..sum
    })
}

/// The lines of the objects that keys of groups are.
pub(crate) fn lines(
    found: &ObjectGroups<'_>,
    heap: &Heap,
    progress: &dyn Progress,
) -> Result<BTreeMap<ObjectId, Line>, QueryError> {
    let held: Vec<Held> = found.groups.iter().flat_map(|group| found.held(group)).copied().collect();
    Ok(heap.lines_of(&held, progress)?)
}

/// Marks an answer inexact if its groups may be others, and says why: texts that were shortened or not recorded, and
/// numbers that cannot be read.
pub(crate) fn with_doubts(
    mut answer: Answer,
    keys: &[GroupKey],
    found: &ObjectGroups<'_>,
    heap: &Heap,
    set: &ObjectSet,
    progress: &dyn Progress,
) -> Result<Answer, QueryError> {
    let tables = heap.recording().tables()?;
    let held: Vec<Held> = found.groups.iter().flat_map(|group| found.held(group)).copied().collect();
    let unread = heap.unread(&held, progress)?;
    let without_text = if keys.contains(&GroupKey::Text) { heap.without_text(set, progress)? } else { 0 };
    let (mut shortened, mut unknown) = (0, without_text);
    for group in &found.groups {
        let own = keys.iter().filter(|key| !key.is_held()).filter_map(|key| group.key(key, tables));
        let held = found.held(group);
        let texts = held.iter().filter_map(|held| match held {
            Held::Value(FieldValue::Text(text)) => Some(tables.string(*text)),
            _ => None,
        });
        shortened += if own.chain(texts).any(is_shortened) { group.objects } else { 0 };
        let is_unread = |held: &Held| matches!(held, Held::Object(object) if unread.contains(*object));
        unknown += if held.iter().any(is_unread) { group.objects } else { 0 };
    }
    if shortened > 0 {
        answer = with_shortened(answer, shortened);
    }
    if unknown > 0 {
        answer = with_doubt(answer, unknown, "the text or the number was not recorded or cannot be read");
    }
    Ok(answer)
}

/// Marks an answer inexact whose groups have texts of which only the beginning is compared.
pub(crate) fn with_shortened(answer: Answer, objects: u64) -> Answer {
    with_doubt(answer, objects, "texts were shortened, and those that begin alike are one group here")
}

fn with_doubt(answer: Answer, objects: u64, why: &str) -> Answer {
    let note = format!("groups may be others: of {}, {why}", units::counted(objects, "object"));
    answer.inexact(found::AS_FAR_AS_KNOWN, &note)
}

/// For each group a cell for each key.
pub(crate) fn cells(
    keys: &[GroupKey],
    found: &ObjectGroups<'_>,
    lines: &BTreeMap<ObjectId, Line>,
    heap: &Heap,
) -> Result<Vec<Vec<Value>>, QueryError> {
    let (groups, tables) = (&found.groups, heap.recording().tables()?);
    let is_field = keys.iter().filter(|key| key.is_held()).map(|key| matches!(key, GroupKey::Field(_)));
    let of_held = |(number, is_field): (usize, bool)| {
        let held: Vec<Held> = groups.iter().map(|group| found.held(group)[number]).collect();
        let cells = held::cells(heap.recording(), heap.snapshot(), &held)?.into_iter().zip(&held);
        // An object stands for all with its line.
        let cell = |(cell, held): (Value, &Held)| match held {
            Held::Missing if is_field => Value::Absent(Absence::NoField),
            Held::Object(id) => lines.get(id).map_or(cell, |line| Value::name_of(&line.text)),
            _ => cell,
        };
        Ok::<Vec<Value>, QueryError>(cells.map(cell).collect())
    };
    let of_held = is_field.enumerate().map(of_held).collect::<Result<Vec<_>, _>>()?;
    let row = |at: usize| {
        let mut of_held = of_held.iter();
        let cell = |key: &GroupKey| match (key, groups[at].key(key, tables)) {
            (key, _) if key.is_held() => of_held.next().map_or(Value::None, |cells| cells[at].clone()),
            (_, None) => Value::None,
            (GroupKey::Text, Some(text)) => Value::name_of(text),
            (_, Some(text)) => Value::text(text),
        };
        keys.iter().map(cell).collect()
    };
    Ok((0..groups.len()).map(row).collect())
}

/// The columns of keys, which are the first cells of `rows`.
pub(crate) fn columns(keys: &[GroupKey], rows: &[Vec<Value>]) -> Vec<Column> {
    let column = |(at, key): (usize, &GroupKey)| {
        let unit = if key.is_held() { held::unit(rows.iter().map(|row| &row[at])) } else { Unit::Text };
        Column::named(key.name().into_owned(), unit)
    };
    keys.iter().enumerate().map(column).collect()
}
