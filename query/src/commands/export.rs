//! `export`: the process tree as a file for other programs.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use barrow_processes::{Classes, ImageId, ProcessTree};

use crate::answer::{Answer, Column, Value, csv, json};
use crate::ask::Ask;
use crate::ask::PIECE_ROWS;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::exports::trace::Trace;
use crate::exports::{chrome, perfetto, trial_values};
use crate::flags::{ExportFormat, QuestionFlags};
use crate::session::state::State;
use crate::sources::destination::{Access, Destination};
use crate::tables::process_rows::Rows;
use crate::tables::trials::overview;
use crate::tables::trials::presentation::Presentation;
use crate::tables::unit_labels::UnitLabels;
use crate::touches::Touches;

use super::trials::failed_note;
use super::{Command, Group};

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
    if recording.has_measurements() && !recording.has_processes() {
        return of_trials(ask, flags, format).map(Reply::aside);
    }
    let (tree, classes) = (ask.process_tree()?, ask.classes_in(flags, None)?);
    let units = ask.unit_labels(flags)?;
    let place = place(ask, flags, format);
    let sources = tree.recording().path();
    let part = Destination::new(Some(&place), flags.force, sources.as_slice())?.begin(Access::Usual)?;
    let check = || ask.context.check().map_err(|_| io::Error::from(io::ErrorKind::Interrupted));
    let trace = Trace { tree: &tree, schema: classes.first(), check: &check };
    let mut out = BufWriter::new(part.file()?);
    let written = match format {
        ExportFormat::Chrome => chrome::write(&trace, &mut out),
        ExportFormat::Perfetto => perfetto::write(&trace, &mut out),
        ExportFormat::Markdown | ExportFormat::Asciidoc | ExportFormat::Orgmode => {
            return Err(QueryError::usage("`--to markdown`, asciidoc and orgmode are for trials"));
        }
        ExportFormat::Csv | ExportFormat::Json => rows(ask, &tree, (&classes, &units), format, &mut out),
    };
    // A watcher that stops the question stops the writing.
    ask.context.check()?;
    written.and_then(|()| out.flush()).map_err(|error| QueryError::file(&place, error))?;
    let length = part.file()?.metadata().map_err(|error| QueryError::file(&place, error))?.len();
    let name = part.commit()?;
    let answer = Answer::default()
        .fact(Column::text("written"), name)
        .fact(Column::bytes("length_bytes"), length)
        .fact(Column::count("processes"), tree.processes().len())
        .exact();
    Ok(Reply::aside(answer))
}

/// Writes trials.
fn of_trials(state: &State, flags: &QuestionFlags, format: ExportFormat) -> Result<Answer, QueryError> {
    if matches!(format, ExportFormat::Chrome | ExportFormat::Perfetto) {
        return Err(QueryError::usage("trials are exported `--to csv`, json, markdown, asciidoc or orgmode"));
    }
    let trials = state.trials()?;
    if format != ExportFormat::Csv {
        overview::require(&state.context, &trials, &trials.metric_ids().collect::<Vec<_>>())?;
    }
    let presentation = Presentation::of(&trials, &flags.trial)?;
    let place = place(state, flags, format);
    let recording = state.recording()?;
    let part = Destination::new(Some(&place), flags.force, recording.path().as_slice())?.begin(Access::Usual)?;
    let check = || state.context.check().map_err(|_| io::Error::from(io::ErrorKind::Interrupted));
    let mut out = BufWriter::new(part.file()?);
    let source = json::Source { file: state.file().map(|file| file.name.as_str()), damage: None };
    let written = trial_values::write((&*trials, &presentation), format, source, &check, &mut out);
    state.context.check()?;
    written.and_then(|()| out.flush()).map_err(|error| QueryError::file(&place, error))?;
    let length = part.file()?.metadata().map_err(|error| QueryError::file(&place, error))?.len();
    let name = part.commit()?;
    let mut answer = Answer::default().fact(Column::text("written"), name).fact(Column::bytes("length_bytes"), length);
    answer.notes.extend(failed_note(&trials));
    Ok(answer.exact())
}

/// The file to write.
fn place(state: &State, flags: &QuestionFlags, format: ExportFormat) -> PathBuf {
    flags.output.clone().unwrap_or_else(|| usual_place(state, format))
}

/// Beside the recording, or in the working directory if that is the standard input.
fn usual_place(state: &State, format: ExportFormat) -> PathBuf {
    let name = state.file().map_or("processes", |file| file.name.as_str());
    let name = if name == crate::STDIN { "processes" } else { name };
    PathBuf::from(name).with_extension(match format {
        ExportFormat::Chrome => "trace.json",
        ExportFormat::Perfetto => "perfetto-trace",
        ExportFormat::Csv => "csv",
        ExportFormat::Json => "json",
        ExportFormat::Markdown => "md",
        ExportFormat::Asciidoc => "adoc",
        ExportFormat::Orgmode => "org",
    })
}

/// The rows of `processes`, some at a time.
fn rows(
    state: &State,
    tree: &ProcessTree,
    (classes, units): (&Classes, &UnitLabels),
    format: ExportFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let check = || Ok(());
    let mut progress = json::Progress::default();
    let ids: Vec<ImageId> = (0..).map(ImageId).take(tree.images().len()).collect();
    let source = json::Source { file: state.file().map(|file| file.name.as_str()), damage: None };
    let rows = Rows { tree, classes, units, by: None };
    // There is a first piece even of nothing.
    let none = ids.is_empty().then_some(&ids[..]);
    for (number, piece) in none.into_iter().chain(ids.chunks(PIECE_ROWS)).enumerate() {
        let table = rows.table(&state.context, piece, |_| Value::None).map_err(io::Error::other)?;
        let answer = Answer::default().table(table).exact();
        match (format, number) {
            (ExportFormat::Csv, 0) => csv::begin(&answer, &check, out)?,
            (ExportFormat::Csv, _) => csv::go_on(&answer, &check, out)?,
            (_, 0) => json::begin(&answer, &mut progress, source, &check, out)?,
            (_, _) => json::go_on(&answer, &mut progress, &check, out)?,
        }
    }
    if format == ExportFormat::Json { json::end(&progress, out) } else { Ok(()) }
}
