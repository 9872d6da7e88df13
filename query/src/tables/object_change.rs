//! Births and deaths between two snapshots of a recording, object by object: `diff A B by object`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::{Between, CountBounds, ObjectSet, TypeTotals};

use crate::answer::{Answer, Column, Table, Value, table, units};
use crate::error::QueryError;
use crate::language::operand::Compared;
use crate::session::state::State;
use crate::tables::lifelines;
use crate::tables::type_counts::{self, TypeCounts, as_exact_as, bounds_cells, bounds_columns};

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
    let answer = Answer::default()
        .fact(Column::number("before").for_machines(), before.snapshot.0)
        .fact(Column::number("after").for_machines(), after.snapshot.0)
        .fact(Column::text("by").own_words().for_machines(), "object")
        .fact(Column::count("objects_without_serial").for_machines(), between.unknown)
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
    Ok(table!("rows", rows, |row| {
        let [died, born, stayed] = row;
        let type_id = row.iter().find(|totals| totals.objects > 0).unwrap_or(died).type_id;
        let of_died = counts.bounds(type_id, CountBounds::died, died.objects);
        let of_born = counts.bounds(type_id, CountBounds::born, born.objects);
        let of_stayed = counts.bounds(type_id, CountBounds::stayed, stayed.objects);
        let is_exact = [of_died, of_born, of_stayed].iter().all(|bounds| bounds.is_exact());
        Column::text("type").names() => tables.type_title(type_id),
        Column::text("kind").names() => tables.kind_name(tables.type_kind(type_id)),
        Column::count("objects_stayed").called("stayed") => as_exact_as(of_stayed, stayed.objects),
        Column::count("objects_died").called("died") => as_exact_as(of_died, died.objects),
        Column::count("objects_born").called("born") => as_exact_as(of_born, born.objects),
        Column::count("objects_change").called("Δ objects") => Value::change(died.objects, born.objects),
        Column::bytes("shallow_bytes_died").called("shallow died") => as_exact_as(of_died, died.heap_bytes),
        Column::bytes("shallow_bytes_born").called("born") => as_exact_as(of_born, born.heap_bytes),
        Column::bytes("unmanaged_bytes_died").called("unmanaged died") => as_exact_as(of_died, died.unmanaged_bytes),
        Column::bytes("unmanaged_bytes_born").called("born") => as_exact_as(of_born, born.unmanaged_bytes),
        ..bounds_columns(["objects_died_low", "objects_died_high"]) => bounds_cells(of_died),
        ..bounds_columns(["objects_born_low", "objects_born_high"]) => bounds_cells(of_born),
        ..bounds_columns(["objects_stayed_low", "objects_stayed_high"]) => bounds_cells(of_stayed),
        Column::text("exactness").own_words().for_machines() => type_counts::exactness(is_exact),
    }))
}
