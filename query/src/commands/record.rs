//! `record`: runs a command and records its processes. The terminal does it.

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "[-o DST] [--redact REGEX].. [--no-arguments] [--no-memory] [--interval TIME] [--wait-all] [--via notify|ptrace|auto] -- COMMAND..",
    example: "record -o build.barrow -- make -j8",
    flags: &["-o", "--force", "--redact", "--no-arguments", "--no-memory", "--interval", "--wait-all", "--via"],
    subject: Subject::Program,
    touches: Touches::WRITES_FILES,
    ..Command::new("record", include_str!("../../verbs/record.md"), Group::File, |_| {
        Err(QueryError::usage("a command is recorded from a shell: `barrow record -- COMMAND`"))
    })
};
