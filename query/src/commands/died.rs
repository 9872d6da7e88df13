//! `died`: the objects that a snapshot has and a later one has no more.

use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;

use super::{Command, Completion, Group, born};

pub(super) const COMMAND: Command = Command {
    arguments: "A..B",
    example: "died 0..last",
    completion: Completion::Snapshots,
    ..Command::new("died", include_str!("../../verbs/died.md"), Group::Series, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    born::between(ask, &COMMAND, false)
}
