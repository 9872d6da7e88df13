//! `resolve`: a recording of addresses, with names.

use barrow_rewrite::{ResolveOptions, RewriteError, resolve};

use crate::sources::destination::{Access, Destination};

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "-o DST [--binary PATH] [--force]",
    example: "resolve -o named.barrow",
    flags: &["-o", "--binary", "--force"],
    touches: Touches::RECORDING.with(Touches::WRITES_FILES),
    ..Command::new("resolve", include_str!("../../verbs/resolve.md"), Group::File, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let flags = &ask.arguments.flags;
    let sources: Vec<_> = recording.path().into_iter().chain(flags.binary.as_deref()).collect();
    let destination = Destination::new(flags.output.as_deref(), flags.force, &sources)?;
    let options = ResolveOptions { binary: flags.binary.clone(), threads: ask.context.workspace.threads() };
    let part = destination.begin(Access::Usual)?;
    let resolved = resolve(&recording, part.file()?, &options, &ask.meter()).map_err(|error| match error {
        RewriteError::Writer(source) => QueryError::Write { path: part.shown().to_owned(), source },
        error => error.into(),
    })?;
    let name = part.commit()?;
    let answer = Answer::default()
        .fact(Column::text("written"), name)
        .fact(Column::count("snapshots"), resolved.finished.snapshots)
        .fact(Column::count("addresses"), resolved.addresses)
        .fact(Column::count("named"), resolved.named)
        .fact(Column::count("sites"), resolved.sites)
        .fact(Column::bytes("length_bytes"), resolved.finished.bytes);
    Ok(Reply::aside(resolved.problems.into_iter().fold(answer, Answer::note)))
}
