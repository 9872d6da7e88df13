//! `watch`: follows a recording that is being written. The terminal answers it.

use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "watch",
    aliases: &["follow"],
    group: Group::File,
    arguments: "[-e LINE].. [--assert ASSERTION].. [--until N] [--interval TIME]",
    about: "Follows a recording that is being written, snapshot by snapshot",
    details: "It prints a row for each snapshot as soon as it is committed, with the change to the previous one. `-e \
              LINE` (repeatable) and `-f SCRIPT` run lines for each snapshot, as if it were selected at the prompt. \
              `--assert` takes what `assert` takes, with the same flags, and ends with exit code 1 when the assertion \
              is false. The file need not exist yet. If another recording replaces it, `watch` begins again. It ends \
              when the writer finishes the recording, with `--until N` after snapshot N, and with Ctrl-C. A writer \
              that was killed never finishes: its snapshots stay, and `watch` waits for more. It looks at the file \
              every 250 ms, or as often as `--interval 2s` says, and reads only what was appended.",
    example: "watch -e 'top 5' --assert 'growth(type = \"Session\") <= 0'",
    flags: &["--interval", "--until", "--assert", "--from", "--allow", "--baseline", "--min"],
    subject: Subject::Growing,
    touches: Touches::RECORDING.with(Touches::READS_FILES),
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Err(QueryError::usage("watch follows a file from a shell: `barrow watch FILE`"))
}
