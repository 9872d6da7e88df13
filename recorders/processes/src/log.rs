//! The recording that is being written, shared by the thread that traces and the one that measures memory.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use barrow_writer::{
    Options, ProcessDescription, ProcessEnd, ProcessId, ProgramDescription, Usage, Writer, WriterError,
};
use regex::Regex;

use crate::proc::Executed;

/// Rows are in the file after at most this time, or a thousandth of the time since the recording began if that is more: a
/// file of eight hours is not made of tiny chunks.
const FLUSH: Duration = Duration::from_millis(100);
const LONGEST_FLUSH: Duration = Duration::from_secs(5);

/// A recording that is being written. Once a write has failed, nothing more is written: the command goes on.
pub(crate) struct Log {
    writer: Writer,
    start: Instant,
    redact: Vec<Regex>,
    state: Mutex<State>,
}

struct State {
    problem: Option<WriterError>,
    is_dirty: bool,
    flushed: Instant,
}

impl Log {
    /// Begins a recording in a new file.
    ///
    /// # Errors
    /// Those of the writer.
    pub(crate) fn create(path: &Path, redact: Vec<Regex>) -> Result<Self, WriterError> {
        let writer = Writer::create(path, Options { threads: 0, ..Options::default() })?;
        let start = Instant::now();
        let state = Mutex::new(State { problem: None, is_dirty: false, flushed: start });
        Ok(Log { writer, start, redact, state })
    }

    /// Nanoseconds since the recording began.
    pub(crate) fn now_ns(&self) -> i64 {
        i64::try_from(self.start.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    pub(crate) fn fact(&self, key: &str, value: &str) {
        self.write(|writer| writer.fact(key, value));
    }

    /// A process began. `None` if nothing can be written any more.
    pub(crate) fn began(&self, pid: i32, parent: Option<ProcessId>) -> Option<ProcessId> {
        let pid = u64::try_from(pid).unwrap_or(0);
        let begun = ProcessDescription { time_ns: self.now_ns(), pid, parent, ..ProcessDescription::default() };
        self.write(|writer| writer.begin_process(&begun))
    }

    pub(crate) fn executed(&self, process: ProcessId, executed: &Executed, used: Usage) {
        let arguments: Vec<String> = executed.arguments.iter().map(|argument| self.redacted(argument)).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (executable, directory) = (executed.executable.as_deref(), executed.directory.as_deref());
        let program = ProgramDescription { executable, directory, arguments: &arguments };
        self.write(|writer| writer.process_image(process, self.now_ns(), &program, used));
    }

    pub(crate) fn ended(&self, process: ProcessId, end: &ProcessEnd) {
        self.write(|writer| writer.end_process(process, self.now_ns(), end));
    }

    pub(crate) fn attribute(&self, process: ProcessId, key: &str, value: &str) {
        self.write(|writer| writer.process_attributes(process, &[(key, value)]));
    }

    pub(crate) fn heap(&self, process: ProcessId, uuid: [u8; 16], path: &str) {
        self.write(|writer| writer.process_heap(process, uuid));
        self.attribute(process, "heap", path);
    }

    pub(crate) fn memory(&self, bytes: &[(ProcessId, u64)]) {
        self.write(|writer| writer.process_memory(self.now_ns(), bytes));
    }

    /// Writes the rows that have waited long enough.
    pub(crate) fn flush_if_due(&self) {
        let due = {
            let state = self.state();
            let wait = (self.start.elapsed() / 1000).clamp(FLUSH, LONGEST_FLUSH);
            state.is_dirty && state.flushed.elapsed() >= wait
        };
        if due {
            self.write(Writer::flush);
            let mut state = self.state();
            (state.is_dirty, state.flushed) = (false, Instant::now());
        }
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// What first failed.
    pub(crate) fn finish(self) -> Result<(), WriterError> {
        match self.state.into_inner().unwrap_or_else(PoisonError::into_inner).problem {
            Some(problem) => Err(problem),
            None => self.writer.finish().map(drop),
        }
    }

    fn write<T>(&self, row: impl FnOnce(&Writer) -> Result<T, WriterError>) -> Option<T> {
        if self.state().problem.is_some() {
            return None;
        }
        let written = row(&self.writer);
        let mut state = self.state();
        state.is_dirty = true;
        match written {
            Ok(value) => Some(value),
            Err(problem) => {
                state.problem.get_or_insert(problem);
                None
            }
        }
    }

    /// An argument without what is not to be recorded.
    pub(crate) fn redacted(&self, argument: &str) -> String {
        let replaced = |text: String, secret: &Regex| secret.replace_all(&text, "…").into_owned();
        self.redact.iter().fold(argument.to_owned(), replaced)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
