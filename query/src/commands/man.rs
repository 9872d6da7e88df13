//! `man`: the manual page of barrow, or of a verb, for `man`. The terminal answers it.

use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "man",
    aliases: &[],
    group: Group::Session,
    arguments: "[VERB]",
    about: "The manual page of barrow, or of a verb, for `man`",
    details: "Prints a page in the format of `man` to the standard output: `barrow man > barrow.1`. The page of a \
              verb is `barrow-VERB(1)`.",
    example: "man top",
    flags: &[],
    subject: Subject::Program,
    touches: Touches::NOTHING,
    asks_for_totals: None,
    completion: Completion::Verbs,
    run,
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Err(QueryError::usage("man is for a shell: `barrow man top`"))
}
