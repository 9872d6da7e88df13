//! `died`: the objects that a snapshot has and a later one has no more.

use std::sync::Arc;

use barrow_analyzer::CountBounds;

use crate::answer::Column;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::lifelines;
use crate::tables::type_counts::TypeCounts;

use super::{Command, Completion, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "A..B",
    example: "died 0..last",
    completion: Completion::Snapshots,
    ..Command::new("died", include_str!("../../verbs/died.md"), Group::Series, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let (earlier, later, between) = lifelines::between(ask, &ask.arguments, COMMAND.name)?;
    let (origin, confidence, unknown) = (between.origin, between.confidence, between.unknown);
    let counts = TypeCounts::of(&*ask.recording()?, [earlier, later], origin)?;
    let answer = lifelines::by_type(ask, &between.died, &counts, CountBounds::died)?
        .fact(Column::number("died_before"), later.0)
        .fact(Column::count("objects_without_serial").for_machines(), unknown);
    let answer = lifelines::with_origin(answer, origin, confidence);
    Ok(more::first_page(ask, answer, ask.page_rows()).with_last(Arc::new(between.died)))
}
