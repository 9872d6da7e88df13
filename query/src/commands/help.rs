//! `help`: what can be asked, from the table of commands.

use std::fmt::Write;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::flags::{question_flags, shown};

use super::{COMMANDS, Command, Completion, Content, Group, Subject, named};

mod questions;

pub(super) const COMMAND: Command = Command {
    arguments: "[VERB | all | expressions]",
    example: "help top",
    subject: Subject::Nothing,
    touches: crate::touches::Touches::NOTHING,
    completion: Completion::Verbs,
    ..Command::new("help", include_str!("../../verbs/help.md"), Group::Session, run)
};

/// Help is as wide as a narrow terminal.
const WIDTH: usize = 80;

/// Between the attributes of objects and those of processes.
const OF_PROCESSES: &str = "
In a recording of processes it is compared with every program that a process
executed. Times have a unit: 200ms, 1.5s, 10min. What a program used does not
include its children; `total.` does.

";

/// After the attributes, in `help expressions`.
const OPERATORS: &str = include_str!("../../verbs/expressions.txt");

/// Explains the expressions that `find`, `count` and `let` take.
#[must_use]
pub fn expressions() -> String {
    let mut text = "An expression is compared with every object of the kind.\n\n".to_owned();
    for attribute in &barrow_analyzer::ATTRIBUTES {
        text += &explained(attribute.words, attribute.document);
    }
    text += OF_PROCESSES;
    for attribute in &barrow_processes::ATTRIBUTES {
        text += &explained(&attribute.words().collect::<Vec<_>>(), attribute.document());
    }
    text + "\n" + OPERATORS.trim_end()
}

/// The usual word of an attribute, its meaning, and its other words.
fn explained(words: &[&str], meaning: &str) -> String {
    let [word, aliases @ ..] = words else { return String::new() };
    let also = if aliases.is_empty() { String::new() } else { format!(" (also: {})", aliases.join(", ")) };
    wrapped(&format!("  {word:22}  {meaning}{also}"), 26) + "\n"
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let [word] = COMMAND.words(&ask.arguments)?;
    let recording = ask.recording().ok();
    // Of a recording that is not known everything can be asked.
    let held = recording.as_ref().map(|recording| Content::of(recording)).unwrap_or_default();
    let text = match (word.as_deref(), recording) {
        (None, Some(recording)) => questions::about(&held, recording.snapshot_count()),
        (None, None) => questions::samples(),
        (Some("all"), _) => overview_of(&held),
        (Some(word), _) if word.len() > 3 && "expressions".starts_with(word) => expressions(),
        (Some(word), _) => page(named(word)?),
    };
    Ok(Reply::aside(Answer::text(text)))
}

/// Returns whether a recording with these contents answers a command.
fn answers(held: &[Content], command: &Command) -> bool {
    let needs = command.needs();
    held.is_empty() || needs.is_empty() || needs.iter().any(|content| held.contains(content))
}

/// Every command in a line, group by group.
#[must_use]
pub fn overview() -> String {
    overview_of(&[])
}

fn overview_of(held: &[Content]) -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let commands = COMMANDS.iter().filter(|command| command.group == group && answers(held, command));
        let commands: Vec<_> = commands.collect();
        if commands.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}", group.title());
        for command in commands {
            let names = command.names().collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "{}", wrapped(&format!("  {names:18}  {}", command.about), 22));
        }
        text.push('\n');
    }
    let all = [Content::Heap, Content::Processes, Content::Trials];
    let (has, lacks): (Vec<_>, Vec<_>) = all.into_iter().partition(|content| held.contains(content));
    if !has.is_empty() && !lacks.is_empty() {
        let has = has.into_iter().map(Content::name).collect::<Vec<_>>().join(" and ");
        let lacks = lacks.into_iter().map(Content::name).collect::<Vec<_>>().join(" and no ");
        let _ = writeln!(text, "This recording holds {has} and no {lacks}: what asks about these is left out.");
    }
    text.push_str("`help VERB` says more, `help expressions` what `find`, `count` and `let` take.\n");
    text.push_str("A verb can be shortened. `> file` and `| command` send the answer elsewhere.");
    text
}

/// Everything about one command.
#[must_use]
pub fn page(command: &Command) -> String {
    let mut text = format!("{}\n\n{}.\n{}\n", command.usage(), command.about, wrapped(&command.details(), 0));
    for line in flags(command) {
        let _ = write!(text, "\n{line}");
    }
    if !command.aliases.is_empty() {
        let _ = write!(text, "\nalso called   {}", command.aliases.join(", "));
    }
    if command.subject != Subject::Growing {
        let _ = write!(text, "\nfor instance  {}", command.example);
    }
    if command.subject != Subject::Session {
        let _ = write!(text, "\nfrom a shell  {}", from_shell(command));
    }
    text
}

/// A line for each flag of a command.
fn flags(command: &Command) -> Vec<String> {
    let mut named: Vec<(String, String)> = Vec::new();
    for flag in question_flags().iter().filter(|flag| command.flags.contains(&shown(flag).as_str())) {
        let value = flag.get_value_names().filter(|_| flag.get_action().takes_values());
        let value = value.unwrap_or_default().iter().map(|name| format!(" {name}")).collect::<String>();
        named.push((shown(flag) + &value, flag.get_help().map(ToString::to_string).unwrap_or_default()));
    }
    let width = named.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = named.iter().map(|(name, help)| wrapped(&format!("  {name:width$}  {help}"), width + 4));
    let blank = (!named.is_empty()).then(String::new);
    lines.chain(blank).collect()
}

/// The form of a command in a shell: `barrow top FILE [N]`.
#[must_use]
pub fn usage_from_shell(command: &Command) -> String {
    format!("{} {}", program(command), command.arguments).trim_end().to_owned()
}

/// The words before the arguments of a command in a shell.
fn program(command: &Command) -> String {
    let file = if matches!(command.subject, Subject::Recording | Subject::Growing) { " FILE" } else { "" };
    format!("barrow {}{file}", command.name)
}

/// The example of a command as a shell takes it.
#[must_use]
pub fn from_shell(command: &Command) -> String {
    let rest = command.example.strip_prefix(command.name).unwrap_or_default();
    let kind = rest.find(" objects ").filter(|_| command.completion == Completion::Expressions);
    let named = rest.find(" type ~ ").or_else(|| rest.find(" type = "));
    let Some(start) = kind.map(|at| at + " objects ".len()).or(named.map(|at| at + 1)) else {
        return format!("{}{rest}", program(command));
    };
    let (before, rest) = rest.split_at(start);
    let end = rest.find(" of ").or_else(|| rest.find(" by ")).unwrap_or(rest.len());
    let (expression, after) = rest.split_at(end);
    // Quotes keep a shell from expanding or redirecting.
    format!("{}{before}'{expression}'{after}", program(command))
}

/// In lines of at most [`WIDTH`] characters, all but the first after `indent` blanks.
fn wrapped(text: &str, indent: usize) -> String {
    let indent = " ".repeat(indent);
    textwrap::fill(text, textwrap::Options::new(WIDTH).subsequent_indent(&indent))
}
