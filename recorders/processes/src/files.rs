//! Facts about a process from `/proc`, read while it is stopped or waits in a call.

use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::{self, CWD, Mode, OFlags};
use rustix::io;
use rustix::path::DecInt;

use crate::system::{self, Pid};

/// The program that a process executes.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) executable: Option<String>,
    pub(crate) directory: Option<String>,
    /// The arguments, each with a zero after it.
    pub(crate) arguments: Vec<u8>,
}

/// Size of the first read: nearly all of these files fit, so one call reads them.
const USUAL_BYTES: usize = 4 << 10;
/// Size of the buffer for lines of numbers and for the paths of links.
const SHORT_BYTES: usize = 1 << 10;
/// Size of the buffer for a path below `/proc` with its terminating zero.
const PATH_BYTES: usize = 64;

/// Calls `then` with the path of a file of a process.
fn with_path<T>(pid: Pid, name: &str, then: impl FnOnce(&CStr) -> Option<T>) -> Option<T> {
    let mut path = [0; PATH_BYTES];
    let mut length = 0;
    for part in [b"/proc/", DecInt::new(pid).as_bytes(), b"/", name.as_bytes()] {
        path.get_mut(length..length + part.len())?.copy_from_slice(part);
        length += part.len();
    }
    then(CStr::from_bytes_until_nul(&path).ok()?)
}

/// Opens a file of a process. Uses rustix because calls through the C library are cancellation points, which takes longer.
fn open(pid: Pid, name: &str) -> Option<OwnedFd> {
    with_path(pid, name, |path| fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok())
}

/// Calls `parse` with the text of a file of a process, which is a few lines of ASCII.
fn with_numbers<T>(pid: Pid, name: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let mut bytes = [MaybeUninit::uninit(); SHORT_BYTES];
    let (read, _) = io::read(open(pid, name)?, &mut bytes).ok()?;
    parse(str::from_utf8(read).ok()?)
}

fn text(pid: Pid, name: &str) -> Option<Vec<u8>> {
    // `std::fs::read` asks for the length, which is 0, and then reads in small pieces.
    let file = open(pid, name)?;
    let mut usual = [MaybeUninit::uninit(); USUAL_BYTES];
    let (read, _) = io::read(&file, &mut usual).ok()?;
    let mut bytes = read.to_vec();
    // The system fills the buffer unless the file ends.
    if bytes.len() == USUAL_BYTES {
        File::from(file).read_to_end(&mut bytes).ok()?;
    }
    Some(bytes)
}

/// The target of a link of a process.
fn link(pid: Pid, name: &str) -> Option<String> {
    let mut bytes = [MaybeUninit::uninit(); SHORT_BYTES];
    let (path, _) = with_path(pid, name, |link| fs::readlinkat_raw(CWD, link, &mut bytes).ok())?;
    if path.len() < SHORT_BYTES {
        return Some(lossy(path.to_vec()));
    }
    let path = with_path(pid, name, |link| fs::readlinkat(CWD, link, Vec::new()).ok())?;
    Some(lossy(path.into_bytes()))
}

/// Converts bytes to text; bytes that are not UTF-8 become replacement characters.
pub(crate) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The path of the program that the process executes.
pub(crate) fn executable(pid: Pid) -> Option<String> {
    link(pid, "exe")
}

/// The arguments with which the process executes its program, each with a zero after it.
pub(crate) fn arguments(pid: Pid) -> Vec<u8> {
    text(pid, "cmdline").unwrap_or_default()
}

/// The program that the process executes, and its working directory.
pub(crate) fn program(pid: Pid, arguments: Vec<u8>) -> Program {
    Program { executable: link(pid, "exe"), directory: link(pid, "cwd"), arguments }
}

