//! Heap recordings that recorded processes write.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use barrow_writer::Usage;

use crate::files;
use crate::system::Pid;

/// The first bytes of a recording, and the range of its unique identifier.
const MAGIC: [u8; 8] = [0x89, 0x42, 0x52, 0x57, 0x0d, 0x0a, 0x1a, 0x0a];
const UUID: std::ops::Range<usize> = 32..48;
/// The variable with the path of the recording of a program that records itself.
const VARIABLE: &str = "BARROW_OUT";

/// Processor time below which a process that wrote nothing to a device is not checked for a recording.
const FEWEST_NS: u64 = 2_000_000;

/// Returns true if a process may have written a recording.
pub(crate) fn is_possible(used: &Usage) -> bool {
    let processor_ns = used.user_ns.zip(used.system_ns).map(|(user, system)| user + system);
    used.written_bytes != Some(0) || processor_ns.is_none_or(|ns| ns >= FEWEST_NS)
}

/// A heap recording.
pub(crate) struct Heap {
    pub(crate) uuid: [u8; 16],
    pub(crate) path: String,
}

/// The recording that an ending process wrote: a file that it has open or that its environment names.
pub(crate) fn written_by(pid: Pid) -> Option<Heap> {
    let mut open = files::open_files(pid);
    open.retain(|path| path.extension().is_some_and(|extension| extension == "barrow"));
    let open = open.iter().find_map(|path| recording(path));
    open.or_else(|| recording(&fs::read_link(format!("/proc/{pid}/cwd")).ok()?.join(files::variable(pid, VARIABLE)?)))
}

/// The recording at `path`, if there is one.
fn recording(path: &Path) -> Option<Heap> {
    // Opening a pipe would wait for its writer.
    if !path.is_file() {
        return None;
    }
    let mut begin = [0; UUID.end];
    File::open(path).ok()?.read_exact(&mut begin).ok()?;
    if begin[..MAGIC.len()] != MAGIC {
        return None;
    }
    let path = path.to_string_lossy().into_owned();
    Some(Heap { uuid: begin[UUID].try_into().ok()?, path })
}
