//! `let`: gives objects a name.

use std::sync::Arc;

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::Session;
use crate::session::sets::Sets;
use crate::tables::found;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, count};

pub(super) const COMMAND: Command = Command {
    name: "let",
    aliases: &[],
    group: Group::Objects,
    arguments: "[$NAME = [KIND] [EXPR]]",
    about: "Names the objects that match an expression; alone, lists the names",
    details: "Later expressions can use the name, as `$NAME`, in the snapshot of these objects. `$_` is the last \
              result: the rows that `find` listed, or all objects that `count` counted or `let` named.",
    example: "let $large = objects size > 1K",
    flags: &[],
    subject: Subject::Session,
    touches: Touches::RECORDING.with(Touches::SESSION),
    asks_for_totals: None,
    completion: Completion::Expressions,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let text = arguments.expression(0);
    if text.is_empty() {
        return Ok(list(session));
    }
    let (name, rest) = definition(&text)?;
    let snapshot = session.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression(session, snapshot, &Arguments::of_text(rest)?, 0)?;
    let (set, counted) = found::select(session, snapshot, &kinds, &expression)?;
    session.sets.name(name, Arc::clone(&set));
    let answer = Answer::default().fact(Column::new("set", "set", Unit::Text), format!("${name}"));
    found::with_exactness(count::with_totals(answer, snapshot, counted), session, snapshot, &expression)
}

/// Divides `$name = …`.
fn definition(text: &str) -> Result<(&str, &str), QueryError> {
    let (before, rest) = text.split_once('=').unwrap_or((text, ""));
    let word = before.trim();
    let name = word.strip_prefix('$').filter(|name| Sets::can_be_named(name));
    match name {
        Some(name) if text.len() > before.len() => Ok((name, rest.trim())),
        Some(name) => Err(QueryError::usage(format!("what is ${name}? `let ${name} = objects size > 1K`"))),
        None if word == "$_" => Err(QueryError::usage("`$_` is always the last result; choose another name")),
        None => Err(QueryError::usage(format!(
            "`{word}` cannot be the name of a set; names are `$` and letters, digits or `_`: `{}`",
            COMMAND.example
        ))),
    }
}

fn list(session: &Session) -> Answer {
    let columns = vec![
        Column::new("set", "set", Unit::Text),
        Column::new("snapshot", "snapshot", Unit::Number),
        Column::new("objects", "objects", Unit::Count),
    ];
    let rows: Vec<Vec<Value>> = session
        .sets
        .iter()
        .map(|(name, set)| vec![Value::Text(format!("${name}")), set.snapshot().0.into(), set.len().into()])
        .collect();
    let is_empty = rows.is_empty();
    let answer = Answer::default().table(Table { key: "sets", audience: Audience::Everyone, columns, rows }).exact();
    if is_empty { answer.note(format!("no set has a name; `{}` gives one", COMMAND.example)) } else { answer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_a_name_and_an_expression() {
        assert_eq!(definition("$a = objects size >= 5").unwrap(), ("a", "objects size >= 5"));
        assert_eq!(definition("$größe2=type=\"b\"").unwrap(), ("größe2", "type=\"b\""));
        for (text, told) in [
            ("$a", "what is $a?"),
            ("$_ = all", "always the last result"),
            ("a = all", "`a` cannot be the name"),
            ("$ = all", "`$` cannot be the name"),
            ("$a b = all", "`$a b` cannot be the name"),
            ("= all", "`` cannot be the name"),
        ] {
            let error = definition(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
