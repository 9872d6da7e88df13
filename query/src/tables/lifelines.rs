//! When objects were born and died, as `born`, `died`, `survived`, `age` and `survival` tell it.

use barrow_analyzer::{Between, CountBounds, ObjectSet, SerialOrigin, SnapshotId};

use crate::answer::{Answer, Column, Table, Value, units};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::attributes::totals::Total;
use crate::error::QueryError;
use crate::language::selection;
use crate::session::state::State;
use crate::tables::ranking;
use crate::tables::type_counts::{self, Rule, TypeCounts};

/// Says what an answer rests on: serials of the runtime, or matches.
pub(crate) fn with_origin(answer: Answer, origin: SerialOrigin, confidence: Option<f64>) -> Answer {
    let (name, known_again) = match origin {
        SerialOrigin::Runtime => ("runtime", None),
        SerialOrigin::Repacked => ("matched when repacked", Some("by matching snapshots when they were repacked")),
        SerialOrigin::Matched => ("matched", Some("by matching snapshots")),
    };
    let answer = answer
        .fact(Column::text("serials").own_words().for_machines(), name)
        .fact(Column::share("matching_confidence").for_machines(), confidence.map(Value::Share));
    match known_again {
        None => answer.exact(),
        Some(how) => {
            let sure = confidence.map_or_else(String::new, |sure| {
                format!("; {:.1} % of the references of matched objects agree", 100.0 * sure)
            });
            let mut answer = answer.note(format!("~ is an estimate: objects are known again {how}{sure}"));
            answer.exactness = Some("estimate");
            answer
        }
    }
}

/// Lifelines are those of all objects.
///
/// # Errors
/// A usage error if something is excluded.
pub(crate) fn refuse_without(state: &State) -> Result<(), QueryError> {
    match state.away.is_empty() {
        true => Ok(()),
        false => Err(QueryError::usage("lifelines are those of all objects; `without clear` first")),
    }
}

/// Reads `A..B` and compares the two snapshots, object by object.
///
/// # Errors
/// A usage error for other words, or if A is not before B; those of the analyzer.
pub(crate) fn between(
    state: &State,
    arguments: &Arguments,
    verb: &str,
) -> Result<(SnapshotId, SnapshotId, Between), QueryError> {
    refuse_without(state)?;
    let usage = || QueryError::usage(format!("`{verb}` takes two snapshots of the recording, like `{verb} 0..last`"));
    let words = arguments.words();
    let [word] = &words[..] else { return Err(usage()) };
    if !word.contains("..") {
        return Err(usage());
    }
    let snapshots = selection::several(&words, &state.snapshots()?)?;
    let [earlier, .., later] = snapshots[..] else { return Err(usage()) };
    let between =
        Between::with(&*state.recording()?, [earlier, later], state.context.series_options(), &state.meter())?;
    Ok((earlier, later, between))
}

/// The types of a set of objects, the largest first. `rule` says between which numbers
/// the objects of a type are, by `counts`.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn by_type(ask: &Ask, set: &ObjectSet, counts: &TypeCounts, rule: Rule) -> Result<Answer, QueryError> {
    let heap = ask.heap(set.snapshot())?;
    let meter = ask.meter();
    let totals = heap.type_totals_of(set, &meter)?;
    let types = ranking::ranked(&totals, Total::Size);
    let mut answer = ranking::answer(&heap, &types, Total::Size, &meter)?;
    let bounds: Vec<CountBounds> =
        types.iter().map(|of| counts.bounds(of.type_id(), rule, of.totals().objects)).collect();
    if bounds.iter().any(|bounds| !bounds.is_exact()) {
        answer.notes = vec![ranking::estimated_note(&types, heap.recording().has_unmanaged_sizes()?)];
    }
    answer.tables.iter_mut().for_each(|table| mark(table, &bounds));
    let listed = |of| types.iter().any(|row| row.type_id() == of);
    let others = counts.possible_others(rule, listed);
    if others > 0 {
        let types = units::counted(others, "other type");
        answer = answer.note(format!("{types} may have such objects, too: matching found none, counts allow some"));
    }
    let answer = answer.fact(Column::count("other_types_possible").for_machines(), others);
    Ok(answer)
}

/// Marks the counts and sizes of rows as estimates where these bounds leave more than one number, and shows the bounds.
fn mark(table: &mut Table, bounds: &[CountBounds]) {
    let objects = table.columns.iter().position(|column| column.key == "objects").map_or(0, |place| place + 1);
    for (cells, &bounds) in table.rows.iter_mut().zip(bounds) {
        for (cell, column) in cells.iter_mut().zip(&table.columns) {
            if matches!(&*column.key, "objects" | "shallow_bytes" | "unmanaged_bytes" | "share") {
                let value = std::mem::replace(cell, Value::None);
                *cell = type_counts::as_exact_as(bounds, value);
            }
        }
        let [low, high] = type_counts::bounds_cells(bounds);
        let exactness = type_counts::exactness(bounds.is_exact());
        cells.splice(objects..objects, [type_counts::range(bounds), low, high, exactness]);
    }
    let [low, high] = type_counts::bounds_columns(["objects_low", "objects_high"]);
    let range = Column::text("range").own_words().called("between").for_people();
    let exactness = Column::text("exactness").own_words().for_machines();
    table.columns.splice(objects..objects, [range, low, high, exactness]);
}
