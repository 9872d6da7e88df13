//! `list`: objects or processes with any choice of columns, in any order.

mod processes;

use std::cmp::Ordering;
use std::sync::Arc;

use barrow_analyzer::{
    Expression, FieldPath, FieldValue, Heap, Held, KindId, Line, Number, ObjectId, ObjectSet, Progress, RankOrder,
    SnapshotId, Tables, Time, number_order, objects,
};

use crate::answer::{Absence, Answer, Column, Table, Value, table, units};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::{self, ObjectAttribute};
use crate::error::QueryError;
use crate::language::asked;
use crate::language::field;
use crate::language::request::is_operator;
use crate::tables::{found, held};

use super::find::{ListPage, Ranking};
use super::{Command, Completion, Content, Group};

pub(super) const COMMAND: Command = Command {
    arguments: "[N] [[KIND] EXPR] of COLUMN[, COLUMN].. [by COLUMN [asc|desc]]",
    example: "list type = \"Session\" of .user.name, .hits, retained by .hits",
    flags: &["--classes"],
    completion: Completion::Expressions,
    orders,
    ..Command::new("list", include_str!("../../verbs/list.md"), Group::Objects, run)
};

/// Bytes of a row without its cells, and of each cell. Measured with 540,607 rows of 1, 3, 6 and 10 columns.
const ROW_BYTES: u64 = 170;
const CELL_BYTES: u64 = 110;

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let asked = Asked::of(&ask.arguments)?;
    match asked::asked(ask, &asked.rest, 0)? {
        asked::Asked::Objects(snapshot, kinds, expression) => {
            found::refuse_wide(&*ask.recording()?, &ask.arguments.text())?;
            of_objects(ask, &asked, snapshot, &kinds, &expression)
        }
        asked::Asked::Processes(expression) => processes::listed(ask, &asked, &expression),
    }
}

/// What may follow `of` and `by`.
fn orders(held: &[Content]) -> Vec<&'static str> {
    let of_processes =
        if held.contains(&Content::Processes) { attributes::processes::words(|_| true) } else { Vec::new() };
    let of_objects = if held == [Content::Processes] { Vec::new() } else { attributes::words() };
    of_objects.into_iter().chain(of_processes).collect()
}

fn of_objects(
    ask: &Ask,
    asked: &Asked,
    snapshot: SnapshotId,
    kinds: &[KindId],
    expression: &Expression,
) -> Result<Reply, QueryError> {
    let columns = asked.columns.iter().map(|name| What::named(name)).collect::<Result<Vec<_>, _>>()?;
    let by = asked.by.as_ref().map(|(name, direction)| Ok::<_, QueryError>((What::named(name)?, *direction)));
    let by = by.transpose()?;
    let heap = ask.heap(snapshot)?;
    let (set, _) = found::select(ask, snapshot, kinds, expression)?;
    let is_exact = heap.matches_exactly(expression, &ask.meter())?;
    let mut unknown = None;
    let rows = match by {
        Some((What::Attribute(attribute), direction)) if attribute.of.has_order() => {
            let usual = if attribute.ranks() { RankOrder::Descending } else { RankOrder::Ascending };
            Rows::Ranked(Ranking::of(Arc::clone(&set), attribute, direction.unwrap_or(usual)))
        }
        Some((what, direction)) => {
            let (keys, unread) = what.keys(&heap, &set, &ask.meter())?;
            if unread > 0 {
                let name = asked.by.as_ref().map_or("", |(name, _)| name);
                let come = if unread == 1 { "comes" } else { "come" };
                let objects = units::counted(unread, "object");
                unknown = Some(Arc::from(format!("{objects} whose `{name}` is not known {come} last")));
            }
            let mut keys = keys.into_iter().zip(set.iter()).collect::<Vec<_>>();
            // Equal ones stay in the order of their numbers.
            keys.sort_by(|(one, _), (other, _)| one.order(other, direction));
            Rows::All(keys.into_iter().map(|(_, id)| id).collect())
        }
        None => Rows::All(set.iter().collect()),
    };
    let listing = Listing { heap, columns: columns.into(), page_rows: asked.rows, rows, shown: 0, is_exact, unknown };
    let reply = listing.answer(ask)?.with_last(set);
    reply.try_map(|answer| found::with_gaps(answer, ask, found::Wanted { snapshot, kinds, expression }))
}

