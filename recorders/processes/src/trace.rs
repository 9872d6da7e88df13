//! Follows a command and all processes that it starts.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use barrow_writer::{ProcessEnd, ProcessId, Usage, Writer, WriterError};

use crate::accounts::Account;
use crate::error::RecorderError;
use crate::files::{self, Traffic};
use crate::heaps;
use crate::ledger::Ledger;
use crate::options::Options;
use crate::sampler::Sampler;
use crate::system::{self, Forked, Happened, Patience, Pid, Resources};

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With this exit status.
    Status(u8),
    /// By this signal.
    Signal(u64),
}

/// What a recording came to.
#[derive(Debug)]
pub struct Outcome {
    /// How the command ended.
    pub ended: Ended,
    /// What was not recorded, one sentence each.
    pub notes: Vec<String>,
    /// Why the recording is not whole.
    pub failure: Option<WriterError>,
}

/// A process that is followed.
struct Process {
    id: Option<ProcessId>,
    parent: Option<Pid>,
    /// Threads that have not ended.
    threads: u64,
    children: HashSet<Pid>,
    account: Account,
    /// What was known as its last thread ended.
    last: Option<AtEnd>,
}

/// The peak of the memory of a process, and the bytes that it read and wrote.
type AtEnd = (Option<u64>, Option<Traffic>);

/// Everything that is followed.
struct Tree {
    ledger: Arc<Ledger>,
    root: Pid,
    processes: HashMap<Pid, Process>,
    /// The process of each thread.
    threads: HashMap<Pid, Pid>,
    /// Threads that are there, and of which nobody said yet who started them.
    unknown: HashSet<Pid>,
    /// Processes that trace others themselves.
    left_alone: HashSet<Pid>,
    tracers: Vec<String>,
    kills: Option<u64>,
    ended: Option<Ended>,
}

/// Runs a command and records it and all processes that it starts. `words` are the command and its arguments; `command` is
/// the line as a shell reads it. The writer is made once the command can be traced.
///
/// # Errors
/// [`RecorderError`]; the command did not run then.
pub fn record(
    words: &[OsString],
    command: &str,
    options: Options,
    writer: impl FnOnce() -> Result<Writer, RecorderError>,
) -> Result<Outcome, RecorderError> {
    let before = system::block_signals();
    let forked = Forked::new(words, &before).map_err(RecorderError::System)?;
    let root = forked.pid;
    system::seize(root).map_err(RecorderError::Forbidden)?;
    let ledger = Arc::new(Ledger::new(writer()?, options));
    ledger.facts(&ledger.options().redacted(command));
    let passes = std::thread::Builder::new().name("signals".into()).spawn(move || system::pass_signals_on(root));
    passes.map_err(RecorderError::System)?;
    let mut tree = Tree::new(Arc::clone(&ledger), root);
    tree.begin(root, None);
    let sampler = Sampler::start(&ledger).map_err(RecorderError::System)?;
    forked.go().map_err(RecorderError::System)?;
    let followed = tree.follow();
    drop(sampler);
    if let Some(error) = forked.failure() {
        let name = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        return Err(match error.kind() {
            io::ErrorKind::NotFound => RecorderError::NotFound(name),
            _ => RecorderError::CannotRun(name, error),
        });
    }
    followed.map_err(RecorderError::System)?;
    let (ended, notes) = (tree.ended.unwrap_or(Ended::Status(125)), tree.notes());
    drop(tree);
    let failure = Arc::into_inner(ledger).and_then(Ledger::finish);
    Ok(Outcome { ended, notes, failure })
}

impl Tree {
    fn new(ledger: Arc<Ledger>, root: Pid) -> Self {
        Tree {
            ledger,
            root,
            processes: HashMap::new(),
            threads: HashMap::new(),
            unknown: HashSet::new(),
            left_alone: HashSet::new(),
            tracers: Vec::new(),
            kills: files::kills(),
            ended: None,
        }
    }

