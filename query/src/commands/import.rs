//! `import`: a dump of another tool as a recording.

use std::path::{Path, PathBuf};
use std::time::Duration;

use barrow_importers::{Holds, Imported};

use crate::answer::units;
use crate::answer::{Answer, Column};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::sources::destination::{Access, Destination};
use crate::sources::dump_order::{DumpOrder, OrderedBy};
use crate::sources::folders;
use crate::sources::importing::{Done, Wishes, import};
use crate::sources::spool::{self, Spooled};
use crate::touches::Touches;

use super::{Command, Group, Subject};

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
    let spooled: Result<Vec<Option<Spooled>>, QueryError> =
        words.iter().map(|word| spool::is_pipe(word).then(|| spool::spool(word, &meter)).transpose()).collect();
    let spooled = spooled?;
    drop(meter);
    let path = |(word, spooled): (&'_ String, &'_ Option<Spooled>)| match spooled {
        Some(spooled) => spooled.path().to_owned(),
        None => PathBuf::from(word),
    };
    let paths: Vec<PathBuf> = words.iter().zip(&spooled).map(path).collect();
    let paths = folders::expanded(paths)?;
    let sources: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    if sources.is_empty() {
        return Err(QueryError::usage(format!("what should be imported? `{}`", COMMAND.example)));
    }
    let destination = Destination::new(ask.arguments.flags.output.as_deref(), ask.arguments.flags.force, &sources)?;
    let order = DumpOrder::of(&sources, ask.arguments.flags.by_time)?;
    if !order.remarks.is_empty() {
        ask.context.watcher.remark(&order.remarks.join("; "));
    }
    let meter = ask.meter();
    let part = destination.begin(Access::Usual)?;
    let (clocks, flags) = (&ask.arguments.flags.clock[..], &ask.arguments.flags);
    let wishes = Wishes { compression: flags.compression, patches: flags.patches, facts: &[], clocks };
    let done = import(&order.sources, &part, &wishes, &ask.context, &meter)?;
    let elapsed = meter.elapsed();
    drop(meter);
    let name = part.commit()?;
    Ok(Reply::aside(answer(done, order.by, name, elapsed)))
}

fn answer(done: Done, order: OrderedBy, written: String, elapsed: Duration) -> Answer {
    let (lost, notes) = (done.lost(), done.notes());
    let Done { imported, finished, source_bytes } = done;
    let snapshots = || imported.iter().flat_map(|(_, imported)| &imported.snapshots);
    let sum = |of: fn(&barrow_writer::Totals) -> u64| snapshots().map(of).sum::<u64>();
    let seconds = elapsed.as_secs_f64();
    let rate = source_bytes as f64 / 1e6 / seconds.max(1e-6);
    let format = imported.first().map(|(_, imported)| imported.format.to_string()).unwrap_or_default();
    let mut answer = Answer::default().fact(Column::text("format"), format).fact(Column::text("written"), written);
    let total = |of: fn(&Imported) -> u64| imported.iter().map(|(_, imported)| of(imported)).sum::<u64>();
    let holds = imported.first().map_or(Holds::Snapshots, |(_, imported)| imported.format.holds());
    answer = match holds {
        Holds::Processes => answer.fact(Column::count("processes"), total(|imported| imported.processes)),
        Holds::Values => answer
            .fact(Column::count("runs"), total(|imported| imported.runs))
            .fact(Column::count("values"), total(|imported| imported.values)),
        Holds::Snapshots => answer
            .fact(Column::count("snapshots"), snapshots().count())
            .fact(Column::count("objects"), sum(|totals| totals.objects))
            .fact(Column::count("references"), sum(|totals| totals.references)),
    };
    answer = answer
        .fact(Column::bytes("source_bytes").called("bytes in"), source_bytes)
        .fact(Column::bytes("written_bytes").called("bytes out"), finished.bytes);
    if imported.len() > 1 {
        answer = answer.fact(Column::text("order"), order.name());
    }
    answer = answer.lines(notes);
    answer.lost = lost;
    answer.note(format!("took {seconds:.2} s: {} MB/s", units::rounded(rate)))
}
