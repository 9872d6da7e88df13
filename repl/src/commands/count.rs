//! `count`: how many objects match an expression.

use crate::answer::{Answer, Column, Unit};
use crate::error::ReplError;
use crate::found;
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "count",
    aliases: &[],
    group: Group::Objects,
    arguments: "KIND [EXPR]",
    about: "How many objects match an expression, and their sizes",
    details: "`help expressions` describes EXPR; in a shell put it in single quotes.",
    example: "count objects size > 1K",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Expressions,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let recording = session.recording()?;
    let snapshot = session.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression(recording.tables()?, arguments, 0)?;
    let counted = barrow_analyzer::count(&recording, snapshot, &kinds, &expression, &session.meter())?;
    Ok(Answer::default()
        .fact(Column::new("snapshot", "snapshot", Unit::Number), snapshot.0)
        .fact(Column::new("objects", "objects", Unit::Count), counted.objects)
        .fact(Column::new("shallow_bytes", "shallow", Unit::Bytes), counted.heap_bytes)
        .fact(Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes), counted.unmanaged_bytes)
        .exact())
}