    /// Follows everything until the command has ended, or, if that is wanted, all processes have.
    fn follow(&mut self) -> io::Result<()> {
        loop {
            let patience = if self.unknown.is_empty() { Patience::Wait } else { Patience::Look };
            match system::next(patience)? {
                Some((pid, Happened::Stopped { signal, event }, all)) => self.stopped(pid, signal, event, all),
                Some((pid, Happened::Exited { status }, all)) => {
                    let status = u64::from(status.unsigned_abs());
                    self.gone(pid, Ended::Status((status & 0xff) as u8), all);
                }
                Some((pid, Happened::Killed { signal }, all)) => {
                    self.gone(pid, Ended::Signal(u64::from(signal.unsigned_abs())), all);
                }
                None if self.unknown.is_empty() => return Ok(()),
                None => self.ask_for_unknown(),
            }
            if self.ended.is_some() && (!self.ledger.options().wait_all || self.processes.is_empty()) {
                return Ok(());
            }
        }
    }

    fn stopped(&mut self, pid: Pid, signal: i32, event: i32, all: Resources) {
        if self.left_alone.contains(&pid) {
            return system::bury(pid);
        }
        match event {
            0 => return system::resume(pid, signal),
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => self.forked(pid, event),
            libc::PTRACE_EVENT_EXEC if self.executed(pid, all) => return,
            libc::PTRACE_EVENT_EXEC => {}
            libc::PTRACE_EVENT_EXIT => self.exits(pid),
            libc::PTRACE_EVENT_STOP => {
                let stops = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
                if stops.contains(&signal) {
                    return system::listen(pid);
                }
                if !self.threads.contains_key(&pid) {
                    // It waits until its parent says that it started it.
                    system::bury(pid);
                    self.unknown.insert(pid);
                    return;
                }
            }
            _ => {}
        }
        system::resume(pid, 0);
    }

    /// A process or thread is there.
    fn begin(&mut self, pid: Pid, parent: Option<Pid>) {
        let known = parent.and_then(|parent| self.processes.get_mut(&parent));
        let parent_id = known.and_then(|known| {
            known.children.insert(pid);
            known.id
        });
        let process = Process {
            id: self.ledger.begin(pid, parent_id),
            parent,
            threads: 1,
            children: HashSet::new(),
            account: Account::default(),
            last: None,
        };
        self.processes.insert(pid, process);
        self.threads.insert(pid, pid);
    }

    fn forked(&mut self, by: Pid, event: i32) {
        let Some(new) = system::message(by) else { return };
        if self.threads.contains_key(&new) {
            return;
        }
        let parent = self.threads.get(&by).copied();
        // Only this one may also be a thread.
        let is_clone = event == libc::PTRACE_EVENT_CLONE;
        let thread_of = if is_clone { files::family(new).map(|(process, _)| process) } else { None };
        self.introduce(new, thread_of, parent);
    }

    fn introduce(&mut self, new: Pid, thread_of: Option<Pid>, parent: Option<Pid>) {
        match thread_of.filter(|&process| process != new) {
            Some(process) => {
                self.threads.insert(new, process);
                if let Some(process) = self.processes.get_mut(&process) {
                    process.threads += 1;
                }
            }
            None => self.begin(new, parent),
        }
        if self.unknown.remove(&new) {
            system::resume(new, 0);
        }
    }

    /// Whoever started these was killed before it said so.
    fn ask_for_unknown(&mut self) {
        for pid in std::mem::take(&mut self.unknown) {
            let (process, parent) = files::family(pid).unwrap_or((pid, 0));
            self.introduce(pid, Some(process), Some(parent));
            system::resume(pid, 0);
        }
    }

    /// Returns whether the process is left alone from now on.
    fn executed(&mut self, pid: Pid, all: Resources) -> bool {
        // A thread that executes takes the number of its process; all other threads are gone.
        self.threads.retain(|_, process| *process != pid);
        self.threads.insert(pid, pid);
        let Some(process) = self.processes.get_mut(&pid) else { return false };
        process.threads = 1;
        process.last = None;
        process.account.settle();
        let traffic = files::traffic(pid);
        let used = Usage {
            peak_bytes: process.account.image_peak(all),
            read_bytes: traffic.map(|traffic| traffic.read),
            written_bytes: traffic.map(|traffic| traffic.written),
            ..process.account.used(pid, all)
        };
        let Some(id) = process.id else { return false };
        let mut program = files::program(pid);
        let tracer = program.executable.as_deref().and_then(files::tracer).map(str::to_owned);
        program.arguments = self.ledger.options().arguments_of(program.arguments);
        self.ledger.image(id, &program, used);
        let Some(tracer) = tracer else { return false };
        self.ledger.attribute(id, "not traced", &format!("{tracer} traces processes itself"));
        self.leave_alone(pid, tracer);
        true
    }

