//! `exit`: ends the session.

use crate::answer::Answer;
use crate::ask::Ask;
use crate::ask::reply::{Change, Reply};
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "exit",
    aliases: &["quit", "q"],
    group: Group::Session,
    arguments: "",
    about: "Leaves, as Ctrl-D does",
    details: "Nothing is lost: questions change no file.",
    example: "exit",
    flags: &[],
    subject: Subject::Session,
    touches: Touches::SESSION,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Ok(Reply::aside(Answer::default()).changing(Change::Ended))
}
