//! `let`: gives objects a name.

use std::sync::Arc;

use barrow_processes::Selection;

use crate::arguments::Arguments;
use crate::language::asked::{self, Asked};
use crate::session::sets::{Named, Sets};
use crate::tables::found;

use super::{count, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "[$NAME = [KIND] [EXPR]]",
    example: "let $large = objects size > 1K",
    flags: &["--classes"],
    subject: Subject::Session,
    touches: Touches::RECORDING.with(Touches::SESSION),
    completion: Completion::Expressions,
    ..Command::new("let", include_str!("../../verbs/let.md"), Group::Objects, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let text = ask.arguments.expression(0);
    if text.is_empty() {
        return Ok(Reply::aside(list(ask)));
    }
    let (name, rest) = definition(&text)?;
    let answer = Answer::default().fact(Column::text("set"), format!("${name}"));
    let flags = &ask.arguments.flags;
    let mut arguments = Arguments::of_text(rest)?;
    arguments.flags = flags.clone();
    if arguments.words().is_empty() {
        return Err(undefined(name));
    }
    let (snapshot, kinds, expression) = match asked::asked(ask, &arguments, 0)? {
        Asked::Objects(snapshot, kinds, expression) => (snapshot, kinds, expression),
        Asked::Processes(expression) => {
            let (tree, images) = asked::select(ask, &expression, flags)?;
            let answer = count::with_selection(answer, &tree, &Selection::of(&tree, &images));
            let answer = asked::notes(ask, &expression, flags)?.on(answer);
            return Ok(Reply::aside(answer).with_last_images(Arc::clone(&images)).naming(name, Named::Images(images)));
        }
    };
    let (set, counted) = found::select(ask, snapshot, &kinds, &expression)?;
    let wanted = found::Wanted { snapshot, kinds: &kinds, expression: &expression };
    let answer = found::with_exactness(count::with_totals(answer, snapshot, counted), ask, wanted)?;
    Ok(Reply::aside(answer).with_last(Arc::clone(&set)).naming(name, Named::Objects(set)))
}

/// Divides `$name = …`.
fn definition(text: &str) -> Result<(&str, &str), QueryError> {
    let (before, rest) = text.split_once('=').unwrap_or((text, ""));
    let word = before.trim();
    let name = word.strip_prefix('$').filter(|name| Sets::can_be_named(name));
    match name {
        Some(name) if text.len() > before.len() => Ok((name, rest.trim())),
        Some(name) => Err(undefined(name)),
        None if word == "$_" => Err(QueryError::usage("`$_` is always the last result; choose another name")),
        None => Err(QueryError::usage(format!(
            "`{word}` cannot be the name of a set; names are `$` and letters, digits or `_`: `{}`",
            COMMAND.example
        ))),
    }
}

fn undefined(name: &str) -> QueryError {
    QueryError::usage(format!("what is ${name}? `let ${name} = objects size > 1K`"))
}

fn list(state: &State) -> Answer {
    let has_processes = state.sets.iter().any(|(_, set)| matches!(set, Named::Images(_)));
    let table = table!("sets", state.sets.iter(), |(name, set)| {
        let (objects, images) = match set {
            Named::Objects(set) => (Some(set), None),
            Named::Images(set) => (None, Some(set.len())),
        };
        Column::text("set") => format!("${name}"),
        Column::number("snapshot") => objects.map(|set| set.snapshot().0),
        Column::count("objects") => objects.map(|set| set.len()),
        ..has_processes.then(|| Column::count("images").called("programs")) => has_processes.then_some(images),
    });
    let is_empty = table.rows.is_empty();
    let note = format!("no set has a name; `{}` gives one", COMMAND.example);
    Answer::default().table(table).exact().note_if(is_empty, note)
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
