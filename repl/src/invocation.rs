//! What a command line asks for: one question, lines to run, or the prompt.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use crate::args::Flags;
use crate::asking::{Question, ask, ask_line, complain};
use crate::commands::{self, Command, Subject};
use crate::error::{ReplError, code};
use crate::line::Sink;
use crate::session::{Arguments, OpenFile, Session};
use crate::{counting, interrupt, opening, prompt, spool, visible, watching};

/// What is printed for `barrow` alone.
const SHORT_HELP: &str = "\
barrow VERB FILE [ARGS]     one answer, like: barrow summary FILE all
barrow FILE                 the prompt
barrow FILE -e 'LINE'       a line as typed at the prompt; -f SCRIPT for many
barrow help                 what can be asked
barrow --help               that and the flags
";

/// Behind the verbs, in `--help`.
const FLAGS_HELP: &str = "\
Flags, anywhere on the command line
  --format table|json|csv   how answers are printed
  -s, --snapshot N|last     the snapshot that is asked; the last one unless told
  -e, --line LINE           a line to run as if typed at the prompt; repeatable
  -f, --script SCRIPT       a file of such lines
  --threads N               how many threads may work
  --max-memory SIZE         how much memory may be used, like 512MiB
  --max-unpacked SIZE       how much a compressed dump may unpack to, like 64GiB
  --no-index                nothing is kept in FILE.index, nor read from it
  --no-color                no colours; NO_COLOR does the same
  --quiet                   no progress
  -h, --help                this; behind a verb, about the verb
  --version                 the version

Exit codes
  0 answered   1 verify found damage, or an assertion is false   2 usage
  3 unreadable   4 answered from damaged input, stderr says what was lost
  5 a resource ceiling   130 stopped
";

/// What is to be done.
enum Invocation<'a> {
    /// Print what can be asked.
    Help,
    /// Explain one command.
    HelpOn(&'static Command),
    /// Ask one question; the words behind the verb.
    Ask(&'static Command, &'a [String]),
    /// Run lines, or open the prompt, with this file.
    Open(&'a str),
}

/// Does what `words` say. Returns the exit code.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let answered = Flags::of_command_line(words).and_then(|flags| {
        if flags.words.is_empty() && !flags.help {
            let _ = write!(io::stderr(), "{SHORT_HELP}");
            return Ok(code::USAGE);
        }
        dispatch(&flags)
    });
    answered.unwrap_or_else(|error| {
        report(&error);
        error.code()
    })
}

/// Tells on stderr why there is no answer.
pub(crate) fn report(error: &ReplError) {
    match error {
        ReplError::Version => drop(writeln!(io::stdout(), "{error}")),
        ReplError::Print(cause) if cause.kind() == io::ErrorKind::BrokenPipe => {}
        ReplError::Expression { .. } => drop(writeln!(io::stderr(), "barrow: {}", visible::lines(&error.to_string()))),
        error => complain(&error.to_string()),
    }
}

fn dispatch(flags: &Flags) -> Result<u8, ReplError> {
    match resolve(flags)? {
        Invocation::Help => {
            write!(io::stdout(), "{SHORT_HELP}\n{}\n\n{FLAGS_HELP}", commands::overview())?;
            Ok(code::ANSWERED)
        }
        Invocation::HelpOn(command) => {
            writeln!(io::stdout(), "{}", commands::page(command))?;
            Ok(code::ANSWERED)
        }
        Invocation::Ask(command, words) => ask_once(flags, command, words),
        Invocation::Open(file) => {
            let mut session = Session::new(flags)?;
            interrupt::listen();
            open(&mut session, file)?;
            session.paged = true;
            converse(&mut session, flags)
        }
    }
}

/// A verb of that name, else a file of that name, else the beginning of a verb.
fn resolve(flags: &Flags) -> Result<Invocation<'_>, ReplError> {
    let Some((first, rest)) = flags.words.split_first() else { return Ok(Invocation::Help) };
    let lines = !flags.lines.is_empty() || flags.script.is_some();
    let command = match commands::exactly(first) {
        // `watch` runs lines itself.
        Some(command) if !lines || command.subject == Subject::Growing => command,
        _ if lines || first == spool::STDIN || Path::new(first).exists() => return file(first, rest),
        _ => match commands::named(first) {
            Ok(command) => command,
            // A word with a dot or a slash was meant to be a file.
            Err(_) if first.contains(['.', '/']) => return file(first, rest),
            Err(error) => return Err(ReplError::usage(format!("{error} (nor is there a file of that name)"))),
        },
    };
    Ok(if flags.help { Invocation::HelpOn(command) } else { Invocation::Ask(command, rest) })
}

