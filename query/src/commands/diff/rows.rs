//! `diff A B [[KIND] EXPR] of COLUMN, ..`: the rows of `list` that two snapshots do not share.
//!
//! Rows that are equal in all columns cancel each other, as often as both snapshots have them. A row that is left has
//! changed if, for its first column, it is the only one left on both sides, and as often; other rows are gone or new.

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::{ObjectId, SnapshotId};

use crate::answer::{Absence, Answer, Column, Table, Value, table, units};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::commands::list::{self, What};
use crate::commands::more;
use crate::error::QueryError;
use crate::language::operand::Compared;
use crate::tables::each_snapshot::EachSnapshot;
use crate::tables::{found, group_series};

use super::COMMAND;

/// Bytes of a row without its cells, and of each cell, with the text that tells rows apart. This is an estimate, above
/// that of `list`, since both sides are in memory.
const ROW_BYTES: u64 = 300;
const CELL_BYTES: u64 = 200;

/// A row, and how often each side has it.
#[derive(Debug)]
struct Row {
    cells: Vec<Value>,
    counts: [u64; 2],
    /// The first object of each side.
    examples: [Option<ObjectId>; 2],
    /// Whether one of its cells is an object, of which the other snapshot may have another one of the same name.
    has_objects: bool,
}

impl Row {
    /// How often both sides have it.
    fn common(&self) -> u64 {
        self.counts[0].min(self.counts[1])
    }

    /// Returns whether one of its values was not recorded, or only its beginning is compared, so that other values may
    /// look the same.
    fn lacks_values(&self) -> bool {
        let is_unknown = |cell: &Value| matches!(cell, Value::Absent(Absence::Unknown));
        self.cells.iter().any(|cell| is_unknown(cell) || group_series::is_beginning(cell))
    }
}

/// Rows by the texts of their cells, which tell them apart.
type Rows = BTreeMap<String, Row>;

/// A row that the sides do not share: `None` on a side that does not have it.
#[derive(Debug)]
struct Change {
    before: Option<Row>,
    after: Option<Row>,
    objects: u64,
}

/// Compares the rows of the objects that match, the largest change first.
///
/// # Errors
/// A usage error for words that are no column and no expression; those of the analyzer.
pub(super) fn compare(ask: &Ask, sides: [&Compared; 2], words: &Arguments) -> Result<Reply, QueryError> {
    let asked = list::Asked::of(words)?;
    let columns = asked.columns.iter().map(|name| What::named(name)).collect::<Result<Vec<_>, _>>()?;
    let by =
        match &asked.by {
            None => None,
            Some((_, Some(_))) => {
                return Err(QueryError::usage("the largest change comes first; leave out `asc` or `desc`"));
            }
            Some((name, None)) => Some(asked.columns.iter().position(|column| column == name).ok_or_else(|| {
                QueryError::usage(format!("`by {name}`: changes are ordered by a column that is shown"))
            })?),
        };
    if let Some(rows) = asked.rows {
        return Err(COMMAND.refuses(&rows.to_string()));
    }
    let each = EachSnapshot::of_sides(ask, sides, &asked.rest)?;
    let (rows, objects, is_exact) = rows(ask, &each, &columns)?;
    let equal_in_part = |is_meant: fn(&Row) -> bool| rows.values().filter(|row| is_meant(row)).map(Row::common).sum();
    let unknown: u64 = equal_in_part(Row::lacks_values);
    let as_objects: u64 = equal_in_part(|row| row.has_objects);
    let (mut changes, equal) = changes(rows);
    let by = by.or_else(|| usual_order(&changes));
    changes.sort_by(|one, other| size(other, by).total_cmp(&size(one, by)));
    let count =
        |of: &str| changes.iter().filter(|change| change.word() == of).map(|change| change.objects).sum::<u64>();
    let [new, gone, changed] = ["new", "gone", "changed"].map(count);
    let side = |at: usize| sides[at].described([(Column::count("objects"), objects[at].into())]);
    let open = ask.recording()?;
    // `%3` names objects of the open recording.
    let are_listed = sides.iter().all(|side| Arc::ptr_eq(&side.recording, &open));
    let note = format!(
        "{} new, {} gone, {} changed, {} equal",
        units::counted(new, "object"),
        units::grouped(gone),
        units::grouped(changed),
        units::grouped(equal)
    );
    let answer = Answer::default()
        .fact(Column::nested("before").for_machines(), side(0))
        .fact(Column::nested("after").for_machines(), side(1))
        .fact(Column::count("new").for_machines(), new)
        .fact(Column::count("gone").for_machines(), gone)
        .fact(Column::count("changed").for_machines(), changed)
        .fact(Column::count("equal").for_machines(), equal)
        .fact(Column::count("equal_as_unknown").for_machines(), unknown)
        .fact(Column::count("equal_as_objects").for_machines(), as_objects)
        .table(table(ask, &columns, &changes, are_listed)?)
        .note(note)
        .note_if(unknown > 0, unknown_note(unknown))
        .note_if(as_objects > 0, objects_note(as_objects))
        .note_if(objects == [0, 0], "no object matches");
    let answer = each.with_gaps(found::said(answer, is_exact), ask)?;
    let reply = more::first_page(ask, answer, ask.page_rows());
    Ok(match are_listed {
        true => reply.listing(changes.iter().filter_map(|change| change.object(sides)).collect()),
        false => reply,
    })
}

