//! `record`: runs a command and records its processes. The terminal answers it.

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::Session;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "record",
    aliases: &[],
    group: Group::Processes,
    arguments: "[-o DST] [--force] [--redact REGEX].. [--no-arguments] [--no-memory] [--interval TIME] -- COMMAND..",
    about: "Run a command, and record every process that it starts",
    details: "The command runs as it would alone: with its terminal, signals and exit status; if a signal ends it, it \
              ends barrow too. No privileges and no change to the command are needed. Recorded are what each process \
              executed, when it began and ended and how, its processor time, peak memory, page faults, and bytes read \
              and written; and the memory of all of them over time, every 200 ms unless `--interval` tells, or less \
              often where measuring would take more than a hundredth of a core. DST is `record.barrow` unless told, and \
              is not replaced without `--force`. It can be read while the command runs, and is complete up to then if \
              barrow is killed; the command goes on. Arguments may hold secrets: what matches REGEX in one is recorded \
              as `…`. Recording ends with the command: what still runs then is marked as running. barrow's own \
              failures have the exit code 125, a command that cannot be executed 126, one that is not found 127. Where \
              processes cannot be traced, `barrow-sh` in the place of the shell records without tracing.",
    example: "record -o build.barrow -- make -j8",
    flags: &["-o", "--force", "--redact", "--no-arguments", "--no-memory", "--interval"],
    subject: Subject::Program,
    touches: Touches::WRITES_FILES.with(Touches::RUNS_PROGRAMS),
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(_: &mut Session, _: &Arguments) -> Result<Answer, QueryError> {
    Err(QueryError::usage("a command is recorded from a shell: `barrow record -- COMMAND`"))
}
