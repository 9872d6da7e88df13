//! `resolve`: a recording of addresses, with names.

use barrow_rewrite::{ResolveOptions, RewriteError, resolve};

use crate::answer::{Answer, Column, Unit};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::sources::destination::{Access, Destination};
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "resolve",
    aliases: &[],
    group: Group::File,
    arguments: "-o DST [--binary PATH] [--force]",
    about: "Names the addresses of a recording that barrow-alloc has written",
    details: "It finds function, file and line of every call, also of inlined ones, in the debug information of the \
              program and its libraries. These files must be the same build. They are searched where they were when \
              the program ran, or at PATH. The functions of Rust's own library between the program and the allocator \
              name the blocks, and the innermost call of the program itself is their site. Frames that call in the \
              same way become one. The recording itself does not change. An existing DST is replaced only with \
              `--force`.",
    example: "resolve -o named.barrow",
    flags: &["-o", "--binary", "--force"],
    subject: Subject::Recording,
    touches: Touches::RECORDING.with(Touches::WRITES_FILES),
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let sources: Vec<&std::path::Path> =
        recording.path().into_iter().chain(ask.arguments.flags.binary.as_deref()).collect();
    let destination = Destination::new(ask.arguments.flags.output.as_deref(), ask.arguments.flags.force, &sources)?;
    let options =
        ResolveOptions { binary: ask.arguments.flags.binary.clone(), threads: ask.context.workspace.threads() };
    let part = destination.begin(Access::Usual)?;
    let resolved = resolve(&recording, part.file()?, &options, &ask.meter()).map_err(|error| match error {
        RewriteError::Writer(source) => QueryError::Write { path: part.shown().to_owned(), source },
        error => error.into(),
    })?;
    let name = part.commit()?;
    let answer = Answer::default()
        .fact(Column::new("written", "written", Unit::Text), name)
        .fact(Column::new("snapshots", "snapshots", Unit::Count), resolved.finished.snapshots)
        .fact(Column::new("addresses", "addresses", Unit::Count), resolved.addresses)
        .fact(Column::new("named", "named", Unit::Count), resolved.named)
        .fact(Column::new("sites", "sites", Unit::Count), resolved.sites)
        .fact(Column::new("length_bytes", "length", Unit::Bytes), resolved.finished.bytes);
    Ok(Reply::aside(resolved.problems.into_iter().fold(answer, Answer::note)))
}
