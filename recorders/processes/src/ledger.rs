//! The recording being written, shared by the threads that trace and sample. After an error nothing more is written, and the
//! command continues.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use barrow_writer::{ProcessDescription, ProcessEnd, ProcessId, ProgramDescription, Usage, Word, Writer, WriterError};
use foldhash::fast::RandomState;

use crate::files::{self, Program};
use crate::options::{Options, Via};
use crate::system::{self, Pid};

/// The recording while it is written.
pub(crate) struct Ledger {
    /// `None` once the recording is finished.
    writer: RwLock<Option<Writer>>,
    options: Options,
    began: Instant,
    has_news: AtomicBool,
    failure: Mutex<Option<WriterError>>,
    living: Mutex<HashMap<Pid, Living, RandomState>>,
}

/// A running process as the sampler sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Living {
    pub(crate) process: ProcessId,
    pub(crate) parent: Option<Pid>,
    /// It has executed nothing yet, so it may share the memory of its parent.
    pub(crate) is_copy: bool,
    /// It was started by `vfork`: it uses the memory of its parent, which waits until it executes a program or ends.
    pub(crate) is_borrowing: bool,
    /// The largest resident memory of all samples, and the processor time in the last one.
    pub(crate) peak_bytes: Option<u64>,
    pub(crate) cpu_ns: Option<u64>,
}

/// A process that began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    pub(crate) pid: Pid,
    /// The process that started it, and its number in the recording.
    pub(crate) parent: Option<(Pid, Option<ProcessId>)>,
    /// See [`Living::is_borrowing`].
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
            living: Mutex::default(),
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn now(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// Calls `rows` with the writer, unless an earlier call failed.
    fn write<T>(&self, rows: impl FnOnce(&Writer) -> Result<T, WriterError>) -> Option<T> {
        if lock(&self.failure).is_some() {
            return None;
        }
        self.has_news.store(true, Ordering::Relaxed);
        let writer = self.writer.read().unwrap_or_else(PoisonError::into_inner);
        rows(writer.as_ref()?).map_err(|error| *lock(&self.failure) = Some(error)).ok()
    }

    /// Writes the facts about the recording as a whole.
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

    /// Records that a process began. Returns its number in the recording.
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

    /// Records for the sampler that a process executed a program.
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

    /// Removes a process that ended or is no longer traced. Returns its last state, with its samples.
    pub(crate) fn forget(&self, pid: Pid) -> Option<Living> {
        lock(&self.living).remove(&pid)
    }

    /// Adds a sample of a process: its resident memory and its processor time.
    pub(crate) fn seen(&self, pid: Pid, resident_bytes: u64, cpu_ns: Option<u64>) {
        if let Some(living) = lock(&self.living).get_mut(&pid) {
            living.peak_bytes = living.peak_bytes.max(Some(resident_bytes));
            living.cpu_ns = living.cpu_ns.max(cpu_ns);
        }
    }

    pub(crate) fn living(&self) -> Vec<(Pid, Living)> {
        lock(&self.living).iter().map(|(&pid, &living)| (pid, living)).collect()
    }

    /// Writes pending rows, if there are any.
    pub(crate) fn flush(&self) {
        if self.has_news.swap(false, Ordering::Relaxed) {
            self.write(Writer::flush);
            self.has_news.store(false, Ordering::Relaxed);
        }
    }

    /// Ends the recording; nothing is written afterwards. Returns the error, if there was one.
    pub(crate) fn finish(&self) -> Option<WriterError> {
        let writer = self.writer.write().unwrap_or_else(PoisonError::into_inner).take();
        let failure = lock(&self.failure).take();
        failure.or_else(|| writer.and_then(|writer| writer.finish().err()))
    }
}
