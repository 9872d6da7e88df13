//! `serve`: a page in the browser. The terminal answers it.

use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "serve",
    aliases: &[],
    group: Group::File,
    arguments: "FILE|FOLDER.. [--port N] [--open] [--at LINE]..",
    about: "A page in the browser over recordings and dumps",
    details: "It prints the address of the page once it listens, and serves until Ctrl-C. Every question that reads a \
              recording can be asked on the page; its line is a part of the address. Of a folder, it serves what barrow \
              reads, three levels deep. Only this machine can connect, and only with the token in the address. The page \
              writes no file but what barrow keeps anyway: the index beside a recording, and imports of dumps in the \
              cache. `--port` takes this port, otherwise one that is free. `--open` opens the address in the browser. \
              `--at LINE` (repeatable) is a line of the prompt: the last one is the question that the page begins with, \
              and `without`, `let` and `snapshot` before it hold for the page.",
    example: "serve app.barrow --at 'growth 0..28'",
    flags: &["--port", "--open", "--at"],
    subject: Subject::Program,
    touches: Touches::READS_FILES,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Err(QueryError::usage("a page is served from a shell: `barrow serve FILE`"))
}
