//! `died`: the objects that a snapshot has and a later one has no more.

use barrow_analyzer::CountBounds;

use crate::answer::{Answer, Column, Unit};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::Session;
use crate::tables::lifelines;
use crate::tables::type_counts::TypeCounts;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "died",
    aliases: &[],
    group: Group::Series,
    arguments: "A..B",
    about: "Objects of snapshot A that snapshot B no longer has, by type",
    details: "Afterwards `$_` is the set of these objects of A. `help born` says how objects are identified.",
    example: "died 0..last",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Snapshots,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let (earlier, later, between) = lifelines::between(session, arguments, COMMAND.name)?;
    let (origin, confidence, unknown) = (between.origin, between.confidence, between.unknown);
    let counts = TypeCounts::of(&*session.recording()?, [earlier, later], origin)?;
    let answer = lifelines::by_type(session, between.died, &counts, CountBounds::died)?
        .fact(Column::new("died_before", "died before", Unit::Number), later.0)
        .fact(Column::new("objects_without_serial", "", Unit::Count).for_machines(), unknown);
    let rows = session.page_rows();
    Ok(more::first_page(session, lifelines::with_origin(answer, origin, confidence), rows))
}
