//! `list`: objects with any choice of columns, in any order.

use std::cmp::Ordering;
use std::sync::Arc;

use barrow_analyzer::{FieldPath, FieldValue, Heap, Held, ObjectId, ObjectSet, Progress, Tables, objects};

use crate::answer::units;
use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::{self, ObjectAttribute};
use crate::error::QueryError;
use crate::language::request::is_operator;
use crate::tables::{found, held};

use super::{Command, Completion, Group};

pub(super) const COMMAND: Command = Command {
    arguments: "[N] [[KIND] EXPR] of COLUMN[, COLUMN].. [by COLUMN [asc|desc]]",
    example: "list type = \"Session\" of .user.name, .hits, retained by .hits",
    completion: Completion::Expressions,
    ..Command::new("list", include_str!("../../verbs/list.md"), Group::Objects, run)
};

/// What a row takes, in bytes, without its cells, and what each cell takes. Measured with 540,607 rows of 1, 3, 6 and 10
/// columns.
const ROW_BYTES: u64 = 170;
const CELL_BYTES: u64 = 110;

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let asked = Asked::of(&ask.arguments)?;
    let snapshot = ask.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression_or_all(ask, snapshot, &asked.rest, 0)?;
    let heap = ask.heap(snapshot)?;
    let (set, _) = found::select(ask, snapshot, &kinds, &expression)?;
    let is_exact = heap.matches_exactly(&expression, &ask.meter())?;
    let mut ids: Vec<ObjectId> = set.iter().collect();
    if let Some((what, order)) = &asked.by {
        let mut keys = what.keys(&heap, &set, &ask.meter())?.into_iter().zip(ids).collect::<Vec<_>>();
        // Equal ones stay in the order of their numbers.
        keys.sort_by(|(one, _), (other, _)| one.order(other, *order));
        ids = keys.into_iter().map(|(_, id)| id).collect();
    }
    let listing = Listing { heap, asked: Arc::new(asked), ids: ids.into(), shown: 0, is_exact };
    let reply = listing.answer(ask)?.with_last(set);
    reply.try_map(|answer| found::with_gaps(answer, ask, &expression))
}

/// What a line asks for.
struct Asked {
    rows: Option<usize>,
    rest: Arguments,
    columns: Vec<What>,
    by: Option<(What, Option<Direction>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Ascending,
    Descending,
}

impl Asked {
    fn of(arguments: &Arguments) -> Result<Self, QueryError> {
        let arguments = arguments.divided();
        let words = arguments.words();
        let is_word = |at: usize, word: &str| {
            words[at] == word && !(at > 0 && !arguments.ends_quoted(at - 1) && is_operator(&words[at - 1]))
        };
        let Some(of) = (0..words.len()).find(|&at| is_word(at, "of")) else {
            return Err(QueryError::usage(format!("list which columns? `{}`", COMMAND.example)));
        };
        let by = (of + 1..words.len()).find(|&at| words[at] == "by").unwrap_or(words.len());
        let rows = words.first().filter(|_| of > 0).and_then(|word| word.parse().ok());
        if rows == Some(0) {
            return Err(QueryError::usage("0 objects are none: `count` counts them"));
        }
        let rest: Vec<usize> = (usize::from(rows.is_some())..of).collect();
        let names = words[of + 1..by].iter().flat_map(|word| word.split(',')).filter(|name| !name.is_empty());
        let columns = names.map(What::named).collect::<Result<Vec<_>, _>>()?;
        if columns.is_empty() {
            return Err(QueryError::usage(format!("`of` which columns? `{}`", COMMAND.example)));
        }
        let by = match &words[by..] {
            [] => None,
            [_, name] => Some((What::named(name)?, None)),
            [_, name, word] if word == "asc" => Some((What::named(name)?, Some(Direction::Ascending))),
            [_, name, word] if word == "desc" => Some((What::named(name)?, Some(Direction::Descending))),
            [_] => return Err(QueryError::usage("`by` which column?")),
            [_, _, other, ..] => return Err(COMMAND.refuses(other)),
        };
        Ok(Asked { rows, rest: arguments.only(&rest), columns, by })
    }
}

/// What a column shows of an object.
#[derive(Debug, Clone)]
enum What {
    Field(FieldPath),
    Attribute(&'static ObjectAttribute),
}

impl What {
    fn named(name: &str) -> Result<Self, QueryError> {
        if name.starts_with('.') {
            let message =
                || QueryError::usage(format!("`{name}` is no field; a field is written `.name` or `.owner.name`"));
            return FieldPath::typed(name).map(What::Field).ok_or_else(message);
        }
        let known = attributes::named(name).map(What::Attribute);
        known.ok_or_else(|| {
            let words = attributes::words().join(", ");
            QueryError::usage(format!("`{name}` is no column; there are fields, as `.{name}`, and {words}"))
        })
    }

