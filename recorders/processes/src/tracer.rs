//! Follows a tree of processes, from fork to end, and says what happens to the log.
//!
//! ```text
//!   FORK ──▶ a process begins     EXEC ──▶ what it used until then, what it executes     EXIT ──▶ what it used
//!                                                                                        its end ──▶ status, processor time
//! ```
//!
//! Nothing else of a traced process is looked at: it stops four times in its life.

use std::collections::HashMap;
use std::sync::PoisonError;

use barrow_writer::{ProcessEnd, ProcessId, Usage};

use crate::heaps;
use crate::log::Log;
use crate::proc::{self, Proc};
use crate::sampler::Running;
use crate::system::{self, Ended, Event, Waited, What};

/// Programs that trace others: a process can be traced by one only.
const TRACERS: [&str; 6] = ["gdb", "lldb", "strace", "ltrace", "rr", "perf-trace"];

/// A process that has not been forgotten.
struct Known {
    process: Option<ProcessId>,
    parent: Option<i32>,
    /// Its threads that have not ended.
    threads: u32,
    /// What it used, once its last thread is about to end.
    used: Option<Usage>,
    /// Children that ended and may not have been waited for, with what they used.
    ended: Vec<(i32, Option<ProcessId>)>,
    /// Children that run.
    children: Vec<i32>,
    /// What children that ended used, with theirs.
    of_children: Waited,
}

/// The tracer of one command.
pub(crate) struct Tracer<'l> {
    log: &'l Log,
    running: &'l Running,
    with_arguments: bool,
    proc: Proc,
    tick_ns: u64,
    processes: HashMap<i32, Known>,
    /// The process of each thread that is not the first of its process.
    threads: HashMap<i32, i32>,
    /// Children that were there before their parent told of them; they wait.
    early: Vec<i32>,
    killed_for_memory: u64,
    /// Programs that ran with fewer rights, or were not followed.
    pub(crate) remarks: Vec<String>,
}

impl<'l> Tracer<'l> {
    pub(crate) fn new(log: &'l Log, running: &'l Running, with_arguments: bool) -> Self {
        let mut proc = Proc::default();
        let killed_for_memory = proc.killed_for_memory();
        Tracer {
            log,
            running,
            with_arguments,
            proc,
            tick_ns: system::tick_ns(),
            processes: HashMap::new(),
            threads: HashMap::new(),
            early: Vec::new(),
            killed_for_memory,
            remarks: Vec::new(),
        }
    }