/// The number after a key at the beginning of a line: `VmHWM:   5000 kB`.
fn number(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

fn lines(pid: Pid, name: &str) -> Option<String> {
    text(pid, name).map(lossy)
}

/// Peak resident memory of the program that the process executes, in bytes.
pub(crate) fn peak_bytes(pid: Pid) -> Option<u64> {
    Some(number(&about_memory(pid, "status", "VmHWM:")?, "VmHWM:")? * 1024)
}

/// The value of a variable in the environment that the program started with.
pub(crate) fn variable(pid: Pid, name: &str) -> Option<String> {
    let environment = lines(pid, "environ")?;
    environment.split('\0').find_map(|entry| Some(entry.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}

/// The files that the process has open.
pub(crate) fn open_files(pid: Pid) -> Vec<PathBuf> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd"));
    open.into_iter().flatten().flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok()).collect()
}

/// The process that traces another one.
pub(crate) fn tracer_of(pid: Pid) -> Option<Pid> {
    let tracer = number(&lines(pid, "status")?, "TracerPid:")?;
    Pid::try_from(tracer).ok().filter(|&tracer| tracer > 0)
}

/// Number and name of a process, for messages.
pub(crate) fn described(pid: Pid) -> String {
    stat(pid).map_or_else(|| pid.to_string(), |stat| format!("{pid} ({})", stat.name))
}

/// The working directory of the process.
pub(crate) fn directory(pid: Pid) -> Option<String> {
    link(pid, "cwd")
}

/// The process that a thread belongs to, and the parent of that process.
pub(crate) fn family(thread: Pid) -> Option<(Pid, Pid)> {
    let status = lines(thread, "status")?;
    let (process, parent) = (number(&status, "Tgid:")?, number(&status, "PPid:")?);
    Some((Pid::try_from(process).ok()?, Pid::try_from(parent).ok()?))
}

/// The fields of `/proc/PID/stat`: identity of a process, and its counters without its children.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The name of its program, unless it renamed itself.
    pub(crate) name: Arc<str>,
    /// It has ended, and its parent has not waited for it.
    pub(crate) is_zombie: bool,
    pub(crate) parent: Pid,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    /// Faults of both kinds of the children that it waited for, and of theirs.
    pub(crate) faults_of_children: u64,
    pub(crate) threads: u64,
    /// Start time since the machine booted.
    pub(crate) began_ticks: u64,
    pub(crate) resident_pages: u64,
    /// Addresses of its stack and of its arguments; 0 if the system hides them.
    pub(crate) stack: u64,
    pub(crate) arguments: u64,
    /// It ignores the signal that a child sends when it ends: the system does away with its children, and it waits for none.
    pub(crate) ignores_ends: bool,
}

/// Reads `/proc/PID/stat`.
pub(crate) fn stat(pid: Pid) -> Option<Stat> {
    let mut bytes = [MaybeUninit::uninit(); USUAL_BYTES];
    let (stat, _) = io::read(open(pid, "stat")?, &mut bytes).ok()?;
    // The name is in parentheses and may contain some.
    let from = stat.iter().position(|&byte| byte == b'(')? + 1;
    let to = stat.iter().rposition(|&byte| byte == b')')?;
    let name = String::from_utf8_lossy(stat.get(from..to)?).into();
    // `man proc_pid_stat` counts from 1; the state, which follows the name, is the third.
    let mut of = stat[to + 1..].trim_ascii().split(|&byte| byte == b' ').zip(3..);
    let mut field = |number: u32| {
        let (digits, _) = of.find(|&(_, at)| at == number)?;
        str::from_utf8(digits).ok()?.parse::<u64>().ok()
    };
    let parent = Pid::try_from(field(4)?).ok()?;
    let [minor_faults, minor_of_children, major_faults, major_of_children] =
        [field(10)?, field(11)?, field(12)?, field(13)?];
    Some(Stat {
        name,
        is_zombie: stat[to + 1..].trim_ascii_start().starts_with(b"Z"),
        parent,
        minor_faults,
        major_faults,
        faults_of_children: minor_of_children.saturating_add(major_of_children),
        threads: field(20)?,
        began_ticks: field(22)?,
        resident_pages: field(24)?,
        stack: field(28).unwrap_or(0),
        ignores_ends: field(33).is_some_and(|ignored| ignored >> (libc::SIGCHLD - 1) & 1 == 1),
        arguments: field(48).unwrap_or(0),
    })
}

/// Facts of `/proc/PID/status` that `stat` lacks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Status {
    /// See [`peak_bytes`].
    pub(crate) peak_bytes: Option<u64>,
    pub(crate) voluntary_switches: Option<u64>,
    pub(crate) involuntary_switches: Option<u64>,
}

impl Status {
    /// Takes the memory resident now as the peak; the rest is unknown.
    pub(crate) fn small(stat: &Stat) -> Self {
        Status { peak_bytes: Some(stat.resident_pages * system::page_bytes()), ..Status::default() }
    }
}

