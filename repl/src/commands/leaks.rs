//! `leaks`: what holds an unusual part of the heap.

use barrow_analyzer::{Accumulated, Heap, LEAK_THRESHOLD, ObjectId, Suspect, TypeId};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::error::ReplError;
use crate::session::{Arguments, Session};
use crate::units;
use crate::{label, leak_series};

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "leaks",
    aliases: &["suspects"],
    group: Group::Alive,
    arguments: "[A..B]",
    about: "Leak suspects: who holds much, where it piles up, and who holds them",
    details: "A suspect is an object that alone keeps at least 10 % of the reachable bytes alive, or objects of one \
              type that do so together below one place of the dominator tree; `--min 5%` or `--min 64M` changes \
              that. It piles up in the last object on the way down that holds most of it. One snapshot shows what \
              is large, not what grows: `leaks A..B` lists the paths of types that grow for sure over these snapshots, \
              as `growth` does, with the part of the objects born since that is still there. What grows most by objects that \
              do not die comes first.",
    example: "leaks",
    flags: &["--min"],
    subject: Subject::Recording,
    completion: Completion::Nothing,
    run,
};

/// Types that are listed of what piled up.
const SHOWN_TYPES: usize = 5;
/// Steps of a path that are shown at its end.
const SHOWN_STEPS: usize = 12;

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    if arguments.words().first().is_some_and(|word| word.contains("..")) {
        return leak_series::answer(session, arguments);
    }
    if let Some(word) = arguments.words().first() {
        return Err(COMMAND.refuses(word));
    }
    let heap = session.heap(session.snapshot()?)?;
    let meter = session.meter();
    let dominators = heap.dominators(&meter)?;
    let whole = dominators.reachable_bytes();
    let threshold = match arguments.min {
        None => LEAK_THRESHOLD,
        Some(_) => arguments.least(whole) as f64 / whole.max(1) as f64,
    };
    let suspects = heap.leak_suspects(threshold, &meter)?;
    heap.distances(&meter)?;
    session.listed.clear();
    let mut answer = Answer::default()
        .fact(Column::new("snapshot", "snapshot", Unit::Number), heap.snapshot().0)
        .fact(Column::new("reachable_bytes", "reachable", Unit::Bytes), whole)
        .with_exactness(dominators.is_exact());
    let mut rows = Vec::new();
    for (at, suspect) in suspects.iter().enumerate() {
        session.listed.push((heap.snapshot(), suspect.object));
        let path = steps(&heap, suspect, &meter)?;
        rows.push(row(&heap, suspect, &path, whole)?);
        answer = answer.note(sentence(&heap, at + 1, suspect, &path, whole)?);
    }
    drop(meter);
    if suspects.is_empty() {
        answer =
            answer.note(format!("nothing holds {:.0} % of the heap; `leaks --min 2%` looks closer", threshold * 100.0));
    }
    Ok(answer.table(Table { key: "suspects", audience: Audience::Machines, columns: columns(), rows }))
}

/// The path to a suspect: for each step an arrow and an object.
fn steps(heap: &Heap, suspect: &Suspect, meter: &crate::progress::Meter) -> Result<Vec<(String, ObjectId)>, ReplError> {
    let tables = heap.recording().tables()?;
    // Of several objects the largest stands for all.
    let target = suspect.accumulation.filter(|_| suspect.objects == 1).unwrap_or(suspect.object);
    let paths = heap.paths(target, &barrow_analyzer::PathOptions::default(), meter)?;
    let Some(path) = paths.first() else { return Ok(Vec::new()) };
    let root = format!("--[ {} ]-->", tables.string(path.root.category));
    let arrow = |(at, step): (usize, &barrow_analyzer::Step)| {
        let arrow = if at == 0 { root.clone() } else { label::arrow(tables, step.reference) };
        (arrow, step.object)
    };
    Ok(path.steps.iter().enumerate().map(arrow).collect())
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("object", "object", Unit::Object),
        Column::new("type", "type", Unit::Text),
        Column::new("objects", "objects", Unit::Count),
        Column::new("retained_bytes", "retained", Unit::Bytes),
        Column::new("share", "share", Unit::Share),
        Column::new("accumulation_object", "piles up in", Unit::Object),
        Column::new("accumulation_type", "of type", Unit::Text),
        Column::new("accumulation_bytes", "which holds", Unit::Bytes),
        Column::new("accumulated", "accumulated", Unit::Nested),
        Column::new("path", "path", Unit::Nested),
    ]
}

