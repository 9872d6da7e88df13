//! `strings`: the texts of a program.

use barrow_analyzer::{Tables, TextPattern, TextTotals, Texts, TypeId};

use crate::tables::label;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    aliases: &["texts"],
    arguments: "[/REGEX/ | GLOB]",
    example: "strings /^http/",
    ..Command::new("strings", include_str!("../../verbs/strings.md"), Group::Objects, run)
};

/// Types that a note names: more would hide what it says.
const SHOWN_TYPES: usize = 3;

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
    let Texts { found, unknown, shortened } = heap.texts(pattern.as_ref(), &ask.meter())?;
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
        .fact(Column::count("unknown").for_machines(), unknown.iter().map(|(_, objects)| objects).sum::<u64>())
        .fact(Column::count("shortened").for_machines(), shortened)
        .table(table)
        .exact();
    if found.is_empty() {
        let all = if pattern.is_some() { heap.texts(None, &ask.meter())?.found.len() } else { 0 };
        answer = answer.note(match all {
            0 => "no object of this snapshot has a text or a name that was recorded".to_owned(),
            all => format!("none of {} matches", units::counted(all as u64, "text")),
        });
    }
    Ok(more::first_page(ask, with_gaps(answer, tables, &unknown, shortened), ask.page_rows()))
}

/// Says of how many objects a text is unknown, or known only in part.
fn with_gaps(answer: Answer, tables: &Tables, unknown: &[(TypeId, u64)], shortened: u64) -> Answer {
    let mut by_type = unknown.to_vec();
    by_type.sort_by_key(|&(_, objects)| std::cmp::Reverse(objects));
    let named = by_type.iter().take(SHOWN_TYPES);
    let mut named: Vec<String> =
        named.map(|&(id, objects)| format!("{} of {}", units::grouped(objects), tables.type_title(id))).collect();
    if by_type.len() > SHOWN_TYPES {
        named.push(units::counted((by_type.len() - SHOWN_TYPES) as u64, "other type"));
    }
    let all = units::counted(unknown.iter().map(|(_, objects)| objects).sum(), "object");
    let answer = answer.note_if(
        !unknown.is_empty(),
        format!("the texts of {all} are unknown, since they were not recorded: {}; no row has them", named.join(", ")),
    );
    let objects = units::counted(shortened, "object");
    let text = format!("of {objects} only the beginning is known, up to the `…`: those of one row may differ after it");
    answer.note_if(shortened > 0, text)
}

fn sum(texts: &[TextTotals], of: fn(&TextTotals) -> u64) -> u64 {
    texts.iter().map(of).fold(0, u64::wrapping_add)
}
