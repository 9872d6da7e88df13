//! `import`: a dump of another tool as a recording.

use std::path::Path;
use std::time::Duration;

use barrow_importers::Imported;

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
    arguments: "SRC.. -o DST [--compression none|lz4|zstd[:LEVEL]] [--patches] [--force]",
    about: "Turns dumps of other tools into a recording",
    details: "SRC is recognised by its first bytes, never by its name; it may be inside gzip or zstd. A compressed \
              dump is unpacked beside DST, into a file that vanishes with the import, and only as long as it looks like a dump; \
              `barrow --max-unpacked SIZE` limits how large it may get. Several dumps of one \
              program become one recording, in the order in which they were taken; with `--patches` each \
              snapshot as its difference to the one before, if the dumps name objects across snapshots, as those of V8 do, and \
              objects get other numbers then. An existing DST is replaced only \
              with `--force`. `barrow FILE` opens a dump without this: it is imported into a cache.",
    example: "import heap.mvmheap -o heap.barrow",
    flags: &["-o", "--force", "--compression", "--patches"],
    subject: Subject::Nothing,
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    let words = arguments.words();
    let sources: Vec<&Path> = words.iter().map(Path::new).collect();
    if sources.is_empty() {
        return Err(ReplError::usage(format!("what should be imported? `{}`", COMMAND.example)));
    }
    let destination = Destination::new(arguments.output.as_deref(), arguments.force, &sources)?;
    let meter = session.meter();
    let (compression, patches) = (arguments.compression, arguments.patches);
    let done = import(&sources, destination.temporary(), compression, patches, &session.settings, &meter)?;
    let elapsed = meter.elapsed();
    drop(meter);
    let name = destination.commit()?;
    Ok(answer(done, name, elapsed))
}

fn answer(done: Done, written: String, elapsed: Duration) -> Answer {
    let lost = done.lost();
    let Done { imported, finished, source_bytes } = done;
    let snapshots = || imported.iter().flat_map(|(_, imported)| &imported.snapshots);
    let sum = |of: fn(&barrow_writer::Totals) -> u64| snapshots().map(of).sum::<u64>();
    let seconds = elapsed.as_secs_f64();
    let rate = source_bytes as f64 / 1e6 / seconds.max(1e-6);
    let format = imported.first().map(|(_, imported)| imported.format.to_string()).unwrap_or_default();
    let mut answer = Answer::default()
        .fact(Column::new("format", "format", Unit::Text), format)
        .fact(Column::new("written", "written", Unit::Text), written)
        .fact(Column::new("snapshots", "snapshots", Unit::Count), snapshots().count())
        .fact(Column::new("objects", "objects", Unit::Count), sum(|totals| totals.objects))
        .fact(Column::new("references", "references", Unit::Count), sum(|totals| totals.references))
        .fact(Column::new("source_bytes", "bytes in", Unit::Bytes), source_bytes)
        .fact(Column::new("written_bytes", "bytes out", Unit::Bytes), finished.bytes);
    for (source, Imported { notes, .. }) in &imported {
        let prefix = if imported.len() == 1 { String::new() } else { format!("{}: ", source.display()) };
        answer = notes.iter().fold(answer, |answer, note| answer.note(format!("{prefix}{note}")));
    }
    answer.lost = lost;
    answer.note(format!("took {seconds:.2} s: {} MB/s", units::rounded(rate)))
}
