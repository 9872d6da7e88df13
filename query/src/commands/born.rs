//! `born`: the objects that a snapshot has and an earlier one had not.

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
    name: "born",
    aliases: &[],
    group: Group::Series,
    arguments: "A..B",
    about: "Objects of snapshot B that snapshot A did not have, by type",
    details: "Afterwards `$_` is the set of these objects of B. Objects are identified by the serials of the runtime. \
              Where it gives none, as in dumps of a JVM, consecutive snapshots are matched by addresses, types, \
              names, sizes and references. Counts then have a `~`, and `between` has the least and the largest \
              possible number: the bounds that the counts of the type in these snapshots and those between them \
              permit. JSON has `objects_low`, `objects_high` and `exactness`. A count without `~` is exact. For each \
              type, born less died is always exact. Objects that were born and died between two snapshots are not \
              seen.",
    example: "born 0..last",
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
    let answer = lifelines::by_type(ask, &between.born, &counts, CountBounds::born)?
        .fact(Column::new("born_after", "born after", Unit::Number), earlier.0)
        .fact(Column::new("objects_without_serial", "", Unit::Count).for_machines(), unknown);
    let answer = lifelines::with_origin(answer, origin, confidence);
    Ok(more::first_page(ask, answer, ask.page_rows()).with_last(Arc::new(between.born)))
}
