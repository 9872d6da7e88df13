//! What `/proc` says of a process that is stopped.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::string::FromUtf8Error;

use crate::system::{self, Pid};

/// What a process executes.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) executable: Option<String>,
    pub(crate) directory: Option<String>,
    /// The arguments, each with a zero after it.
    pub(crate) arguments: Vec<u8>,
}

/// Nearly all of these files fit in this many bytes, so that one call reads them.
const USUAL_BYTES: usize = 4 << 10;

fn text(pid: Pid, name: &str) -> Option<Vec<u8>> {
    // `fs::read` asks for the length, which is 0, and then reads in small pieces.
    let mut file = File::open(format!("/proc/{pid}/{name}")).ok()?;
    let mut usual = [0; USUAL_BYTES];
    let mut length = file.read(&mut usual).ok()?;
    let mut bytes = usual[..length].to_vec();
    // The system fills what it is given, unless the file ends.
    while length == bytes.len() && length >= USUAL_BYTES {
        bytes.resize(2 * length, 0);
        while length < bytes.len() {
            let read = file.read(&mut bytes[length..]).ok()?;
            if read == 0 {
                break;
            }
            length += read;
        }
    }
    bytes.truncate(length);
    Some(bytes)
}

fn link(pid: Pid, name: &str) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/{name}")).ok()?;
    Some(path.into_os_string().into_string().unwrap_or_else(|path| path.to_string_lossy().into_owned()))
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
    let lossy = |error: FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
    text(pid, name).map(|bytes| String::from_utf8(bytes).unwrap_or_else(lossy))
}

/// The most memory that the program which the process executes had resident, in bytes.
pub(crate) fn peak_bytes(pid: Pid) -> Option<u64> {
    Some(number(&lines(pid, "status")?, "VmHWM:")? * 1024)
}

/// A variable of the environment that the program began with.
pub(crate) fn variable(pid: Pid, name: &str) -> Option<String> {
    let environment = lines(pid, "environ")?;
    let value = |entry: &str| Some(entry.strip_prefix(name)?.strip_prefix('=')?.to_owned());
    environment.split('\0').find_map(value)
}

/// The files that the process has open.
pub(crate) fn open_files(pid: Pid) -> Vec<PathBuf> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    open.into_iter().flatten().flatten().filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

/// The process that traces another one.
pub(crate) fn tracer_of(pid: Pid) -> Option<Pid> {
    let tracer = number(&lines(pid, "status")?, "TracerPid:")?;
    Pid::try_from(tracer).ok().filter(|&tracer| tracer > 0)
}

/// A process for people: its number and its name.
pub(crate) fn described(pid: Pid) -> String {
    stat(pid).map_or_else(|| pid.to_string(), |stat| format!("{pid} ({})", stat.name))
}

/// The working directory of the process.
pub(crate) fn directory(pid: Pid) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// The process that a thread belongs to, and the parent of that process.
pub(crate) fn family(thread: Pid) -> Option<(Pid, Pid)> {
    let status = lines(thread, "status")?;
    let pid = |key| number(&status, key).and_then(|number| Pid::try_from(number).ok());
    Some((pid("Tgid:")?, pid("PPid:")?))
}

/// What `stat` says of a process: who it is, and what it counts without its children.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The name of its program, or what it calls itself.
    pub(crate) name: String,
    pub(crate) parent: Pid,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    pub(crate) threads: u64,
    /// Since the machine started.
    pub(crate) began_ticks: u64,
    pub(crate) resident_pages: u64,
    /// Where its stack begins and its arguments lie; 0 if the system does not tell.
    pub(crate) stack: u64,
    pub(crate) arguments: u64,
}

impl Stat {
    /// Whether its program is named as shells are, which leave processes behind that run in the background.
    pub(crate) fn is_shell(&self) -> bool {
        self.name.ends_with("sh")
    }
}