/// The peak of a process, and the context switches of its first thread.
pub(crate) fn status(pid: Pid) -> Status {
    let Some(status) = lines(pid, "status") else { return Status::default() };
    Status {
        peak_bytes: number(&status, "VmHWM:").map(|kib| kib * 1024).or_else(|| peak_bytes(pid)),
        voluntary_switches: number(&status, "voluntary_ctxt_switches:"),
        involuntary_switches: number(&status, "nonvoluntary_ctxt_switches:"),
    }
}

/// Bytes that a process and the children it waited for read from and wrote to devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Transferred {
    read: u64,
    written: u64,
}

impl Transferred {
    /// The sum of both.
    pub(crate) fn plus(self, other: Transferred) -> Self {
        Transferred { read: self.read + other.read, written: self.written + other.written }
    }

    /// Bytes read and written without the children, where both are known.
    pub(crate) fn without(all: Option<Self>, children: Option<Self>) -> [Option<u64>; 2] {
        let both = all.zip(children);
        [
            both.and_then(|(all, children)| all.read.checked_sub(children.read)),
            both.and_then(|(all, children)| all.written.checked_sub(children.written)),
        ]
    }
}

/// Bytes that a process and the children it waited for transferred.
pub(crate) fn transferred(pid: Pid) -> Option<Transferred> {
    with_numbers(pid, "io", |io| {
        Some(Transferred { read: number(io, "read_bytes:")?, written: number(io, "write_bytes:")? })
    })
}

/// The threads of a process.
fn threads(pid: Pid) -> impl Iterator<Item = Pid> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The living children of a process. With `is_single`, its first thread is the only one, which saves listing its threads.
pub(crate) fn children(pid: Pid, is_single: bool) -> Vec<Pid> {
    let words = if is_single {
        children_of_thread(pid, pid)
    } else {
        threads(pid).map(|thread| children_of_thread(pid, thread)).collect()
    };
    words.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The numbers of the living children that a thread started, with a space after each.
fn children_of_thread(pid: Pid, thread: Pid) -> String {
    lines(pid, &format!("task/{thread}/children")).unwrap_or_default()
}

/// Like [`waiting_ns`], for all threads of a process that used `cpu_ns`. The system forgets threads that have ended, so the
/// result is `None` if the living threads did not use all of `cpu_ns`. `first` is the open schedule of the first thread, if any.
pub(crate) fn waiting_of_all(pid: Pid, threads_now: u64, cpu_ns: Option<u64>, first: Option<Schedule>) -> Option<u64> {
    /// Tolerance between the two clocks, which are read one after the other: absolute, and as a share of the time.
    const SLACK_NS: u64 = 200_000;
    const SLACK_SHARE: u64 = 100;
    let (mut ran, mut waiting) = (0u64, 0u64);
    if threads_now == 1 {
        [ran, waiting] = first.or_else(|| Schedule::of(pid))?.times()?;
    } else {
        for thread in threads(pid) {
            let [ran_ns, waiting_ns] = Schedule::of_thread(pid, thread)?.times()?;
            (ran, waiting) = (ran.saturating_add(ran_ns), waiting.saturating_add(waiting_ns));
        }
    }
    let cpu_ns = cpu_ns?;
    (cpu_ns.saturating_sub(ran) <= SLACK_NS.max(cpu_ns / SLACK_SHARE)).then_some(waiting)
}

/// An open `schedstat` file: the time that a thread ran, and the time that it was runnable without a processor.
pub(crate) struct Schedule(OwnedFd);

impl AsRawFd for Schedule {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Schedule {
    /// The schedule of the first thread of a process.
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        open(pid, "schedstat").map(Schedule)
    }

    fn of_thread(pid: Pid, thread: Pid) -> Option<Self> {
        if pid == thread { Self::of(pid) } else { open(pid, &format!("task/{thread}/schedstat")).map(Schedule) }
    }

    /// The schedule of the calling thread.
    pub(crate) fn own() -> Option<Self> {
        let file = fs::open(c"/proc/thread-self/schedstat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        file.ok().map(Schedule)
    }

    /// Both times until now, in nanoseconds; `None` if the thread is gone or the system does not account for this.
    pub(crate) fn times(&self) -> Option<[u64; 2]> {
        let mut bytes = [MaybeUninit::uninit(); SHORT_BYTES];
        let (read, _) = io::pread(&self.0, &mut bytes, 0).ok()?;
        let text = str::from_utf8(read).ok()?;
        let mut numbers = text.split_ascii_whitespace().map_while(|word| word.parse::<u64>().ok());
        let (ran, waiting, turns) = (numbers.next()?, numbers.next()?, numbers.next()?);
        // The number of time slices is 0 on a system that does not account for this.
        (turns > 0).then_some([ran, waiting])
    }
}

/// Time that the first thread of a process was runnable without a processor, in nanoseconds.
pub(crate) fn waiting_ns(pid: Pid) -> Option<u64> {
    Schedule::of(pid)?.times().map(|[_, waiting]| waiting)
}

/// The memory of a process at a moment, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Pages that several processes share are divided among them.
    pub(crate) proportional: u64,
    /// Shared pages count in full.
    pub(crate) resident: u64,
    /// The part of `proportional` in pages of files, such as code, which processes that execute the same program share. `None`
    /// before Linux 5.3.
    pub(crate) of_files: Option<u64>,
}

/// The text of a file about the memory of a process. Once its first thread has ended, only the others have it.
fn about_memory(pid: Pid, name: &str, key: &str) -> Option<String> {
    let has_it = |thread: Pid| lines(thread, name).filter(|text| number(text, key).is_some());
    has_it(pid).or_else(|| {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        let numbers = threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse().ok());
        numbers.filter(|&thread| thread != pid).find_map(has_it)
    })
}

