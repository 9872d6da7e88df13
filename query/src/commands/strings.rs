//! `strings`: the texts of a program.

use barrow_analyzer::{TextPattern, TextTotals};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "strings",
    aliases: &["texts"],
    group: Group::Objects,
    arguments: "[/REGEX/ | GLOB]",
    about: "The texts of the program, with the objects that have each",
    details: "A row for each text or name of objects in the snapshot, as far as the recording holds them: which \
              objects have it and their total size, the largest first. `/REGEX/` matches anywhere; a pattern with `*` \
              and `?` matches whole texts. Names of types and frames are left out. `find name = \"…\"` lists the \
              objects of one text; `dups` shows what equal texts waste.",
    example: "strings /^http/",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
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
    let rows = found.iter().map(|one| {
        vec![
            Value::name(tables, Some(one.text)),
            one.type_id.map(|type_id| tables.type_name(type_id)).into(),
            one.objects.into(),
            one.heap_bytes.into(),
            one.unmanaged_bytes.into(),
        ]
    });
    let table =
        Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows: ask.context.collect(rows)? };
    let sum = |of: fn(&TextTotals) -> u64| found.iter().map(of).fold(0, u64::wrapping_add);
    let mut answer = Answer::default()
        .of_snapshot(snapshot)
        .fact(Column::new("texts", "texts", Unit::Count), found.len())
        .fact(Column::new("objects", "objects", Unit::Count), sum(|one| one.objects))
        .fact(Column::new("shallow_bytes", "shallow", Unit::Bytes), sum(|one| one.heap_bytes))
        .fact(Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes), sum(|one| one.unmanaged_bytes))
        .table(table)
        .exact();
    if found.is_empty() {
        let all = if pattern.is_some() { heap.texts(None, &ask.meter())?.len() } else { 0 };
        answer = answer.note(match all {
            0 => "no object of this snapshot has a text or a name that was recorded".to_owned(),
            all => format!("none of {} matches", crate::answer::units::counted(all as u64, "text")),
        });
    }
    Ok(more::first_page(ask, answer, ask.page_rows()))
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("text", "text", Unit::Text),
        Column::new("type", "type", Unit::Text),
        Column::new("objects", "objects", Unit::Count),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
        Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes),
    ]
}