fn row(heap: &Heap, suspect: &Suspect, path: &[(String, ObjectId)], whole: u64) -> Result<Vec<Value>, ReplError> {
    let tables = heap.recording().tables()?;
    let types = heap.types(&barrow_analyzer::Silent)?;
    let title = |object: ObjectId| tables.type_title(TypeId(types[object.index()]));
    let accumulated = suspect.accumulated.iter().map(|sum| {
        Value::Record(vec![
            ("type".to_owned(), Value::Text(tables.type_title(sum.type_id))),
            ("objects".to_owned(), sum.objects.into()),
            ("retained_bytes".to_owned(), sum.retained_bytes.into()),
        ])
    });
    let path = path.iter().map(|(_, object)| {
        Value::Record(vec![("object".to_owned(), object.0.into()), ("type".to_owned(), Value::Text(title(*object)))])
    });
    Ok(vec![
        suspect.object.0.into(),
        Value::Text(tables.type_title(suspect.type_id)),
        suspect.objects.into(),
        suspect.retained_bytes.into(),
        Value::share(suspect.retained_bytes, whole),
        suspect.accumulation.map(|object| object.0).into(),
        suspect.accumulation.map(title).into(),
        suspect.accumulation_bytes.into(),
        Value::List(accumulated.collect()),
        Value::List(path.collect()),
    ])
}

/// A suspect in words, with what piled up and the path that holds it.
fn sentence(
    heap: &Heap,
    number: usize,
    suspect: &Suspect,
    path: &[(String, ObjectId)],
    whole: u64,
) -> Result<String, ReplError> {
    let tables = heap.recording().tables()?;
    let types = heap.types(&barrow_analyzer::Silent)?;
    let titled = |object: ObjectId| format!("{} @{object}", tables.type_title(TypeId(types[object.index()])));
    let share = format!("{:.1} %", suspect.retained_bytes as f64 * 100.0 / whole.max(1) as f64);
    let bytes = units::size(suspect.retained_bytes);
    let mut text = match (suspect.objects, suspect.accumulation) {
        (1, accumulation) => {
            let mut text =
                format!("\n%{number}  {} retains {bytes}, {share} of what is reachable", titled(suspect.object));
            if let Some(point) = accumulation.filter(|point| *point != suspect.object) {
                text += &format!("\n    it piles up in {}, {}", titled(point), units::size(suspect.accumulation_bytes));
            }
            text
        }
        (count, holder) => format!(
            "\n%{number}  {} of {} retain {bytes}, {share} of what is reachable, right below {}",
            units::counted(count, "object"),
            tables.type_title(suspect.type_id),
            holder.map_or("the roots".to_owned(), titled),
        ),
    };
    for sum in suspect.accumulated.iter().take(SHOWN_TYPES) {
        let Accumulated { type_id, objects, retained_bytes } = *sum;
        let (title, bytes) = (tables.type_title(type_id), units::size(retained_bytes));
        text += &format!("\n      {} of {title}: {bytes}", units::counted(objects, "object"));
    }
    if suspect.accumulated.len() > SHOWN_TYPES {
        text +=
            &format!("\n      … and {}", units::counted((suspect.accumulated.len() - SHOWN_TYPES) as u64, "more type"));
    }
    let skipped = path.len().saturating_sub(SHOWN_STEPS);
    text += if suspect.objects == 1 { "\n    held by" } else { "\n    the largest is held by" };
    if skipped > 0 {
        text += &format!("\n      … {} …", units::counted(skipped as u64, "step"));
    }
    for (arrow, object) in &path[skipped..] {
        text += &format!("\n      {arrow} {}", titled(*object));
    }
    Ok(text)
}
