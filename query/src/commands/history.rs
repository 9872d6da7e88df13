//! `history`: the lines typed so far.

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "[N]",
    example: "history 20",
    subject: Subject::Session,
    touches: Touches::NOTHING,
    ..Command::new("history", include_str!("../../verbs/history.md"), Group::Session, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let lines = &ask.history;
    let [word] = COMMAND.words(&ask.arguments)?;
    let shown = word.map_or(Ok(lines.len()), |word| word.parse().map_err(|_| COMMAND.refuses(&word)))?;
    let first = lines.len().saturating_sub(shown);
    let table = table!("rows", lines.iter().enumerate().skip(first), |(at, line)| {
        Column::number("number").called("#") => at + 1,
        Column::text("line") => line.as_str(),
    });
    Ok(Reply::aside(Answer::default().table(table)))
}