    /// Follows all that `command` starts until it ends; what runs then goes on untraced.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn follow(&mut self, command: i32) -> std::io::Result<Ended> {
        self.begin(command, None);
        let mut ended = None;
        // After its end only what has happened already is taken.
        while let Some(Event { pid, what }) = system::next(ended.is_some())? {
            if let What::Ended { status, signal } = what {
                if pid == command {
                    ended = Some(Ended { status, signal });
                }
                self.end(pid, status, signal);
            } else {
                self.stopped(pid, what);
            }
        }
        Ok(ended.unwrap_or(Ended { status: Some(0), signal: None }))
    }

    fn stopped(&mut self, pid: i32, what: What) {
        let mut signal = 0;
        match what {
            What::Forked(child) => self.forked(pid, child),
            What::Cloned(child) => {
                let process = self.process_of(pid);
                match self.proc.process_of(child) {
                    Some(own) if own != child => self.thread(child, process),
                    _ => self.forked(pid, child),
                }
            }
            What::Executed(former) => {
                if self.executed(pid, former) {
                    return system::let_go(pid);
                }
            }
            What::Ending => self.ending(pid),
            What::Stopped => return system::stay_stopped(pid),
            What::Attached => {
                if !self.processes.contains_key(&pid) && !self.threads.contains_key(&pid) {
                    return self.early.push(pid);
                }
            }
            What::Signalled(number) => signal = number,
            What::Ended { .. } => {}
        }
        system::go_on(pid, signal);
    }

    fn process_of(&self, thread: i32) -> i32 {
        self.threads.get(&thread).copied().unwrap_or(thread)
    }

    fn begin(&mut self, pid: i32, parent: Option<i32>) {
        let of_parent = parent.and_then(|parent| self.processes.get(&parent)?.process);
        let process = self.log.began(pid, of_parent);
        let known = Known {
            process,
            parent,
            threads: 1,
            used: None,
            ended: Vec::new(),
            children: Vec::new(),
            of_children: Waited::default(),
        };
        self.processes.insert(pid, known);
        if let Some(process) = process {
            self.running.lock().unwrap_or_else(PoisonError::into_inner).push((pid, process));
        }
    }

    fn forked(&mut self, by: i32, child: i32) {
        let parent = self.process_of(by);
        self.begin(child, Some(parent));
        if let Some(parent) = self.processes.get_mut(&parent) {
            parent.children.push(child);
        }
        self.let_early_go(child);
    }

    fn thread(&mut self, thread: i32, process: i32) {
        self.threads.insert(thread, process);
        if let Some(known) = self.processes.get_mut(&process) {
            known.threads += 1;
        }
        self.let_early_go(thread);
    }

    fn let_early_go(&mut self, pid: i32) {
        if let Some(at) = self.early.iter().position(|&early| early == pid) {
            self.early.swap_remove(at);
            system::go_on(pid, 0);
        }
    }

    /// A process executes a program. Whether it is to be left alone from now on.
    fn executed(&mut self, pid: i32, former: i32) -> bool {
        // Only the thread that executes is left, and it has the number of the process.
        self.threads.retain(|&thread, &mut process| process != pid || thread == former);
        self.threads.remove(&former);
        let executed = self.proc.executed(pid, self.with_arguments);
        let mut used = self.proc.used(pid, self.tick_ns);
        // The memory of the image that ends is gone already.
        used.peak_bytes = None;
        let Some(known) = self.processes.get_mut(&pid) else { return false };
        known.threads = 1;
        let Some(process) = known.process else { return false };
        self.log.executed(process, &executed, used);
        let path = executed.executable.unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        if TRACERS.contains(&name) {
            self.log.attribute(process, "not traced", "it traces processes itself");
            self.remarks.push(format!("{name} traces processes itself: it ran untraced, and so did what it started"));
            self.forget(pid);
            return true;
        }
        if has_lost_rights(&path) {
            let remark = format!("{name} ran without the rights of its owner, because it was traced");
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
        false
    }

    /// A thread is about to end. With the last one of its process, what that used can be read for the last time.
    fn ending(&mut self, thread: i32) {
        let pid = self.process_of(thread);
        let Some(known) = self.processes.get_mut(&pid) else { return };
        known.threads = known.threads.saturating_sub(1);
        if known.threads > 0 {
            return;
        }
        let process = known.process;
        let ended = std::mem::take(&mut known.ended);
        known.used = Some(self.proc.used(pid, self.tick_ns));
        if let Some((process, heap)) = process.zip(heaps::of(pid, &mut self.proc)) {
            self.log.heap(process, heap.uuid, &heap.path);
        }
        for (child, process) in ended {
            if let Some(process) = process.filter(|_| self.proc.is_zombie(child)) {
                self.log.attribute(process, "not waited for", "never");
            }
        }
    }

    fn end(&mut self, pid: i32, status: Option<u8>, signal: Option<i32>) {
        if self.threads.remove(&pid).is_some() {
            system::reap(pid);
            return;
        }
        let cpu = system::cpu_ns(pid);
        let waited = system::reap(pid);
        let Some(known) = self.forget(pid) else { return };
        let Some(process) = known.process else { return };
        let mut used = known.used.unwrap_or_default();
        (used.user_ns, used.system_ns) = exclusive(cpu, waited, known.of_children, used);
        let exit_status = status.map(u64::from);
        let end = ProcessEnd { exit_status, signal: signal.map(|signal| signal.unsigned_abs().into()), used };
        self.log.ended(process, &end);
        if signal == Some(libc::SIGKILL) && self.proc.killed_for_memory() > self.killed_for_memory {
            self.killed_for_memory = self.proc.killed_for_memory();
            self.log.attribute(process, "killed by", "out of memory");
        }
        for child in known.children {
            let orphan = self.processes.get_mut(&child).map(|orphan| (orphan.parent.take(), orphan.process));
            if let Some((_, Some(orphan))) = orphan {
                self.log.attribute(orphan, "not waited for", "parent ended");
            }
        }
        if let Some(parent) = known.parent.and_then(|parent| self.processes.get_mut(&parent)) {
            parent.children.retain(|&child| child != pid);
            parent.ended.push((pid, Some(process)));
            parent.of_children.user_ns += waited.user_ns;
            parent.of_children.system_ns += waited.system_ns;
        }
    }

    fn forget(&mut self, pid: i32) -> Option<Known> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).retain(|&(running, _)| running != pid);
        self.processes.remove(&pid)
    }
}

/// The processor time of a process without its children, in its own code and in the system. `cpu` is exact, and what was
/// waited for divides it: without what children used, unless they were not waited for.
fn exclusive(cpu: Option<u64>, waited: Waited, of_children: Waited, before: Usage) -> (Option<u64>, Option<u64>) {
    let user = waited.user_ns.checked_sub(of_children.user_ns);
    let system = waited.system_ns.checked_sub(of_children.system_ns);
    match (cpu, user.zip(system)) {
        (Some(cpu), Some((user, system))) if (user + system).abs_diff(cpu) <= cpu / 20 + 2_000_000 => {
            let (user, system) = proc::parts(cpu, user, system);
            (Some(user), Some(system))
        }
        (Some(cpu), _) => {
            let (user, system) = proc::parts(cpu, before.user_ns.unwrap_or(0), before.system_ns.unwrap_or(0));
            (Some(user), Some(system))
        }
        (None, _) => (before.user_ns, before.system_ns),
    }
}

/// Whether a program would have the rights of its owner or group if it were not traced.
fn has_lost_rights(path: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let Ok(file) = std::fs::metadata(path) else { return false };
    let is_privileged = system::own_user() == 0;
    !is_privileged && file.mode() & 0o6000 != 0
}
