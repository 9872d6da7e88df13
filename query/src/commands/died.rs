//! `died`: the objects that a snapshot has and a later one has no more.

use std::sync::Arc;

use barrow_analyzer::CountBounds;

use crate::answer::{Column, Unit};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
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

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let (earlier, later, between) = lifelines::between(ask, &ask.arguments, COMMAND.name)?;
    let (origin, confidence, unknown) = (between.origin, between.confidence, between.unknown);
    let counts = TypeCounts::of(&*ask.recording()?, [earlier, later], origin)?;
    let answer = lifelines::by_type(ask, &between.died, &counts, CountBounds::died)?
        .fact(Column::new("died_before", "died before", Unit::Number), later.0)
        .fact(Column::new("objects_without_serial", "", Unit::Count).for_machines(), unknown);
    let answer = lifelines::with_origin(answer, origin, confidence);
    Ok(more::first_page(ask, answer, ask.page_rows()).with_last(Arc::new(between.died)))
}
