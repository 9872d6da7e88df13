//! Follows a command and all processes that it starts by ptrace.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use barrow_writer::{ProcessEnd, ProcessId, Usage, Word};

use crate::accounts::{self, Account, Child};
use crate::files;
use crate::heaps;
use crate::kills::Kills;
use crate::ledger::{Begun, Ledger};
use crate::notify::ends;
use crate::outcome::{Ended, without_rights};
use crate::sampler::{SHORTEST_WAIT, Sampler};
use crate::signals;
use crate::stack;

use crate::system::{self, Happened, Patience, Pid, Resources};
use crate::tracers::Tracers;

/// A traced process.
struct Process {
    id: Option<ProcessId>,
    parent: Option<Pid>,
    /// Threads that have not ended.
    threads: u64,
    children: HashSet<Pid>,
    account: Account,
    /// Its last thread is about to end.
    is_ending: bool,
    /// The peak of its memory, once it is ending.
    peak_bytes: Option<u64>,
    /// Ticks since the machine booted when it was first seen.
    began_ticks: u64,
    /// Time that its ended threads were runnable without a processor; `None` once that of one is unknown.
    waited_ns: Option<u64>,
}

/// A traced thread.
#[derive(Clone, Copy)]
struct Thread {
    process: Pid,
    /// It is about to end, and its process no longer counts it.
    is_ending: bool,
}

impl Thread {
    fn of(process: Pid) -> Self {
        Thread { process, is_ending: false }
    }
}

/// The traced processes and threads.
struct Tree {
    ledger: Arc<Ledger>,
    root: Pid,
    processes: HashMap<Pid, Process>,
    threads: HashMap<Pid, Thread>,
    /// Stopped threads whose parent has not reported them yet.
    unknown: HashSet<Pid>,
    /// The command if it is untraced: its stops concern whoever stopped it.
    left_root: Option<ProcessId>,
    tracers: Vec<String>,
    known_tracers: Tracers,
    /// Programs that ran without the rights of their owners.
    without_rights: Vec<String>,
    kills: Kills,
    ended: Option<Ended>,
    /// The parents of processes that have ended, as long as it is unknown whether they waited for them.
    unsettled: HashMap<Pid, Pid>,
}

/// Follows the command, which is stopped at the start of its program, and all that it starts. Returns how it ended, and one
/// sentence for each thing that was not recorded.
pub(crate) fn follow(ledger: &Arc<Ledger>, root: Pid) -> io::Result<(Option<Ended>, Vec<String>)> {
    let mut tree = Tree::new(Arc::clone(ledger), root);
    tree.begin(root, None, false);
    ledger.flush();
    let sampler = Sampler::start(ledger, SHORTEST_WAIT, || ())?;
    let followed = tree.follow();
    drop(sampler);
    followed?;
    Ok((tree.ended, tree.notes()))
}

/// The sum of two times, if both are known.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}

/// Waits until the command is executed and stopped, and leaves that event to be returned again. False if it ended before.
pub(crate) fn await_execution(root: Pid) -> io::Result<bool> {
    while let Some((pid, happened, _)) = system::next(Patience::Wait)? {
        match happened {
            Happened::Stopped { event: libc::PTRACE_EVENT_EXEC, .. } if pid == root => return Ok(true),
            Happened::Stopped { signal, event: 0 } => system::resume(pid, signal),
            Happened::Stopped { .. } => system::resume(pid, 0),
            Happened::Exited { .. } | Happened::Killed { .. } => {
                system::bury(pid);
                if pid == root {
                    break;
                }
            }
        }
    }
    Ok(false)
}

/// The number of a thread before it executed a program.
fn former_number(pid: Pid) -> Option<Pid> {
    system::message(pid).or_else(|| {
        // For a thread other than the first, the system gives it only after the stop was consumed.
        system::take_stop(pid);
        system::message(pid)
    })
}

impl Tree {
    fn new(ledger: Arc<Ledger>, root: Pid) -> Self {
        Tree {
            ledger,
            root,
            processes: HashMap::new(),
            threads: HashMap::new(),
            unknown: HashSet::new(),
            left_root: None,
            tracers: Vec::new(),
            known_tracers: Tracers::default(),
            without_rights: Vec::new(),
            kills: Kills::new(),
            ended: None,
            unsettled: HashMap::new(),
        }
    }

