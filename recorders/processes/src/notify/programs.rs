//! The programs that processes execute, as far as paths lead to them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;

use crate::files;
use crate::system::Pid;

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
