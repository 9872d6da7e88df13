//! `watch`: follows a recording that is being written. The terminal answers it.

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    aliases: &["follow"],
    arguments: "[-e LINE].. [--assert ASSERTION].. [--until N] [--interval TIME]",
    example: "watch -e 'top 5' --assert 'growth(type = \"Session\") <= 0'",
    flags: &["--interval", "--until", "--assert", "--from", "--allow", "--baseline", "--min"],
    subject: Subject::Growing,
    touches: Touches::RECORDING.with(Touches::READS_FILES),
    ..Command::new("watch", include_str!("../../verbs/watch.md"), Group::File, |_| {
        Err(QueryError::usage("watch follows a file from a shell: `barrow watch FILE`"))
    })
};
