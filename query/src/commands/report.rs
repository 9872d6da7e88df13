//! `report`: the usual answers as one HTML file. The terminal makes it.

use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "report",
    aliases: &[],
    group: Group::File,
    arguments: "FILE -o DST [--assert ASSERTION].. [--baseline OTHER] [--texts] [--max-size SIZE]",
    about: "The usual answers as one HTML file, for a bug report or CI",
    details: "DST is a page that needs no server, no network and no script; `-o -` writes it to the standard output. It \
              holds all snapshots, what grows, leak suspects with fingerprints, the types that hold most, the difference \
              of the first and the last snapshot, and the dominator tree as a map and as a list. Each part has the line \
              that asks for it. The same recording gives the same bytes. Names and texts of objects, and names of \
              references, are left out unless `--texts` is given, because they may be anything that the program had in \
              memory. `--assert` (repeatable), `--from` and `--allow` are those of `assert`, and the exit code then is \
              that of `assert`. `--baseline OTHER` adds the comparison with another recording. A report has at most 2 \
              MiB, or `--max-size`: it shows fewer rows where that is necessary, and says so. `--force` replaces DST.",
    example: "report app.barrow -o report.html",
    flags: &["-o", "--force", "--texts", "--max-size", "--assert", "--from", "--allow", "--baseline"],
    subject: Subject::Program,
    touches: Touches::READS_FILES.with(Touches::WRITES_FILES),
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(_: &Ask) -> Result<Reply, QueryError> {
    Err(QueryError::usage("a report is made from a shell: `barrow report FILE -o report.html`"))
}
