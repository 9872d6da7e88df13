//! References from and to an object, as `show` and `inrefs` ask for them and print them.

use barrow_analyzer::{Heap, Label, ObjectId, SnapshotId, Tables, TypeReferences};

use crate::answer::{Answer, Column, Table, table, units};
use crate::ask::Ask;
use crate::command::Command;
use crate::error::QueryError;
use crate::session::{listed::Listed, state::State};
use crate::tables::label;

/// The most rows of an answer that has no pages: a piece is in memory as a whole.
pub(crate) const MOST_ROWS: u64 = 100_000;

/// The words that may follow `by`.
pub(crate) const ORDERS: [&str; 3] = ["type", "field", "object"];

/// The references of an object that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Added up by this, one of [`ORDERS`].
    pub(crate) by: Option<&'static str>,
    /// The first one of all, counted from 0.
    first: u64,
    /// The first one that was not shown yet.
    pub(crate) from: u64,
    /// The first one that is not wanted any more.
    pub(crate) end: u64,
}

impl Wanted {
    /// Reads `ID [by type|field|object] [FROM.. | FROM..TO]`: the name of the object, and the rest.
    ///
    /// # Errors
    /// A usage error for other words.
    pub(crate) fn of_words<'w>(command: &Command, words: &'w [String]) -> Result<(&'w str, Self), QueryError> {
        let Some((name, rest)) = words.split_first() else {
            return Err(QueryError::usage(format!(
                "which object? `{0} @123`, or `{0} %3` for row 3 of the last table",
                command.name
            )));
        };
        let everything = Wanted { by: None, first: 0, from: 0, end: u64::MAX };
        match rest {
            [] => Ok((name, everything)),
            [by, word] if by == "by" => {
                let by = ORDERS.into_iter().find(|order| order == word).ok_or_else(|| command.refuses(word))?;
                Ok((name, Wanted { by: Some(by), ..everything }))
            }
            [word] => {
                let range = range(word).ok_or_else(|| command.refuses(word))?;
                Ok((name, Wanted { by: None, first: range.0, from: range.0, end: range.1 }))
            }
            [_, word, ..] => Err(command.refuses(word)),
        }
    }

    /// The number of references on the next page, of `total`.
    pub(crate) fn page(&self, ask: &Ask, total: u64) -> usize {
        let rows = (ask.piece_rows() as u64).min(MOST_ROWS);
        self.left(total).min(rows) as usize
    }

    /// Passes over references that are before a window.
    pub(crate) fn pass(&mut self, skip: Option<u64>) {
        self.from = self.from.saturating_add(skip.unwrap_or(0));
    }

    /// The number of references that are wanted, of `total`.
    pub(crate) fn all(&self, total: u64) -> u64 {
        self.end.min(total).saturating_sub(self.first)
    }

    /// The number of references that were not shown yet, of `total`.
    pub(crate) fn left(&self, total: u64) -> u64 {
        self.end.min(total).saturating_sub(self.from)
    }
}

/// `100..` and `100..199`: the first number, and the number after the last.
pub(crate) fn range(word: &str) -> Option<(u64, u64)> {
    let (from, to) = word.split_once("..")?;
    let end = if to.is_empty() { u64::MAX } else { to.parse::<u64>().ok()?.checked_add(1)? };
    from.parse().ok().filter(|&from| from < end).map(|from| (from, end))
}

/// Looks up the object that a question is about.
///
/// # Errors
/// A usage error if there is none of that name, or if it is excluded.
pub(crate) fn object(state: &State, name: &str) -> Result<(SnapshotId, ObjectId), QueryError> {
    let (snapshot, object) = state.object(name)?;
    if state.heap(snapshot)?.has(object) {
        return Ok((snapshot, object));
    }
    Err(QueryError::usage(format!("@{object} is excluded; `without clear` brings everything back")))
}

/// An answer about an object with `total` references.
pub(crate) fn about(snapshot: SnapshotId, object: ObjectId, total: u64) -> Answer {
    Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::object("object"), object.0)
        .fact(Column::count("references"), total)
        .exact()
}

/// "…  723 more rows", and how to see them.
pub(crate) fn rest_note(ask: &Ask, verb: &str, object: ObjectId, from: u64, left: u64) -> String {
    let rows = format!("… {}", units::counted(left, "more row"));
    if ask.view.is_paged { format!("{rows}: `more`") } else { format!("{rows}: `{verb} @{object} {from}..`") }
}

/// References of one object added up by type, most of them first, and the examples of the rows.
pub(crate) fn by_type(
    heap: &Heap,
    object: ObjectId,
    types: Vec<TypeReferences>,
) -> Result<(Answer, Listed), QueryError> {
    let (table, total, listed) = table_by_type(heap, types)?;
    Ok((about(heap.snapshot(), object, total).table(table), listed))
}

/// A row for each type, that with most references first; the number of all references, and the examples of the rows.
pub(crate) fn table_by_type(heap: &Heap, mut types: Vec<TypeReferences>) -> Result<(Table, u64, Listed), QueryError> {
    let tables = heap.recording().tables()?;
    types.sort_by_key(|one| (std::cmp::Reverse(one.references), one.type_id));
    let total = types.iter().map(|one| one.references).sum();
    let listed = types.iter().map(|one| (heap.snapshot(), one.example)).collect();
    let table = table!("rows", types.iter().enumerate(), |(at, one)| {
        Column::row_number() => at + 1,
        Column::text("type") => tables.type_title(one.type_id),
        Column::text("kind").secondary() => tables.kind_name(tables.type_kind(one.type_id)),
        Column::count("references") => one.references,
        Column::count("objects") => one.objects,
        Column::bytes("shallow_bytes") => one.shallow_bytes,
        Column::object("example") => one.example.0,
    });
    Ok((table, total, listed))
}

/// The name of the field that holds references, or `[]` for any place of an array; nothing if the runtime does not say.
pub(crate) fn field(tables: &Tables, label: Label) -> Option<String> {
    match label {
        Label::Index(_) => Some("[]".to_owned()),
        known => label::text(tables, known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_counts_from_its_first_to_its_last_number() {
        assert_eq!(["5..", "0..0", "3..9"].map(range), [Some((5, u64::MAX)), Some((0, 1)), Some((3, 10))]);
        assert_eq!(["5", "..", "..7", "9..3", "a..", "1..b"].map(range), [None; 6]);
    }
}
