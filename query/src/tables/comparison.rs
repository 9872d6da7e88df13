//! Two snapshots side by side, as `diff` prints them.

use std::cmp::Reverse;
use std::collections::HashSet;

use barrow_analyzer::{Amounts, Diff, KindChange, TypeChange};

use crate::answer::{Answer, Audience, Column, Table, Value, record, table, units};
use crate::attributes::totals::Total;
use crate::language::operand::Compared;

/// The number that orders the rows, and of which the relative change is a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Measure {
    /// Shallow and unmanaged size together: what is not managed changes, too.
    #[default]
    BothSizes,
    /// A total of each side.
    Of(Total),
}

/// The subject of a row. Only types and kinds have totals of their own in a recording: other attributes are keys of
/// groups, which count objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Grouping {
    /// A type.
    #[default]
    Type,
    /// A kind.
    Kind,
}

/// The part of a comparison that is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Choice<'a> {
    /// The only kind that counts.
    pub(crate) kind: Option<&'a str>,
    /// The subject of a row.
    pub(crate) grouping: Grouping,
    /// The order of the rows.
    pub(crate) measure: Measure,
}

/// A type, a kind or a group on both sides.
pub(crate) struct Row<S> {
    pub(crate) subject: S,
    pub(crate) before: Amounts,
    pub(crate) after: Amounts,
}

/// The subject of a row that is a type or a kind.
struct TypeOrKind<'a> {
    title: String,
    kind: &'a str,
    layout: Option<&'a str>,
}

impl Measure {
    pub(crate) const RETAINED: Measure = Measure::Of(Total::Retained);

    /// Each with its words. The usual word for the shallow size means both sizes here.
    fn all() -> impl Iterator<Item = (&'static str, Measure)> {
        Total::words().enumerate().map(|(at, (word, total))| match at {
            0 => (word, Measure::BothSizes),
            _ => (word, Measure::Of(total)),
        })
    }

    /// The words for each.
    pub(crate) fn words() -> impl Iterator<Item = &'static str> {
        Self::all().map(|(word, _)| word)
    }

    /// The measure of this name, or of a beginning of one.
    pub(crate) fn named(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        Self::all().find(|(name, _)| !word.is_empty() && name.starts_with(&word)).map(|(_, measure)| measure)
    }

    fn name(self) -> &'static str {
        Self::all().find(|&(_, measure)| measure == self).map_or("", |(name, _)| name)
    }

    /// The measured one of these amounts. An unknown amount counts as 0.
    fn of(self, amounts: &Amounts) -> u128 {
        match self {
            Measure::BothSizes => u128::from(amounts.heap_bytes) + u128::from(amounts.unmanaged_bytes),
            Measure::Of(total) => total.of_amounts(amounts).into(),
        }
    }
}

impl Grouping {
    fn name(self) -> &'static str {
        match self {
            Grouping::Type => "type",
            Grouping::Kind => "kind",
        }
    }
}

impl<'a> From<&TypeChange<'a>> for Row<TypeOrKind<'a>> {
    fn from(change: &TypeChange<'a>) -> Self {
        let TypeChange { identity, before, after } = *change;
        let subject = TypeOrKind { title: identity.title(), kind: identity.kind, layout: identity.layout };
        Row { subject, before, after }
    }
}

impl<'a> From<&KindChange<'a>> for Row<TypeOrKind<'a>> {
    fn from(change: &KindChange<'a>) -> Self {
        let KindChange { kind, before, after } = *change;
        Row { subject: TypeOrKind { title: kind.to_owned(), kind, layout: None }, before, after }
    }
}

/// The changes, the largest first, equal ones by name.
pub(crate) fn answer(sides: [&Compared; 2], diff: &Diff<'_>, choice: Choice<'_>) -> Answer {
    let rows: Vec<Row<TypeOrKind<'_>>> = match choice.grouping {
        Grouping::Type => diff.rows.iter().map(Row::from).collect(),
        Grouping::Kind => diff.by_kind().iter().map(Row::from).collect(),
    };
    let (rows, unchanged) = changed(rows, choice.measure);
    let (columns, rows) = type_columns(rows, choice);
    let noun = choice.grouping.name();
    let of_kind = match (choice.grouping, choice.kind) {
        (Grouping::Type, Some(kind)) => format!(" of kind {kind}"),
        _ => String::new(),
    };
    let note = note(&rows, unchanged, noun, &of_kind);
    about(sides, [&diff.before, &diff.after])
        .fact(Column::text("kind").names().for_machines(), choice.kind)
        .fact(Column::text("by").own_words().for_machines(), noun)
        .fact(Column::text("order").own_words().for_machines(), choice.measure.name())
        .fact(Column::count("unchanged").for_machines(), unchanged)
        .table(totals(sides, [&diff.before, &diff.after]))
        .table(table(columns, rows, choice.measure))
        .note(note)
}

