//! A process that is watched: what its calls said, until it is written.

use std::os::fd::OwnedFd;

use barrow_writer::{ProcessId, Usage};

use super::execution::Execution;
use crate::files::{Stat, Transferred};
use crate::ledger::Living;
use crate::system::Pid;

/// A process that is watched.
pub(crate) struct Watched {
    pub(crate) id: Option<ProcessId>,
    pub(crate) parent: Option<Pid>,
    /// When the system says that it began, in ticks, once it was asked: it tells it from another process of the same number.
    pub(crate) began_ticks: Option<u64>,
    /// What it looks like with the program that it is known to execute.
    pub(crate) looks: Option<Looks>,
    /// Names it where its end is heard of.
    pub(crate) key: u64,
    pub(crate) descriptor: Option<OwnedFd>,
    /// Processes that it started, of which no parent took notice yet.
    pub(crate) children: Vec<Pid>,
    /// What those transferred of whose ends it took notice, with theirs; `None` once that is not known of one.
    pub(crate) of_children: Option<Transferred>,
    /// Whether it is known to have executed a program.
    pub(crate) has_program: bool,
    pub(crate) pending: Option<Pending>,
    /// What it used, and its status, when it was about to end.
    pub(crate) last: Option<Last>,
    /// What samples saw of it, once its end was heard of.
    pub(crate) seen: Option<Living>,
    /// When its end was heard of.
    pub(crate) ended_ns: Option<i64>,
}

/// A call to execute a program of which nobody knows yet whether it succeeded.
pub(crate) struct Pending {
    pub(crate) time_ns: i64,
    pub(crate) execution: Execution,
    pub(crate) directory: Option<String>,
    /// What the process used until then.
    pub(crate) used: Usage,
    /// What it looked like before.
    pub(crate) before: Looks,
}

/// What a process used, and its status, when it was about to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Last {
    pub(crate) time_ns: i64,
    pub(crate) status: u8,
    pub(crate) used: Usage,
    pub(crate) transferred: Option<Transferred>,
}

/// What changes when a process executes a program: its name, and where its arguments lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Looks {
    name: String,
    arguments: u64,
    stack: u64,
}

impl Looks {
    pub(crate) fn of(stat: &Stat) -> Self {
        Looks { name: stat.name.clone(), arguments: stat.arguments, stack: stat.stack }
    }
}

impl Pending {
    /// The program that the call named, from the root on.
    pub(crate) fn named(&self) -> Option<String> {
        self.execution.whole_path(self.directory.as_deref())
    }
}
