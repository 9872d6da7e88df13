//! `count`: how many objects match an expression.

use barrow_analyzer::{Counted, SnapshotId};

use crate::answer::{Answer, Column, Unit};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::Session;
use crate::tables::found;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "count",
    aliases: &[],
    group: Group::Objects,
    arguments: "[KIND] [EXPR]",
    about: "How many objects match an expression, and their sizes",
    details: "The objects are of every kind unless KIND is given. Afterwards `$_` is the set of these objects. `help \
              expressions` describes EXPR; in a shell put it in single quotes.",
    example: "count objects size > 1K",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Expressions,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let snapshot = session.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression_or_all(session, snapshot, arguments, 0)?;
    let (_, counted) = found::select(session, snapshot, &kinds, &expression)?;
    found::with_exactness(with_totals(Answer::default(), snapshot, counted), session, snapshot, &expression)
}

/// Adds what objects add up to.
pub(super) fn with_totals(answer: Answer, snapshot: SnapshotId, counted: Counted) -> Answer {
    answer
        .of_snapshot(snapshot)
        .fact(Column::new("objects", "objects", Unit::Count), counted.objects)
        .fact(Column::new("shallow_bytes", "shallow", Unit::Bytes), counted.heap_bytes)
        .fact(Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes), counted.unmanaged_bytes)
}