fn unknown_note(objects: u64) -> String {
    format!(
        "of {} that count as equal some value is not known, or a text of which only the beginning is compared",
        units::counted(objects, "object")
    )
}

fn objects_note(objects: u64) -> String {
    format!(
        "of {} that count as equal a column is an object, which is compared by what is shown of it",
        units::counted(objects, "object")
    )
}

/// The rows of both sides by their texts, the number of objects on each side, and whether these match exactly.
fn rows(ask: &Ask, each: &EachSnapshot, columns: &[What]) -> Result<(Rows, [u64; 2], bool), QueryError> {
    let meter = ask.meter();
    let (mut rows, mut objects) = (Rows::new(), [0; 2]);
    let is_exact = each.visit(ask, |side, heap, set| {
        objects[side] = set.len();
        let ids: Vec<ObjectId> = set.iter().collect();
        for part in ids.chunks(heap.objects_at_once()) {
            ask.context.require_rows_of(rows.len(), ROW_BYTES + CELL_BYTES * columns.len() as u64)?;
            let mut cells: Vec<_> = list::cells(heap, columns, part, &meter)?.into_iter().map(Vec::into_iter).collect();
            for &id in part {
                let cells: Vec<Value> = cells.iter_mut().filter_map(Iterator::next).collect();
                let has_objects = cells.iter().any(|cell| matches!(cell, Value::Object { .. }));
                let cells: Vec<Value> = cells.into_iter().map(group_series::without_number).collect();
                let key = format!("{cells:?}");
                let row = rows.entry(key).or_insert(Row { cells, counts: [0; 2], examples: [None; 2], has_objects });
                row.counts[side] += 1;
                row.examples[side].get_or_insert(id);
            }
            ask.context.check()?;
        }
        Ok(())
    })?;
    Ok((rows, objects, is_exact))
}

