//! Help on flags, man pages, and completions for shells: all from the tables of commands and flags.

use std::io::{self, Write};

use barrow_query::commands::{self, COMMANDS, Command, Subject};
use barrow_query::flags::{flag_of, general_flags, question_flags, shown};
use clap::{Arg, ValueHint};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::error::ReplError;
use crate::version::version;

const EXIT_CODES: &str = "\
Exit codes
  0 answered   1 verify found damage, or an assertion is false   2 usage
  3 unreadable   4 answered from damaged input, stderr says what was lost
  5 a resource ceiling   130 stopped
";

/// The flags that every verb knows, with the exit codes.
pub(crate) fn flags() -> String {
    let flags = clap::Command::new("barrow").disable_help_flag(true).args(general_flags());
    let options = flags.help_template("{options}").term_width(80).render_help();
    format!("Flags, anywhere on the command line\n{}\n\n{EXIT_CODES}", options.to_string().trim_end())
}

/// Prints what a command about the program itself asks for.
///
/// # Errors
/// A usage error; it cannot be printed.
pub(crate) fn answer(command: &'static Command, words: &[String]) -> Result<(), ReplError> {
    if let ([_, word, ..], true) = (words, command.name != "serve") {
        return Err(command.refuses(word).into());
    }
    let word = words.first().map(String::as_str);
    let mut text = Vec::new();
    match (command.name, word) {
        ("man", None) => Man::new(program()).render(&mut text)?,
        ("man", Some(verb)) => {
            let page = page(commands::named(verb)?).version(version());
            Man::new(page).render(&mut text)?;
        }
        ("serve", _) => return Err(ReplError::usage("this barrow was built without the feature `serve`")),
        (_, word) => {
            let shell = word.and_then(|word| word.parse::<Shell>().ok());
            let shell = shell.filter(|shell| matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish));
            let shell = shell.ok_or_else(|| ReplError::usage(format!("which shell? `barrow {}`", command.usage())))?;
            clap_complete::generate(shell, &mut program(), "barrow", &mut text);
        }
    }
    io::stdout().write_all(&text)?;
    Ok(())
}

/// The command line as clap knows it: a subcommand for each verb that a shell can ask.
fn program() -> clap::Command {
    let verbs = COMMANDS.iter().filter(|command| command.subject != Subject::Session);
    let flags = general_flags().into_iter().map(|flag| flag.global(true));
    clap::Command::new("barrow")
        .version(version())
        .about("Asks a heap recording questions: what fills the memory, and why it is not freed")
        .override_usage("barrow VERB FILE [ARGS]\n       barrow FILE [-e LINE].. [-f SCRIPT]")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .disable_version_flag(true)
        .args(flags)
        .arg(file(false))
        .subcommands(verbs.map(|command| subcommand(command)))
        .after_help(EXIT_CODES)
}

/// A verb as a command of its own, for its page.
fn page(command: &'static Command) -> clap::Command {
    subcommand(command).name(format!("barrow-{}", command.name)).args(general_flags())
}

/// A verb with its arguments and flags.
fn subcommand(command: &'static Command) -> clap::Command {
    let flags = question_flags().into_iter().filter(|flag| command.flags.contains(&shown(flag).as_str()));
    let is_about_file = matches!(command.subject, Subject::Recording | Subject::Growing);
    let usage = commands::usage_from_shell(command);
    let mut verb = clap::Command::new(command.name)
        .about(command.about)
        .long_about(command.details())
        .override_usage(usage)
        .visible_aliases(command.aliases.iter().copied())
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(flags.map(|flag| with_hint(flag_of(command.name, flag))))
        .after_help(format!("For instance: {}", commands::from_shell(command)));
    if is_about_file {
        verb = verb.arg(file(true));
    }
    if !command.arguments.is_empty() {
        let words = Arg::new("words").value_name("ARGS").num_args(0..).help("The words of the question");
        verb = verb.arg(if is_about_file { words } else { words.value_hint(ValueHint::AnyPath) });
    }
    verb
}

fn file(is_needed: bool) -> Arg {
    let file = Arg::new("file").value_name("FILE").value_hint(ValueHint::FilePath).required(is_needed);
    file.help("A recording, or a dump that can be imported; `-` is the standard input")
}

/// Shells offer files where the value of a flag is one.
fn with_hint(flag: Arg) -> Arg {
    let values = flag.get_value_names().unwrap_or_default();
    let is_file = values.iter().any(|value| matches!(value.as_str(), "DST" | "FILE" | "OTHER" | "PATH"));
    if is_file { flag.value_hint(ValueHint::FilePath) } else { flag }
}
