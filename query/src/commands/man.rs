//! `man`: the manual page of barrow, or of a verb, for `man`. The terminal answers it.

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "[VERB]",
    example: "man top",
    subject: Subject::Program,
    touches: Touches::NOTHING,
    completion: Completion::Verbs,
    ..Command::new("man", include_str!("../../verbs/man.md"), Group::Session, |_| {
        Err(QueryError::usage("man is for a shell: `barrow man top`"))
    })
};
