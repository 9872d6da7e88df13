//! `set`: how answers are made and printed.

use clap::ValueEnum;

use crate::context::Settings;
use crate::flags::Format;

use super::prelude::*;

/// The settings.
pub const KEYS: [&str; 3] = ["format", "threads", "rows"];

pub(super) const COMMAND: Command = Command {
    arguments: "[format table|json|csv | threads N | rows N]",
    example: "set format csv",
    subject: Subject::Session,
    touches: Touches::SESSION,
    completion: Completion::Settings,
    ..Command::new("set", include_str!("../../verbs/set.md"), Group::Session, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let mut settings = ask.context.settings.clone();
    let mut change = None;
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["format", name] => {
            settings.format = Format::from_str(name, true)
                .map_err(|_| QueryError::usage(format!("there is no format `{name}`; try table, json or csv")))?;
            change = Some(Change::Format(settings.format));
        }
        ["threads", number] => ask.context.workspace.set_threads(count("threads", number)?)?,
        ["rows", number] => {
            settings.rows = count("rows", number)?;
            change = Some(Change::Rows(settings.rows));
        }
        [key, ..] => {
            let keys = KEYS.join(", ");
            return Err(QueryError::usage(format!(
                "`{key}` cannot be set like this; the settings are {keys}: {}",
                COMMAND.example
            )));
        }
    }
    let reply = Reply::aside(described(&settings, ask));
    Ok(change.into_iter().fold(reply, Reply::changing))
}

fn count(key: &str, text: &str) -> Result<usize, QueryError> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| QueryError::usage(format!("`{text}` is no number of {key}; try `set {key} 4`")))
}

fn described(settings: &Settings, state: &State) -> Answer {
    let format = settings.format.to_possible_value().map(|value| value.get_name().to_owned());
    let threads = state.context.workspace.threads();
    let threads = threads.map_or("one per core".to_owned(), |threads| threads.to_string());
    Answer::default()
        .fact(Column::text("format").own_words(), format)
        .fact(Column::text("threads").own_words(), threads)
        .fact(Column::number("rows"), settings.rows)
}
