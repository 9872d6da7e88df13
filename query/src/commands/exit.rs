//! `exit`: ends the session.

use crate::answer::Answer;
use crate::ask::Ask;
use crate::ask::reply::{Change, Reply};
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Group, Subject};

pub(super) const COMMAND: Command = Command {
    aliases: &["quit", "q"],
    subject: Subject::Session,
    touches: Touches::SESSION,
    ..Command::new("exit", include_str!("../../verbs/exit.md"), Group::Session, run)
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Ok(Reply::aside(Answer::default()).changing(Change::Ended))
}