/// The changes of groups, the largest first. `keys` are the columns of their subjects, `by` the keys as they were typed.
pub(crate) fn of_groups(
    sides: [&Compared; 2],
    (by, keys): (String, impl Fn(&[Vec<Value>]) -> Vec<Column>),
    rows: Vec<Row<Vec<Value>>>,
    measure: Measure,
) -> Answer {
    let sums = [Amounts::sum(rows.iter().map(|row| &row.before)), Amounts::sum(rows.iter().map(|row| &row.after))];
    let sums = [&sums[0], &sums[1]];
    let (rows, unchanged) = changed(rows, measure);
    let note = note(&rows, unchanged, "group", "");
    let subjects: Vec<Vec<Value>> = rows.iter().map(|row| row.subject.clone()).collect();
    about(sides, sums)
        .fact(Column::text("by").own_words().for_machines(), by)
        .fact(Column::text("order").own_words().for_machines(), measure.name())
        .fact(Column::count("unchanged").for_machines(), unchanged)
        .table(totals(sides, sums))
        .table(table(keys(&subjects), rows, measure))
        .note(note)
}

/// The rows that changed, the largest change first, and the number of the others.
fn changed<S>(mut rows: Vec<Row<S>>, measure: Measure) -> (Vec<Row<S>>, usize) {
    let compared = rows.len();
    rows.retain(|row| row.before.differ(&row.after));
    rows.sort_by_key(|row| Reverse(measure.of(&row.before).abs_diff(measure.of(&row.after))));
    let unchanged = compared - rows.len();
    (rows, unchanged)
}

/// An answer about two snapshots with these totals.
fn about(sides: [&Compared; 2], [before, after]: [&Amounts; 2]) -> Answer {
    let change = |of: fn(&Amounts) -> u64| Value::change(of(before), of(after));
    let changes = record! {
        Column::count("objects") => change(|amounts| amounts.objects),
        Column::bytes("shallow_bytes") => change(|amounts| amounts.heap_bytes),
        Column::bytes("unmanaged_bytes") => change(|amounts| amounts.unmanaged_bytes),
    };
    Answer::default()
        .fact(Column::nested("before").for_machines(), side(sides[0], before))
        .fact(Column::nested("after").for_machines(), side(sides[1], after))
        .fact(Column::nested("change").for_machines(), changes)
}

/// For machines: a side with its totals.
fn side(side: &Compared, totals: &Amounts) -> Value {
    side.described([
        (Column::count("objects"), totals.objects.into()),
        (Column::bytes("shallow_bytes"), totals.heap_bytes.into()),
        (Column::bytes("unmanaged_bytes"), totals.unmanaged_bytes.into()),
    ])
}

/// For people: the totals of both sides, and their change.
fn totals(sides: [&Compared; 2], [before, after]: [&Amounts; 2]) -> Table {
    let several = sides[0].file != sides[1].file;
    let rows = [("before", Some((sides[0], before))), ("after", Some((sides[1], after))), ("change", None)];
    let table = table!("totals", rows, |(name, side)| {
        let amount = |of: fn(&Amounts) -> u64| match side {
            Some((_, amounts)) => of(amounts).into(),
            None => Value::change(of(before), of(after)),
        };
        Column::text("side").own_words().called("") => name,
        Column::text("file") => side.filter(|_| several).map(|(side, _)| side.file.as_str()),
        Column::number("snapshot") => side.map(|(side, _)| side.snapshot.0),
        Column::count("objects") => amount(|amounts| amounts.objects),
        Column::bytes("shallow_bytes") => amount(|amounts| amounts.heap_bytes),
        Column::bytes("unmanaged_bytes") => amount(|amounts| amounts.unmanaged_bytes),
    });
    table.for_readers(Audience::People)
}

/// The columns of types or kinds, and their cells. People see the kind if there are several, and the layout where it alone
/// tells two types apart.
fn type_columns(rows: Vec<Row<TypeOrKind<'_>>>, choice: Choice<'_>) -> (Vec<Column>, Vec<Row<Vec<Value>>>) {
    let shown = |column: Column, shown: bool| if shown { column } else { column.for_machines() };
    let several_kinds = rows.iter().any(|row| row.subject.kind != rows[0].subject.kind);
    let mut seen = HashSet::new();
    let look_alikes = !rows.iter().all(|row| seen.insert((&row.subject.title, row.subject.kind)));
    let columns = [
        Column::text(choice.grouping.name()).names(),
        shown(Column::text("kind").names(), several_kinds),
        shown(Column::text("layout").names(), look_alikes),
    ];
    // A kind has no kind and no layout.
    let count = if choice.grouping == Grouping::Type { 3 } else { 1 };
    let rows = rows.into_iter().map(|Row { subject: TypeOrKind { title, kind, layout }, before, after }| {
        let cells: [Value; 3] = [title.into(), kind.into(), layout.into()];
        Row { subject: cells.into_iter().take(count).collect(), before, after }
    });
    let rows = rows.collect();
    (columns.into_iter().take(count).collect(), rows)
}

