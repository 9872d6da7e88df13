//! A watched process: facts from its calls that are not written yet.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use barrow_writer::{ProcessId, Usage};

use super::execution::{Execution, may_be_executed};
use crate::files::{Schedule, Stat, Transferred};
use crate::ledger::Living;
use crate::system::Pid;

/// A watched process.
pub(crate) struct Watched {
    pub(crate) id: Option<ProcessId>,
    pub(crate) parent: Option<Pid>,
    /// When it began, as recorded.
    pub(crate) began_ns: i64,
    /// Start time in ticks, once it was read. Distinguishes it from other processes with the same number.
    pub(crate) began_ticks: Option<u64>,
    /// Its looks with the last program that it is known to execute.
    pub(crate) looks: Option<Looks>,
    /// Identifies it in reports of ends.
    pub(crate) key: u64,
    pub(crate) descriptor: Option<OwnedFd>,
    /// Open from the call that executes its first program to its next call.
    pub(crate) schedule: Option<Schedule>,
    /// Processes that it started and that were not waited for yet.
    pub(crate) children: Vec<Pid>,
    /// Bytes transferred by the children that it waited for and by theirs; `None` once that of one is unknown.
    pub(crate) of_children: Option<Transferred>,
    /// Page faults of the children that it waited for, and of theirs.
    pub(crate) faults_of_children: Faults,
    /// User and system time at its last call so far. Neither falls.
    pub(crate) times: [u64; 2],
    /// It is known to have executed a program.
    pub(crate) has_program: bool,
    pub(crate) pending: Option<Pending>,
    /// Its last call.
    pub(crate) last: Option<Last>,
    /// Its samples, once its end was reported.
    pub(crate) seen: Option<Living>,
    /// When it ended, once that was reported.
    pub(crate) ended_ns: Option<i64>,
}

impl Watched {
    /// Usage until a call, with times that have not fallen since the last one: the system, too, moves the rest between user
    /// and system time.
    pub(crate) fn without_fall(&mut self, used: Usage) -> Usage {
        let Some((user, system)) = used.user_ns.zip(used.system_ns) else { return used };
        let [user_before, system_before] = self.times;
        let both = user.saturating_add(system);
        let system = system.max(system_before).min(both.saturating_sub(user_before));
        self.times = [both.saturating_sub(system), system];
        Usage { user_ns: Some(self.times[0]), system_ns: Some(self.times[1]), ..used }
    }
}

/// A call to execute a program whose success is not known yet.
pub(crate) struct Pending {
    pub(crate) time_ns: i64,
    pub(crate) execution: Execution,
    /// Usage of the process until the call.
    pub(crate) used: Usage,
    /// Looks of the process before the call.
    pub(crate) before: Looks,
}

/// The call that ends a process, with its status and usage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Last {
    pub(crate) time_ns: i64,
    pub(crate) status: u8,
    pub(crate) used: Usage,
    pub(crate) transferred: Option<Transferred>,
    /// Those of its children that it waited for included.
    pub(crate) faults: Faults,
}

/// A number of page faults of processes that have ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    pub(crate) least: u64,
    /// A process had several threads, which may have had more faults after its last call.
    pub(crate) has_threads: bool,
    /// A process had no last call, so nothing is known of its faults.
    pub(crate) lacks_some: bool,
}

impl Faults {
    /// The faults of a process and of its children at its last call, of which only this tells.
    pub(crate) fn of(stat: &Stat) -> Self {
        let own = stat.minor_faults.saturating_add(stat.major_faults);
        Faults { least: own.saturating_add(stat.faults_of_children), has_threads: stat.threads > 1, lacks_some: false }
    }

    /// The sum of both; `None` is a process without a last call.
    pub(crate) fn plus(self, other: Option<Faults>) -> Self {
        let other = other.unwrap_or(Faults { lacks_some: true, ..Faults::default() });
        Faults {
            least: self.least.saturating_add(other.least),
            has_threads: self.has_threads || other.has_threads,
            lacks_some: self.lacks_some || other.lacks_some,
        }
    }
}

/// The visible state that changes when a process executes a program: its name and the addresses of its stack and arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Looks {
    name: Arc<str>,
    arguments: u64,
    stack: u64,
}

impl Looks {
    pub(crate) fn of(stat: &Stat) -> Self {
        Looks { name: Arc::clone(&stat.name), arguments: stat.arguments, stack: stat.stack }
    }
}

impl Pending {
    /// Returns true if the call has succeeded in a process that looks like this now.
    ///
    /// A fork has the name of the thread that made it, and `before` may be the looks of its parent, which has the name of another
    /// thread. So another name alone means success only if it is that of the program.
    pub(crate) fn has_succeeded(&self, now: &Looks) -> bool {
        let has_moved = (now.arguments, now.stack) != (self.before.arguments, self.before.stack);
        has_moved || now.name != self.before.name && self.execution.is_named(&now.name)
    }

    /// Returns false if the call failed in a process that a signal, or the end of its last thread, has ended. `name` is the
    /// name that it had then, if that is known: a program gives its own to the process that executes it. Where that tells
    /// nothing, what was seen of the file while the call waited does.
    pub(crate) fn may_have_succeeded(&self, name: Option<&str>) -> bool {
        let is_named = name.map(|name| (self.execution.is_named(name), *name == *self.before.name));
        match is_named {
            Some((true, false)) => true,
            Some((false, true)) => false,
            _ => !self.execution.is_in_vain && self.named().is_none_or(|path| may_be_executed(&path)),
        }
    }

    /// The absolute path of the program that the call named.
    pub(crate) fn named(&self) -> Option<String> {
        self.execution.whole_path()
    }
}