/// The words of a list.
pub(super) struct Asked {
    pub(super) rows: Option<usize>,
    pub(super) rest: Arguments,
    /// The names of columns, of objects or of processes.
    pub(super) columns: Vec<String>,
    pub(super) by: Option<(String, Option<RankOrder>)>,
}

impl Asked {
    pub(super) fn of(arguments: &Arguments) -> Result<Self, QueryError> {
        let arguments = arguments.divided();
        let words = arguments.words();
        let of = place_of_columns(&arguments);
        let Some(of) = of else {
            return Err(QueryError::usage(format!("list which columns? `{}`", COMMAND.example)));
        };
        let by = (of + 1..words.len()).find(|&at| words[at] == "by").unwrap_or(words.len());
        let rows = words.first().filter(|_| of > 0).and_then(|word| word.parse().ok());
        if rows == Some(0) {
            return Err(QueryError::usage("0 objects are none: `count` counts them"));
        }
        let rest: Vec<usize> = (usize::from(rows.is_some())..of).collect();
        let names = words[of + 1..by].iter().flat_map(|word| field::listed(word));
        let columns: Vec<String> = names.map(str::to_owned).collect();
        if columns.is_empty() {
            return Err(QueryError::usage(format!("`of` which columns? `{}`", COMMAND.example)));
        }
        let by = match &words[by..] {
            [] => None,
            [_, name] => Some((name.clone(), None)),
            [_, name, word] if word == "asc" => Some((name.clone(), Some(RankOrder::Ascending))),
            [_, name, word] if word == "desc" => Some((name.clone(), Some(RankOrder::Descending))),
            [_] => return Err(QueryError::usage("`by` which column?")),
            [_, _, other, ..] => return Err(COMMAND.refuses(other)),
        };
        Ok(Asked { rows, rest: arguments.only(&rest), columns, by })
    }
}

/// The place of the word `of`, which columns follow.
pub(super) fn place_of_columns(arguments: &Arguments) -> Option<usize> {
    let words = arguments.words();
    // After an operator it is a value.
    (0..words.len())
        .find(|&at| words[at] == "of" && (at == 0 || arguments.ends_quoted(at - 1) || !is_operator(&words[at - 1])))
}

/// The value of an object that a column shows.
#[derive(Debug, Clone)]
pub(super) enum What {
    Field(FieldPath),
    Attribute(&'static ObjectAttribute),
}

impl What {
    pub(super) fn named(name: &str) -> Result<Self, QueryError> {
        if name.starts_with('.') {
            return field::typed(name).map(What::Field);
        }
        attributes::named(name).map(What::Attribute).ok_or_else(|| {
            let words = attributes::words().join(", ");
            QueryError::usage(format!("`{name}` is no column; there are fields, as `.{name}`, and {words}"))
        })
    }

    pub(super) fn column<'c>(&self, cells: impl IntoIterator<Item = &'c Value>) -> Column {
        match self {
            What::Field(path) => Column::named(path.to_string(), held::unit(cells)),
            What::Attribute(attribute) => attribute.column(),
        }
    }

    /// The sorting key of each object of the set, and the number of those whose key is not known.
    fn keys(&self, heap: &Heap, set: &ObjectSet, progress: &dyn Progress) -> Result<(Vec<Key>, u64), QueryError> {
        let tables = heap.recording().tables()?;
        match self {
            What::Field(path) => {
                let column = heap.field_column(set, path, progress)?;
                let lines = heap.lines_of(&column, progress)?;
                let keys = column.iter().map(|held| match held {
                    Held::Object(id) if lines.contains_key(id) => Key::of_line(&lines[id]),
                    held => Key::of_held(*held, tables),
                });
                let unread = heap.unread(&column, progress)?;
                let is_unread = |held: &&Held| match held {
                    Held::Unknown => true,
                    Held::Object(object) => unread.contains(*object),
                    _ => false,
                };
                Ok((with_long_numbers(keys.collect()), column.iter().filter(is_unread).count() as u64))
            }
            What::Attribute(attribute) => {
                let mut keys = Vec::new();
                let ids: Vec<ObjectId> = set.iter().collect();
                for part in ids.chunks(heap.objects_at_once()) {
                    let details = objects(heap.recording(), heap.snapshot(), part)?;
                    keys.extend(attribute.read(&details, heap, progress)?.into_iter().map(Key::of_cell));
                }
                Ok((keys, 0))
            }
        }
    }
}

