//! The shim beside a run: the library in a file, and the file of counters, see `shim/slots.rs`.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::folder::Folder;
use crate::heap::{Heap, SLOTS, Slot};
use crate::running::is_running;
use crate::system;

/// The library, as `build.rs` compiled it; empty where there is no glibc.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shim.so"));

const SLOT_BYTES: usize = 64;
/// The slots that are read with the header: most programs are few processes, and each call of the system takes its time.
const FEW_SLOTS: usize = 3;

/// The bytes of a run's counters, and the runs that share a file of them: to make a file takes longer than to load the library.
const RUN_BYTES: u64 = ((SLOTS + 1) * SLOT_BYTES) as u64;
const RUNS: u64 = 64;

/// The folder of the library and of counters.
pub(crate) struct Shim {
    folder: Folder,
    library: PathBuf,
    /// Files of counters so far.
    files: u32,
    last: Option<Counters>,
}

/// The counters of one run. No other run has them, because processes may outlive a run.
#[derive(Clone)]
pub(crate) struct Counters {
    file: Rc<CountersFile>,
    /// Which run of the file it is.
    run: u64,
    /// The time at which it began, see [`is_running`].
    since: u64,
}

/// A file of counters, which is removed with the last of them.
struct CountersFile {
    path: PathBuf,
    file: File,
}

impl Shim {
    /// Unpacks the library; `None` where there is none for this system.
    pub(crate) fn unpack() -> io::Result<Option<Self>> {
        if LIBRARY.is_empty() {
            return Ok(None);
        }
        // In memory if possible. Where nothing can be executed, as in many containers, no library can be loaded either.
        let in_memory = Path::new("/dev/shm");
        let is_usable = in_memory.is_dir() && !system::forbids_execution(in_memory);
        let on_disk = std::env::temp_dir();
        let folder = Folder::new(if is_usable { in_memory } else { &on_disk }).or_else(|_| Folder::new(&on_disk))?;
        let library = folder.path().join("shim.so");
        fs::write(&library, LIBRARY)?;
        fs::set_permissions(&library, Permissions::from_mode(0o755))?;
        Ok(Some(Shim { folder, library, files: 0, last: None }))
    }

    /// The path of the library.
    pub(crate) fn library(&self) -> &Path {
        &self.library
    }

    /// The counters of another run, all zero.
    pub(crate) fn counters(&mut self) -> io::Result<Counters> {
        let since = system::now_ticks();
        let next = match self.last.take() {
            Some(Counters { file, run, .. }) if run + 1 < RUNS => Counters { file, run: run + 1, since },
            _ => Counters { file: Rc::new(self.counters_file()?), run: 0, since },
        };
        self.last = Some(next.clone());
        Ok(next)
    }

    fn counters_file(&mut self) -> io::Result<CountersFile> {
        self.files = (self.files + 1) % 100_000_000;
        let path = self.folder.path().join(format!("{:08}", self.files));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        file.set_len(RUNS * RUN_BYTES)?;
        file.set_permissions(Permissions::from_mode(0o666))?;
        Ok(CountersFile { path, file })
    }
}

impl Counters {
    /// The place of the counters, as the library reads it: the path of the file, and the number of the run in it.
    pub(crate) fn place(&self) -> OsString {
        let mut place = self.file.path.clone().into_os_string();
        place.push(format!(":{:02}", self.run));
        place
    }

    /// Reads the counts of a run whose first process is `process`.
    pub(crate) fn read(&self, process: u64) -> io::Result<Heap> {
        let (mut header, mut slots) = self.read_now()?;
        loop {
            if header.taken() > SLOTS {
                return Ok(Heap::of_too_many());
            }
            let mut others = slots.iter().map(|slot| slot.process).filter(|&other| other != process).peekable();
            // Only counts that were read when nothing ran any more are those of the whole run. The first process has ended.
            if others.peek().is_none() && !header.has_unbegun_forks() {
                return Ok(Heap::of(&slots, process, false, &header.allocator()));
            }
            let is_left = header.has_unbegun_forks() || others.any(|other| is_running(other, self.since));
            let (last_header, last_slots) = self.read_now()?;
            let is_last = is_left || last_header.taken() == header.taken() && !last_header.has_unbegun_forks();
            (header, slots) = (last_header, last_slots);
            if is_last {
                return Ok(Heap::of(&slots, process, is_left, &header.allocator()));
            }
        }
    }