/// A row for each subject.
fn table(columns: Vec<Column>, rows: Vec<Row<Vec<Value>>>, measure: Measure) -> Table {
    table!("rows", rows, |Row { subject, before, after }| {
        let retained = before.retained_bytes.zip(after.retained_bytes);
        ..columns => subject,
        Column::count("objects_before").secondary() => before.objects,
        Column::count("objects_after").called("after").secondary() => after.objects,
        Column::count("objects_change").called("Δ objects") => Value::change(before.objects, after.objects),
        Column::bytes("shallow_bytes_before").for_machines() => before.heap_bytes,
        Column::bytes("shallow_bytes_after").for_machines() => after.heap_bytes,
        Column::bytes("shallow_bytes_change").called("Δ shallow")
            => Value::change(before.heap_bytes, after.heap_bytes),
        Column::bytes("unmanaged_bytes_before").for_machines() => before.unmanaged_bytes,
        Column::bytes("unmanaged_bytes_after").for_machines() => after.unmanaged_bytes,
        Column::bytes("unmanaged_bytes_change").called("Δ unmanaged").secondary()
            => Value::change(before.unmanaged_bytes, after.unmanaged_bytes),
        Column::bytes("retained_bytes_before").for_machines() => before.retained_bytes,
        Column::bytes("retained_bytes_after").for_machines() => after.retained_bytes,
        Column::bytes("retained_bytes_change").called("Δ retained")
            => retained.map(|(before, after)| Value::change(before, after)),
        // Text, but this unit is aligned to the right.
        Column::share("relative").own_words().for_people() => relative(&before, &after, measure),
    })
}

/// `+12.3 %` of the measure; `new` or `gone` without objects on one side. Of nothing there is no share.
fn relative(before: &Amounts, after: &Amounts, measure: Measure) -> Option<String> {
    match (before.objects, after.objects) {
        (0, 1..) => return Some("new".to_owned()),
        (1.., 0) => return Some("gone".to_owned()),
        _ => {}
    }
    let (before, after) = (measure.of(before), measure.of(after));
    if before == after {
        return Some("0 %".to_owned());
    }
    let percent = (after as f64 / before as f64 - 1.0) * 100.0;
    match before {
        0 => None,
        // Rounded, it would look like nothing.
        _ if percent.abs() < 0.05 => Some("< 0.1 %".to_owned()),
        _ => Some(format!("{percent:+.1} %")),
    }
}

/// "33 types changed (3 new, 2 gone), 5,300 unchanged"
fn note<S>(rows: &[Row<S>], unchanged: usize, noun: &str, of_kind: &str) -> String {
    let count = |is: fn(&Row<S>) -> bool| rows.iter().filter(|row| is(row)).count() as u64;
    let new = count(|row| row.before.objects == 0 && row.after.objects > 0);
    let gone = count(|row| row.before.objects > 0 && row.after.objects == 0);
    format!(
        "{}{of_kind} changed ({} new, {} gone), {} unchanged",
        units::counted(rows.len() as u64, noun),
        units::grouped(new),
        units::grouped(gone),
        units::grouped(unchanged as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(objects: u64, heap_bytes: u64) -> Amounts {
        Amounts { objects, heap_bytes, ..Amounts::default() }
    }

    #[test]
    fn relative_changes_are_of_the_measure() {
        let of = |before: (u64, u64), after: (u64, u64), measure| {
            relative(&amounts(before.0, before.1), &amounts(after.0, after.1), measure).unwrap_or_default()
        };
        assert_eq!(of((2, 100), (3, 125), Measure::BothSizes), "+25.0 %");
        assert_eq!(of((2, 100), (3, 125), Measure::Of(Total::Count)), "+50.0 %");
        assert_eq!(of((2, 100), (1, 100), Measure::BothSizes), "0 %");
        assert_eq!(of((2, 10_000), (1, 9_999), Measure::BothSizes), "< 0.1 %");
        assert_eq!(of((0, 0), (1, 100), Measure::BothSizes), "new");
        assert_eq!(of((1, 0), (0, 0), Measure::BothSizes), "gone");
        assert_eq!(of((1, 0), (1, 8), Measure::BothSizes), "");
    }

    #[test]
    fn measures_are_named_by_their_beginning() {
        for (name, measure) in Measure::all() {
            assert_eq!((Measure::named(name), measure.name()), (Some(measure), name));
        }
        assert_eq!(Measure::words().collect::<Vec<_>>(), ["size", "shallow", "count", "unmanaged", "retained"]);
        assert_eq!(Measure::named("sh"), Some(Measure::Of(Total::Size)));
        assert_eq!((Measure::named(""), Measure::named("colour")), (None, None));
    }

    #[test]
    fn sizes_are_added_without_overflow() {
        let huge = Amounts { unmanaged_bytes: u64::MAX, ..amounts(1, u64::MAX) };
        assert_eq!(Measure::BothSizes.of(&huge), 2 * u128::from(u64::MAX));
    }
}