    fn leave_alone(&mut self, pid: Pid, tracer: String) {
        self.tracers.push(tracer);
        self.ledger.forget(pid);
        self.threads.remove(&pid);
        if let Some(process) = self.processes.remove(&pid) {
            let known = process.parent.and_then(|parent| self.processes.get_mut(&parent));
            known.map(|parent| parent.children.remove(&pid));
        }
        self.left_alone.insert(pid);
        system::detach(pid);
    }

    /// A thread ends, and is still there.
    fn exits(&mut self, thread: Pid) {
        let Some(&pid) = self.threads.get(&thread) else { return };
        let Some(process) = self.processes.get_mut(&pid) else { return };
        process.threads = process.threads.saturating_sub(1);
        if process.threads > 0 {
            return;
        }
        let traffic = files::traffic(pid);
        process.last = Some((files::peak_bytes(pid), traffic));
        if traffic.is_some_and(|traffic| traffic.passed >= heaps::FEWEST_BYTES)
            && let Some((id, heap)) = process.id.zip(heaps::written_by(pid))
        {
            self.ledger.heap(id, heap.uuid, &heap.path);
        }
        let (never, living) = (process.account.settle(), process.children.clone());
        for id in never.into_iter().flatten() {
            self.ledger.attribute(id, "not waited for", "never");
        }
        for child in living {
            if let Some(id) = self.processes.get(&child).and_then(|child| child.id) {
                self.ledger.attribute(id, "not waited for", "parent ended");
            }
        }
    }

    fn gone(&mut self, pid: Pid, ended: Ended, all: Resources) {
        self.unknown.remove(&pid);
        if pid == self.root {
            self.ended = Some(ended);
        }
        if self.threads.remove(&pid).is_some_and(|process| process == pid)
            && let Some(process) = self.processes.remove(&pid)
        {
            self.ledger.forget(pid);
            self.write_end(pid, process, ended, all);
        }
        self.left_alone.remove(&pid);
        system::bury(pid);
    }

    fn write_end(&mut self, pid: Pid, mut process: Process, ended: Ended, all: Resources) {
        if process.last.is_none() {
            process.account.settle();
        }
        let (peak_bytes, traffic) = process.last.unwrap_or_default();
        let used = Usage {
            peak_bytes,
            read_bytes: traffic.map(|traffic| traffic.read),
            written_bytes: traffic.map(|traffic| traffic.written),
            ..process.account.used(pid, all)
        };
        if let Some(parent) = process.parent.and_then(|parent| self.processes.get_mut(&parent)) {
            parent.children.remove(&pid);
            parent.account.child_ended(pid, process.id, all);
        }
        let Some(id) = process.id else { return };
        let (exit_status, signal) = match ended {
            Ended::Status(status) => (Some(status.into()), None),
            Ended::Signal(signal) => (None, Some(signal)),
        };
        self.ledger.end(id, &ProcessEnd { exit_status, signal, used });
        if signal == Some(9) && self.memory_ran_out() {
            self.ledger.attribute(id, "killed by", "out of memory");
        }
    }

    /// Whether the system killed a process for that since the last time.
    fn memory_ran_out(&mut self) -> bool {
        let before = std::mem::replace(&mut self.kills, files::kills());
        matches!((before, self.kills), (Some(before), Some(now)) if now > before)
    }

    fn notes(&mut self) -> Vec<String> {
        self.tracers.sort_unstable();
        self.tracers.dedup();
        let names = self.tracers.join(", ");
        let note = format!("not traced, because it traces processes itself: {names}, with what it started");
        if names.is_empty() { Vec::new() } else { vec![note] }
    }
}