/// Who a process is, and what it counts.
pub(crate) fn stat(pid: Pid) -> Option<Stat> {
    let stat = lines(pid, "stat")?;
    let (name, fields) = stat.rsplit_once(')')?;
    let name = name.split_once('(')?.1.to_owned();
    // `man proc_pid_stat` counts from 1; the state, which follows the name, is the third.
    let mut of = fields.trim_ascii().split(' ').zip(3..);
    let mut field = |number: u32| of.find(|&(_, at)| at == number)?.0.parse::<u64>().ok();
    Some(Stat {
        name,
        parent: Pid::try_from(field(4)?).ok()?,
        minor_faults: field(10)?,
        major_faults: field(12)?,
        user_ticks: field(14)?,
        system_ticks: field(15)?,
        threads: field(20)?,
        began_ticks: field(22)?,
        resident_pages: field(24)?,
        stack: field(28).unwrap_or(0),
        arguments: field(48).unwrap_or(0),
    })
}

/// What `status` says of a process that `stat` does not.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Status {
    /// As [`peak_bytes`].
    pub(crate) peak_bytes: Option<u64>,
    pub(crate) voluntary_switches: Option<u64>,
    pub(crate) involuntary_switches: Option<u64>,
}

impl Status {
    /// What is resident now as the peak, and nothing else.
    pub(crate) fn small(stat: &Stat) -> Self {
        Status { peak_bytes: Some(stat.resident_pages * system::page_bytes()), ..Status::default() }
    }
}

/// The peak of a process, and how often its first thread was not running.
pub(crate) fn status(pid: Pid) -> Status {
    let Some(status) = lines(pid, "status") else { return Status::default() };
    Status {
        peak_bytes: number(&status, "VmHWM:").map(|kib| kib * 1024),
        voluntary_switches: number(&status, "voluntary_ctxt_switches:"),
        involuntary_switches: number(&status, "nonvoluntary_ctxt_switches:"),
    }
}

/// Bytes that a process, and all children that it waited for, read from devices and wrote to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Transferred {
    read: u64,
    written: u64,
}

impl Transferred {
    /// Both together.
    pub(crate) fn plus(self, other: Transferred) -> Self {
        Transferred { read: self.read + other.read, written: self.written + other.written }
    }

    /// What is left without the children, as far as both are known: read and written.
    pub(crate) fn without(all: Option<Self>, children: Option<Self>) -> [Option<u64>; 2] {
        let both = all.zip(children);
        [
            both.and_then(|(all, children)| all.read.checked_sub(children.read)),
            both.and_then(|(all, children)| all.written.checked_sub(children.written)),
        ]
    }
}

/// Bytes that a process transferred, with the children that it waited for.
pub(crate) fn transferred(pid: Pid) -> Option<Transferred> {
    let io = lines(pid, "io")?;
    Some(Transferred { read: number(&io, "read_bytes:")?, written: number(&io, "write_bytes:")? })
}

