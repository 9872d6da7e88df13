//! The prompt: lines with history and completion, until `exit` or Ctrl-D.

use std::path::PathBuf;
use std::sync::Arc;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};

use barrow_query::answer::{units, visible};
use barrow_query::error::code;
use barrow_query::{QueryError, Session};

use crate::asking::Terminal;
use crate::completion::Completer;
use crate::error::{ReplError, report};
use crate::interrupt;

type Lines = Editor<Completer, FileHistory>;

/// Reads and answers lines. Returns the exit code.
///
/// # Errors
/// A terminal that cannot be read.
pub(crate) fn run(terminal: &mut Terminal) -> Result<u8, ReplError> {
    let config = Config::builder().completion_type(CompletionType::List).history_ignore_space(true).build();
    let mut lines = Lines::with_config(config).map_err(unreadable)?;
    let mut recording = terminal.session.recording()?;
    lines.set_helper(Some(Completer::new(Arc::clone(&recording))));
    let history = history_file();
    if let Some(path) = &history {
        // The first time there is none.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = lines.load_history(path);
        lines.history().iter().for_each(|line| terminal.session.remember(line));
    }
    interrupt::keep_session();
    if !terminal.session.is_importing() {
        terminal.session.take_import()?;
        terminal.tell_damage();
    }
    println!("{}", greeting(&terminal.session));
    while !terminal.session.has_ended() {
        if terminal.session.take_import()? {
            println!("the import is complete: {}", contents(&terminal.session));
            terminal.tell_damage();
        }
        let now = terminal.session.recording()?;
        if !Arc::ptr_eq(&now, &recording) {
            lines.set_helper(Some(Completer::new(Arc::clone(&now))));
            recording = now;
        }
        if let Some(completer) = lines.helper_mut() {
            completer.sets = terminal.session.set_names().map(|name| format!("${name}")).collect();
            completer.snapshot = terminal.session.snapshot().ok();
        }
        // Of the answer before; it must not stop what is asked next.
        interrupt::clear();
        match lines.readline(&prompt(&terminal.session)) {
            Ok(line) => {
                let _ = lines.add_history_entry(&line);
                // At once, since a session may end without warning; one that cannot be kept is no reason to fail.
                let _ = history.as_deref().map(|path| lines.append_history(path));
                if let Some(code) = answer(terminal, line) {
                    return Ok(code);
                }
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

/// The session goes on after errors, unless the dump cannot be imported: then this is the exit code.
fn answer(terminal: &mut Terminal, line: String) -> Option<u8> {
    let failed = terminal.ask_line(&line).err();
    if let Some(error) = &failed {
        report(error);
    }
    if !line.trim().is_empty() {
        terminal.session.remember(line);
    }
    failed.filter(|_| terminal.session.file().is_none()).map(|error| error.code())
}

fn greeting(session: &Session) -> String {
    match session.is_importing() {
        true => "importing; `summary`, `top`, `histogram` and `count` are answered already".into(),
        false => format!("{}; `help` has questions to begin with", contents(session)),
    }
}

/// `28 snapshots`, or `40 runs` of trials.
fn contents(session: &Session) -> String {
    let snapshots = session.recording().map_or(0, |recording| recording.snapshot_count());
    match session.run_count() {
        Some(runs) if snapshots == 0 => units::counted(runs as u64, "run"),
        _ => units::counted(snapshots as u64, "snapshot"),
    }
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
    let state = variable("XDG_STATE_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("barrow").join("history"))
}

/// The path in a variable of the environment that is not empty.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn unreadable(error: ReadlineError) -> ReplError {
    match error {
        ReadlineError::Io(error) => ReplError::Print(error),
        error => QueryError::Unreadable { path: "the terminal".to_owned(), cause: error.to_string() }.into(),
    }
}
