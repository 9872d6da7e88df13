//! `leaks`: what holds an unusual part of the heap.

use barrow_analyzer::Heap;

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::chain::{Chain, title, type_title};
use crate::tables::leak_series;
use crate::tables::suspect_lines::{chain_of, described};
use crate::tables::suspects::{Suspected, suspects, threshold};

use super::{Command, Group};

pub(super) const COMMAND: Command = Command {
    aliases: &["suspects"],
    arguments: "[A..B]",
    flags: &["--min"],
    ..Command::new("leaks", include_str!("../../verbs/leaks.md"), Group::Alive, run)
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
        .of_snapshot(heap.snapshot().0)
        .fact(Column::bytes("reachable_bytes"), whole)
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
        Column::object("object"),
        Column::text("type"),
        Column::count("objects"),
        Column::bytes("retained_bytes"),
        Column::share("share"),
        Column::object("accumulation_object").called("piles up in"),
        Column::text("accumulation_type").called("of type"),
        Column::bytes("accumulation_bytes").called("which holds"),
        Column::nested("accumulated"),
        Column::nested("path"),
        Column::text("fingerprint"),
        Column::text("title"),
        Column::text("accumulation_title").called("piles up in"),
        Column::count("alike"),
        Column::bytes("together_bytes"),
        Column::bytes("ranking_bytes").called("ranks by"),
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