/// The rows that the sides do not share, by their first columns, and the number of rows that they share.
fn changes(rows: Rows) -> (Vec<Change>, u64) {
    let mut equal = 0;
    let mut left: BTreeMap<String, [Vec<(Row, u64)>; 2]> = BTreeMap::new();
    for mut row in rows.into_values() {
        let common = row.common();
        equal += common;
        row.counts = row.counts.map(|count| count - common);
        let [before, after] = row.counts;
        if before + after > 0 {
            let of_first = left.entry(format!("{:?}", row.cells.first())).or_default();
            of_first[usize::from(after > 0)].push((row, before + after));
        }
    }
    let mut changes = Vec::new();
    for [mut gone, mut new] in left.into_values() {
        if gone.len() == 1
            && new.len() == 1
            && gone[0].1 == new[0].1
            && let (Some((before, objects)), Some((after, _))) = (gone.pop(), new.pop())
        {
            changes.push(Change { before: Some(before), after: Some(after), objects });
        }
        changes.extend(gone.into_iter().map(|(row, objects)| Change { before: Some(row), after: None, objects }));
        changes.extend(new.into_iter().map(|(row, objects)| Change { before: None, after: Some(row), objects }));
    }
    (changes, equal)
}

impl Change {
    fn word(&self) -> &'static str {
        match (&self.before, &self.after) {
            (Some(_), Some(_)) => "changed",
            (Some(_), None) => "gone",
            (None, _) => "new",
        }
    }

    /// A cell of the row on one of the sides.
    fn cell(&self, side: usize, column: usize) -> Option<&Value> {
        let row = if side == 0 { &self.before } else { &self.after };
        row.as_ref()?.cells.get(column)
    }

    /// An object of this row, of the second side if it has one.
    fn object(&self, sides: [&Compared; 2]) -> Option<(SnapshotId, ObjectId)> {
        let after = self.after.as_ref().and_then(|row| Some((sides[1].snapshot, row.examples[1]?)));
        after.or_else(|| self.before.as_ref().and_then(|row| Some((sides[0].snapshot, row.examples[0]?))))
    }
}

/// The first column with numbers after the first one; else the first one, if it has any.
fn usual_order(changes: &[Change]) -> Option<usize> {
    let columns = changes.first().and_then(|change| change.before.as_ref().or(change.after.as_ref()))?.cells.len();
    let is_number = |&column: &usize| {
        changes.iter().any(|change| {
            [0, 1].iter().any(|&side| change.cell(side, column).is_some_and(|cell| number(cell).is_some()))
        })
    };
    (1..columns).chain([0]).find(is_number)
}

/// How much a column changed in all objects of a row.
fn size(change: &Change, column: Option<usize>) -> f64 {
    let Some(column) = column else { return 0.0 };
    let [before, after] = [0, 1].map(|side| change.cell(side, column).and_then(number).unwrap_or(0.0));
    (after - before).abs() * change.objects as f64
}

#[expect(clippy::cast_precision_loss, reason = "numbers order rows, and are shown as they are")]
fn number(cell: &Value) -> Option<f64> {
    match *cell {
        Value::Number(number) => Some(number as f64),
        Value::Signed(number) => Some(number as f64),
        Value::Share(number) | Value::Rate(number) => Some(number).filter(|number| number.is_finite()),
        _ => None,
    }
}

