//! The prompt: lines with history and completion, until `exit` or Ctrl-D.

use std::path::PathBuf;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};

use crate::asking::ask_line;
use crate::completion::Completer;
use crate::error::{ReplError, code};
use crate::interrupt;
use crate::invocation::report;
use crate::session::Session;
use crate::{units, visible};

type Lines = Editor<Completer, FileHistory>;

/// Reads and answers lines. Returns the exit code.
///
/// # Errors
/// A terminal that cannot be read.
pub(crate) fn run(session: &mut Session) -> Result<u8, ReplError> {
    let config = Config::builder().completion_type(CompletionType::List).history_ignore_space(true).build();
    let mut lines = Lines::with_config(config).map_err(unreadable)?;
    lines.set_helper(Some(Completer::new(session.recording()?)));
    let history = history_file();
    if let Some(path) = &history {
        // The first time there is none.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = lines.load_history(path);
        session.history = lines.history().iter().cloned().collect();
    }
    interrupt::keep_session();
    println!("{}", greeting(session));
    while !session.ended {
        if let Some(completer) = lines.helper_mut() {
            completer.sets = session.sets.iter().map(|(name, _)| format!("${name}")).collect();
        }
        // Of the answer before; it must not stop what is asked next.
        interrupt::clear();
        match lines.readline(&prompt(session)) {
            Ok(line) => {
                let _ = lines.add_history_entry(&line);
                // At once, for whoever never leaves orderly; one that cannot be kept is no reason to fail.
                let _ = history.as_deref().map(|path| lines.append_history(path));
                answer(session, line);
            }
            Err(ReadlineError::Interrupted) => {
                println!("`exit` or Ctrl-D leaves; Ctrl-C stops a question or its answer")
            }
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(unreadable(error)),
        }
    }
    Ok(code::ANSWERED)
}

/// Whatever goes wrong, the session goes on.
fn answer(session: &mut Session, line: String) {
    if let Err(error) = ask_line(session, &line) {
        report(&error);
    }
    if !line.trim().is_empty() {
        session.history.push(line);
    }
}

fn greeting(session: &Session) -> String {
    let snapshots = session.recording().map_or(0, |recording| recording.snapshot_count());
    format!(
        "{}; `summary` is a beginning, `help` lists what can be asked",
        units::counted(snapshots as u64, "snapshot")
    )
}

/// `barrow[heap.barrow 27/28]> `
fn prompt(session: &Session) -> String {
    let name = session.file().map_or("", |file| file.name.as_str());
    let name = visible::line(name.rsplit('/').next().unwrap_or(name));
    let count = session.recording().map_or(0, |recording| recording.snapshot_count());
    match session.snapshot() {
        Ok(snapshot) => format!("barrow[{name} {snapshot}/{count}]> "),
        Err(_) => format!("barrow[{name}]> "),
    }
}

fn history_file() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = variable("XDG_STATE_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("barrow").join("history"))
}

fn unreadable(error: ReadlineError) -> ReplError {
    match error {
        ReadlineError::Io(error) => ReplError::Print(error),
        error => ReplError::Unreadable { path: "the terminal".to_owned(), cause: error.to_string() },
    }
}
