//! A process that is watched: what its calls said, until it is written.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use barrow_writer::{ProcessId, Usage};

use super::execution::Execution;
use crate::files::{self, Stat, Transferred};
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

/// What a process executes, and, if that is the interpreter of a script, with which arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Present {
    pub(crate) executable: Option<String>,
    pub(crate) arguments: Option<Vec<u8>>,
}

impl Present {
    /// What the call named, since nothing else is known.
    pub(crate) fn named(named: Option<String>) -> Self {
        Present { executable: named, arguments: None }
    }
}

/// Which programs paths lead to, as long as their files are the same.
#[derive(Default)]
pub(crate) struct Programs {
    known: HashMap<String, Known>,
}

struct Known {
    /// Device and number of the file, and its last change.
    file: [u64; 4],
    executable: String,
}

/// Paths that are remembered.
const MOST_PATHS: usize = 10_000;

impl Programs {
    /// What a process executes whose call named a path. The system is asked for scripts, and for what is not known yet: a link
    /// of `/proc` takes longer than to look at the file.
    pub(crate) fn present(&mut self, process: Pid, named: Option<String>) -> Present {
        let file = named.as_deref().and_then(file);
        let known = named.as_ref().and_then(|named| self.known.get(named));
        if let Some(known) = known.filter(|known| Some(known.file) == file) {
            return Present::named(Some(known.executable.clone()));
        }
        let Some(executable) = files::executable(process) else { return Present::named(named) };
        let executable = without_remark(executable, named.as_deref());
        if named.as_deref().is_none_or(is_script) {
            return Present { executable: Some(executable), arguments: Some(files::arguments(process)) };
        }
        if let Some((named, file)) = named.zip(file) {
            if self.known.len() >= MOST_PATHS {
                self.known.clear();
            }
            self.known.insert(named, Known { file, executable: executable.clone() });
        }
        Present::named(Some(executable))
    }
}

fn file(path: &str) -> Option<[u64; 4]> {
    let facts = fs::metadata(path).ok()?;
    Some([facts.dev(), facts.ino(), facts.ctime().unsigned_abs(), facts.ctime_nsec().unsigned_abs()])
}

/// Whether the file begins as scripts do; one that cannot be read may be one.
fn is_script(path: &str) -> bool {
    let mut begin = [0; 2];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_err() || begin == *b"#!"
}

/// The path of a program; the system adds a remark to that of one that was removed.
fn without_remark(path: String, named: Option<&str>) -> String {
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    match path.strip_suffix(" (deleted)") {
        Some(whole) if named.is_some_and(|named| name(named) == name(whole)) => whole.to_owned(),
        _ => path,
    }
}
