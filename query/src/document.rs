//! `docs/commands.md`, from the table of commands.

use std::fmt::Write;

use crate::commands::{COMMANDS, Command, Group, Subject, expressions, from_shell};

/// Lines of the document are at most this long.
const WIDTH: usize = 120;

/// The text before the commands.
const HEAD: &str = include_str!("document/head.md");
/// The conventions and exit codes after them.
const TAIL: &str = include_str!("document/tail.md");

/// The text of `docs/commands.md`.
#[must_use]
pub fn document() -> String {
    let mut text = HEAD.to_owned();
    for group in Group::ALL {
        let _ = writeln!(text, "## {}\n", group.title());
        for command in COMMANDS.iter().filter(|command| command.group == group) {
            section(&mut text, command);
        }
    }
    let _ = writeln!(text, "## Expressions\n\n```text\n{}\n```\n", expressions());
    text + TAIL
}

fn section(text: &mut String, command: &Command) {
    let _ = writeln!(text, "### `{}`\n", command.usage());
    let description = format!("{}. {}", command.about, command.details());
    let _ = writeln!(text, "{}\n", textwrap::fill(&description, WIDTH));
    if !command.aliases.is_empty() {
        let aliases = command.aliases.iter().map(|alias| format!("`{alias}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "Also called {aliases}.\n");
    }
    let _ = match command.subject {
        Subject::Session => writeln!(text, "```text\n{}\n```\n", command.example),
        Subject::Growing => writeln!(text, "```text\n{}\n```\n", from_shell(command)),
        _ => writeln!(text, "```text\n{}\n{}\n```\n", command.example, from_shell(command)),
    };
}
