//! `leaks`: what holds an unusual part of the heap.

use barrow_analyzer::Heap;

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::chain::{Chain, title, type_title};
use crate::tables::leak_series;
use crate::tables::suspect_lines::{chain_of, described};
use crate::tables::suspects::{Suspected, suspects, threshold};
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "leaks",
    aliases: &["suspects"],
    group: Group::Alive,
    arguments: "[A..B]",
    about: "Leak suspects: what accumulates, where, and what holds it",
    details: "A suspect is an object that accumulates at least 10 % of the reachable bytes: what it retains, without \
              its children in the dominator tree that retain 10 % themselves. Objects of one type are a suspect too, \
              if they retain as much together and no single object holds them. `--min 5%` or `--min 64M` changes the \
              threshold. A list or tree of objects of one type accumulates in its head. Suspects made of many similar \
              parts come first: the parts of each type count N / (N + 32) of their bytes, where N is the effective \
              number of parts, (Σ bytes)² / Σ bytes². Classes, code and frames do not count, because their number \
              does not depend on the load. Memory that no single object holds counts a quarter. Suspects with one \
              fingerprint are one, with a count. One snapshot shows what is large, not what grows. `leaks A..B` lists \
              the paths of types that grow over these snapshots by the judgement of `growth` (with 5 to 7 of them: \
              those that rise each time, which is too few to be sure), with the share of the objects born since that \
              still exist. Paths that grow most by objects that do not die come first. The fingerprint identifies a \
              suspect in every run of the program, for `assert 'no leaks except FINGERPRINT'`. It is made of the \
              types, and the names of classes, that dominate the accumulation point, without numbers, addresses and \
              sizes.",
    example: "leaks",
    flags: &["--min"],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    if ask.arguments.words().first().is_some_and(|word| word.contains("..")) {
        return leak_series::answer(ask, &ask.arguments).map(Reply::from);
    }
    if let Some(word) = ask.arguments.words().first() {
        return Err(COMMAND.refuses(word));
    }
    let heap = ask.heap(ask.snapshot()?)?;
    let meter = ask.meter();
    let largest = heap.largest(&meter)?;
    let whole = largest.reachable_bytes();
    let suspects = suspects(&heap, ask.arguments.flags.min, &meter)?;
    let mut answer = Answer::default()
        .of_snapshot(heap.snapshot())
        .fact(Column::new("reachable_bytes", "reachable", Unit::Bytes), whole)
        .with_exactness(largest.is_exact());
    let mut rows = Vec::new();
    for (at, suspected) in suspects.iter().enumerate() {
        let chain = chain_of(&heap, &suspected.suspect, &meter)?;
        rows.push(row(&heap, suspected, &chain, whole)?);
        let mut lines = described(&heap, suspected, &chain, whole)?;
        lines[0].insert_str(0, &format!("%{}  ", at + 1));
        answer = answer.note("").lines(lines);
    }
    drop(meter);
    if suspects.is_empty() {
        let share = threshold(ask.arguments.flags.min, whole) * 100.0;
        answer = answer.note(format!("nothing holds {share:.0} % of the heap; `leaks --min 2%` looks closer"));
    }
    let answer = answer.table(Table { key: "suspects", audience: Audience::Machines, columns: columns(), rows });
    let objects = suspects.iter().map(|suspected| suspected.suspect.object);
    Ok(Reply::from(answer).listing_objects(heap.snapshot(), objects))
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
        Column::new("title", "title", Unit::Text),
        Column::new("accumulation_title", "piles up in", Unit::Text),
        Column::new("alike", "alike", Unit::Count),
        Column::new("together_bytes", "together", Unit::Bytes),
        Column::new("ranking_bytes", "ranks by", Unit::Bytes),
    ]
}

fn row(heap: &Heap, suspected: &Suspected, chain: &Chain, whole: u64) -> Result<Vec<Value>, QueryError> {
    let suspect = &suspected.suspect;
    let tables = heap.recording().tables()?;
    let accumulated = suspect.accumulated.iter().map(|sum| {
        Value::Record(vec![
            ("type".to_owned(), Value::Text(tables.type_title(sum.type_id))),
            ("objects".to_owned(), sum.objects.into()),
            ("retained_bytes".to_owned(), sum.retained_bytes.into()),
            ("is_chain".to_owned(), Value::Flag(sum.is_chain)),
        ])
    });
    Ok(vec![
        suspect.object.0.into(),
        Value::Text(tables.type_title(suspect.type_id)),
        suspect.objects.into(),
        suspect.retained_bytes.into(),
        Value::share(suspect.retained_bytes, whole),
        suspect.accumulation.map(|object| object.0).into(),
        suspect.accumulation.map(|object| type_title(heap, object)).transpose()?.into(),
        suspect.accumulation_bytes.into(),
        Value::List(accumulated.collect()),
        chain.value(),
        Value::Text(suspected.fingerprint.to_string()),
        Value::Text(title(heap, suspect.object)?),
        suspect.accumulation.map(|object| title(heap, object)).transpose()?.into(),
        suspected.alike.into(),
        suspected.retained_bytes.into(),
        suspect.ranking_bytes.into(),
    ])
}
