//! Runs a command and records it, by notify or by ptrace.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use barrow_writer::{Word, Writer};

use crate::error::RecorderError;
use crate::files;
use crate::forked::{Filtered, Forked};
use crate::ledger::Ledger;
use crate::notify::Watch;
use crate::notify::ends;
use crate::notify::filter::Filter;
use crate::notify::listener::Listener;
use crate::notify::usage;
use crate::options::{Options, Via};
use crate::outcome::{Ended, Outcome};
use crate::sampler::{SHORTEST_WAIT, Sampler};
use crate::signals::{self, Passage};
use crate::system::{self, Pid, Resources};
use crate::trace;

/// With a lower limit of open files, ptrace is used: notify needs an open file for each process.
const FEW_FILES: u64 = 1024;

/// Runs a command and records it and all processes that it starts. `words` are the command and its arguments; `command` is
/// the same as a line for a shell. `writer` is called once the command exists, can be executed and can be followed.
///
/// # Errors
/// [`RecorderError`], if the command did not run.
pub fn record(
    words: &[OsString],
    command: &str,
    options: Options,
    writer: impl FnOnce() -> Result<Writer, RecorderError>,
) -> Result<Outcome, RecorderError> {
    system::share_heap();
    let inherited = signals::prepare();
    let has_few_files = options.via == Via::Auto && system::most_files() < FEW_FILES;
    let filter = if options.via == Via::Ptrace || has_few_files { None } else { Filter::new() };
    if filter.is_none() && options.via == Via::Notify {
        return Err(RecorderError::NoNotify(io::Error::from_raw_os_error(libc::ENOSYS)));
    }
    let (forked, filtered) = Forked::new(words, &inherited, filter.as_ref()).map_err(RecorderError::System)?;
    let refused = match filtered {
        Some(Ok(filtered)) => return notified(words, command, options, &forked, filtered, writer),
        Some(Err(error)) if options.via == Via::Notify => {
            return Err(RecorderError::NoNotify(error)).inspect_err(|_| system::kill(forked.pid));
        }
        Some(Err(error)) => Some(error),
        None => None,
    };
    traced(words, command, options, &forked, refused, writer)
}

/// Records a command that installed a filter.
fn notified(
    words: &[OsString],
    command: &str,
    options: Options,
    forked: &Forked,
    filtered: Filtered,
    writer: impl FnOnce() -> Result<Writer, RecorderError>,
) -> Result<Outcome, RecorderError> {
    let root = forked.pid;
    let give_up = |error| {
        system::kill(root);
        error
    };
    if let Some(error) = why_not(words.first().map_or(OsStr::new(""), OsString::as_os_str)) {
        return Err(give_up(refusal(words, Some(error))));
    }
    let writer = writer().map_err(give_up)?;
    let wait_all = options.wait_all;
    let ledger = Arc::new(Ledger::new(writer, options));
    ledger.facts(command, Via::Notify);
    ledger.fact(Word::of_settings("small peaks"), usage::SMALL_PEAKS);
    if filtered.is_without_new_rights {
        ledger.fact(Word::of_settings("new rights"), "none: programs with the rights of their owners run without them");
    }
    if !ends::are_noticed() {
        ledger.fact(
            Word::of_settings("statuses"),
            "those of last calls: the system does not tell which signal ended a process",
        );
    }
    let Filtered { listener, mut guardian, .. } = filtered;
    let listener = Arc::new(listener);
    guardian.guard(&listener).map_err(|error| give_up(RecorderError::System(error)))?;
    let mut listener = Listener::new(listener, guardian.page);
    let watch = Watch::new(&ledger, root, filtered.is_without_new_rights)
        .map_err(|error| give_up(RecorderError::System(error)))?;
    system::allow_many_files();
    let heard = Arc::clone(&watch);
    let calls = spawn("calls", move || heard.hear_calls(&mut listener))?;
    forked.go().map_err(RecorderError::System)?;
    if let Some(error) = forked.failure() {
        watch.give_up();
        system::bury(root);
        return Err(refusal(words, Some(error)));
    }
    let (status, used) = accompany(root, &ledger, &watch).map_err(RecorderError::System)?;
    if wait_all {
        // The thread ends when no process is left.
        let _ = calls.join();
    }
    watch.finish(status);
    let dismissed = guardian.dismiss();
    ledger.fact(Word::of_settings("cpu of all that was waited for"), &(used.user_ns + used.system_ns).to_string());
    let failure = ledger.finish();
    if let Some(guardian) = dismissed {
        system::bury(guardian);
    }
    Ok(Outcome { ended: Ended::of(status), notes: watch.notes(), failure })
}