/// The memory of a process, or `None` if the system does not say how it is shared.
pub(crate) fn memory(pid: Pid) -> Option<Memory> {
    let rollup = about_memory(pid, "smaps_rollup", "Pss:")?;
    let [proportional, resident, of_files] =
        ["Pss:", "Rss:", "Pss_File:"].map(|key| number(&rollup, key).map(|kib| kib * 1024));
    Some(Memory { proportional: proportional?, resident: resident?, of_files })
}

/// Resident memory of a process in bytes; shared pages count in full.
pub(crate) fn resident_bytes(pid: Pid) -> Option<u64> {
    let status = about_memory(pid, "status", "VmRSS:")?;
    Some(number(&status, "VmRSS:")? * 1024)
}

/// Returns true if a setuid or setgid program runs without the rights of its owner or group.
pub(crate) fn has_lost_rights(pid: Pid, executable: &str) -> bool {
    let (Ok(file), Some(status)) = (std::fs::metadata(executable), lines(pid, "status")) else { return false };
    [(libc::S_ISUID, "Uid:", file.uid()), (libc::S_ISGID, "Gid:", file.gid())]
        .into_iter()
        .any(|(bit, key, of_file)| file.mode() & bit != 0 && effective_id(&status, key).is_some_and(|id| id != of_file))
}

/// The effective user or group in the text of `/proc/PID/status`.
fn effective_id(status: &str, key: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Number of processes that the system has killed because memory ran out.
pub(crate) fn kills() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/vmstat").ok()?;
    number(&text, "oom_kill ")
}

/// Memory of the machine in bytes. Unlike `sysinfo`, this file gives the limit of a container.
pub(crate) fn memory_of_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    Some(number(&text, "MemTotal:")? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Pid {
        Pid::try_from(std::process::id()).unwrap()
    }

    #[test]
    fn the_system_tells_of_this_program() {
        let program = program(own(), arguments(own()));
        let said: String = std::env::args().map(|word| word + "\0").collect();
        assert_eq!(program.arguments, said.as_bytes());
        assert_eq!(program.executable.unwrap(), std::env::current_exe().unwrap().to_str().unwrap());
        assert!(peak_bytes(own()).unwrap() > 100_000);
        assert_eq!(family(own()).unwrap().0, own());
        let stat = stat(own()).unwrap();
        assert!(stat.minor_faults > 10 && stat.threads > 0 && stat.arguments > 0, "{stat:?}");
        let (memory, resident) = (memory(own()).unwrap(), resident_bytes(own()).unwrap());
        let proportional = memory.proportional;
        assert!(memory.of_files.unwrap() > 100_000, "{memory:?}");
        assert!(10_000 < proportional && proportional <= resident, "{proportional} {resident}");
    }

    #[test]
    fn keys_are_whole() {
        let text = "oom_kill_x 3\noom_kill 4\nVmHWM:\t 12 kB\n";
        assert_eq!(number(text, "oom_kill "), Some(4));
        assert_eq!(number(text, "VmHWM:"), Some(12));
        assert_eq!(number(text, "Vm"), None);
    }
}
