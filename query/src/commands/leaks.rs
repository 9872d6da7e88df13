//! `leaks`: what holds an unusual part of the heap.

use crate::answer::{Answer, Audience, Column, Value, record, table};
use crate::tables::chain::{title, type_title};
use crate::tables::leak_series;
use crate::tables::suspect_lines::{chain_of, described};
use crate::tables::suspects::{suspects, threshold};

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    aliases: &["suspects"],
    arguments: "[A..B]",
    flags: &["--min"],
    ..Command::new("leaks", include_str!("../../verbs/leaks.md"), Group::Alive, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    match ask.arguments.words().first() {
        Some(word) if word.contains("..") => return leak_series::answer(ask, &ask.arguments),
        Some(word) => return Err(COMMAND.refuses(word)),
        None => {}
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
    let tables = heap.recording().tables()?;
    let table = table!("suspects", suspects.iter().enumerate(), |(at, suspected)| {
        let suspect = &suspected.suspect;
        let chain = chain_of(&heap, suspect, &meter)?;
        let mut lines = described(&heap, suspected, &chain, whole)?;
        lines[0].insert_str(0, &format!("%{}  ", at + 1));
        answer = answer.note("").lines(lines);
        let accumulated = suspect.accumulated.iter().map(|sum| {
            record! {
                Column::text("type").names() => tables.type_title(sum.type_id),
                Column::count("objects") => sum.objects,
                Column::bytes("retained_bytes") => sum.retained_bytes,
                Column::text("is_chain").own_words() => sum.is_chain,
                Column::text("content_type").names() => sum.content.map(|content| tables.type_title(content.type_id)),
                Column::count("content_objects") => sum.content.map(|content| content.objects),
                Column::bytes("content_bytes") => sum.content.map(|content| content.retained_bytes),
            }
        });
        let accumulation = suspect.accumulation;
        Column::object("object") => suspect.object.0,
        Column::text("type").names() => tables.type_title(suspect.type_id),
        Column::count("objects") => suspect.objects,
        Column::bytes("retained_bytes") => suspect.retained_bytes,
        Column::share("share") => Value::share(suspect.retained_bytes, whole),
        Column::object("accumulation_object").called("piles up in") => accumulation.map(|object| object.0),
        Column::text("accumulation_type").names().called("of type") => {
            accumulation.map(|object| type_title(&heap, object)).transpose()?
        },
        Column::bytes("accumulation_bytes").called("which holds") => suspect.accumulation_bytes,
        Column::nested("accumulated") => Value::List(accumulated.collect()),
        Column::nested("path") => chain.value(),
        Column::text("fingerprint").own_words() => suspected.fingerprint.to_string(),
        Column::text("title").names() => title(&heap, suspect.object)?,
        Column::text("accumulation_title").names().called("piles up in") => {
            accumulation.map(|object| title(&heap, object)).transpose()?
        },
        Column::count("alike") => suspected.alike,
        Column::bytes("together_bytes") => suspected.retained_bytes,
        Column::bytes("ranking_bytes").called("ranks by") => suspect.ranking_bytes,
    });
    drop(meter);
    if suspects.is_empty() {
        let share = threshold(ask.arguments.flags.min, whole) * 100.0;
        answer = answer.note(format!("nothing holds {share:.0} % of the heap; `leaks --min 2%` looks closer"));
    }
    let snapshots = heap.recording().snapshot_count();
    if snapshots > 1 {
        answer = answer.note(format!("there are {snapshots} snapshots; `growth` shows what grows over them"));
    }
    let objects = suspects.iter().map(|suspected| suspected.suspect.object);
    let reply = Reply::from(answer.table(table.for_readers(Audience::Machines)));
    Ok(reply.listing_objects(heap.snapshot(), objects))
}
