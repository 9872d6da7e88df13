//! `count`: how many objects match an expression.

use barrow_analyzer::{Counted, Expression, SnapshotId};

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
    asks_for_totals: Some(asks_for_totals),
    completion: Completion::Expressions,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let snapshot = session.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression_or_all(session, snapshot, arguments, 0)?;
    if let Some(counted) = session.counted(snapshot) {
        let types = expression.matching_types(&*session.recording()?, &kinds)?;
        let types = types.ok_or_else(|| QueryError::usage("this needs the whole dump"))?;
        let mut sum = Counted::default();
        for row in counted.types.iter().filter(|row| types.binary_search(&row.type_id).is_ok()) {
            sum.objects += row.objects;
            sum.heap_bytes = sum.heap_bytes.wrapping_add(row.heap_bytes);
            sum.unmanaged_bytes = sum.unmanaged_bytes.wrapping_add(row.unmanaged_bytes);
        }
        return Ok(found::said(with_totals(Answer::default(), snapshot, sum), true));
    }
    let (_, counted) = found::select(session, snapshot, &kinds, &expression)?;
    found::with_exactness(with_totals(Answer::default(), snapshot, counted), session, snapshot, &expression)
}

/// Whether types decide which objects match.
fn asks_for_totals(arguments: &Arguments) -> bool {
    let arguments = arguments.divided();
    // The first word may be a kind.
    let is_of_types =
        |first| Expression::parse(&arguments.expression(first)).is_ok_and(|expression| expression.is_of_types());
    let is_word = |word: &String| word.chars().all(|c| c.is_alphanumeric() || c == '-');
    let words = arguments.words();
    is_of_types(0) || words.first().is_some_and(is_word) && is_of_types(1)
}

/// Adds what objects add up to.
pub(super) fn with_totals(answer: Answer, snapshot: SnapshotId, counted: Counted) -> Answer {
    answer
        .of_snapshot(snapshot)
        .fact(Column::new("objects", "objects", Unit::Count), counted.objects)
        .fact(Column::new("shallow_bytes", "shallow", Unit::Bytes), counted.heap_bytes)
        .fact(Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes), counted.unmanaged_bytes)
}