fn table(ask: &Ask, columns: &[What], changes: &[Change], are_listed: bool) -> Result<Table, QueryError> {
    ask.context.require_rows_of(changes.len(), ROW_BYTES + 2 * CELL_BYTES * columns.len() as u64)?;
    let heads = columns.iter().enumerate().map(|(at, what)| {
        let cells = changes.iter().flat_map(|change| [0, 1].map(|side| change.cell(side, at))).flatten();
        what.column(cells)
    });
    let heads: Vec<Column> = heads.collect();
    let (first, others) = heads.split_at(1);
    let others = others.iter().flat_map(|column| {
        let [before, after] =
            ["before", "after"].map(|side| Column { key: format!("{}_{side}", column.key).into(), ..column.clone() });
        let heading = |side| format!("{} {side}", column.heading);
        [before.called(heading("before")).secondary(), after.called(heading("after"))]
    });
    Ok(table!("rows", changes.iter().enumerate(), |(at, change)| {
        ask.context.check()?;
        let object = |side: usize, row: &Option<Row>| row.as_ref().and_then(|row| Some(row.examples[side]?.0));
        ..are_listed.then(Column::row_number) => are_listed.then_some(at + 1),
        Column::text("change").own_words() => change.word(),
        Column::count("objects") => change.objects,
        ..first.to_vec() => [change.cell(1, 0).or_else(|| change.cell(0, 0)).cloned()],
        ..others => (1..columns.len()).flat_map(|at| [0, 1].map(|side| change.cell(side, at).cloned())),
        Column::object("object_before").for_machines() => object(0, &change.before),
        Column::object("object_after").for_machines() => object(1, &change.after),
    }))
}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    #[test]
    fn values_that_were_not_recorded_are_not_null() {
        let row =
            |cell| Row { cells: vec![1_u64.into(), cell], counts: [2, 3], examples: [None; 2], has_objects: false };
        assert!(row(Value::Absent(Absence::Unknown)).lacks_values());
        assert!(!row(Value::Absent(Absence::Null)).lacks_values());
        // Of a long text only the beginning is compared.
        assert!(row(Value::name_of(&"z".repeat(5000))).lacks_values());
        assert!(!row(Value::name_of(&"z".repeat(4000))).lacks_values());
    }

    /// By definition, one row at a time: equal ones cancel each other, and those that are left are paired if they are alone.
    #[test]
    fn rows_are_paired_as_they_are_by_definition() {
        let mut random = Random::new(3);
        for _ in 0..2000 {
            let columns = 1 + random.below(2) as usize;
            let mut sides: [Vec<Vec<u64>>; 2] = [Vec::new(), Vec::new()];
            for side in &mut sides {
                let rows = random.below(7);
                side.extend((0..rows).map(|_| (0..columns).map(|_| random.below(3)).collect::<Vec<u64>>()));
            }
            let mut rows = BTreeMap::new();
            for (side, cells) in
                sides.iter().enumerate().flat_map(|(side, rows)| rows.iter().map(move |row| (side, row)))
            {
                let cells: Vec<Value> = cells.iter().map(|&cell| cell.into()).collect();
                let row = Row { cells, counts: [0; 2], examples: [None; 2], has_objects: false };
                let row = rows.entry(format!("{:?}", row.cells)).or_insert(row);
                row.counts[side] += 1;
            }
            let [mut gone, mut new] = sides;
            let all = gone.len();
            gone.retain(|row| match new.iter().position(|other| other == row) {
                Some(at) => {
                    new.remove(at);
                    false
                }
                None => true,
            });
            let equal = all - gone.len();
            let is_alone =
                |row: &Vec<u64>, side: &Vec<Vec<u64>>| side.iter().all(|other| other[0] != row[0] || other == row);
            let of_first =
                |row: &Vec<u64>, side: &Vec<Vec<u64>>| side.iter().filter(|other| other[0] == row[0]).count();
            let mut expected = Vec::new();
            for (side, rows) in [&gone, &new].into_iter().enumerate() {
                for row in rows {
                    let counts = [&gone, &new].map(|side| of_first(row, side));
                    let both_alone = [&gone, &new].iter().all(|side| {
                        let first = side.iter().find(|other| other[0] == row[0]);
                        first.is_some_and(|first| is_alone(first, side))
                    });
                    let has_changed = both_alone && counts[0] == counts[1];
                    expected.push((["gone", "new"][side], has_changed, row.clone()));
                }
            }
            let (found, count) = changes(rows);
            let mut told = Vec::new();
            for change in &found {
                for (word, row) in [("gone", &change.before), ("new", &change.after)] {
                    let Some(row) = row else { continue };
                    let cells = row.cells.iter().map(|cell| if let Value::Number(cell) = cell { *cell } else { 9 });
                    let cells: Vec<u64> = cells.collect();
                    let one = (word, change.word() == "changed", cells);
                    told.extend(std::iter::repeat_n(one, change.objects as usize));
                }
            }
            expected.sort();
            told.sort();
            assert_eq!((count, told), (equal as u64, expected));
        }
    }
}