/// The threads of a process.
fn threads(pid: Pid) -> impl Iterator<Item = Pid> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The processes that a process started and that are there. `is_single`: it has one thread, so that nobody has to ask for them.
pub(crate) fn children(pid: Pid, is_single: bool) -> Vec<Pid> {
    let of = |thread: Pid| lines(pid, &format!("task/{thread}/children")).unwrap_or_default();
    let words = if is_single { of(pid) } else { threads(pid).map(of).collect() };
    words.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// As [`waiting_ns`], of all threads of a process that has used `cpu_ns`. Nothing tells it of threads that have ended: it is
/// unknown if those that are there did not use all of that time.
pub(crate) fn waiting_of_all(pid: Pid, threads_now: u64, cpu_ns: Option<u64>) -> Option<u64> {
    /// Both clocks go on between two questions; and a share of the time for each.
    const SLACK_NS: u64 = 200_000;
    const SLACK_SHARE: u64 = 100;
    let (mut waiting, mut ran) = (0u64, 0u64);
    let all: Vec<Pid> = if threads_now == 1 { vec![pid] } else { threads(pid).collect() };
    for thread in all {
        let [ran_ns, waiting_ns] = schedule(pid, thread)?;
        (ran, waiting) = (ran.saturating_add(ran_ns), waiting.saturating_add(waiting_ns));
    }
    let cpu_ns = cpu_ns?;
    (cpu_ns.saturating_sub(ran) <= SLACK_NS.max(cpu_ns / SLACK_SHARE)).then_some(waiting)
}

/// How long a thread ran, and how long it could have run and had no processor, in nanoseconds.
pub(crate) fn schedule(pid: Pid, thread: Pid) -> Option<[u64; 2]> {
    let schedule =
        if pid == thread { lines(pid, "schedstat") } else { lines(pid, &format!("task/{thread}/schedstat")) }?;
    let mut numbers = schedule.split_whitespace().map_while(|word| word.parse::<u64>().ok());
    let (ran, waiting, turns) = (numbers.next()?, numbers.next()?, numbers.next()?);
    // It counts its turns; a system that does not account for this says 0.
    (turns > 0).then_some([ran, waiting])
}

/// How long a thread could have run, but had no processor.
pub(crate) fn waiting_ns(thread: Pid) -> Option<u64> {
    schedule(thread, thread).map(|[_, waiting]| waiting)
}

/// Tells how long the thread that made this could have run, but had no processor.
pub(crate) struct OwnWaiting(Option<File>);

impl OwnWaiting {
    pub(crate) fn new() -> Self {
        OwnWaiting(File::open("/proc/thread-self/schedstat").ok())
    }

    /// In nanoseconds; always the same if the system does not tell.
    pub(crate) fn ns(&self) -> u64 {
        let mut bytes = [0; 64];
        let length = self.0.as_ref().and_then(|file| file.read_at(&mut bytes, 0).ok()).unwrap_or(0);
        let text = std::str::from_utf8(&bytes[..length]).unwrap_or("");
        text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
    }
}

/// The memory of a process at a moment, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Pages that several processes share are divided among them.
    pub(crate) proportional: u64,
    /// In full.
    pub(crate) resident: u64,
    /// The part of that in pages of files, such as code: processes that execute the same program share them. Systems before
    /// Linux 5.3 do not say.
    pub(crate) of_files: Option<u64>,
}

/// The memory of a process, or nothing if the system does not say how it is shared.
pub(crate) fn memory(pid: Pid) -> Option<Memory> {
    let rollup = lines(pid, "smaps_rollup")?;
    let bytes = |key| number(&rollup, key).map(|kib| kib * 1024);
    Some(Memory { proportional: bytes("Pss:")?, resident: bytes("Rss:")?, of_files: bytes("Pss_File:") })
}

/// The memory of a process in bytes, where shared pages count in full.
pub(crate) fn resident_bytes(pid: Pid) -> Option<u64> {
    let status = lines(pid, "status")?;
    Some(number(&status, "VmRSS:")? * 1024)
}

/// Whether a program that has the rights of its owner or group runs without them.
pub(crate) fn has_lost_rights(pid: Pid, executable: &str) -> bool {
    let (Ok(file), Some(status)) = (fs::metadata(executable), lines(pid, "status")) else { return false };
    let effective = |key| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let lacks = |bit: u32, key, of_file: u32| file.mode() & bit != 0 && effective(key).is_some_and(|id| id != of_file);
    lacks(libc::S_ISUID, "Uid:", file.uid()) || lacks(libc::S_ISGID, "Gid:", file.gid())
}

/// How often the system killed a process because memory ran out.
pub(crate) fn kills() -> Option<u64> {
    let text = fs::read_to_string("/proc/vmstat").ok()?;
    number(&text, "oom_kill ")
}

/// Memory of the machine in bytes. Not by `sysinfo`: containers give their limit here.
pub(crate) fn memory_of_machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
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