/// Waits until the command ends, and passes signals on to it. Starts the sampler when its first sample is due: a short command does
/// without that thread. Returns its status, and the usage of it and the children it waited for.
fn accompany(root: Pid, ledger: &Arc<Ledger>, watch: &Arc<Watch>) -> io::Result<(i32, Resources)> {
    let passage = Passage::to(root);
    let first = Instant::now() + SHORTEST_WAIT;
    let mut sampler = None;
    loop {
        // The system sends a signal when a child ends or stops.
        if let Some(ended) = system::ended(root, signals::stop_likewise)? {
            return Ok(ended);
        }
        let left = first.saturating_duration_since(Instant::now());
        if sampler.is_none() && left.is_zero() {
            let around = Arc::clone(watch);
            sampler = Some(Sampler::start(ledger, Duration::ZERO, move || {
                if around.look_around() {
                    around.hear_ends_from_now_on();
                }
            })?);
        }
        passage.wait(sampler.is_none().then_some(left));
    }
}

/// Records a command by ptrace. `refused` is the error with which a filter was refused, if one was tried.
fn traced(
    words: &[OsString],
    command: &str,
    options: Options,
    forked: &Forked,
    refused: Option<io::Error>,
    writer: impl FnOnce() -> Result<Writer, RecorderError>,
) -> Result<Outcome, RecorderError> {
    let root = forked.pid;
    let is_nested = refused.as_ref().and_then(io::Error::raw_os_error) == Some(libc::EBUSY);
    system::seize(root).map_err(|error| match files::tracer_of(root) {
        Some(tracer) => RecorderError::Traced { by: files::described(tracer), is_nested },
        None => RecorderError::Forbidden(error),
    })?;
    forked.go().map_err(RecorderError::System)?;
    if !trace::await_execution(root).map_err(RecorderError::System)? {
        return Err(refusal(words, forked.failure()));
    }
    // The command is stopped before its first instruction.
    let writer = writer().inspect_err(|_| system::kill(root))?;
    let ledger = Arc::new(Ledger::new(writer, options));
    ledger.facts(command, Via::Ptrace);
    spawn("signals", move || signals::pass_on(root))?;
    let (ended, mut notes) = trace::follow(&ledger, root).map_err(RecorderError::System)?;
    if is_nested {
        notes.push("recorded by ptrace, since another recording of these processes is by notify".to_owned());
    }
    Ok(Outcome { ended: ended.unwrap_or(Ended::Status(125)), notes, failure: ledger.finish() })
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<std::thread::JoinHandle<()>, RecorderError> {
    std::thread::Builder::new().name(name.into()).spawn(work).map_err(RecorderError::System)
}

fn name(words: &[OsString]) -> String {
    words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The error for a command that was not executed.
fn refusal(words: &[OsString], failure: Option<io::Error>) -> RecorderError {
    match failure {
        Some(error) if error.kind() == io::ErrorKind::NotFound => RecorderError::NotFound(name(words)),
        Some(error) => RecorderError::CannotRun(name(words), error),
        None => RecorderError::System(io::Error::other("it was killed before it was executed")),
    }
}

/// The error with which executing a command would fail, judging by its file, which is searched in `PATH` unless the command
/// names a folder. Checked because the recording is created before the command is executed.
fn why_not(command: &OsStr) -> Option<io::Error> {
    if command.as_encoded_bytes().contains(&b'/') {
        return check_executable(Path::new(command)).err();
    }
    let folders = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let mut refused = io::Error::from_raw_os_error(libc::ENOENT);
    if command.is_empty() {
        return Some(refused);
    }
    for folder in std::env::split_paths(&folders) {
        match check_executable(&folder.join(command)) {
            Ok(()) => return None,
            Err(error) if error.raw_os_error() == Some(libc::EACCES) => refused = error,
            Err(_) => {}
        }
    }
    Some(refused)
}

/// Checks that a path is a file that may be executed.
fn check_executable(path: &Path) -> io::Result<()> {
    match fs::metadata(path)?.is_file() {
        true => system::may_execute(path),
        false => Err(io::Error::from_raw_os_error(libc::EACCES)),
    }
}