    /// Follows all processes until the command has ended, or with `wait_all` until all have.
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
        if self.left_root.is_some() && pid == self.root {
            return system::take_stop(pid);
        }
        match event {
            0 => return system::resume(pid, signal),
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => self.forked(pid, event),
            libc::PTRACE_EVENT_EXEC if self.executed(pid, all) => return,
            libc::PTRACE_EVENT_EXEC => {}
            libc::PTRACE_EVENT_EXIT => self.exits(pid, all),
            libc::PTRACE_EVENT_STOP => {
                let stops = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
                if stops.contains(&signal) {
                    system::listen(pid);
                    // Stops too, so that the shell that started it sees it stopped, as it would see the command.
                    if pid == self.root && signal != libc::SIGSTOP {
                        signals::stop_likewise(signal);
                    }
                    return;
                }
                if !self.threads.contains_key(&pid) {
                    // It stays stopped until its parent reports that it started it.
                    system::take_stop(pid);
                    self.unknown.insert(pid);
                    return;
                }
            }
            _ => {}
        }
        system::resume(pid, 0);
    }

    /// Registers a new process. `is_borrowing`: it uses the memory of its parent.
    fn begin(&mut self, pid: Pid, parent: Option<Pid>, is_borrowing: bool) {
        self.number_is_used_again(pid);
        let known = parent.and_then(|parent| self.processes.get_mut(&parent));
        let parent_id = known.and_then(|known| {
            known.children.insert(pid);
            known.id
        });
        let process = Process {
            id: self
                .ledger
                .begin(self.ledger.now(), Begun { pid, parent: parent.map(|pid| (pid, parent_id)), is_borrowing }),
            parent,
            threads: 1,
            children: HashSet::new(),
            account: Account::default(),
            is_ending: false,
            peak_bytes: None,
            began_ticks: system::since_boot_ns().unwrap_or(0) / accounts::NS_PER_TICK,
            waited_ns: Some(0),
        };
        self.processes.insert(pid, process);
        self.threads.insert(pid, Thread::of(pid));
    }

    /// Records that the earlier process with this number was waited for, if there was one.
    fn number_is_used_again(&mut self, pid: Pid) {
        if let Some(parent) = self.unsettled.remove(&pid)
            && let Some(parent) = self.processes.get_mut(&parent)
        {
            parent.account.was_waited_for(pid);
        }
    }

    fn forked(&mut self, by: Pid, event: i32) {
        let Some(new) = system::message(by) else { return };
        if self.threads.contains_key(&new) {
            return;
        }
        let parent = self.threads.get(&by).map(|thread| thread.process);
        // Only this event may be for a thread.
        let is_clone = event == libc::PTRACE_EVENT_CLONE;
        let thread_of = parent.filter(|&parent| is_clone && system::is_thread_of(parent, new));
        self.introduce(new, thread_of, parent, event == libc::PTRACE_EVENT_VFORK);
    }

    fn introduce(&mut self, new: Pid, thread_of: Option<Pid>, parent: Option<Pid>, is_borrowing: bool) {
        match thread_of.filter(|&process| process != new) {
            Some(process) => {
                self.threads.insert(new, Thread::of(process));
                if let Some(process) = self.processes.get_mut(&process) {
                    process.threads += 1;
                }
            }
            None => self.begin(new, parent, is_borrowing),
        }
        if self.unknown.remove(&new) {
            system::resume(new, 0);
        }
    }

    /// Registers the unknown threads: their parents were killed before they reported them.
    fn ask_for_unknown(&mut self) {
        for pid in std::mem::take(&mut self.unknown) {
            let (process, parent) = files::family(pid).unwrap_or((pid, 0));
            self.introduce(pid, Some(process), Some(parent), false);
            system::resume(pid, 0);
        }
    }

    /// Records that a process executed a program. Returns whether it is untraced from now on.
    fn executed(&mut self, pid: Pid, all: Resources) -> bool {
        let former = former_number(pid);
        let Some(process) = self.processes.get_mut(&pid) else { return false };
        // A thread that executes takes the number of its process, and all other threads end.
        if process.threads != 1 || former != Some(pid) {
            // The waiting time of the first thread, which has ended, is unknown.
            process.waited_ns = None;
            self.threads.retain(|_, thread| thread.process != pid);
            self.threads.insert(pid, Thread::of(pid));
            process.threads = 1;
        }
        process.is_ending = false;
        process.account.settle();
        let used = process.account.image_ends(pid, all);
        let used = Usage { waiting_ns: sum(process.waited_ns, files::waiting_ns(pid)), ..used };
        let Some(id) = process.id else { return false };
        let start = stack::start(pid);
        let has_new_rights = start.as_ref().is_some_and(|start| start.has_new_rights);
        let arguments = start.map_or_else(|| files::arguments(pid), |start| start.arguments);
        let program = files::program(pid, arguments);
        if let Some(path) = program.executable.as_deref().filter(|_| has_new_rights)
            && files::has_lost_rights(pid, path)
        {
            self.without_rights.push(path.to_owned());
        }
        let reason = self.known_tracers.reason(&format!("/proc/{pid}/exe"));
        self.ledger.executed(pid);
        self.ledger.image(self.ledger.now(), id, &program, used);
        let Some(reason) = reason else { return false };
        self.ledger.attribute(id, Word::new("not traced"), reason);
        let name = program.executable.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or("a program");
        self.leave_alone(pid, id, format!("{name}: {reason}"));
        true
    }

    fn leave_alone(&mut self, pid: Pid, id: ProcessId, tracer: String) {
        self.tracers.push(tracer);
        let _ = self.ledger.forget(pid);
        self.threads.remove(&pid);
        if let Some(process) = self.processes.remove(&pid) {
            let known = process.parent.and_then(|parent| self.processes.get_mut(&parent));
            if let Some(parent) = known {
                parent.children.remove(&pid);
                parent.account.child_is_left_alone();
            }
        }
        // The status of the command is told to this program, its parent; of others only the time of the end is known.
        if pid == self.root {
            self.left_root = Some(id);
        } else {
            self.hear_end(pid, id);
        }
        system::detach(pid);
    }

    /// Records when a process ends that is not traced. Before Linux 5.3 nothing tells.
    fn hear_end(&self, pid: Pid, id: ProcessId) {
        let Ok(descriptor) = ends::descriptor(pid) else { return };
        let ledger = Arc::clone(&self.ledger);
        let hear = move || {
            if ends::await_end(&descriptor).is_ok() {
                let (exit_status, signal) = (None, None);
                ledger.end(ledger.now(), id, &ProcessEnd { exit_status, signal, used: Usage::default() });
            }
        };
        // Without the thread it has no end in the recording.
        let _ = std::thread::Builder::new().name("untraced".into()).spawn(hear);
    }

    /// Handles a thread that is about to end.
    fn exits(&mut self, last: Pid, all: Resources) {
        let Some(thread) = self.threads.get_mut(&last) else { return };
        thread.is_ending = true;
        let pid = thread.process;
        let Some(process) = self.processes.get_mut(&pid) else { return };
        process.threads = process.threads.saturating_sub(1);
        if process.threads > 0 {
            return;
        }
        process.is_ending = true;
        let never = process.account.settle();
        let ignores_ends = files::stat(pid).is_some_and(|stat| process.account.ignored_ends(&stat));
        if let Some(id) = process.id.filter(|_| ignores_ends) {
            self.ledger.attribute(id, Word::of_settings("ends of children"), "ignored");
        }
        let used = process.account.used(pid, all);
        // The other threads, even the first, are gone, so the last one is asked.
        process.peak_bytes = used.peak_bytes.or_else(|| files::peak_bytes(last));
        if let Some(id) = process.id.filter(|_| heaps::is_possible(&used))
            && let Some(heap) = heaps::written_by(last)
        {
            self.ledger.heap(id, heap.uuid, &heap.path);
        }
        let living = process.children.clone();
        for id in never.into_iter().flatten() {
            self.ledger.attribute(id, Word::of_settings("not waited for"), "never");
        }
        for child in living {
            if let Some(id) = self.processes.get(&child).and_then(|child| child.id) {
                self.ledger.attribute(id, Word::of_settings("not waited for"), "parent ended");
            }
        }
    }

    fn gone(&mut self, pid: Pid, ended: Ended, all: Resources) {
        self.unknown.remove(&pid);
        if pid == self.root {
            self.ended = Some(ended);
            if let Some(id) = self.left_root {
                self.ledger.end(self.ledger.now(), id, &ended.without_usage());
            }
        }
        // Its files in `/proc` exist until it is reaped.
        let waited_ns = files::waiting_ns(pid);
        if let Some(process) = self.threads.get(&pid).and_then(|thread| self.processes.get_mut(&thread.process)) {
            process.waited_ns = sum(process.waited_ns, waited_ns);
        }
        match self.threads.remove(&pid) {
            Some(thread) if thread.process == pid => {
                if let Some(process) = self.processes.remove(&pid) {
                    let _ = self.ledger.forget(pid);
                    self.write_end(pid, process, ended, all);
                }
            }
            Some(Thread { process, is_ending: false }) => {
                if let Some(process) = self.processes.get_mut(&process) {
                    process.threads = process.threads.saturating_sub(1);
                }
            }
            _ => {}
        }
        system::bury(pid);
    }

    fn write_end(&mut self, pid: Pid, mut process: Process, ended: Ended, all: Resources) {
        if !process.is_ending {
            process.account.settle();
        }
        let used = process.account.used(pid, all);
        let peak_bytes = process.peak_bytes.or(used.peak_bytes);
        let used = Usage { peak_bytes, waiting_ns: process.waited_ns, ..used };
        if let Some(parent) = process.parent.and_then(|parent| self.processes.get_mut(&parent)) {
            parent.children.remove(&pid);
            parent.account.child_ended(Child { pid, id: process.id, began_ticks: process.began_ticks }, all);
            self.unsettled.extend(process.parent.map(|parent| (pid, parent)));
        }
        let Some(id) = process.id else { return };
        let end = ProcessEnd { used, ..ended.without_usage() };
        self.ledger.end(self.ledger.now(), id, &end);
        if end.signal == Some(9)
            && let Some(reason) = self.kills.reason(pid)
        {
            self.ledger.attribute(id, Word::of_settings("killed by"), reason);
        }
    }

    fn notes(&mut self) -> Vec<String> {
        self.tracers.sort_unstable();
        self.tracers.dedup();
        let untraced = (!self.tracers.is_empty())
            .then(|| format!("not traced, with what it started: {}", self.tracers.join(", ")));
        untraced.into_iter().chain(without_rights(&self.without_rights)).collect()
    }
}
