//! `leaks`: what holds an unusual part of the heap.

use barrow_analyzer::{Accumulated, Fingerprint, Heap, LEAK_THRESHOLD, Suspect};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::chain::{Chain, title, titled};
use crate::error::ReplError;
use crate::leak_series;
use crate::progress::Meter;
use crate::session::{Arguments, Session};
use crate::units;

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
              is large, not what grows: `leaks A..B` lists the paths of types that grow over these snapshots \
              (with 5 to 7 of them: those that rise each time, which is too few to be sure), by the judgement of `growth`, with the \
              part of the objects born since that is still there. What grows most by objects that do not die comes first. The fingerprint names a suspect in every run of the program, for \
              `assert 'no leaks except FINGERPRINT'`: it is made of the types that dominate the place where it piles \
              up, without numbers, addresses and sizes.",
    example: "leaks",
    flags: &["--min"],
    subject: Subject::Recording,
    completion: Completion::Nothing,
    run,
};

/// Types that are listed of what piled up.
const SHOWN_TYPES: usize = 5;

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    if arguments.words().first().is_some_and(|word| word.contains("..")) {
        return leak_series::answer(session, arguments);
    }
    if let Some(word) = arguments.words().first() {
        return Err(COMMAND.refuses(word));
    }
    let heap = session.heap(session.snapshot()?)?;
    let meter = session.meter();
    let largest = heap.largest(&meter)?;
    let whole = largest.reachable_bytes();
    let threshold = match arguments.min {
        None => LEAK_THRESHOLD,
        Some(_) => arguments.least(whole) as f64 / whole.max(1) as f64,
    };
    let suspects = heap.leak_suspects(threshold, &meter)?;
    session.listed.clear();
    let mut answer = Answer::default()
        .fact(Column::new("snapshot", "snapshot", Unit::Number), heap.snapshot().0)
        .fact(Column::new("reachable_bytes", "reachable", Unit::Bytes), whole)
        .with_exactness(largest.is_exact());
    let mut rows = Vec::new();
    for (at, suspect) in suspects.iter().enumerate() {
        session.listed.push((heap.snapshot(), suspect.object));
        let (chain, fingerprint) = (chain_of(&heap, suspect, &meter)?, heap.fingerprint(suspect, &meter)?);
        rows.push(row(&heap, suspect, fingerprint, &chain, whole)?);
        answer = answer.note(format!("\n%{}  {}", at + 1, sentence(&heap, suspect, fingerprint, &chain, whole)?));
    }
    drop(meter);
    if suspects.is_empty() {
        answer =
            answer.note(format!("nothing holds {:.0} % of the heap; `leaks --min 2%` looks closer", threshold * 100.0));
    }
    Ok(answer.table(Table { key: "suspects", audience: Audience::Machines, columns: columns(), rows }))
}

/// The path to what a suspect keeps alive: of several objects the largest stands for all.
pub(crate) fn chain_of(heap: &Heap, suspect: &Suspect, meter: &Meter) -> Result<Chain, ReplError> {
    let target = suspect.accumulation.filter(|_| suspect.objects == 1).unwrap_or(suspect.object);
    Chain::to(heap, target, meter)
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
        Column::new("fingerprint", "fingerprint", Unit::Text),
    ]
}

fn row(
    heap: &Heap,
    suspect: &Suspect,
    fingerprint: Fingerprint,
    chain: &Chain,
    whole: u64,
) -> Result<Vec<Value>, ReplError> {
    let tables = heap.recording().tables()?;
    let accumulated = suspect.accumulated.iter().map(|sum| {
        Value::Record(vec![
            ("type".to_owned(), Value::Text(tables.type_title(sum.type_id))),
            ("objects".to_owned(), sum.objects.into()),
            ("retained_bytes".to_owned(), sum.retained_bytes.into()),
        ])
    });
    Ok(vec![
        suspect.object.0.into(),
        Value::Text(tables.type_title(suspect.type_id)),
        suspect.objects.into(),
        suspect.retained_bytes.into(),
        Value::share(suspect.retained_bytes, whole),
        suspect.accumulation.map(|object| object.0).into(),
        suspect.accumulation.map(|object| title(heap, object)).transpose()?.into(),
        suspect.accumulation_bytes.into(),
        Value::List(accumulated.collect()),
        chain.value(),
        Value::Text(fingerprint.to_string()),
    ])
}

/// A suspect in words, with what piled up and the path that holds it.
pub(crate) fn sentence(
    heap: &Heap,
    suspect: &Suspect,
    fingerprint: Fingerprint,
    chain: &Chain,
    whole: u64,
) -> Result<String, ReplError> {
    let mut text = headline(heap, suspect, whole)?;
    let tables = heap.recording().tables()?;
    for sum in suspect.accumulated.iter().take(SHOWN_TYPES) {
        let Accumulated { type_id, objects, retained_bytes } = *sum;
        let (title, bytes) = (tables.type_title(type_id), units::size(retained_bytes));
        text += &format!("\n      {} of {title}: {bytes}", units::counted(objects, "object"));
    }
    if suspect.accumulated.len() > SHOWN_TYPES {
        text +=
            &format!("\n      … and {}", units::counted((suspect.accumulated.len() - SHOWN_TYPES) as u64, "more type"));
    }
    text += if suspect.objects == 1 { "\n    held by" } else { "\n    the largest is held by" };
    for line in chain.lines() {
        text += &format!("\n      {line}");
    }
    Ok(text + &format!("\n    fingerprint {fingerprint}"))
}

/// What retains how much, and where it piles up.
fn headline(heap: &Heap, suspect: &Suspect, whole: u64) -> Result<String, ReplError> {
    let share = format!("{:.1} %", suspect.retained_bytes as f64 * 100.0 / whole.max(1) as f64);
    let bytes = units::size(suspect.retained_bytes);
    if suspect.objects > 1 {
        return Ok(format!(
            "{} of {} retain {bytes}, {share} of what is reachable, right below {}",
            units::counted(suspect.objects, "object"),
            heap.recording().tables()?.type_title(suspect.type_id),
            suspect.accumulation.map_or_else(|| Ok("the roots".to_owned()), |holder| titled(heap, holder))?,
        ));
    }
    let mut text = format!("{} retains {bytes}, {share} of what is reachable", titled(heap, suspect.object)?);
    if let Some(point) = suspect.accumulation.filter(|point| *point != suspect.object) {
        let bytes = units::size(suspect.accumulation_bytes);
        text += &format!("\n    it piles up in {}, {bytes}", titled(heap, point)?);
    }
    Ok(text)
}
