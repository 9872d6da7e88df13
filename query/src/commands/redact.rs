//! `redact`: the recording anew, with other texts, names and numbers.

use barrow_analyzer::TextPattern;
use barrow_rewrite::{Key, RedactOptions, Redacted};

use crate::flags::QuestionFlags;
use crate::sources::destination::Destination;

use super::prelude::*;

/// Words that `--keep` takes instead of a pattern.
const NAMES: &str = "names";
const NUMBERS: &str = "numbers";
/// The largest file of a key, in bytes: keys have a few dozen, and a larger file is one that was named by mistake.
const MOST_KEY_BYTES: u64 = 1 << 20;

pub(super) const COMMAND: Command = Command {
    arguments: "-o DST [--keep names|numbers|PATTERN]... [--key-file FILE] [--force]",
    example: "redact -o shared.barrow --keep 'java.*'",
    flags: &["-o", "--keep", "--key-file", "--force"],
    touches: Touches::RECORDING.with(Touches::WRITES_FILES),
    ..Command::new("redact", include_str!("../../verbs/redact.md"), Group::File, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let recording = ask.recording()?;
    let flags = &ask.arguments.flags;
    let sources: Vec<&std::path::Path> = recording.path().into_iter().chain(flags.key_file.as_deref()).collect();
    let destination = Destination::new(flags.output.as_deref(), flags.force, &sources)?;
    // It replaces the destination itself, when the new file is complete.
    let redacted = barrow_rewrite::redact(&recording, destination.path(), &options(flags)?, &ask.meter())?;
    let mut answer = Answer::default()
        .fact(Column::text("written"), destination.shown())
        .fact(Column::bytes("length_bytes"), redacted.bytes)
        .fact(Column::bytes("before_bytes"), recording.length_bytes())
        .table(table(&redacted));
    if let Some(damage) = recording.damage() {
        answer = answer.note(format!("only the complete snapshots were written: {damage}"));
    }
    if redacted.strings.unnamed > 0 {
        let strings = units::counted(redacted.strings.unnamed, "string");
        answer = answer.note(format!("emptied: {strings} that nothing names"));
    }
    if redacted.left_out_bytes > 0 {
        let bytes = units::size(redacted.left_out_bytes);
        answer = answer.note(format!("left out: {bytes} that this version does not know or that no snapshot needs"));
    }
    let key = match &flags.key_file {
        Some(path) => format!("the key is that of {}: files redacted with it can be compared", path.display()),
        None => "the key was random and is forgotten: no other redacted file can be compared with this one".to_owned(),
    };
    if let Some(first) = redacted.problems.first() {
        let problems = units::counted(redacted.problems.len() as u64, "problem");
        answer.lost = Some(format!(
            "the recording was damaged or changed before: {problems}, the first at byte {}: {}; the redacted one has new \
             checksums, so `verify` no longer finds that; its fact `redacted although damaged` says it",
            first.offset, first.message
        ));
    }
    Ok(Reply::aside(
        answer
            .note(key)
            .note("sizes, counts, times, addresses and references are as recorded; `audit` lists what else is"),
    ))
}

fn options(flags: &QuestionFlags) -> Result<RedactOptions, QueryError> {
    let mut options =
        RedactOptions { key: flags.key_file.as_deref().map(key).transpose()?, ..RedactOptions::default() };
    for kept in &flags.keep {
        match kept.as_str() {
            NAMES => options.keep_names = true,
            NUMBERS => options.keep_numbers = true,
            "" => return Err(QueryError::usage("`--keep` needs names, numbers or a pattern of names")),
            pattern => {
                let parsed = TextPattern::parse(pattern)
                    .map_err(|error| QueryError::usage(format!("`--keep {pattern}`: {error}")))?;
                options.keep_matching.push((pattern.to_owned(), parsed));
            }
        }
    }
    Ok(options)
}

fn key(path: &std::path::Path) -> Result<Key, QueryError> {
    use std::io::Read;
    let io = |source| QueryError::file(path, source);
    let mut secret = Vec::new();
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(MOST_KEY_BYTES + 1).read_to_end(&mut secret).map_err(io)?;
    if secret.len() as u64 > MOST_KEY_BYTES {
        return Err(QueryError::usage(format!("{} is too large for a key: at most 1 MiB", path.display())));
    }
    Key::of_secret(&secret).ok_or_else(|| {
        let shown = path.display();
        QueryError::usage(format!(
            "{shown} has fewer than 16 bytes, so its key could be guessed; `head -c 32 /dev/urandom > FILE` makes one"
        ))
    })
}

/// Numbers of texts, names and values that were replaced or kept.
fn table(redacted: &Redacted) -> Table {
    let Redacted { strings, values, kept_values, .. } = *redacted;
    let rows = [
        ("texts", strings.texts, 0),
        ("names", strings.names, strings.kept),
        ("values of fields", values, kept_values),
    ];
    table!("rows", rows, |(what, replaced, kept)| {
        Column::text("what") => what,
        Column::count("replaced") => replaced,
        Column::count("kept") => kept,
    })
}
