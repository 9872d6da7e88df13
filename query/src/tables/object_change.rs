//! What changed between two snapshots of a recording, object by object: `diff A B by object`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::{Between, CountBounds, ObjectSet, TypeTotals};

use crate::answer::units;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::error::QueryError;
use crate::language::operand::Compared;
use crate::session::state::State;
use crate::tables::lifelines;
use crate::tables::type_counts::{self, TypeCounts, as_exact_as};

/// Objects that died and that were born, by type; the types with the largest change first.
///
/// # Errors
/// A usage error for snapshots of two files, or in the wrong order; those of the analyzer.
pub(crate) fn answer(state: &State, [before, after]: [&Compared; 2]) -> Result<Answer, QueryError> {
    lifelines::refuse_without(state)?;
    if !Arc::ptr_eq(&before.recording, &after.recording) {
        return Err(QueryError::usage(
            "objects are known again in one recording only; `import A B -o SERIES` makes one",
        ));
    }
    if before.snapshot >= after.snapshot {
        return Err(QueryError::usage("objects are followed from an earlier snapshot to a later one"));
    }
    let meter = state.meter();
    let between =
        Between::with(&before.recording, [before.snapshot, after.snapshot], state.context.series_options(), &meter)?;
    drop(meter);
    let counts = TypeCounts::of(&before.recording, [before.snapshot, after.snapshot], between.origin)?;
    let mut changes: BTreeMap<u32, [TypeTotals; 3]> = BTreeMap::new();
    for (place, set) in [&between.died, &between.born, &between.stayed].into_iter().enumerate() {
        for totals in totals(state, before, set)? {
            changes.entry(totals.type_id.0).or_default()[place] = totals;
        }
    }
    let mut rows: Vec<[TypeTotals; 3]> = changes.into_values().collect();
    let unchanged = rows.iter().filter(|row| !has_changed(row)).count() as u64;
    rows.retain(has_changed);
    rows.sort_by_key(|row| (Reverse(size(&row[1]).abs_diff(size(&row[0]))), Reverse(size(&row[1]) + size(&row[0]))));
    let note = note(&between, unchanged);
    let fact = |key, unit| Column::new(key, unit).for_machines();
    let answer = Answer::default()
        .fact(fact("before", Unit::Number), before.snapshot.0)
        .fact(fact("after", Unit::Number), after.snapshot.0)
        .fact(fact("by", Unit::Text), "object")
        .fact(fact("objects_without_serial", Unit::Count), between.unknown)
        .table(table(before, &rows, &counts)?)
        .note(note);
    Ok(lifelines::with_origin(answer, between.origin, between.confidence))
}

fn note(between: &Between, unchanged: u64) -> String {
    let sign = if between.origin.is_exact() { "" } else { "~" };
    let count = |set: &ObjectSet| format!("{sign}{}", units::grouped(set.len()));
    let died = format!("{sign}{}", units::counted(between.died.len(), "object"));
    let sums = format!("{died} died, {} were born, {} stayed", count(&between.born), count(&between.stayed));
    let unchanged = format!("{sign}{} unchanged", units::counted(unchanged, "type"));
    match between.origin.is_exact() {
        true => format!("{sums}; {unchanged}"),
        false => format!("{sums}; {unchanged}; Δ objects, born less died, is exact"),
    }
}

fn totals(state: &State, side: &Compared, set: &ObjectSet) -> Result<Vec<TypeTotals>, QueryError> {
    let heap = state.context.heap_of(Arc::clone(&side.recording), set.snapshot())?;
    Ok(heap.type_totals_of(set, &state.meter())?)
}

fn has_changed(row: &[TypeTotals; 3]) -> bool {
    row[0].objects + row[1].objects > 0
}

fn size(totals: &TypeTotals) -> u128 {
    u128::from(totals.heap_bytes) + u128::from(totals.unmanaged_bytes)
}

fn table(side: &Compared, rows: &[[TypeTotals; 3]], counts: &TypeCounts) -> Result<Table, QueryError> {
    let tables = side.recording.tables()?;
    let cells = |row: &[TypeTotals; 3]| {
        let of = row.iter().find(|totals| totals.objects > 0).unwrap_or(&row[0]).type_id;
        let [died, born, stayed] = row;
        let bounds = [
            counts.bounds(of, CountBounds::died, died.objects),
            counts.bounds(of, CountBounds::born, born.objects),
            counts.bounds(of, CountBounds::stayed, stayed.objects),
        ];
        let [of_died, of_born, of_stayed] = bounds;
        let mut cells = vec![
            Value::text(tables.type_title(of)),
            Value::text(tables.kind_name(tables.type_kind(of))),
            as_exact_as(of_stayed, stayed.objects),
            as_exact_as(of_died, died.objects),
            as_exact_as(of_born, born.objects),
            Value::change(died.objects, born.objects),
            as_exact_as(of_died, died.heap_bytes),
            as_exact_as(of_born, born.heap_bytes),
            as_exact_as(of_died, died.unmanaged_bytes),
            as_exact_as(of_born, born.unmanaged_bytes),
        ];
        cells.extend(bounds.into_iter().flat_map(type_counts::bounds_cells));
        cells.push(type_counts::exactness(bounds.iter().all(|bounds| bounds.is_exact())));
        cells
    };
    let columns = columns();
    Ok(Table { key: "rows", audience: Audience::Everyone, columns, rows: rows.iter().map(cells).collect() })
}

fn columns() -> Vec<Column> {
    let mut columns = vec![
        Column::text("type"),
        Column::text("kind"),
        Column::count("objects_stayed").called("stayed"),
        Column::count("objects_died").called("died"),
        Column::count("objects_born").called("born"),
        Column::count("objects_change").called("Δ objects"),
        Column::bytes("shallow_bytes_died").called("shallow died"),
        Column::bytes("shallow_bytes_born").called("born"),
        Column::bytes("unmanaged_bytes_died").called("unmanaged died"),
        Column::bytes("unmanaged_bytes_born").called("born"),
    ];
    let bounds = [
        ["objects_died_low", "objects_died_high"],
        ["objects_born_low", "objects_born_high"],
        ["objects_stayed_low", "objects_stayed_high"],
    ];
    columns.extend(bounds.into_iter().flat_map(type_counts::bounds_columns));
    columns.push(Column::text("exactness").for_machines());
    columns
}
