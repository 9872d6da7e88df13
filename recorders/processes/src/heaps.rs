//! Recordings of heaps that traced processes write.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::proc::Proc;

/// The bytes that a recording begins with, and where its unique identifier is.
const MAGIC: [u8; 8] = [0x89, 0x42, 0x52, 0x57, 0x0d, 0x0a, 0x1a, 0x0a];
const UUID: std::ops::Range<usize> = 32..48;
/// The variable that names the recording of a program that records itself.
const VARIABLE: &str = "BARROW_OUT";

/// A recording of a heap.
pub(crate) struct Heap {
    pub(crate) uuid: [u8; 16],
    pub(crate) path: String,
}

/// The recording that a process writes, which is about to end: a file that it has open, or that its environment names.
pub(crate) fn of(pid: i32, proc: &mut Proc) -> Option<Heap> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let files = open.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let mut recordings = files.filter(|path| path.extension().is_some_and(|extension| extension == "barrow"));
    let mut named = || {
        let name = proc.variable(pid, VARIABLE)?;
        let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
        Some(folder.join(name))
    };
    recordings.find_map(|path| recording(&path)).or_else(|| recording(&named()?))
}

/// The recording at `path`, if there is one.
fn recording(path: &Path) -> Option<Heap> {
    let mut begin = [0; UUID.end];
    File::open(path).ok()?.read_exact(&mut begin).ok()?;
    if begin[..MAGIC.len()] != MAGIC {
        return None;
    }
    let path = path.to_string_lossy().into_owned();
    Some(Heap { uuid: begin[UUID].try_into().ok()?, path })
}
