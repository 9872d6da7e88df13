//! Why an assertion does not hold: figures, objects, and a path to one of them.

use barrow_analyzer::{Heap, Judgement, ObjectId, ObjectSet};

use super::figure::Figure;
use crate::answer::Value;
use crate::answer::units;
use crate::error::QueryError;
use crate::progress::Meter;
use crate::tables::chain::{Chain, title, titled, type_title};
use crate::tables::series;
use crate::tables::suspect_lines;
use crate::tables::suspects::Suspected;

/// Suspects that a witness tells of: the largest.
const MOST_SUSPECTS: usize = 20;

/// The largest objects of a set that are shown.
const SHOWN_OBJECTS: usize = 3;

/// What is shown to people, and what machines get.
pub(super) struct Witness {
    pub(super) lines: Vec<String>,
    pub(super) fields: Vec<(String, Value)>,
}

/// The largest objects of a set, and a path to the largest.
pub(super) fn of_set(heap: &Heap, set: &ObjectSet, meter: &Meter) -> Result<Witness, QueryError> {
    let dominators = heap.dominators(meter)?;
    let largest = dominators.largest(SHOWN_OBJECTS, |object| set.contains(object));
    let mut lines = Vec::new();
    let mut objects = Vec::new();
    for &object in &largest {
        let retained = dominators.retained_bytes(object);
        lines.push(format!("{} retains {}", titled(heap, object)?, units::size(retained)));
        objects.push(Value::Record(vec![
            ("object".to_owned(), object.0.into()),
            ("type".to_owned(), Value::Text(type_title(heap, object)?)),
            ("title".to_owned(), Value::Text(title(heap, object)?)),
            ("retained_bytes".to_owned(), retained.into()),
        ]));
    }
    let count = set.len();
    if count > largest.len() as u64 && !largest.is_empty() {
        lines.push(format!("… of {}, the largest first", units::counted(count, "object")));
    }
    let mut fields = vec![("largest".to_owned(), Value::List(objects))];
    match largest.first() {
        Some(&object) => add_path(heap, object, meter, &mut lines, &mut fields)?,
        None if count > 0 => lines.push(format!("no root reaches {}", units::counted(count, "such object"))),
        None => lines.push("there is no such object".to_owned()),
    }
    Ok(Witness { lines, fields })
}

fn add_path(
    heap: &Heap,
    object: ObjectId,
    meter: &Meter,
    lines: &mut Vec<String>,
    fields: &mut Vec<(String, Value)>,
) -> Result<(), QueryError> {
    let chain = Chain::to(heap, object, meter)?;
    lines.push(format!("@{object} is held by"));
    lines.extend(chain.lines().into_iter().map(|line| format!("  {line}")));
    fields.push(("path".to_owned(), chain.value()));
    Ok(())
}

/// The series with its slope, and a witness of the last snapshot.
pub(super) fn of_growth(
    heap: &Heap,
    set: &ObjectSet,
    points_of: &[(f64, f64)],
    growth: &Judgement,
    unit: Figure,
    meter: &Meter,
) -> Result<Witness, QueryError> {
    let amount = unit.per_snapshot();
    let points = points_of.iter().map(|(snapshot, found)| format!("{snapshot}: {}", amount.text(*found)));
    let mut lines = vec![format!("by snapshot: {}", points.collect::<Vec<_>>().join(", "))];
    let trend = &growth.trend;
    let (low, high) = trend.interval.unwrap_or((trend.slope, trend.slope));
    lines.push(format!(
        "it {}: slope {}, with 95 % confidence between {} and {}",
        series::words(growth.verdict),
        unit.text(trend.slope),
        unit.text(low),
        unit.text(high)
    ));
    let of_last = of_set(heap, set, meter)?;
    lines.push(format!("in snapshot {}:", heap.snapshot()));
    lines.extend(of_last.lines.into_iter().map(|line| format!("  {line}")));
    let point = |(snapshot, found): &(f64, f64)| {
        let fields = [("snapshot", *snapshot), ("found", *found)];
        Value::Record(fields.map(|(key, number)| (key.to_owned(), Value::Number(number as u64))).to_vec())
    };
    let mut fields = vec![
        ("series".to_owned(), Value::List(points_of.iter().map(point).collect())),
        ("slope".to_owned(), Value::Rate(trend.slope)),
        ("slope_low".to_owned(), Value::Rate(low)),
        ("slope_high".to_owned(), Value::Rate(high)),
    ];
    fields.extend(of_last.fields);
    Ok(Witness { lines, fields })
}

/// Every suspect as `leaks` describes it, with the reason why it is not excused where an exception names it.
pub(super) fn of_suspects(
    heap: &Heap,
    suspects: &[(Suspected, Option<String>)],
    meter: &Meter,
) -> Result<Witness, QueryError> {
    let whole = heap.dominators(meter)?.reachable_bytes();
    let mut lines = Vec::new();
    let mut found = Vec::new();
    for (suspected, reason) in suspects.iter().take(MOST_SUSPECTS) {
        let suspect = &suspected.suspect;
        let chain = suspect_lines::chain_of(heap, suspect, meter)?;
        let described = suspect_lines::described(heap, suspected, &chain, whole)?;
        lines.extend(described.iter().map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned()));
        lines.extend(reason.iter().map(|reason| format!("  {reason}")));
        found.push(Value::Record(vec![
            ("fingerprint".to_owned(), Value::Text(suspected.fingerprint.to_string())),
            ("object".to_owned(), suspect.object.0.into()),
            ("type".to_owned(), Value::Text(type_title(heap, suspect.object)?)),
            ("title".to_owned(), Value::Text(title(heap, suspect.object)?)),
            ("objects".to_owned(), suspect.objects.into()),
            ("retained_bytes".to_owned(), suspect.retained_bytes.into()),
            ("alike".to_owned(), suspected.alike.into()),
            ("together_bytes".to_owned(), suspected.retained_bytes.into()),
            ("not_excused_because".to_owned(), reason.clone().into()),
            ("path".to_owned(), chain.value()),
        ]));
    }
    if let Some(more) = suspects.len().checked_sub(MOST_SUSPECTS).filter(|&more| more > 0) {
        lines.push(format!("and {more} more"));
    }
    Ok(Witness { lines, fields: vec![("suspects".to_owned(), Value::List(found))] })
}
