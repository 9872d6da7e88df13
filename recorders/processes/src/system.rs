//! Calls of the system that no safe crate offers.

use std::ffi::CString;
use std::io::{self, Error};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;
use std::{mem, ptr};

pub(crate) type Pid = libc::pid_t;

/// What happened to a process or a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Happened {
    /// It waits until it is continued: the signal, and which event of ptrace.
    Stopped { signal: i32, event: i32 },
    /// It ended.
    Exited { status: i32 },
    /// A signal ended it.
    Killed { signal: i32 },
}

/// Times and counters of a process with those of the children that it waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Resources {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
    /// From devices and to devices.
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    /// Of the process or one of these children: the largest.
    pub(crate) peak_bytes: u64,
}

/// The unit in which the system counts what is read and written.
const BLOCK_BYTES: u64 = 512;

/// Which processes to hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    Wait,
    Look,
}

pub(crate) fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// Traces a process and everything that it starts. It ends with nobody who traces it.
pub(crate) fn seize(pid: Pid) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACEEXIT;
    // SAFETY: the call reads no memory.
    checked(unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0, options as libc::c_long) }).map(drop)
}

/// Continues a process that is stopped, with a signal or none.
pub(crate) fn resume(pid: Pid, signal: i32) {
    // SAFETY: the call reads no memory. It fails if the process was killed meanwhile, which is heard of later.
    unsafe { libc::ptrace(libc::PTRACE_CONT, pid, 0, libc::c_long::from(signal)) };
}

/// Leaves a process stopped that a signal stopped, until another one continues it.
pub(crate) fn listen(pid: Pid) {
    // SAFETY: as for `resume`.
    unsafe { libc::ptrace(libc::PTRACE_LISTEN, pid, 0, 0) };
}

/// Traces a process no longer.
pub(crate) fn detach(pid: Pid) {
    // SAFETY: as for `resume`.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, pid, 0, 0) };
}

/// The number that belongs to an event: a new process, a former thread.
pub(crate) fn message(pid: Pid) -> Option<Pid> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the system writes one number.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, 0, &raw mut message) };
    if result < 0 { None } else { Pid::try_from(message).ok() }
}

/// Children and traced processes of this thread, and their threads.
const OWN: i32 = libc::__WALL | libc::__WNOTHREAD;

/// What happened to some process. It stays as it is: one that ended has to be [`bury`]ed. Nothing if nothing happened yet
/// and nobody waits, or if there is no process.
pub(crate) fn next(patience: Patience) -> io::Result<Option<(Pid, Happened, Resources)>> {
    let mut options = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | OWN;
    if patience == Patience::Look {
        options |= libc::WNOHANG;
    }
    // SAFETY: both may be all zeros.
    let (mut info, mut usage): (libc::siginfo_t, libc::rusage) = unsafe { (mem::zeroed(), mem::zeroed()) };
    // SAFETY: the system writes one of each.
    let result = unsafe { libc::syscall(libc::SYS_waitid, libc::P_ALL, 0, &raw mut info, options, &raw mut usage) };
    match checked(result) {
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return next(patience),
        other => other?,
    };
    // SAFETY: `waitid` filled these in, or left zeros.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    let happened = match info.si_code {
        _ if pid == 0 => return Ok(None),
        libc::CLD_EXITED => Happened::Exited { status },
        libc::CLD_KILLED | libc::CLD_DUMPED => Happened::Killed { signal: status },
        _ => Happened::Stopped { signal: status & 0xff, event: status >> 8 },
    };
    Ok(Some((pid, happened, Resources::of(&usage))))
}

/// Takes notice of the end of a process, so that its parent hears of it.
pub(crate) fn bury(pid: Pid) {
    // SAFETY: nothing is written.
    unsafe { libc::waitpid(pid, ptr::null_mut(), OWN) };
}

/// Takes notice that a process is stopped, so that [`next`] does not say so again. It stays stopped.
pub(crate) fn take_stop(pid: Pid) {
    // SAFETY: it may be all zeros, and the system writes one.
    unsafe {
        let mut info: libc::siginfo_t = mem::zeroed();
        let id = pid.unsigned_abs();
        libc::waitid(libc::P_PID, id, &raw mut info, libc::WSTOPPED | libc::WNOHANG | OWN);
    }
}

impl Resources {
    fn of(usage: &libc::rusage) -> Self {
        let ns = |time: libc::timeval| time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1000;
        Resources {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            minor_faults: usage.ru_minflt.unsigned_abs(),
            major_faults: usage.ru_majflt.unsigned_abs(),
            voluntary_switches: usage.ru_nvcsw.unsigned_abs(),
            involuntary_switches: usage.ru_nivcsw.unsigned_abs(),
            read_bytes: usage.ru_inblock.unsigned_abs() * BLOCK_BYTES,
            written_bytes: usage.ru_oublock.unsigned_abs() * BLOCK_BYTES,
            peak_bytes: usage.ru_maxrss.unsigned_abs() * 1024,
        }
    }
}

/// Whether `thread` is a thread of that process.
pub(crate) fn is_thread_of(process: Pid, thread: Pid) -> bool {
    // SAFETY: nothing is sent.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) == 0 }
}

