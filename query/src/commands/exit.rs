//! `exit`: ends the session.

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    aliases: &["quit", "q"],
    subject: Subject::Session,
    touches: Touches::SESSION,
    ..Command::new("exit", include_str!("../../verbs/exit.md"), Group::Session, run)
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Ok(Reply::aside(Answer::default()).changing(Change::Ended))
}
