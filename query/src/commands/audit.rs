//! `audit`: what is in the file.

use barrow_rewrite::{ClassRow, State};

use super::prelude::*;

/// Characters of an example that people see: 80 columns have room for it.
const SHOWN_CHARACTERS: usize = 16;

pub(super) const COMMAND: Command = Command::new("audit", include_str!("../../verbs/audit.md"), Group::File, run);

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let audit = barrow_rewrite::audit(&recording, &ask.meter())?;
    let parts = table!("parts", &audit.parts, |part| {
        Column::text("part") => part.name.as_str(),
        Column::bytes("bytes").called("in the file") => part.bytes,
        Column::text("known").own_words().for_machines() => part.is_known,
    });
    let mut answer = Answer::default()
        .table(classes(audit.classes.iter().filter(|class| class.state != State::Absent), Audience::People))
        .table(classes(audit.classes.iter(), Audience::Machines))
        .table(parts);
    let absent = audit.classes.iter().filter(|class| class.state == State::Absent).map(|class| class.title);
    let absent: Vec<&str> = absent.collect();
    answer = answer.note_if(!absent.is_empty(), format!("absent: {}", absent.join(", ")));
    let redacted: Vec<String> = audit.redacted.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    answer = answer.note(match redacted.len() {
        0 => "the recording does not say that it was redacted".to_owned(),
        _ => format!("the recording says: {}", redacted.join("; ")),
    });
    let unknown: u64 = audit.parts.iter().filter(|part| !part.is_known).map(|part| part.bytes).sum();
    let bytes = units::size(unknown);
    let note = format!("{bytes} are not known to this version or of no snapshot: `redact` leaves them out");
    Ok(answer.note_if(unknown > 0, note).exact().into())
}

fn classes<'c>(classes: impl Iterator<Item = &'c ClassRow>, audience: Audience) -> Table {
    let is_for_people = audience == Audience::People;
    let shown = if is_for_people { SHOWN_CHARACTERS } else { usize::MAX };
    let table = table!("classes", classes, |class| {
        let example = class.example.as_ref().map(|example| {
            let beginning: String = example.chars().take(shown).collect();
            Value::Name(if beginning.len() < example.len() { format!("{beginning}…") } else { beginning })
        });
        Column::text("class") => if is_for_people { class.title } else { class.key },
        Column::count("count") => class.count,
        Column::bytes("content_bytes").called("raw") => class.bytes,
        Column::text("state") => match &class.state {
            State::Absent => "absent",
            State::Recorded => "recorded",
            // A note says which names were kept.
            State::Replaced(how) if is_for_people && how != "replaced" => "in part",
            State::Replaced(how) => how,
            State::Word => "word",
        },
        Column::text("example") => example,
    });
    table.for_readers(audience)
}
