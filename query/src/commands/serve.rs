//! `serve`: a page in the browser. The terminal answers it.

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "FILE|FOLDER.. [--port N] [--open] [--at LINE]..",
    example: "serve app.barrow --at 'growth 0..28'",
    flags: &["--port", "--open", "--at"],
    subject: Subject::Program,
    touches: Touches::READS_FILES,
    ..Command::new("serve", include_str!("../../verbs/serve.md"), Group::File, |_| {
        Err(QueryError::usage("a page is served from a shell: `barrow serve FILE`"))
    })
};