/// The same keys with numbers instead of texts, if each text is a number with at least as many digits as the largest one of
/// 64 bits: of larger numbers some recordings have only the digits.
fn with_long_numbers(mut keys: Vec<Key>) -> Vec<Key> {
    const DIGITS: usize = 19;
    let number =
        |text: &str| (text.trim_start_matches('-').len() >= DIGITS).then(|| text.parse::<i128>().ok()).flatten();
    if keys.iter().all(|key| !matches!(key, Key::Text(text) if number(text).is_none())) {
        for key in &mut keys {
            if let Key::Text(text) = key
                && let Some(number) = number(text)
            {
                *key = Key::Whole(number);
            }
        }
    }
    keys
}

/// A sorting key.
#[derive(Debug, Clone, PartialEq)]
enum Key {
    Number(f64),
    Whole(i128),
    /// What an object reads as.
    Read(Number),
    /// A date or a time that an object reads as.
    Time(Time),
    Text(String),
    Object(ObjectId),
    None,
}

impl Key {
    fn of_held(held: Held, tables: &Tables) -> Self {
        match held {
            Held::Value(FieldValue::Unsigned(number)) => Key::Whole(number.into()),
            Held::Value(FieldValue::Signed(number)) => Key::Whole(number.into()),
            Held::Value(FieldValue::Boolean(truth)) => Key::Whole(truth.into()),
            Held::Value(FieldValue::Character(code)) => Key::Whole(code.into()),
            Held::Value(FieldValue::Float(number)) if !number.is_nan() => Key::Number(number.into()),
            Held::Value(FieldValue::Double(number)) if !number.is_nan() => Key::Number(number),
            Held::Value(FieldValue::Float(_) | FieldValue::Double(_)) => Key::None,
            Held::Value(FieldValue::Text(text)) => Key::Text(tables.string(text).to_owned()),
            Held::Object(id) => Key::Object(id),
            Held::Missing | Held::Unknown | Held::Null | Held::Undefined => Key::None,
        }
    }

    fn of_line(line: &Line) -> Self {
        match (line.number(), line.time()) {
            (Some(Number::Whole(whole)), _) => Key::Whole(whole),
            (Some(number), _) => Key::Read(number),
            (None, Some(moment)) => Key::Time(Time { moment, text: line.text.clone() }),
            (None, None) => Key::Text(line.text.clone()),
        }
    }

    fn of_cell(cell: Value) -> Self {
        match cell {
            Value::Number(number) => Key::Whole(number.into()),
            Value::Share(share) => Key::Number(share),
            Value::Flag(is_so) => Key::Whole(is_so.into()),
            Value::Text(text) | Value::Name(text) | Value::Line(text) => Key::Text(text),
            _ => Key::None,
        }
    }

    /// The order of two keys: numbers, from the largest on; times, from the first on; texts from A on; objects; then those
    /// without a value.
    fn order(&self, other: &Key, direction: Option<RankOrder>) -> Ordering {
        let (order, usual) = match (self, other) {
            _ if self.class() != other.class() => return self.class().cmp(&other.class()),
            (Key::Object(one), Key::Object(other)) => (one.cmp(other), RankOrder::Ascending),
            (Key::Text(one), Key::Text(other)) => (one.cmp(other), RankOrder::Ascending),
            (Key::Time(one), Key::Time(other)) => (one.moment.order(&other.moment), RankOrder::Ascending),
            (Key::Whole(one), Key::Whole(other)) => (one.cmp(other), RankOrder::Descending),
            (Key::Number(one), Key::Number(other)) => (one.total_cmp(other), RankOrder::Descending),
            (one, other) => (number_order(&one.number(), &other.number()), RankOrder::Descending),
        };
        match direction.unwrap_or(usual) {
            RankOrder::Ascending => order,
            RankOrder::Descending => order.reverse(),
        }
    }

    /// The place of all keys of its kind.
    fn class(&self) -> u8 {
        match self {
            Key::Number(_) | Key::Whole(_) | Key::Read(_) => 0,
            Key::Time(_) => 1,
            Key::Text(_) => 2,
            Key::Object(_) => 3,
            Key::None => 4,
        }
    }

    fn number(&self) -> Number {
        match self {
            Key::Number(number) => Number::Real(*number),
            Key::Whole(whole) => Number::Whole(*whole),
            Key::Read(number) => number.clone(),
            Key::Time(_) | Key::Text(_) | Key::Object(_) | Key::None => Number::Real(f64::NAN),
        }
    }
}

