//! What `/proc` says of a process that is stopped.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::system::Pid;

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
    let mut bytes = vec![0; USUAL_BYTES];
    let mut length = 0;
    loop {
        let read = file.read(bytes.get_mut(length..)?).ok()?;
        length += read;
        // The system fills what it is given, unless the file ends.
        if read == 0 || length < bytes.len() {
            bytes.truncate(length);
            return Some(bytes);
        }
        bytes.resize(2 * length, 0);
    }
}

fn link(pid: Pid, name: &str) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/{name}")).ok()?;
    Some(path.into_os_string().into_string().unwrap_or_else(|path| path.to_string_lossy().into_owned()))
}

/// The arguments with which the process executes its program, each with a zero after it.
pub(crate) fn arguments(pid: Pid) -> Vec<u8> {
    text(pid, "cmdline").unwrap_or_default()
}

/// The program that the process executes, and its working directory.
pub(crate) fn program(pid: Pid, arguments: Vec<u8>) -> Program {
    Program { executable: link(pid, "exe"), directory: link(pid, "cwd"), arguments }
}

/// The name of a program that traces others itself, if the process executes one.
pub(crate) fn tracer(executable: &str) -> Option<&str> {
    let name = Path::new(executable).file_name()?.to_str()?;
    ["strace", "ltrace", "gdb", "gdbserver", "lldb", "lldb-server", "rr"].into_iter().find(|&tracer| tracer == name)
}

/// The number after a key at the beginning of a line: `VmHWM:   5000 kB`.
fn number(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

fn lines(pid: Pid, name: &str) -> Option<String> {
    text(pid, name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
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

/// What the process counts without its children, in ticks and faults: user and system time, minor and major faults.
pub(crate) fn counters(pid: Pid) -> Option<[u64; 4]> {
    let stat = lines(pid, "stat")?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let field = |index: usize| fields.get(index)?.parse().ok();
    Some([field(11)?, field(12)?, field(7)?, field(9)?])
}

/// How long a thread could have run, but had no processor: its second number in `schedstat`. The third one counts its turns; a
/// system that does not account for this says 0.
pub(crate) fn waiting_ns(thread: Pid) -> Option<u64> {
    let schedule = lines(thread, "schedstat")?;
    let mut numbers = schedule.split_whitespace().map(str::parse::<u64>);
    let (waiting, turns) = (numbers.nth(1)?.ok()?, numbers.next()?.ok()?);
    (turns > 0).then_some(waiting)
}

/// The memory of a process in bytes, where shared pages are divided, or nothing if the system does not say.
pub(crate) fn proportional_bytes(pid: Pid) -> Option<u64> {
    Some(number(&lines(pid, "smaps_rollup")?, "Pss:")? * 1024)
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

/// Memory of the machine in bytes, and its name.
pub(crate) fn machine() -> (Option<u64>, Option<String>) {
    let memory = fs::read_to_string("/proc/meminfo").ok().and_then(|text| number(&text, "MemTotal:"));
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    (memory.map(|kib| kib * 1024), name.map(|name| name.trim().to_owned()))
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
        assert!(counters(own()).unwrap()[2] > 10);
        let (proportional, resident) = (proportional_bytes(own()).unwrap(), resident_bytes(own()).unwrap());
        assert!(10_000 < proportional && proportional <= resident, "{proportional} {resident}");
    }

    #[test]
    fn tracers_are_known_by_name() {
        assert_eq!(tracer("/usr/bin/strace"), Some("strace"));
        assert_eq!(tracer("/usr/bin/strace2"), None);
    }

    #[test]
    fn keys_are_whole() {
        let text = "oom_kill_x 3\noom_kill 4\nVmHWM:\t 12 kB\n";
        assert_eq!(number(text, "oom_kill "), Some(4));
        assert_eq!(number(text, "VmHWM:"), Some(12));
        assert_eq!(number(text, "Vm"), None);
    }
}
