//! What is written: shared by the thread that traces and the one that samples. After an error nothing more is written, and
//! the command goes on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use barrow_writer::{ProcessDescription, ProcessEnd, ProcessId, ProgramDescription, Usage, Word, Writer, WriterError};

use crate::files::{self, Program};
use crate::options::{Options, Via};
use crate::system::{self, Pid};

/// The recording while it is written.
pub(crate) struct Ledger {
    /// Until the recording is finished.
    writer: RwLock<Option<Writer>>,
    options: Options,
    began: Instant,
    has_news: AtomicBool,
    failure: Mutex<Option<WriterError>>,
    living: Mutex<HashMap<Pid, Living>>,
}

/// A process that runs, as the thread that samples memory sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Living {
    pub(crate) process: ProcessId,
    pub(crate) parent: Option<Pid>,
    /// It has executed nothing yet: perhaps it uses the memory of its parent.
    pub(crate) is_copy: bool,
    /// Its parent waits until it executes something or ends, and it uses the memory of that.
    pub(crate) is_borrowing: bool,
    /// The most memory that was resident in a sample, and processor time in the last one.
    pub(crate) peak_bytes: Option<u64>,
    pub(crate) cpu_ns: Option<u64>,
}

/// A process that began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    pub(crate) pid: Pid,
    /// What started it, and which process of the recording that is.
    pub(crate) parent: Option<(Pid, Option<ProcessId>)>,
    /// As in [`Living`].
    pub(crate) is_borrowing: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    pub(crate) fn new(writer: Writer, options: Options) -> Self {
        Ledger {
            writer: RwLock::new(Some(writer)),
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
        let writer = self.writer.read().unwrap_or_else(PoisonError::into_inner);
        rows(writer.as_ref()?).map_err(|error| *lock(&self.failure) = Some(error)).ok()
    }

    /// What is known of the recording as a whole.
    pub(crate) fn facts(&self, command: &str, via: Via) {
        let command = self.options.redacted(command);
        let [host, _] = system::names();
        let memory = files::memory_of_machine();
        let cores = std::thread::available_parallelism().map(|cores| cores.to_string()).ok();
        let sampling = self.options.memory.then(|| format!("{} ms or more", self.options.interval.as_millis()));
        let facts = [
            (Word::of_settings("recorded by"), Some("barrow record".to_owned())),
            (Word::of_settings("recorded via"), Some(via.name().to_owned())),
            (Word::new("command"), Some(command.into_owned())),
            (Word::of_names("host"), Some(host).filter(|host| !host.is_empty())),
            (Word::of_settings("cores"), cores),
            (Word::of_settings("memory"), memory.map(|bytes| bytes.to_string())),
            (Word::of_settings("clock"), Some("ns".to_owned())),
            (Word::of_settings("sampling"), sampling),
        ];
        for (key, value) in facts {
            if let Some(value) = value {
                self.fact(key, &value);
            }
        }
    }

    /// Something that is known of the recording as a whole.
    pub(crate) fn fact(&self, key: Word, value: &str) {
        self.write(|writer| writer.own_fact(key, value));
    }

    /// A process began: its number, and that of its parent.
    pub(crate) fn begin(&self, time_ns: i64, begun: Begun) -> Option<ProcessId> {
        let Begun { pid, parent, is_borrowing } = begun;
        let described = ProcessDescription {
            time_ns,
            pid: u64::from(pid.unsigned_abs()),
            parent: parent.and_then(|(_, parent)| parent),
            ..ProcessDescription::default()
        };
        let process = self.write(|writer| writer.begin_process(&described))?;
        let parent = parent.map(|(parent, _)| parent);
        lock(&self.living)
            .insert(pid, Living { process, parent, is_copy: true, is_borrowing, peak_bytes: None, cpu_ns: None });
        Some(process)
    }

    /// A process has executed something.
    pub(crate) fn executed(&self, pid: Pid) {
        if let Some(living) = lock(&self.living).get_mut(&pid) {
            (living.is_copy, living.is_borrowing, living.peak_bytes) = (false, false, None);
        }
    }

    pub(crate) fn image(&self, time_ns: i64, process: ProcessId, program: &Program, used: Usage) {
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
        self.write(|writer| writer.process_image(process, time_ns, &described, used));
    }

    pub(crate) fn end(&self, time_ns: i64, process: ProcessId, end: &ProcessEnd) {
        self.write(|writer| writer.end_process(process, time_ns, end));
    }

    pub(crate) fn attribute(&self, process: ProcessId, key: Word, value: &str) {
        self.write(|writer| writer.process_attributes(process, &[(writer.marked(key)?, value)]));
    }

    pub(crate) fn heap(&self, process: ProcessId, uuid: [u8; 16], path: &str) {
        self.write(|writer| writer.process_heap(process, uuid));
        self.attribute(process, Word::of_names("heap"), &self.options.redacted(path));
    }

    pub(crate) fn memory(&self, time_ns: i64, bytes: &[(ProcessId, u64)]) {
        self.write(|writer| writer.process_memory(time_ns, bytes));
    }

    /// A process is there no longer, or is not traced any more. Returns what samples saw of it.
    pub(crate) fn forget(&self, pid: Pid) -> Option<Living> {
        lock(&self.living).remove(&pid)
    }

    /// A sample of a process: what is resident, and its processor time.
    pub(crate) fn seen(&self, pid: Pid, resident_bytes: u64, cpu_ns: Option<u64>) {
        if let Some(living) = lock(&self.living).get_mut(&pid) {
            living.peak_bytes = living.peak_bytes.max(Some(resident_bytes));
            living.cpu_ns = living.cpu_ns.max(cpu_ns);
        }
    }

    pub(crate) fn living(&self) -> Vec<(Pid, Living)> {
        lock(&self.living).iter().map(|(&pid, &living)| (pid, living)).collect()
    }

    /// Writes what waits, if anything does.
    pub(crate) fn flush(&self) {
        if self.has_news.swap(false, Ordering::Relaxed) {
            self.write(Writer::flush);
            self.has_news.store(false, Ordering::Relaxed);
        }
    }

    /// Ends the recording; nothing is written from then on. Returns what went wrong.
    pub(crate) fn finish(&self) -> Option<WriterError> {
        let writer = self.writer.write().unwrap_or_else(PoisonError::into_inner).take();
        let failure = lock(&self.failure).take();
        failure.or_else(|| writer.and_then(|writer| writer.finish().err()))
    }
}