/// A list that can go on.
#[derive(Clone)]
struct Listing {
    heap: Arc<Heap>,
    columns: Arc<[What]>,
    /// Rows of a page, if given.
    page_rows: Option<usize>,
    rows: Rows,
    /// Number of rows that were shown.
    shown: usize,
    is_exact: bool,
    /// A sentence about the objects that come last because their place is not known.
    unknown: Option<Arc<str>>,
}

/// The objects of a list in their order.
#[derive(Clone)]
enum Rows {
    All(Arc<[ObjectId]>),
    Ranked(Ranking),
}

impl Rows {
    fn total(&self) -> usize {
        match self {
            Rows::All(ids) => ids.len(),
            Rows::Ranked(ranking) => ranking.total(),
        }
    }

    fn up_to(&mut self, page: &ListPage, heap: &Heap, ask: &Ask) -> Result<&[ObjectId], QueryError> {
        match self {
            Rows::All(ids) => Ok(ids),
            Rows::Ranked(ranking) => ranking.up_to(page, heap, ask),
        }
    }
}

impl Listing {
    /// The next page.
    fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let (snapshot, total) = (self.heap.snapshot(), self.rows.total());
        let page = ListPage::next(ask, self.page_rows, self.shown, total);
        let ids = self.rows.up_to(&page, &self.heap, ask)?[page.rows.clone()].to_vec();
        let (table, has_missing) = self.table(ask, &ids)?;
        let listed = ids.iter().map(|&id| (snapshot, id)).collect();
        self.shown = page.rows.end;
        let mut answer = page.told(ask, Answer::default().of_snapshot(snapshot.0).table(table), "object", COMMAND.name);
        if total == 0 {
            answer = answer.note("no object matches");
        }
        let mut answer = found::said(answer, self.is_exact);
        if let Some(unknown) = &self.unknown {
            answer = answer.inexact(found::AS_FAR_AS_KNOWN, unknown);
        }
        if has_missing {
            answer = found::with_lost_numbers(answer, self.heap.recording())?;
        }
        let reply = Reply::from(answer).listing_page(ask, listed).skipping(page.has_skipped);
        Ok(if page.has_more() { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }

    /// The rows of these objects, and whether any of them does not have a field of a column.
    fn table(&self, ask: &Ask, ids: &[ObjectId]) -> Result<(Table, bool), QueryError> {
        let heap = &self.heap;
        ask.context.require_rows_of(ids.len(), ROW_BYTES + CELL_BYTES * self.columns.len() as u64)?;
        let meter = ask.meter();
        let cells = cells(heap, &self.columns, ids, &meter)?;
        let columns = self.columns.iter().zip(&cells).map(|(what, cells)| what.column(cells).secondary());
        let has_missing = cells.iter().flatten().any(|cell| matches!(cell, Value::Absent(Absence::Missing)));
        let rows = table!("rows", ids.iter().enumerate(), |(at, id)| {
            ask.context.check()?;
            Column::row_number() => ask.row_number(ask.listed_before() + 1 + at),
            Column::object("object") => id.0,
            ..columns => cells.iter().map(|column| column[at].clone()),
        });
        Ok((rows, has_missing))
    }
}

/// For each column the cells of these objects, in their order.
pub(super) fn cells(
    heap: &Heap,
    columns: &[What],
    ids: &[ObjectId],
    progress: &dyn Progress,
) -> Result<Vec<Vec<Value>>, QueryError> {
    let details = objects(heap.recording(), heap.snapshot(), ids)?;
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let set = ObjectSet::from_sorted(heap.snapshot(), heap.object_count(), sorted.iter().copied());
    let of_column = |what: &What| match what {
        What::Field(path) => {
            let column = heap.field_column(&set, path, progress)?;
            let in_order = ids.iter().filter_map(|id| sorted.binary_search(id).ok()).map(|at| column[at]);
            held::told_cells(heap, &in_order.collect::<Vec<_>>(), progress)
        }
        What::Attribute(attribute) => attribute.read(&details, heap, progress),
    };
    columns.iter().map(of_column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_no_texts() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| Key::Text(text.to_owned())).collect::<Vec<_>>();
        let long = ["9223372036854775808", "-10000000000000000000000000000000000000"];
        let numbers = [9_223_372_036_854_775_808, -10_i128.pow(37)].map(Key::Whole);
        assert_eq!(with_long_numbers(texts(&long)), numbers);
        let mixed = [texts(&long), texts(&["a text"])].concat();
        assert_eq!(with_long_numbers(mixed.clone()), mixed);
        assert_eq!(with_long_numbers(texts(&["123"])), texts(&["123"]));
    }
}