/// Where the stack of a stopped process ends: the lowest address in use.
pub(crate) fn stack_pointer(pid: Pid) -> Option<u64> {
    // As `struct ptrace_syscall_info`: what stopped it and the processor, the next instruction, the stack, other numbers.
    const GET_SYSCALL_INFO: libc::c_int = 0x420e;
    let mut numbers = [0_u64; 11];
    let size = size_of_val(&numbers) as libc::c_long;
    // SAFETY: the system writes at most as many bytes as it is told.
    let written = unsafe { libc::ptrace(GET_SYSCALL_INFO as _, pid, size, numbers.as_mut_ptr()) };
    (written >= 24).then_some(numbers[2])
}

/// Reads memory of another process. Returns how many bytes could be read.
pub(crate) fn memory(pid: Pid, address: u64, bytes: &mut [u8]) -> usize {
    let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes.len() };
    // SAFETY: the system writes no more than `bytes` holds; the other address is one of another process.
    let read = unsafe { libc::process_vm_readv(pid, &raw const here, 1, &raw const there, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

/// Whether a process of that number is there, even if it ended and nobody waited for it.
pub(crate) fn exists(pid: Pid) -> bool {
    // SAFETY: nothing is sent.
    unsafe { libc::kill(pid, 0) == 0 || Error::last_os_error().raw_os_error() == Some(libc::EPERM) }
}

/// Processor time of a process without its children, in nanoseconds.
pub(crate) fn processor_ns(pid: Pid) -> Option<u64> {
    clock((!pid << 3) | 2)
}

/// Bytes of a page of memory.
pub(crate) fn page_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    // SAFETY: the call reads and writes no memory.
    *BYTES.get_or_init(|| u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096))
}

/// The name of the machine, and the release of its system.
pub(crate) fn names() -> [String; 2] {
    // SAFETY: names are bytes, which may be 0, and the system ends each that it writes with a 0.
    let names = unsafe {
        let mut names: libc::utsname = std::mem::zeroed();
        libc::uname(&raw mut names);
        names
    };
    [names.nodename, names.release].map(|name| {
        let bytes = name.map(|byte| byte as u8);
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    })
}

/// Nanoseconds since the machine started, in sleep also.
pub(crate) fn since_boot_ns() -> Option<u64> {
    clock(libc::CLOCK_BOOTTIME)
}

/// Whether both processes have the same memory: one is the other's child by `vfork`, or by `clone` with CLONE_VM. `None` if the
/// system does not say.
pub(crate) fn share_memory(one: Pid, other: Pid) -> Option<bool> {
    const KCMP_VM: libc::c_int = 1;
    // SAFETY: the call reads and writes no memory of this process.
    let order = unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_VM, 0, 0) };
    (order >= 0).then_some(order == 0)
}

/// Processor time of this thread, in nanoseconds.
pub(crate) fn own_processor_ns() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

fn clock(id: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes one time.
    let result = unsafe { libc::clock_gettime(id, &raw mut time) };
    (result == 0).then(|| time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// Ends a process that has not begun.
pub(crate) fn kill(pid: Pid) {
    // SAFETY: as above.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    // It may be about to end before it has ended.
    while let Ok(Some((other, happened, _))) = next(Patience::Wait) {
        match happened {
            Happened::Stopped { .. } => resume(other, 0),
            Happened::Exited { .. } | Happened::Killed { .. } => bury(other),
        }
        if other == pid && !matches!(happened, Happened::Stopped { .. }) {
            break;
        }
    }
}

/// A pipe that programs do not inherit: from where it is read, and where it is written.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the system writes two numbers, and they are nobody else's.
    unsafe {
        checked(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC).into())?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Whether this process may execute a file.
///
/// # Errors
/// Why it may not.
pub(crate) fn may_execute(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path ends with a zero.
    let result = unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) };
    checked(result.into()).map(drop)
}

/// How many files this process may have open, if it asks for that.
pub(crate) fn most_files() -> u64 {
    // SAFETY: the system writes one limit.
    unsafe {
        let mut limit: libc::rlimit = mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 { limit.rlim_max } else { 0 }
    }
}

/// Lets this process have as many files open as it may: one for each process that it watches.
pub(crate) fn allow_many_files() {
    // SAFETY: the system reads and writes one limit.
    unsafe {
        let mut limit: libc::rlimit = mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Waits until a child ends: its status, and what it used with all that it waited for. `stopped` is called when a signal of the
/// terminal stopped it.
pub(crate) fn await_end(pid: Pid, stopped: fn(i32)) -> io::Result<(i32, Resources)> {
    loop {
        let mut status = 0;
        // SAFETY: it may be all zeros.
        let mut usage: libc::rusage = unsafe { mem::zeroed() };
        // SAFETY: the system writes one of each.
        let result = unsafe { libc::wait4(pid, &raw mut status, libc::WUNTRACED, &raw mut usage) };
        match checked(result.into()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) if libc::WIFSTOPPED(status) => {
                if libc::WSTOPSIG(status) != libc::SIGSTOP {
                    stopped(libc::WSTOPSIG(status));
                }
            }
            Ok(_) => return Ok((status, Resources::of(&usage))),
        }
    }
}
