//! `history`: the lines typed so far.

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "history",
    aliases: &[],
    group: Group::Session,
    arguments: "[N]",
    about: "The lines typed so far",
    details: "The last N of them (default: all). They are kept in `$XDG_STATE_HOME/barrow/history`.",
    example: "history 20",
    flags: &[],
    subject: Subject::Session,
    touches: Touches::NOTHING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let lines = &ask.history;
    let shown = match &ask.arguments.words()[..] {
        [] => lines.len(),
        [word] => word.parse().map_err(|_| COMMAND.refuses(word))?,
        [_, word, ..] => return Err(COMMAND.refuses(word)),
    };
    let first = lines.len().saturating_sub(shown);
    let rows = lines.iter().enumerate().skip(first);
    let rows = rows.map(|(at, line)| vec![Value::from(at + 1), Value::text(line)]).collect();
    let columns = vec![Column::new("number", "#", Unit::Number), Column::new("line", "line", Unit::Text)];
    Ok(Reply::aside(Answer::default().table(Table { key: "rows", audience: Audience::Everyone, columns, rows })))
}