    fn column(&self, cells: &[Value]) -> Column {
        match self {
            What::Field(path) => Column::named(path.to_string(), held::unit(cells)),
            What::Attribute(attribute) => attribute.column(),
        }
    }

    /// What objects are put in order by, for each object of the set.
    fn keys(&self, heap: &Heap, set: &ObjectSet, progress: &dyn Progress) -> Result<Vec<Key>, QueryError> {
        let tables = heap.recording().tables()?;
        match self {
            What::Field(path) => {
                let column = heap.field_column(set, path, progress)?;
                let lines = heap.lines_of(&column, progress)?;
                let key = |held: &Held| match held {
                    Held::Object(id) if lines.contains_key(id) => Key::Text(lines[id].clone()),
                    held => Key::of_held(*held, tables),
                };
                Ok(column.iter().map(key).collect())
            }
            What::Attribute(attribute) => {
                let mut keys = Vec::new();
                let ids: Vec<ObjectId> = set.iter().collect();
                for part in ids.chunks(PART_OBJECTS) {
                    let details = objects(heap.recording(), heap.snapshot(), part)?;
                    keys.extend((attribute.read)(&details, heap, progress)?.into_iter().map(Key::of_cell));
                }
                Ok(keys)
            }
        }
    }
}

/// Objects that are read at once while they are put in order.
const PART_OBJECTS: usize = 1 << 16;

/// What an object is put in order by.
#[derive(Debug, Clone, PartialEq)]
enum Key {
    Number(f64),
    Whole(i128),
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
            Held::Missing | Held::Unknown | Held::Null => Key::None,
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

