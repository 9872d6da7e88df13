//! `completions`: completions of verbs and flags for a shell. The terminal answers it.

use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Group, Subject};

pub(super) const COMMAND: Command = Command {
    arguments: "bash|zsh|fish",
    example: "completions bash",
    subject: Subject::Program,
    touches: Touches::NOTHING,
    ..Command::new("completions", include_str!("../../verbs/completions.md"), Group::Session, run)
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Err(QueryError::usage("completions is for a shell: `barrow completions bash`"))
}
