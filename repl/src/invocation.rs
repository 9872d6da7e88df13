//! Reads a command line: one question, lines to run, or the prompt.

use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use barrow_query::commands::{self, Command, Subject};
use barrow_query::error::code;
use barrow_query::{Flags, QueryError, Question, STDIN};

use crate::asking::Terminal;
use crate::error::{ReplError, report};
use crate::lines::{lines_of, run_lines};
#[cfg(feature = "serve")]
use crate::serving;
use crate::version::version;
use crate::{interrupt, manual, prompt, reporting, watching};
#[cfg(target_os = "linux")]
use crate::{measuring, recording};

/// The text for `barrow` alone.
const SHORT_HELP: &str = "\
barrow VERB FILE [ARGS]     one answer, like: barrow summary FILE all
barrow FILE                 the prompt
barrow FILE -e 'LINE'       a line as typed at the prompt; -f SCRIPT for many
barrow help                 how to begin
barrow help all             every verb
barrow --help               that and the flags
";

/// The task of a command line.
enum Invocation<'a> {
    /// Print what can be asked.
    Help,
    /// Explain one command.
    HelpOn(&'static Command),
    /// Ask one question, with the words after the verb.
    Ask(&'static Command, &'a [String]),
    /// Run lines, or open the prompt, with this file.
    Open(&'a str),
}

/// Does what `words` say. Returns the exit code.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    #[cfg(target_os = "linux")]
    outlive_file_limit();
    #[cfg(target_os = "linux")]
    let (words, command) = recording::cut_command(words.into_iter().collect());
    #[cfg(target_os = "linux")]
    let code_of = recording::code_of_failures(&words);
    #[cfg(not(target_os = "linux"))]
    let (command, code_of) = (Vec::new(), ReplError::code);
    let answered = Flags::of_command_line(words).map_err(ReplError::from).and_then(|flags| {
        if flags.session.version {
            writeln!(io::stdout(), "barrow {}", version())?;
            return Ok(code::ANSWERED);
        }
        if flags.words.is_empty() && !flags.help {
            let _ = write!(io::stderr(), "{SHORT_HELP}");
            return Ok(code::USAGE);
        }
        dispatch(&flags, &command)
    });
    answered.unwrap_or_else(|error| {
        report(&error);
        code_of(&error)
    })
}

fn dispatch(flags: &Flags, recorded: &[OsString]) -> Result<u8, ReplError> {
    match resolve(flags)? {
        Invocation::Help => {
            write!(io::stdout(), "{SHORT_HELP}\n{}\n\n{}", commands::overview(), manual::flags())?;
            Ok(code::ANSWERED)
        }
        Invocation::HelpOn(command) => {
            writeln!(io::stdout(), "{}", commands::page(command))?;
            Ok(code::ANSWERED)
        }
        Invocation::Ask(command, words) => ask_once(flags, command, words, recorded),
        Invocation::Open(file) => {
            let mut terminal = Terminal::new(flags)?;
            interrupt::listen();
            let has_prompt = !has_lines(flags) && io::stdin().is_terminal();
            match has_prompt {
                true => terminal.session.open_soon(file)?,
                false => terminal.open(file)?,
            }
            terminal.session.set_paged(true);
            converse(&mut terminal, flags)
        }
    }
}

/// A verb of that name, else a file of that name, else the beginning of a verb.
fn resolve(flags: &Flags) -> Result<Invocation<'_>, ReplError> {
    let Some((first, rest)) = flags.words.split_first() else { return Ok(Invocation::Help) };
    let lines = !flags.session.lines.is_empty() || flags.session.script.is_some();
    let command = match commands::exactly(first) {
        // `watch` runs lines itself.
        Some(command) if !lines || command.subject == Subject::Growing => command,
        _ if lines || first == STDIN || Path::new(first).exists() => return file(first, rest),
        _ => match commands::named(first) {
            Ok(command) => command,
            // A word with a dot or a slash was meant to be a file.
            Err(_) if first.contains(['.', '/']) => return file(first, rest),
            Err(error) => return Err(QueryError::usage(format!("{error} (nor is there a file of that name)")).into()),
        },
    };
    Ok(if flags.help { Invocation::HelpOn(command) } else { Invocation::Ask(command, rest) })
}

fn file<'a>(name: &'a str, rest: &[String]) -> Result<Invocation<'a>, ReplError> {
    match rest.first() {
        None => Ok(Invocation::Open(name)),
        Some(word) => Err(ReplError::usage(format!(
            "`{word}` after the file; a question is `barrow VERB {name}`, a line of the prompt `barrow {name} -e 'LINE'`"
        ))),
    }
}

fn ask_once(
    flags: &Flags,
    command: &'static Command,
    words: &[String],
    recorded: &[OsString],
) -> Result<u8, ReplError> {
    match command.subject {
        Subject::Growing => return watching::run(flags, command, words),
        #[cfg(feature = "serve")]
        Subject::Program if command.name == "serve" => return serving::run(flags, command, words),
        #[cfg(target_os = "linux")]
        Subject::Program if command.name == "record" => return recording::run(flags, command, words, recorded),
        #[cfg(target_os = "linux")]
        Subject::Program if command.name == "trial" => return measuring::run(flags, command, words, recorded),
        #[cfg(not(target_os = "linux"))]
        Subject::Program if ["record", "trial"].contains(&command.name) => {
            let _ = recorded;
            return Err(ReplError::usage(format!("`{}` needs Linux", command.name)));
        }
        Subject::Program if command.name == "report" => return reporting::run(flags, command, words),
        Subject::Program => {
            manual::answer(command, words)?;
            return Ok(code::ANSWERED);
        }
        _ => {}
    }
    let mut terminal = Terminal::new(flags)?;
    let question = match (command.subject, words.split_first()) {
        (Subject::Session, _) => {
            return Err(ReplError::usage(format!("{} only means something at the prompt: barrow FILE", command.name)));
        }
        (Subject::Nothing | Subject::Growing | Subject::Program, _) => {
            interrupt::listen();
            Question::of_words(command, words, false, flags)
        }
        (Subject::Recording, None) => {
            let arguments = format!("FILE {}", command.arguments);
            return Err(ReplError::usage(format!("which file? `barrow {} {}`", command.name, arguments.trim_end())));
        }
        (Subject::Recording, Some((file, rest))) => {
            interrupt::listen();
            let question = Question::of_words(command, rest, false, flags);
            terminal.open_for(file, &question)?;
            question
        }
    };
    terminal.ask(&question)
}

/// Returns whether the lines to run are given.
fn has_lines(flags: &Flags) -> bool {
    !flags.session.lines.is_empty() || flags.session.script.is_some()
}

fn converse(terminal: &mut Terminal, flags: &Flags) -> Result<u8, ReplError> {
    if has_lines(flags) {
        return Ok(run_lines(terminal, lines_of(flags)?.into_iter()));
    }
    if io::stdin().is_terminal() {
        return prompt::run(terminal);
    }
    Ok(run_lines(terminal, io::stdin().lock().lines().map_while(Result::ok)))
}

/// Beyond the largest size of a file (`ulimit -f`), writing fails instead of ending this program. A handler does what
/// ignoring the signal would, but the programs that are started do not inherit it. They inherit what was ignored before.
#[cfg(target_os = "linux")]
fn outlive_file_limit() {
    use signal_hook::consts::SIGXFSZ;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    if ignored.is_none_or(|ignored| ignored & 1 << (SIGXFSZ - 1) == 0) {
        // Without a handler the program ends as before.
        let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    }
}
