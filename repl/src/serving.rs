//! `barrow serve FILE`: prints the address of the page, and serves it until Ctrl-C.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command as Program, Stdio};

use barrow_query::commands::Command;
use barrow_query::error::code;
use barrow_query::{Flags, QueryError, Question, STDIN, Settings, SnapshotName, Workspace};
use barrow_web::{Options, Server, WebError, fragment};

use crate::complaint::complain;
use crate::error::ReplError;
use crate::interrupt;
use crate::version::version;

/// Serves the files that `words` name. Returns the exit code.
///
/// # Errors
/// A usage error, a file that cannot be read, a port that is in use.
pub(crate) fn run(flags: &Flags, command: &'static Command, words: &[String]) -> Result<u8, ReplError> {
    if words.is_empty() {
        return Err(ReplError::usage(format!("which files? `barrow {}`", command.usage())));
    }
    if words.iter().any(|word| word == STDIN) {
        return Err(ReplError::usage("the standard input cannot be served; write it to a file first"));
    }
    Question::of_words(command, words, false, flags).check()?;
    let selected = flags.snapshot.map(|snapshot| match snapshot {
        SnapshotName::Number(number) => format!("snapshot {number}"),
        SnapshotName::Last => "snapshot last".to_owned(),
    });
    let lines: Vec<String> = selected.into_iter().chain(flags.question.at.iter().cloned()).collect();
    let workspace = Workspace::new(flags.session.max_memory, flags.session.threads)?;
    workspace.keep_index_later();
    let options = Options {
        operands: words.iter().map(PathBuf::from).collect(),
        port: flags.question.port,
        fragment: fragment(&lines)?,
        version: version().to_owned(),
        workspace,
        settings: Settings::of(flags),
    };
    options.settings.check_lines()?;
    interrupt::listen();
    let server = Server::new(options).map_err(cause)?;
    let address = server.address();
    writeln!(io::stdout(), "{address}")?;
    io::stdout().flush()?;
    if flags.question.open {
        open(&address);
    }
    server.run(interrupt::requested).map_err(cause)?;
    Ok(code::ANSWERED)
}

fn cause(error: WebError) -> ReplError {
    match error {
        WebError::Query(error) => error.into(),
        WebError::Port { .. } => ReplError::usage(error.to_string()),
        WebError::System(error) => QueryError::file(&PathBuf::from("the server"), error).into(),
    }
}

/// Opens the address in the browser of the user.
fn open(address: &str) {
    let opener = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut program = Program::new(opener);
    program.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = program.spawn() {
        complain(&format!("`{opener}` cannot open the browser ({error}); open the address yourself"));
    }
}
