//! `audit`: what is in the file.

use barrow_rewrite::{ClassRow, FilePart, State};

use crate::answer::units;
use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;

use super::{Command, Group};

/// How much of an example people see, in characters: 80 columns have room for it.
const SHOWN_CHARACTERS: usize = 16;

pub(super) const COMMAND: Command = Command::new("audit", include_str!("../../verbs/audit.md"), Group::File, run);

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let audit = barrow_rewrite::audit(&recording, &ask.meter())?;
    let (absent, present): (Vec<&ClassRow>, Vec<&ClassRow>) =
        audit.classes.iter().partition(|class| class.state == State::Absent);
    let mut answer = Answer::default()
        .table(classes(&present, Audience::People))
        .table(classes(&audit.classes.iter().collect::<Vec<_>>(), Audience::Machines))
        .table(parts(&audit.parts));
    if !absent.is_empty() {
        let titles: Vec<&str> = absent.iter().map(|class| class.title).collect();
        answer = answer.note(format!("absent: {}", titles.join(", ")));
    }
    let redacted: Vec<String> = audit.redacted.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    answer = answer.note(match redacted.len() {
        0 => "the recording does not say that it was redacted".to_owned(),
        _ => format!("the recording says: {}", redacted.join("; ")),
    });
    let unknown: u64 = audit.parts.iter().filter(|part| !part.is_known).map(|part| part.bytes).sum();
    if unknown > 0 {
        let bytes = units::size(unknown);
        answer =
            answer.note(format!("{bytes} are not known to this version or of no snapshot: `redact` leaves them out"));
    }
    Ok(answer.exact().into())
}

fn classes(classes: &[&ClassRow], audience: Audience) -> Table {
    let columns = vec![
        Column::text("class"),
        Column::count("count"),
        Column::bytes("content_bytes").called("raw"),
        Column::text("state"),
        Column::text("example"),
    ];
    let row = |class: &&ClassRow| {
        let name = if audience == Audience::People { class.title } else { class.key };
        let state = match &class.state {
            State::Absent => "absent",
            State::Recorded => "recorded",
            // Which names were kept is said below.
            State::Replaced(how) if audience == Audience::People && how != "replaced" => "in part",
            State::Replaced(how) => how,
            State::Word => "word",
        };
        let shown = if audience == Audience::People { SHOWN_CHARACTERS } else { usize::MAX };
        let example = class.example.as_ref().map_or(Value::None, |example| {
            let beginning: String = example.chars().take(shown).collect();
            Value::Name(if beginning.len() < example.len() { format!("{beginning}…") } else { beginning })
        });
        vec![Value::text(name), class.count.into(), class.bytes.into(), Value::text(state), example]
    };
    Table { key: "classes", audience, columns, rows: classes.iter().map(row).collect() }
}

fn parts(parts: &[FilePart]) -> Table {
    let columns =
        vec![Column::text("part"), Column::bytes("bytes").called("in the file"), Column::text("known").for_machines()];
    let row = |part: &FilePart| vec![Value::text(&part.name), part.bytes.into(), Value::Flag(part.is_known)];
    Table { key: "parts", audience: Audience::Everyone, columns, rows: parts.iter().map(row).collect() }
}
