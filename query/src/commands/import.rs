//! `import`: a dump of another tool as a recording.

use std::path::{Path, PathBuf};
use std::time::Duration;

use barrow_importers::Holds;

use crate::sources::destination::{Access, Destination};
use crate::sources::dump_order::{DumpOrder, OrderedBy};
use crate::sources::folders;
use crate::sources::importing::{ImportResult, RecordingOptions, import};
use crate::sources::spool;

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "SRC.. -o DST [--compression none|lz4|zstd[:LEVEL]] [--patches] [--by-time] [--clock HOST=TIME].. [--force]",
    example: "import heap.mvmheap -o heap.barrow",
    flags: &["-o", "--force", "--compression", "--patches", "--by-time", "--clock"],
    subject: Subject::Nothing,
    touches: Touches::READS_FILES.with(Touches::WRITES_FILES),
    ..Command::new("import", include_str!("../../verbs/import.md"), Group::File, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let meter = ask.meter();
    let (mut spooled, mut paths) = (Vec::new(), Vec::new());
    for word in &words {
        if spool::is_pipe(word) {
            let file = spool::spool(word, &meter)?;
            paths.push(file.path().to_owned());
            // It is removed with this value.
            spooled.push(file);
        } else {
            paths.push(PathBuf::from(word));
        }
    }
    drop(meter);
    let paths = folders::expanded(paths)?;
    let sources: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    if sources.is_empty() {
        return Err(QueryError::usage(format!("what should be imported? `{}`", COMMAND.example)));
    }
    let flags = &ask.arguments.flags;
    let destination = Destination::new(flags.output.as_deref(), flags.force, &sources)?;
    let order = DumpOrder::of(&sources, flags.by_time)?;
    if !order.remarks.is_empty() {
        ask.context.watcher.remark(&order.remarks.join("; "));
    }
    let meter = ask.meter();
    let part = destination.begin(Access::Usual)?;
    let output =
        RecordingOptions { compression: flags.compression, patches: flags.patches, facts: &[], clocks: &flags.clock };
    let done = import(&order.sources, &part, &output, &ask.context, &meter)?;
    let elapsed = meter.elapsed();
    drop(meter);
    let name = part.commit()?;
    Ok(Reply::aside(answer(done, order.by, name, elapsed)))
}

fn answer(done: ImportResult, order: OrderedBy, written: String, elapsed: Duration) -> Answer {
    let (lost, notes) = (done.lost(), done.notes());
    let ImportResult { imported, finished, source_bytes } = done;
    let seconds = elapsed.as_secs_f64();
    let rate = source_bytes as f64 / 1e6 / seconds.max(1e-6);
    let format = imported.first().map(|(_, imported)| imported.format);
    let mut answer = Answer::default()
        .fact(Column::text("format").own_words(), format.map(|format| format.to_string()).unwrap_or_default())
        .fact(Column::text("written"), written);
    let holds = format.map_or(Holds::Snapshots, |format| format.holds());
    let dumps = imported.iter().map(|(_, imported)| imported);
    let snapshots = dumps.clone().flat_map(|imported| &imported.snapshots);
    answer = match holds {
        Holds::Processes => {
            answer.fact(Column::count("processes"), dumps.map(|imported| imported.processes).sum::<u64>())
        }
        Holds::Values => answer
            .fact(Column::count("runs"), dumps.clone().map(|imported| imported.runs).sum::<u64>())
            .fact(Column::count("values"), dumps.map(|imported| imported.values).sum::<u64>()),
        Holds::Snapshots => answer
            .fact(Column::count("snapshots"), snapshots.clone().count())
            .fact(Column::count("objects"), snapshots.clone().map(|totals| totals.objects).sum::<u64>())
            .fact(Column::count("references"), snapshots.map(|totals| totals.references).sum::<u64>()),
    };
    answer = answer
        .fact(Column::bytes("source_bytes").called("bytes in"), source_bytes)
        .fact(Column::bytes("written_bytes").called("bytes out"), finished.bytes);
    if imported.len() > 1 {
        answer = answer.fact(Column::text("order").own_words(), order.name());
    }
    answer = answer.lines(notes);
    answer.lost = lost;
    answer.note(format!("took {seconds:.2} s: {} MB/s", units::rounded(rate)))
}
