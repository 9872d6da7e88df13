//! Runs a command and records it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use barrow_writer::WriterError;
use regex::Regex;

use crate::log::Log;
use crate::sampler;
use crate::system::{self, Ended, Signals};
use crate::tracer::Tracer;

/// What is recorded, and how.
#[derive(Debug)]
pub struct Options {
    /// The recording. It must not exist, or be meant to be replaced.
    pub output: PathBuf,
    /// What matches in an argument is replaced by `…`.
    pub redact: Vec<Regex>,
    /// Whether arguments are recorded.
    pub with_arguments: bool,
    /// The time between two samples of memory, at least 50 ms; longer if measuring took more than a hundredth of a core.
    /// `None` measures none.
    pub interval: Option<Duration>,
}

/// What became of a command that ran.
#[derive(Debug)]
pub struct Recorded {
    /// How it ended.
    pub ended: Ended,
    /// Why the recording is not complete.
    pub problem: Option<WriterError>,
    /// What ran otherwise than it would have without being traced.
    pub remarks: Vec<String>,
}

/// Why a command did not run.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The recording cannot be begun.
    #[error("{path}: {source}", path = path.display())]
    Output {
        /// The recording.
        path: PathBuf,
        /// Why.
        source: WriterError,
    },
    /// Processes cannot be traced here.
    #[error(
        "processes cannot be traced here ({source}); where the shell can be replaced, `barrow-sh` records without tracing, \
         for instance `BARROW_SH_LOG=build.log make SHELL=/path/to/barrow-sh`"
    )]
    Forbidden {
        /// What the system said.
        source: io::Error,
    },
    /// The command cannot be executed, or was not found.
    #[error("{command}: {source}")]
    Command {
        /// Its first word.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// The system refused something else.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// Why.
        source: io::Error,
    },
}

/// Runs a command to its end, and records every process that it starts.
///
/// # Errors
/// [`RecordError`]; the command has not run then.
pub fn record(command: &[OsString], options: Options) -> Result<Recorded, RecordError> {
    let failed = |action| move |source| RecordError::System { action, source };
    let (name, arguments) =
        command.split_first().ok_or_else(|| failed("run nothing")(ErrorKind::InvalidInput.into()))?;
    let path = options.output;
    let created = Log::create(&path, options.redact);
    let log = created.map_err(|source| RecordError::Output { path: path.clone(), source })?;
    describe(&log, command, options.with_arguments, options.interval);
    let signals = Signals::take();
    let started = Started::of(name, arguments, &signals).map_err(failed("make a pipe"))?;
    let traced = started.follow(&log, options.with_arguments, options.interval);
    drop(signals);
    let (ended, remarks) = traced.inspect_err(|_| {
        // Nothing ran: there is nothing to keep.
        let _ = std::fs::remove_file(&path);
    })?;
    Ok(Recorded { ended, problem: log.finish().err(), remarks })
}

fn describe(log: &Log, command: &[OsString], with_arguments: bool, interval: Option<Duration>) {
    let words = command.iter().take(if with_arguments { usize::MAX } else { 1 });
    let line: Vec<String> = words.map(|word| quoted(&log.redacted(&word.to_string_lossy()))).collect();
    log.fact("command", &line.join(" "));
    log.fact("recorded by", "barrow record");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    log.fact("host", host.trim());
    log.fact("cores", &thread::available_parallelism().map_or(1, usize::from).to_string());
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total =
        memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    let total: Option<u64> = total;
    if let Some(kib) = total {
        log.fact("memory", &(kib * 1024).to_string());
    }
    if let Some(interval) = interval {
        log.fact("sampling", &format!("every {} ms or more", interval.as_millis()));
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A child that waits to be traced before it executes the command.
struct Started {
    name: OsString,
    /// Where its number arrives.
    number: File,
    /// What lets it go on.
    go: File,
    /// Executes it, and tells if that fails. The standard library waits for the exec, which waits for the tracer.
    spawned: thread::JoinHandle<io::Result<()>>,
}

impl Started {
    fn of(name: &OsString, arguments: &[OsString], signals: &Signals) -> io::Result<Self> {
        let (number, write_number) = io::pipe()?;
        let (read_go, go) = io::pipe()?;
        let mut command = Command::new(name);
        command.args(arguments);
        let before = signals.before();
        let mut ends = (write_number, read_go);
        system::in_child(&mut command, move || {
            before.restore();
            let pid = std::process::id().to_ne_bytes();
            ends.0.write_all(&pid)?;
            ends.1.read_exact(&mut [0])
        });
        // The child is ours to wait for: it is not a zombie of the standard library.
        let spawned = thread::spawn(move || command.spawn().map(drop));
        let file = |end: OwnedFd| File::from(end);
        Ok(Started { name: name.clone(), number: file(number.into()), go: file(go.into()), spawned })
    }

    fn follow(
        mut self,
        log: &Log,
        with_arguments: bool,
        interval: Option<Duration>,
    ) -> Result<(Ended, Vec<String>), RecordError> {
        let cannot_run = |source| RecordError::Command { command: self.name.to_string_lossy().into_owned(), source };
        let mut pid = [0; 4];
        if self.number.read_exact(&mut pid).is_err() {
            let failed = self.spawned.join().unwrap_or_else(|_| Err(ErrorKind::Other.into()));
            return Err(cannot_run(failed.err().unwrap_or_else(|| ErrorKind::Other.into())));
        }
        let pid = i32::from_ne_bytes(pid);
        let seized = system::seize(pid);
        Signals::pass_to(pid);
        if let Err(source) = seized {
            // Without a byte the child ends before it executes anything.
            drop(self.go);
            let _ = self.spawned.join();
            system::reap(pid);
            return Err(RecordError::Forbidden { source });
        }
        let _ = self.go.write_all(&[1]);
        drop(self.go);
        let running = Mutex::new(Vec::new());
        let mut tracer = Tracer::new(log, &running, with_arguments);
        let (stop, stopped) = mpsc::channel::<()>();
        let ended = thread::scope(|scope| {
            let running = &running;
            scope.spawn(move || sampler::run(log, running, interval, &stopped));
            let ended = tracer.follow(pid);
            drop(stop);
            ended
        });
        let ended = ended.map_err(|source| RecordError::System { action: "wait for processes", source })?;
        match self.spawned.join() {
            Ok(Err(source)) => Err(cannot_run(source)),
            _ => Ok((ended, tracer.remarks)),
        }
    }
}
