//! `audit`: what is in the file.

use barrow_rewrite::{ClassRow, FilePart, State};

use crate::answer::units;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

/// How much of an example people see, in characters: 80 columns have room for it.
const SHOWN_CHARACTERS: usize = 16;

pub(super) const COMMAND: Command = Command {
    name: "audit",
    aliases: &[],
    group: Group::File,
    arguments: "",
    about: "What texts, names, numbers and other bytes are in the file",
    details: "Each string of the file counts in every class that uses it, and each byte of the file in one part. \
              `state` is `recorded`, or `replaced` if the recording says that `redact` did so, `in part` if some names \
              were kept. It is `word` for what `redact` keeps: words of barrow and of runtimes, versions and counters. \
              Classes that are absent are listed below the table. An example is the first string of at least four \
              characters. `raw` are bytes of strings and values before compression; those of parts are bytes of the \
              file.",
    example: "audit",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

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
        Column::new("class", "class", Unit::Text),
        Column::new("count", "count", Unit::Count),
        Column::new("content_bytes", "raw", Unit::Bytes),
        Column::new("state", "state", Unit::Text),
        Column::new("example", "example", Unit::Text),
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
    let columns = vec![
        Column::new("part", "part", Unit::Text),
        Column::new("bytes", "in the file", Unit::Bytes),
        Column::new("known", "known", Unit::Text).for_machines(),
    ];
    let row = |part: &FilePart| vec![Value::text(&part.name), part.bytes.into(), Value::Flag(part.is_known)];
    Table { key: "parts", audience: Audience::Everyone, columns, rows: parts.iter().map(row).collect() }
}
