//! `import`: a dump of another tool as a recording.

use std::path::{Path, PathBuf};
use std::time::Duration;

use barrow_importers::{Holds, Imported};

use crate::answer::units;
use crate::answer::{Answer, Column, Unit};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::sources::destination::{Access, Destination};
use crate::sources::dump_order::{DumpOrder, OrderedBy};
use crate::sources::folders;
use crate::sources::importing::{Done, Wishes, import};
use crate::sources::spool::{self, Spooled};
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "import",
    aliases: &[],
    group: Group::File,
    arguments: "SRC.. -o DST [--compression none|lz4|zstd[:LEVEL]] [--patches] [--by-time] [--clock HOST=TIME].. [--force]",
    about: "Turns dumps, logs and measured values of other tools into a recording",
    details: "SRC is a heap dump; a log of processes: of Kleknev, ninja, Bazel or strace; or values that were \
              measured: CSV with the columns metric and value, or files of hyperfine, Criterion, Google Benchmark, \
              BenchmarkDotNet, pytest-benchmark, pyperf, Go, JMH, massif or DHAT. Of a folder such as `target/criterion`, all newest \
              samples of Criterion are imported. Several files of values are successive runs of the same programs. \
              SRC is recognised by its first bytes, never by its name. It may be inside gzip, zstd, bzip2, xz, or a zip archive of one file. A compressed dump is unpacked beside \
              DST, into a file that vanishes with the import, and only as long as it looks like a dump; `barrow \
              --max-unpacked SIZE` limits its size. Several dumps of one program become one recording. If each dump \
              holds the time at which it was taken, as those of JVMs do, they are sorted by it. Otherwise they stay \
              in the typed order. The exception are names in the order in which a shell expands `*`: they are put in \
              natural order, `heap-2` before `heap-10`. `--by-time` sorts by the times in the dumps, or by those of \
              the files where the dumps hold none. Copies have other file times, so these are used on request only, \
              and never shown as times of snapshots. A line on stderr says when the order differs from the typed one, \
              or when times contradict it. `barrow --contents none` leaves out what strings say, and `--contents texts=4K` \
              shortens long texts. With `--patches` each snapshot is stored as its difference to the previous \
              one, if the dumps identify objects across snapshots, as those of V8 do. Objects then get other numbers. \
              In logs of Kleknev and `barrow-sh`, clocks of hosts may differ: `--clock b=-3600s` moves all times of \
              host b by -3600 s. No time is moved without it; a note says when clocks contradict the order of the log. \
              An existing DST is replaced only with `--force`. `barrow FILE` opens a dump without this: it is \
              imported into a cache.",
    example: "import heap.mvmheap -o heap.barrow",
    flags: &["-o", "--force", "--compression", "--patches", "--by-time", "--clock"],
    subject: Subject::Nothing,
    touches: Touches::READS_FILES.with(Touches::WRITES_FILES),
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
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
    let mut answer = Answer::default()
        .fact(Column::new("format", "format", Unit::Text), format)
        .fact(Column::new("written", "written", Unit::Text), written);
    let total = |of: fn(&Imported) -> u64| imported.iter().map(|(_, imported)| of(imported)).sum::<u64>();
    let holds = imported.first().map_or(Holds::Snapshots, |(_, imported)| imported.format.holds());
    answer = match holds {
        Holds::Processes => {
            answer.fact(Column::new("processes", "processes", Unit::Count), total(|imported| imported.processes))
        }
        Holds::Values => answer
            .fact(Column::new("runs", "runs", Unit::Count), total(|imported| imported.runs))
            .fact(Column::new("values", "values", Unit::Count), total(|imported| imported.values)),
        Holds::Snapshots => answer
            .fact(Column::new("snapshots", "snapshots", Unit::Count), snapshots().count())
            .fact(Column::new("objects", "objects", Unit::Count), sum(|totals| totals.objects))
            .fact(Column::new("references", "references", Unit::Count), sum(|totals| totals.references)),
    };
    answer = answer
        .fact(Column::new("source_bytes", "bytes in", Unit::Bytes), source_bytes)
        .fact(Column::new("written_bytes", "bytes out", Unit::Bytes), finished.bytes);
    if imported.len() > 1 {
        answer = answer.fact(Column::new("order", "order", Unit::Text), order.name());
    }
    answer = answer.lines(notes);
    answer.lost = lost;
    answer.note(format!("took {seconds:.2} s: {} MB/s", units::rounded(rate)))
}