fn file<'a>(name: &'a str, rest: &[String]) -> Result<Invocation<'a>, ReplError> {
    match rest.first() {
        None => Ok(Invocation::Open(name)),
        Some(word) => Err(ReplError::usage(format!(
            "`{word}` behind the file; a question is `barrow VERB {name}`, a line of the prompt `barrow {name} -e 'LINE'`"
        ))),
    }
}

fn ask_once(flags: &Flags, command: &'static Command, words: &[String]) -> Result<u8, ReplError> {
    if command.subject == Subject::Growing {
        return watching::run(flags, command, words);
    }
    let mut session = Session::new(flags)?;
    let words = match (command.subject, words.split_first()) {
        (Subject::Growing, _) => words,
        (Subject::Session, _) => {
            return Err(ReplError::usage(format!("{} only means something at the prompt: barrow FILE", command.name)));
        }
        (Subject::Nothing, _) => words,
        (Subject::Recording, None) => {
            let arguments = format!("FILE {}", command.arguments);
            return Err(ReplError::usage(format!("which file? `barrow {} {}`", command.name, arguments.trim_end())));
        }
        (Subject::Recording, Some((file, rest))) => {
            interrupt::listen();
            let is_quick =
                flags.snapshot.is_none() && commands::asks_for_totals(command, &Arguments::new(rest, false, flags));
            match is_quick.then(|| counting::open(file, &session.settings)).transpose()?.flatten() {
                Some(counted) => take(&mut session, counted),
                None => open(&mut session, file)?,
            }
            rest
        }
    };
    if command.subject == Subject::Nothing {
        interrupt::listen();
    }
    ask(&mut session, Question { command, words, quoted: false, flags, sink: Sink::Stdout })
}

/// Opens the file and says what it lost.
fn open(session: &mut Session, name: &str) -> Result<(), ReplError> {
    let file = opening::open(name, &session.settings)?;
    take(session, file);
    Ok(())
}

fn take(session: &mut Session, file: OpenFile) {
    if let Some(sentence) = &file.damage {
        complain(&format!("{}: {sentence}", file.name));
    }
    session.open(file);
}

fn converse(session: &mut Session, flags: &Flags) -> Result<u8, ReplError> {
    if !flags.lines.is_empty() || flags.script.is_some() {
        return Ok(run_lines(session, lines_of(flags)?.into_iter()));
    }
    if io::stdin().is_terminal() {
        return prompt::run(session);
    }
    Ok(run_lines(session, io::stdin().lock().lines().map_while(Result::ok)))
}

/// The lines of `-e` and `-f`.
///
/// # Errors
/// A script that cannot be read.
pub(crate) fn lines_of(flags: &Flags) -> Result<Vec<String>, ReplError> {
    let mut lines = flags.lines.clone();
    if let Some(script) = &flags.script {
        let unreadable =
            |error: io::Error| ReplError::Unreadable { path: script.display().to_string(), cause: error.to_string() };
        lines.extend(fs::read_to_string(script).map_err(unreadable)?.lines().map(str::to_owned));
    }
    Ok(lines)
}

/// Runs lines until one is not understood, or stopped by Ctrl-C. The exit code is that of the first that failed, or that of
/// Ctrl-C.
pub(crate) fn run_lines(session: &mut Session, lines: impl Iterator<Item = String>) -> u8 {
    let mut first_failure = code::ANSWERED;
    for line in lines {
        let answered = ask_line(session, &line);
        session.history.push(line);
        let code = answered.as_ref().copied().unwrap_or_else(ReplError::code);
        if let Err(error @ ReplError::Stopped) = &answered {
            report(error);
            return code;
        }
        if first_failure == code::ANSWERED {
            first_failure = code;
        }
        if let Err(error) = answered {
            report(&error);
            let unheard = matches!(&error, ReplError::Print(cause) if cause.kind() == io::ErrorKind::BrokenPipe);
            if code == code::USAGE || unheard {
                return first_failure;
            }
        }
        if session.ended {
            break;
        }
    }
    first_failure
}
