//! `import`: a dump of another tool as a recording.

use std::path::Path;
use std::time::Duration;

use crate::answer::{Answer, Column, Unit};
use crate::destination::Destination;
use crate::error::ReplError;
use crate::importing::{Done, import};
use crate::session::{Arguments, Session};
use crate::units;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "import",
    aliases: &[],
    group: Group::File,
    arguments: "SRC -o DST [--compression none|lz4|zstd[:LEVEL]] [--force]",
    about: "Turns a dump of another tool into a recording",
    details: "SRC is recognised by its first bytes, never by its name. An existing DST is replaced only with \
              `--force`. `barrow FILE` opens a dump without this: it is imported into a cache.",
    example: "import heap.mvmheap -o heap.barrow",
    flags: &["-o", "--force", "--compression"],
    subject: Subject::Nothing,
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let words = arguments.words();
    let source = match &words[..] {
        [] => return Err(ReplError::usage(format!("what should be imported? `{}`", COMMAND.example))),
        [source] => Path::new(source),
        [_, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let destination = Destination::new(arguments.output.as_deref(), arguments.force)?;
    let meter = session.meter();
    let done = import(source, destination.temporary(), arguments.compression, &session.settings, &meter)?;
    let elapsed = meter.elapsed();
    drop(meter);
    let name = destination.commit()?;
    Ok(answer(done, name, elapsed))
}

fn answer(done: Done, written: String, elapsed: Duration) -> Answer {
    let Done { imported, finished, source_bytes } = done;
    let sum = |of: fn(&barrow_writer::Totals) -> u64| imported.snapshots.iter().map(of).sum::<u64>();
    let seconds = elapsed.as_secs_f64();
    let rate = source_bytes as f64 / 1e6 / seconds.max(1e-6);
    let mut answer = Answer::default()
        .fact(Column::new("format", "format", Unit::Text), imported.format.to_string())
        .fact(Column::new("written", "written", Unit::Text), written)
        .fact(Column::new("snapshots", "snapshots", Unit::Count), imported.snapshots.len())
        .fact(Column::new("objects", "objects", Unit::Count), sum(|totals| totals.objects))
        .fact(Column::new("references", "references", Unit::Count), sum(|totals| totals.references))
        .fact(Column::new("source_bytes", "bytes in", Unit::Bytes), source_bytes)
        .fact(Column::new("written_bytes", "bytes out", Unit::Bytes), finished.bytes);
    answer = imported.notes.into_iter().fold(answer, Answer::note);
    answer.lost = imported.lost.map(|loss| loss.to_string());
    answer.note(format!("took {seconds:.2} s: {} MB/s", units::rounded(rate)))
}
