//! `born`: the objects that a snapshot has and an earlier one had not.

use crate::answer::{Answer, Column, Unit};
use crate::error::ReplError;
use crate::lifelines;
use crate::session::{Arguments, Session};

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "born",
    aliases: &[],
    group: Group::Series,
    arguments: "A..B",
    about: "Objects of snapshot B that snapshot A did not have, by type",
    details: "`$_` is the set of these objects of B afterwards. Objects are known again by serials of the runtime; where it \
              gives none, consecutive snapshots are matched, and the answer says so. What was born and died between two \
              snapshots is not seen.",
    example: "born 0..last",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Snapshots,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let (earlier, _, between) = lifelines::between(session, arguments, COMMAND.name)?;
    let (origin, confidence, unknown) = (between.origin, between.confidence, between.unknown);
    let answer = lifelines::by_type(session, between.born)?
        .fact(Column::new("born_after", "born after", Unit::Number), earlier.0)
        .fact(Column::new("objects_without_serial", "", Unit::Count).for_machines(), unknown);
    let rows = session.page_rows();
    Ok(more::first_page(session, lifelines::with_origin(answer, origin, confidence), rows))
}
