//! `born`: the objects that a snapshot has and an earlier one had not.

use std::sync::Arc;

use barrow_analyzer::CountBounds;

use crate::tables::lifelines;
use crate::tables::type_counts::{Rule, TypeCounts};

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "A..B",
    example: "born 0..last",
    completion: Completion::Snapshots,
    ..Command::new("born", include_str!("../../verbs/born.md"), Group::Series, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    between(ask, &COMMAND, true)
}

/// Objects that were born between two snapshots, or that died.
pub(super) fn between(ask: &Ask, command: &Command, are_born: bool) -> Result<Reply, QueryError> {
    let (earlier, later, between) = lifelines::between(ask, &ask.arguments, command.name)?;
    let (set, rule, key, snapshot) = match are_born {
        true => (between.born, CountBounds::born as Rule, "born_after", earlier),
        false => (between.died, CountBounds::died as Rule, "died_before", later),
    };
    let counts = TypeCounts::of(&*ask.recording()?, [earlier, later], between.origin)?;
    let answer = lifelines::by_type(ask, &set, &counts, rule)?
        .fact(Column::number(key), snapshot.0)
        .fact(Column::count("objects_without_serial").for_machines(), between.unknown);
    let answer = lifelines::with_origin(answer, between.origin, between.confidence);
    Ok(more::first_page(ask, answer, ask.page_rows()).with_last(Arc::new(set)))
}
