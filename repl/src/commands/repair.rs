//! `repair`: a clean recording of what is whole.

use crate::answer::{Answer, Column, Unit, Value};
use crate::destination::Destination;
use crate::error::ReplError;
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "repair",
    aliases: &[],
    group: Group::File,
    arguments: "-o DST [--force]",
    about: "Writes a clean recording of every whole snapshot",
    details: "The recording itself is left as it is. An existing DST is replaced only with `--force`.",
    example: "repair -o whole.barrow",
    flags: &["-o", "--force"],
    subject: Subject::Recording,
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    if let Some(word) = arguments.words().first() {
        return Err(COMMAND.refuses(word));
    }
    let recording = session.recording()?;
    let destination = Destination::new(arguments.output.as_deref(), arguments.force, recording.path().as_slice())?;
    // The analyzer itself sees to it that it appears whole or not at all.
    let repaired = barrow_analyzer::repair(&recording, destination.path(), &session.meter())?;
    let dropped = repaired.dropped.iter().map(Value::text).collect();
    let answer = Answer::default()
        .fact(Column::new("written", "written", Unit::Text), destination.shown())
        .fact(Column::new("snapshots", "snapshots", Unit::Count), repaired.snapshots)
        .fact(Column::new("length_bytes", "length", Unit::Bytes), repaired.bytes)
        .fact(Column::new("dropped", "", Unit::Nested).for_machines(), Value::List(dropped));
    Ok(repaired.dropped.into_iter().fold(answer, |answer, sentence| answer.note(format!("dropped: {sentence}"))))
}
