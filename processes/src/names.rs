//! Names of processes: `1234:0` is the first process of the recording that had the number 1234.
//!
//! The system reuses process numbers, so the number alone need not identify a process. If there are processes of
//! several machines, the machine comes first: `build2:1234:0`.

use std::collections::HashSet;

use barrow_analyzer::ProcessId;

use crate::error::{ProcessError, Result};
use crate::tree::{Process, ProcessTree};

/// Maximum number of processes that an error lists.
const MOST_LISTED: usize = 5;

/// One reading of the name of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Name<'n> {
    host: Option<&'n str>,
    pid: u64,
    serial: Option<u32>,
}

impl<'n> Name<'n> {
    /// All readings of `text`: `a:1:2` is process `1:2` of `a`, or process 2 of a host `a:1`.
    fn read(text: &'n str) -> impl Iterator<Item = Name<'n>> {
        let mut parts = text.rsplitn(3, ':');
        let (last, middle, rest) = (parts.next(), parts.next(), parts.next());
        let with_serial = middle.zip(last).and_then(|(pid, serial)| {
            Some(Name { host: rest, pid: pid.parse().ok()?, serial: Some(serial.parse().ok()?) })
        });
        let host = text.rsplit_once(':').map(|(host, _)| host);
        let only_pid = last.and_then(|pid| pid.parse().ok()).map(|pid| Name { host, pid, serial: None });
        with_serial.into_iter().chain(only_pid)
    }

    fn is_of(&self, process: &Process, tree: &ProcessTree) -> bool {
        process.pid == self.pid
            && self.serial.is_none_or(|serial| serial == process.serial)
            && self.host.is_none_or(|host| process.host.is_some_and(|id| tree.text(id) == host))
    }
}

impl ProcessTree {
    /// The name of a process: `pid:serial`, after its host if the recording has processes of several hosts.
    #[must_use]
    pub fn name(&self, process: ProcessId) -> String {
        let Process { pid, serial, host, .. } = *self.process(process);
        match host.filter(|_| self.has_several_hosts()) {
            Some(host) => format!("{}:{pid}:{serial}", self.text(host)),
            None => format!("{pid}:{serial}"),
        }
    }

    /// The process with this name: `1234:0`, or `1234` if only one process had that number, optionally after `HOST:`.
    ///
    /// # Errors
    /// [`ProcessError::NoProcess`], [`ProcessError::SeveralProcesses`].
    pub fn named(&self, name: &str) -> Result<ProcessId> {
        for meaning in Name::read(name) {
            let mut found = (0..).map(ProcessId).zip(self.processes()).filter(|(_, of)| meaning.is_of(of, self));
            let Some((first, _)) = found.next() else { continue };
            let others: Vec<ProcessId> = found.map(|(id, _)| id).collect();
            if others.is_empty() {
                return Ok(first);
            }
            let all = std::iter::once(&first).chain(&others);
            let mut listed = all.take(MOST_LISTED).map(|&id| self.name(id)).collect::<Vec<_>>().join(", ");
            if others.len() >= MOST_LISTED {
                listed += ", …";
            }
            return Err(ProcessError::SeveralProcesses { name: name.to_owned(), count: others.len() + 1, listed });
        }
        Err(ProcessError::NoProcess { name: name.to_owned() })
    }

    /// Whether two processes ran on different machines.
    pub(crate) fn hosts_differ(&self) -> bool {
        let mut hosts = self.processes().iter().map(|process| process.host);
        let Some(first) = hosts.next() else { return false };
        // The same text may have several ids.
        let ids: HashSet<_> = hosts.filter(|host| *host != first).collect();
        let first = first.map(|host| self.text(host));
        ids.into_iter().any(|host| host.map(|host| self.text(host)) != first)
    }
}