    /// The order of two keys: numbers, from the largest on; texts from A on; objects; then those without a value.
    fn order(&self, other: &Key, direction: Option<Direction>) -> Ordering {
        let number = |key: &Key| match key {
            Key::Number(number) => Some(*number),
            #[expect(clippy::cast_precision_loss, reason = "whole numbers are compared with each other exactly")]
            Key::Whole(whole) => Some(*whole as f64),
            Key::Text(_) | Key::Object(_) | Key::None => None,
        };
        let turned = |order: Ordering, usual: Direction| match direction.unwrap_or(usual) == Direction::Ascending {
            true => order,
            false => order.reverse(),
        };
        match (self, other) {
            (Key::None, Key::None) => Ordering::Equal,
            (Key::None, _) => Ordering::Greater,
            (_, Key::None) => Ordering::Less,
            (Key::Object(one), Key::Object(other)) => turned(one.cmp(other), Direction::Ascending),
            (Key::Object(_), _) => Ordering::Greater,
            (_, Key::Object(_)) => Ordering::Less,
            (Key::Whole(one), Key::Whole(other)) => turned(one.cmp(other), Direction::Descending),
            (Key::Text(one), Key::Text(other)) => turned(one.cmp(other), Direction::Ascending),
            (Key::Text(_), _) => Ordering::Greater,
            (_, Key::Text(_)) => Ordering::Less,
            (one, other) => {
                let (one, other) = (number(one).unwrap_or(f64::NAN), number(other).unwrap_or(f64::NAN));
                turned(one.total_cmp(&other), Direction::Descending)
            }
        }
    }
}

/// A list that can go on.
#[derive(Clone)]
struct Listing {
    heap: Arc<Heap>,
    asked: Arc<Asked>,
    ids: Arc<[ObjectId]>,
    /// How many were shown.
    shown: usize,
    is_exact: bool,
}

impl Listing {
    /// The next page.
    fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let is_whole = ask.view.is_whole && self.asked.rows.is_none();
        let skip = ask.view.skip.filter(|_| is_whole);
        if let Some(skip) = skip {
            self.shown = usize::try_from(skip).unwrap_or(usize::MAX).min(self.ids.len());
        }
        let rows = if is_whole { ask.view.piece } else { ask.ranking_rows(self.asked.rows) };
        let end = self.ids.len().min(self.shown.saturating_add(rows));
        let table = self.table(ask, self.shown..end)?;
        let listed = self.ids[self.shown..end].iter().map(|&id| (self.heap.snapshot(), id)).collect();
        self.shown = end;
        let left = self.ids.len() - end;
        let mut answer = Answer::default()
            .of_snapshot(self.heap.snapshot().0)
            .fact(Column::text("complete").for_machines(), Value::Flag(left == 0 || is_whole))
            .table(table);
        answer.goes_on = is_whole && left > 0;
        answer.all_rows = Some(self.ids.len() as u64).filter(|_| is_whole);
        if self.ids.is_empty() {
            answer = answer.note("no object matches");
        } else if left > 0 && !is_whole {
            let way = if ask.view.is_paged { "`more`" } else { "`list N …` lists N" };
            let all = units::counted(self.ids.len() as u64, "object");
            let note = format!("… {} of {all} that match: {way}", units::grouped(end as u64));
            answer = if self.asked.rows.is_none() { answer.cut(note) } else { answer.note(note) };
        }
        let answer = found::said(answer, self.is_exact);
        let reply = Reply::from(answer).listing_page(ask, listed).skipping(skip.is_some());
        Ok(if left > 0 { reply.with_more(move |ask| self.clone().answer(ask)) } else { reply })
    }

    fn table(&self, ask: &Ask, page: std::ops::Range<usize>) -> Result<Table, QueryError> {
        let (heap, page) = (&self.heap, &self.ids[page]);
        ask.context.require_rows_of(page.len(), ROW_BYTES + CELL_BYTES * self.asked.columns.len() as u64)?;
        let meter = ask.meter();
        let details = objects(heap.recording(), heap.snapshot(), page)?;
        let mut sorted = page.to_vec();
        sorted.sort_unstable();
        let set = ObjectSet::from_sorted(heap.snapshot(), heap.object_count(), sorted.iter().copied());
        let (mut columns, mut cells) = (Vec::new(), Vec::new());
        for what in &self.asked.columns {
            let of_what = match what {
                What::Field(path) => {
                    let column = heap.field_column(&set, path, &meter)?;
                    let in_order = page.iter().filter_map(|id| sorted.binary_search(id).ok()).map(|at| column[at]);
                    held::told_cells(heap, &in_order.collect::<Vec<_>>(), &meter)?
                }
                What::Attribute(attribute) => (attribute.read)(&details, heap, &meter)?,
            };
            columns.push(what.column(&of_what).secondary());
            cells.push(of_what);
        }
        columns.splice(0..0, [Column::row_number(), Column::object("object")]);
        let row = |at: usize| {
            let number = ask.row_number(ask.listed_before() + 1 + at);
            let own = cells.iter().map(|column| column[at].clone());
            [number, page[at].0.into()].into_iter().chain(own).collect()
        };
        let rows = ask.context.collect((0..page.len()).map(row))?;
        Ok(Table { key: "rows", audience: Audience::Everyone, columns, rows })
    }
}
