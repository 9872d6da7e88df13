//! `export`: the process tree as a file for other programs.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use barrow_processes::{ImageId, ProcessTree};

use crate::answer::{csv, json};
use crate::ask::PIECE_ROWS;
use crate::exports::trace::Trace;
use crate::exports::{chrome, perfetto, trial_values};
use crate::flags::ExportFormat;
use crate::sources::destination::{Access, Destination};
use crate::tables::process_rows::Rows;
use crate::tables::trials::overview;
use crate::tables::trials::presentation::Presentation;

use super::prelude::*;
use super::trials::failed_note;

pub(super) const COMMAND: Command = Command {
    arguments: "--to FORMAT [-o DST] [--force] [--classes FILE]",
    example: "export --to perfetto -o build.perfetto-trace",
    flags: &["--to", "-o", "--force", "--classes", "--sort", "-u", "--reference"],
    touches: Touches::RECORDING.with(Touches::WRITES_FILES),
    ..Command::new("export", include_str!("../../verbs/export.md"), Group::Processes, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let flags = &ask.arguments.flags;
    let format = flags.to.ok_or_else(|| {
        QueryError::usage("which format? add `--to chrome`, perfetto, csv, json, markdown, asciidoc or orgmode")
    })?;
    let recording = ask.recording()?;
    let place = flags.output.clone().unwrap_or_else(|| usual_place(ask, format));
    let answer = match recording.has_measurements() && !recording.has_processes() {
        true => of_trials(ask, &place, format)?,
        false => of_processes(ask, &place, format)?,
    };
    Ok(Reply::aside(answer.exact()))
}

fn of_processes(ask: &Ask, place: &Path, format: ExportFormat) -> Result<Answer, QueryError> {
    let flags = &ask.arguments.flags;
    let (tree, classes) = (ask.process_tree()?, ask.classes_in(flags, None)?);
    let units = ask.unit_labels(flags)?;
    let answer = written(ask, place, |check, out| {
        let trace = Trace { tree: &tree, schema: classes.first(), check };
        match format {
            ExportFormat::Chrome => Ok(chrome::write(&trace, out)),
            ExportFormat::Perfetto => Ok(perfetto::write(&trace, out)),
            ExportFormat::Markdown | ExportFormat::Asciidoc | ExportFormat::Orgmode => {
                Err(QueryError::usage("`--to markdown`, asciidoc and orgmode are for trials"))
            }
            ExportFormat::Csv | ExportFormat::Json => {
                let rows = Rows { tree: &tree, classes: &classes, units: &units, by: None };
                Ok(write_rows(ask, &tree, &rows, format, out))
            }
        }
    })?;
    Ok(answer.fact(Column::count("processes"), tree.processes().len()))
}

fn of_trials(ask: &Ask, place: &Path, format: ExportFormat) -> Result<Answer, QueryError> {
    if matches!(format, ExportFormat::Chrome | ExportFormat::Perfetto) {
        return Err(QueryError::usage("trials are exported `--to csv`, json, markdown, asciidoc or orgmode"));
    }
    let trials = ask.trials()?;
    if format != ExportFormat::Csv {
        overview::require(&ask.context, &trials, &trials.metric_ids().collect::<Vec<_>>())?;
    }
    let presentation = Presentation::of(&trials, &ask.arguments.flags.trial)?;
    let answer = written(ask, place, |check, out| {
        Ok(trial_values::write((&*trials, &presentation), format, source(ask), check, out))
    })?;
    Ok(answer.lines(failed_note(&trials)))
}

/// Makes a file with what `write` writes.
fn written(
    ask: &Ask,
    place: &Path,
    write: impl FnOnce(&(dyn Fn() -> io::Result<()> + Sync), &mut dyn Write) -> Result<io::Result<()>, QueryError>,
) -> Result<Answer, QueryError> {
    let recording = ask.recording()?;
    let part = Destination::new(Some(place), ask.arguments.flags.force, recording.path().as_slice())?;
    let part = part.begin(Access::Usual)?;
    let check = || ask.context.check().map_err(|_| io::Error::from(io::ErrorKind::Interrupted));
    let mut out = BufWriter::new(part.file()?);
    let result = write(&check, &mut out)?;
    // A watcher that stops the question stops the writing.
    ask.context.check()?;
    result.and_then(|()| out.flush()).map_err(|error| QueryError::file(place, error))?;
    let length = part.file()?.metadata().map_err(|error| QueryError::file(place, error))?.len();
    let name = part.commit()?;
    Ok(Answer::default().fact(Column::text("written"), name).fact(Column::bytes("length_bytes"), length))
}

/// Beside the recording, or in the working directory if that is the standard input.
fn usual_place(ask: &Ask, format: ExportFormat) -> PathBuf {
    let name = ask.file().map(|file| file.name.as_str()).filter(|name| *name != crate::STDIN);
    PathBuf::from(name.unwrap_or("processes")).with_extension(match format {
        ExportFormat::Chrome => "trace.json",
        ExportFormat::Perfetto => "perfetto-trace",
        ExportFormat::Csv => "csv",
        ExportFormat::Json => "json",
        ExportFormat::Markdown => "md",
        ExportFormat::Asciidoc => "adoc",
        ExportFormat::Orgmode => "org",
    })
}

fn source(ask: &Ask) -> json::Source<'_> {
    json::Source { file: ask.file().map(|file| file.name.as_str()), damage: None }
}

/// Writes the rows of `processes`, some at a time.
fn write_rows(
    ask: &Ask,
    tree: &ProcessTree,
    rows: &Rows<'_>,
    format: ExportFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let check = || Ok(());
    let mut progress = json::Progress::default();
    let ids: Vec<ImageId> = (0..).map(ImageId).take(tree.images().len()).collect();
    // There is a first piece even of nothing.
    let none = ids.is_empty().then_some(&ids[..]);
    for (number, piece) in none.into_iter().chain(ids.chunks(PIECE_ROWS)).enumerate() {
        let table = rows.table(&ask.context, piece, |_| Value::None).map_err(io::Error::other)?;
        let answer = Answer::default().table(table).exact();
        match (format, number) {
            (ExportFormat::Csv, 0) => csv::begin(&answer, &check, out)?,
            (ExportFormat::Csv, _) => csv::go_on(&answer, &check, out)?,
            (_, 0) => json::begin(&answer, &mut progress, source(ask), &check, out)?,
            (_, _) => json::go_on(&answer, &mut progress, &check, out)?,
        }
    }
    if format == ExportFormat::Json { json::end(&progress, out) } else { Ok(()) }
}