    /// Reads what is there now: the header, and the slots that are taken.
    fn read_now(&self) -> io::Result<(Header, Vec<Slot>)> {
        let mut bytes = vec![0; (1 + FEW_SLOTS) * SLOT_BYTES];
        let begin = self.run * RUN_BYTES;
        self.file.file.read_exact_at(&mut bytes, begin)?;
        let header = Header(bytes[..SLOT_BYTES].try_into().unwrap_or([0; SLOT_BYTES]));
        let known = bytes.len();
        bytes.resize((1 + header.taken().min(SLOTS)) * SLOT_BYTES, 0);
        if let Some(more) = bytes.get_mut(known..) {
            self.file.file.read_exact_at(more, begin + known as u64)?;
        }
        Ok((header, bytes[SLOT_BYTES..].chunks_exact(SLOT_BYTES).map(slot).collect()))
    }
}

/// What precedes the slots of a run, see `shim/slots.rs`.
struct Header([u8; SLOT_BYTES]);

impl Header {
    fn number(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap_or_default())
    }

    /// The slots that were taken or asked for.
    fn taken(&self) -> usize {
        self.number(0) as usize
    }

    /// Whether a forked process has no slot yet.
    fn has_unbegun_forks(&self) -> bool {
        self.number(56) != self.number(60)
    }

    /// The file with the allocator of the first uncounted process.
    fn allocator(&self) -> String {
        let name = self.0[8..56].split(|&byte| byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    }
}

/// Decodes a process as recorded by the shim.
fn slot(bytes: &[u8]) -> Slot {
    let [process, allocated, blocks, live, peak, verdict, executes] =
        [0, 1, 2, 3, 4, 6, 7].map(|at| u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().unwrap_or_default()));
    Slot { process, allocated, blocks, live, peak, verdict, executes: executes != 0 }
}

impl Drop for CountersFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use object::{Object as _, ObjectSymbol as _};

    use super::*;
    use crate::heap::Counted;

    /// An undefined symbol that nothing provides kills every program that loads the library.
    #[test]
    fn the_library_needs_what_every_library_of_c_has() {
        if LIBRARY.is_empty() {
            return;
        }
        let file = object::File::parse(LIBRARY).unwrap();
        let known = "__errno_location abort bcmp close dl_iterate_phdr dlsym environ getenv getpid memcmp memcpy memset mmap open \
                     pthread_atfork strlen";
        let known: Vec<&[u8]> = known.split_whitespace().map(str::as_bytes).collect();
        let needed = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
        for name in needed.map(|symbol| symbol.name_bytes().unwrap()) {
            assert!(known.contains(&name), "{}", String::from_utf8_lossy(name));
        }
        // Programs ask for functions of jemalloc to find out whether it is there, and Rust has handlers of its own.
        let offered: Vec<_> = file.dynamic_symbols().filter(|symbol| !symbol.is_undefined()).collect();
        let offers = |name: &[u8]| offered.iter().any(|symbol| symbol.name_bytes() == Ok(name));
        assert!(offers(b"malloc") && !offers(b"mallocx") && !offers(b"rust_eh_personality"));
    }

    #[test]
    fn no_run_has_the_counters_of_another() {
        let Some(mut shim) = Shim::unpack().unwrap() else { return };
        let mut places = std::collections::HashSet::new();
        for _ in 0..2 * RUNS + 1 {
            let counters = shim.counters().unwrap();
            assert!(matches!(counters.read(7).unwrap(), Heap::Unknown(_)));
            assert!(places.insert(counters.place()));
            // Of one process, with a number in each place.
            let slot: Vec<u8> = [7_u64, 10, 2, 5, 8, 0, 1, 0].into_iter().flat_map(u64::to_le_bytes).collect();
            let begin = counters.run * RUN_BYTES;
            counters.file.file.write_all_at(&1_u32.to_le_bytes(), begin).unwrap();
            counters.file.file.write_all_at(&slot, begin + SLOT_BYTES as u64).unwrap();
            let counted = Counted { peak_bytes: 8, allocated_bytes: 10, blocks: 2, live_bytes: 5 };
            assert_eq!(counters.read(7).unwrap(), Heap::Counted(counted));
        }
    }
}
