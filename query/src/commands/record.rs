//! `record`: runs a command and records its processes. The terminal does it.

use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "record",
    aliases: &[],
    group: Group::File,
    arguments: "[-o DST] [--redact REGEX].. [--no-arguments] [--no-memory] [--interval TIME] [--wait-all] [--via notify|ptrace|auto] -- COMMAND..",
    about: "Run a command, such as a build, and record all its processes",
    details: "It records every process that the command starts, directly or not: programs, arguments, directories, times, \
              processor time, peak memory, faults, bytes read and written, how each ended; and samples the memory of all. \
              It needs Linux and no privileges, and changes nothing in the build. The command keeps the terminal, its \
              signals and its exit status; if a signal ended it, the same signal ends barrow. What barrow itself fails at is \
              125, a command that cannot be run 126, one that is not found 127. DST is `record.barrow` unless told; \
              `--force` replaces it. Rows are written as things happen: of a recording that is cut short, everything \
              before the cut can be read. `--redact` (repeatable) replaces what matches in arguments and paths by `…`, and \
              `--no-arguments` keeps nothing but the name of each program. `--interval` is the shortest time between two \
              samples, 50ms unless told; `--no-memory` takes none. Recording ends when the command does, or, with \
              `--wait-all`, when all processes have ended. With `--via notify` the system holds calls to execute and to end until \
              barrow has seen them, with `--via ptrace` it stops processes; `auto`, which is usual, takes notify where the system \
              has it. By ptrace a program that traces processes itself, such as gdb, runs untraced. A program with the rights \
              of its owner runs without them unless root records; a line says so.",
    example: "record -o build.barrow -- make -j8",
    flags: &["-o", "--force", "--redact", "--no-arguments", "--no-memory", "--interval", "--wait-all", "--via"],
    subject: Subject::Program,
    touches: Touches::WRITES_FILES,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Err(QueryError::usage("a command is recorded from a shell: `barrow record -- COMMAND`"))
}
