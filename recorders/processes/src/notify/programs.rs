//! The programs that processes execute, cached by path.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;

use foldhash::fast::RandomState;

use crate::files;
use crate::system::Pid;

/// The program that a process executes, with its arguments if it is the interpreter of a script.
#[derive(Debug, Clone, Default)]
pub(crate) struct Present {
    pub(crate) executable: Option<String>,
    pub(crate) arguments: Option<Vec<u8>>,
}

impl Present {
    /// The program that the call named, since nothing else is known.
    pub(crate) fn named(named: Option<String>) -> Self {
        Present { executable: named, arguments: None }
    }
}

/// The executable behind each path, valid while the file is unchanged.
#[derive(Default)]
pub(crate) struct Programs {
    known: HashMap<String, Known, RandomState>,
}

struct Known {
    /// Device, inode and time of the last change of the file.
    file: [u64; 4],
    executable: String,
}

/// Largest number of cached paths.
const MOST_PATHS: usize = 10_000;

impl Programs {
    /// The program that a process executes after a call that named a path. Scripts and unknown paths are looked up in `/proc`;
    /// for others, checking the file is faster.
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

/// Returns true if a file begins with `#!` or cannot be read.
fn is_script(path: &str) -> bool {
    let mut begin = [0; 2];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_err() || begin == *b"#!"
}

/// The path of a program without the remark that the system appends once the file was removed.
fn without_remark(path: String, named: Option<&str>) -> String {
    match path.strip_suffix(" (deleted)") {
        Some(whole) if named.is_some_and(|named| named.rsplit('/').next() == whole.rsplit('/').next()) => {
            whole.to_owned()
        }
        _ => path,
    }
}
