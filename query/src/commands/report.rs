//! `report`: the usual answers as one HTML file. The terminal makes it.

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "FILE -o DST [--assert ASSERTION].. [--baseline OTHER] [--texts] [--max-size SIZE]",
    example: "report app.barrow -o report.html",
    flags: &["-o", "--force", "--texts", "--max-size", "--assert", "--from", "--allow", "--baseline"],
    subject: Subject::Program,
    touches: Touches::READS_FILES.with(Touches::WRITES_FILES),
    ..Command::new("report", include_str!("../../verbs/report.md"), Group::File, |_| {
        Err(QueryError::usage("a report is made from a shell: `barrow report FILE -o report.html`"))
    })
};
