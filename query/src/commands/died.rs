//! `died`: the objects that a snapshot has and a later one has no more.

use super::{born, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "A..B",
    example: "died 0..last",
    completion: Completion::Snapshots,
    ..Command::new("died", include_str!("../../verbs/died.md"), Group::Series, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    born::between(ask, &COMMAND, false)
}
