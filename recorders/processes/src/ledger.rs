//! What is written: shared by the thread that traces and the one that samples. After an error nothing more is written, and
//! the command goes on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use barrow_writer::{ProcessDescription, ProcessEnd, ProcessId, ProgramDescription, Usage, Writer, WriterError};

use crate::files::{self, Program};
use crate::options::Options;
use crate::system::Pid;

/// The recording while it is written.
pub(crate) struct Ledger {
    writer: Writer,
    options: Options,
    began: Instant,
    has_news: AtomicBool,
    failure: Mutex<Option<WriterError>>,
    living: Mutex<HashMap<Pid, ProcessId>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    pub(crate) fn new(writer: Writer, options: Options) -> Self {
        Ledger {
            writer,
            options,
            began: Instant::now(),
            has_news: AtomicBool::new(false),
            failure: Mutex::new(None),
            living: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn now(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// Does something with the writer unless it failed before.
    fn write<T>(&self, rows: impl FnOnce(&Writer) -> Result<T, WriterError>) -> Option<T> {
        if lock(&self.failure).is_some() {
            return None;
        }
        self.has_news.store(true, Ordering::Relaxed);
        rows(&self.writer).map_err(|error| *lock(&self.failure) = Some(error)).ok()
    }

    /// What is known of the recording as a whole.
    pub(crate) fn facts(&self, command: &str) {
        let (memory, host) = files::machine();
        let cores = std::thread::available_parallelism().map(|cores| cores.to_string()).ok();
        let sampling = self.options.memory.then(|| format!("{} ms or more", self.options.interval.as_millis()));
        let facts = [
            ("recorded by", Some("barrow record".to_owned())),
            ("command", Some(command.to_owned())),
            ("host", host),
            ("cores", cores),
            ("memory", memory.map(|bytes| bytes.to_string())),
            ("clock", Some("ns".to_owned())),
            ("sampling", sampling),
        ];
        for (key, value) in facts {
            if let Some(value) = value {
                self.write(|writer| writer.fact(key, &value));
            }
        }
    }

    pub(crate) fn begin(&self, pid: Pid, parent: Option<ProcessId>) -> Option<ProcessId> {
        let pid_number = u64::from(pid.unsigned_abs());
        let begun =
            ProcessDescription { time_ns: self.now(), pid: pid_number, parent, ..ProcessDescription::default() };
        let process = self.write(|writer| writer.begin_process(&begun))?;
        lock(&self.living).insert(pid, process);
        Some(process)
    }

    pub(crate) fn image(&self, process: ProcessId, program: &Program, used: Usage) {
        let options = &self.options;
        let words = String::from_utf8_lossy(&program.arguments);
        let arguments = options.arguments_of(&words);
        let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
        let (executable, directory) = (program.executable.as_deref(), program.directory.as_deref());
        let (executable, directory) =
            (executable.map(|path| options.redacted(path)), directory.map(|path| options.redacted(path)));
        let described = ProgramDescription {
            executable: executable.as_deref(),
            directory: directory.as_deref(),
            arguments: &arguments,
        };
        self.write(|writer| writer.process_image(process, self.now(), &described, used));
    }

    pub(crate) fn end(&self, process: ProcessId, end: &ProcessEnd) {
        self.write(|writer| writer.end_process(process, self.now(), end));
    }

    pub(crate) fn attribute(&self, process: ProcessId, key: &str, value: &str) {
        self.write(|writer| writer.process_attributes(process, &[(key, value)]));
    }

    pub(crate) fn heap(&self, process: ProcessId, uuid: [u8; 16], path: &str) {
        self.write(|writer| writer.process_heap(process, uuid));
        self.attribute(process, "heap", &self.options.redacted(path));
    }

    pub(crate) fn memory(&self, time_ns: i64, bytes: &[(ProcessId, u64)]) {
        self.write(|writer| writer.process_memory(time_ns, bytes));
    }

    /// A process is there no longer, or is not traced any more.
    pub(crate) fn forget(&self, pid: Pid) {
        lock(&self.living).remove(&pid);
    }

    pub(crate) fn living(&self) -> Vec<(Pid, ProcessId)> {
        lock(&self.living).iter().map(|(&pid, &process)| (pid, process)).collect()
    }

    /// Writes what waits, if anything does.
    pub(crate) fn flush(&self) {
        if self.has_news.swap(false, Ordering::Relaxed) {
            self.write(Writer::flush);
            self.has_news.store(false, Ordering::Relaxed);
        }
    }

    /// Ends the recording. Returns what went wrong.
    pub(crate) fn finish(self) -> Option<WriterError> {
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.or_else(|| self.writer.finish().err())
    }
}
