//! `resolve`: a recording of addresses, with names.

use crate::answer::{Answer, Column, Unit};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::resolving::resolve;
use crate::session::Session;
use crate::sources::destination::{Access, Destination};

use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "resolve",
    aliases: &[],
    group: Group::File,
    arguments: "-o DST [--binary PATH] [--force]",
    about: "Names the addresses of a recording that barrow-alloc has written",
    details: "Function, file and line of every call, inlined ones too, from the debug information of the program and its \
              libraries. They are looked for where they were when the program ran, or at PATH, and must be the same build. \
              What Rust's own library did between the program and the allocator names the blocks, the innermost call of the \
              program itself is their site; frames that call the same way become one. The recording itself is left as it \
              is. An existing DST is replaced only with `--force`.",
    example: "resolve -o named.barrow",
    flags: &["-o", "--binary", "--force"],
    subject: Subject::Recording,
    touches: Touches::RECORDING.with(Touches::WRITES_FILES),
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    if let Some(word) = arguments.words().first() {
        return Err(COMMAND.refuses(word));
    }
    let recording = session.recording()?;
    let sources: Vec<&std::path::Path> =
        recording.path().into_iter().chain(arguments.flags.binary.as_deref()).collect();
    let destination = Destination::new(arguments.flags.output.as_deref(), arguments.flags.force, &sources)?;
    let meter = session.meter();
    let part = destination.begin(Access::Usual)?;
    let done = resolve(&recording, &part, arguments.flags.binary.as_deref(), &session.context, &meter)?;
    drop(meter);
    let name = part.commit()?;
    let answer = Answer::default()
        .fact(Column::new("written", "written", Unit::Text), name)
        .fact(Column::new("snapshots", "snapshots", Unit::Count), done.finished.snapshots)
        .fact(Column::new("addresses", "addresses", Unit::Count), done.addresses)
        .fact(Column::new("named", "named", Unit::Count), done.named)
        .fact(Column::new("sites", "sites", Unit::Count), done.sites)
        .fact(Column::new("length_bytes", "length", Unit::Bytes), done.finished.bytes);
    Ok(done.problems.into_iter().fold(answer, Answer::note))
}
