//! The running processes and threads.

use std::collections::HashMap;

use barrow_writer::ProcessId;

use super::call::Call;

/// A running process.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub(super) id: ProcessId,
    /// Its working directory, if the log gives it.
    pub(super) directory: Option<String>,
    /// The time and status of its request to exit.
    pub(super) exits: Option<(i64, Option<u64>)>,
}

/// The running processes and threads, and the calls that have not returned.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// The process of each task; a process is its own.
    processes_of: HashMap<u64, u64>,
    processes: HashMap<u64, Process>,
    unfinished: HashMap<u64, Call>,
}

impl Tasks {
    pub(super) fn is_known(&self, task: u64) -> bool {
        self.processes_of.contains_key(&task)
    }

    /// The only task, if there is exactly one.
    pub(super) fn only(&self) -> Option<u64> {
        if self.processes_of.len() == 1 { self.processes_of.keys().next().copied() } else { None }
    }

    /// Adds a process.
    pub(super) fn begin(&mut self, pid: u64, process: Process) {
        self.processes_of.insert(pid, pid);
        self.processes.insert(pid, process);
    }

    /// Adds a thread to the process of `task`.
    pub(super) fn begin_thread(&mut self, thread: u64, task: u64) {
        if let Some(&process) = self.processes_of.get(&task) {
            self.processes_of.insert(thread, process);
        }
    }

    /// The process of a process or thread.
    pub(super) fn process(&mut self, task: u64) -> Option<&mut Process> {
        self.processes.get_mut(self.processes_of.get(&task)?)
    }

    /// Ends a process or thread. Returns the process, if it is one.
    pub(super) fn end(&mut self, task: u64) -> Option<Process> {
        self.unfinished.remove(&task);
        let process = self.processes_of.remove(&task)?;
        if process == task { self.processes.remove(&task) } else { None }
    }

    /// The processes that have not ended, in the order in which they began.
    pub(super) fn take_processes(&mut self) -> Vec<Process> {
        let mut processes: Vec<Process> = std::mem::take(&mut self.processes).into_values().collect();
        processes.sort_unstable_by_key(|process| process.id);
        processes
    }

    /// Notes a call that has not returned.
    pub(super) fn suspend(&mut self, task: u64, call: Call) {
        self.unfinished.insert(task, call);
    }

    /// Takes the call that continues.
    pub(super) fn resume(&mut self, task: u64) -> Option<Call> {
        self.unfinished.remove(&task)
    }

    /// A thread executes another program: its process continues with that, and the thread ends.
    pub(super) fn supersede(&mut self, process: u64, thread: u64) {
        if let Some(call) = self.unfinished.remove(&thread) {
            self.unfinished.insert(process, call);
        }
        if thread != process {
            self.processes_of.remove(&thread);
        }
    }
}
