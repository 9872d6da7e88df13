//! `strings`: the texts of a program.

use barrow_analyzer::{TextPattern, TextTotals};

use crate::tables::label;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    aliases: &["texts"],
    arguments: "[/REGEX/ | GLOB]",
    example: "strings /^http/",
    ..Command::new("strings", include_str!("../../verbs/strings.md"), Group::Objects, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    // The blanks of a regular expression do not separate words.
    let text = words.join(" ");
    let pattern = match &words[..] {
        [] => None,
        [_] => Some(text.as_str()),
        [first, ..] if first.starts_with('/') && text.ends_with('/') => Some(text.as_str()),
        [_, second, ..] => return Err(COMMAND.refuses(second)),
    };
    let pattern = pattern.map(TextPattern::parse).transpose().map_err(|error| QueryError::usage(error.to_string()))?;
    let snapshot = ask.snapshot()?;
    let heap = ask.heap(snapshot)?;
    let found = heap.texts(pattern.as_ref(), &ask.meter())?;
    let tables = heap.recording().tables()?;
    let table = table!("rows", &found, |one| {
        ask.context.check()?;
        Column::text("text") => label::name(tables, Some(one.text)),
        Column::text("type").names() => one.type_id.map(|type_id| tables.type_name(type_id)),
        Column::count("objects") => one.objects,
        Column::bytes("shallow_bytes") => one.heap_bytes,
        Column::bytes("unmanaged_bytes") => one.unmanaged_bytes,
    });
    let mut answer = Answer::default()
        .of_snapshot(snapshot.0)
        .fact(Column::count("texts"), found.len())
        .fact(Column::count("objects"), sum(&found, |one| one.objects))
        .fact(Column::bytes("shallow_bytes"), sum(&found, |one| one.heap_bytes))
        .fact(Column::bytes("unmanaged_bytes"), sum(&found, |one| one.unmanaged_bytes))
        .table(table)
        .exact();
    if found.is_empty() {
        let all = if pattern.is_some() { heap.texts(None, &ask.meter())?.len() } else { 0 };
        answer = answer.note(match all {
            0 => "no object of this snapshot has a text or a name that was recorded".to_owned(),
            all => format!("none of {} matches", units::counted(all as u64, "text")),
        });
    }
    Ok(more::first_page(ask, answer, ask.page_rows()))
}

fn sum(texts: &[TextTotals], of: fn(&TextTotals) -> u64) -> u64 {
    texts.iter().map(of).fold(0, u64::wrapping_add)
}
