//! System calls that no safe crate offers.

use std::ffi::CString;
use std::io::{self, Error};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;
use std::{mem, ptr};

pub(crate) type Pid = libc::pid_t;

/// An event of a process or a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Happened {
    /// It is stopped until it is continued, by a signal or an event of ptrace.
    Stopped { signal: i32, event: i32 },
    /// It exited.
    Exited { status: i32 },
    /// A signal ended it.
    Killed { signal: i32 },
}

/// Times and counters of a process and the children it waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Resources {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
    /// Bytes read from and written to devices.
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    /// The largest peak of the process and these children.
    pub(crate) peak_bytes: u64,
}

/// The unit of the system's counters of transfers.
const BLOCK_BYTES: u64 = 512;

/// The choice to block in [`next`] or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    Wait,
    Look,
}

pub(crate) fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// Traces a process and everything that it starts. The processes continue if the tracer ends.
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
    // SAFETY: the call reads no memory. It fails if the process was killed in the meantime, which is reported later.
    unsafe { libc::ptrace(libc::PTRACE_CONT, pid, 0, libc::c_long::from(signal)) };
}

/// Leaves a process that a signal stopped in that state until a signal continues it.
pub(crate) fn listen(pid: Pid) {
    // SAFETY: as for `resume`.
    unsafe { libc::ptrace(libc::PTRACE_LISTEN, pid, 0, 0) };
}

/// Stops tracing a process.
pub(crate) fn detach(pid: Pid) {
    // SAFETY: as for `resume`.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, pid, 0, 0) };
}

/// The number of the process or thread that an event of ptrace refers to.
pub(crate) fn message(pid: Pid) -> Option<Pid> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the system writes one number.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, 0, &raw mut message) };
    if result < 0 { None } else { Pid::try_from(message).ok() }
}

/// Children and traced processes of this thread, and their threads.
const OWN: i32 = libc::__WALL | libc::__WNOTHREAD;

/// The next event of any process, which is not consumed: a process that ended must be [`bury`]ed. `None` if there is no process,
/// or with [`Patience::Look`] no event.
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

/// Reaps a process that ended, so that its parent is notified.
pub(crate) fn bury(pid: Pid) {
    // SAFETY: nothing is written.
    unsafe { libc::waitpid(pid, ptr::null_mut(), OWN) };
}

/// Consumes the stop of a process, so that [`next`] does not report it again. The process stays stopped.
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
        let [user_ns, system_ns] = [usage.ru_utime, usage.ru_stime]
            .map(|time| time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1000);
        Resources {
            user_ns,
            system_ns,
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

/// Returns true if `thread` belongs to `process`.
pub(crate) fn is_thread_of(process: Pid, thread: Pid) -> bool {
    // SAFETY: nothing is sent.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) == 0 }
}

/// The stack pointer of a stopped process: the lowest stack address in use.
pub(crate) fn stack_pointer(pid: Pid) -> Option<u64> {
    // `struct ptrace_syscall_info`: kind and architecture, instruction pointer, stack pointer, other fields.
    const GET_SYSCALL_INFO: libc::c_int = 0x420e;
    let mut numbers = [0_u64; 11];
    let size = size_of_val(&numbers) as libc::c_long;
    // SAFETY: the system writes at most as many bytes as it is told.
    let written = unsafe { libc::ptrace(GET_SYSCALL_INFO as _, pid, size, numbers.as_mut_ptr()) };
    (written >= 24).then_some(numbers[2])
}

/// Reads memory of another process, in equal parts from `addresses`. Returns the number of bytes read.
pub(crate) fn memory<const PARTS: usize>(pid: Pid, addresses: &[u64; PARTS], bytes: &mut [u8]) -> usize {
    let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let iov_len = bytes.len() / PARTS;
    let there = addresses.map(|address| libc::iovec { iov_base: address as *mut libc::c_void, iov_len });
    // SAFETY: the system writes no more than `bytes` holds; the other addresses are those of another process.
    let read = unsafe { libc::process_vm_readv(pid, &raw const here, 1, there.as_ptr(), PARTS as libc::c_ulong, 0) };
    usize::try_from(read).unwrap_or(0)
}

/// Returns true if a process exists, perhaps as a zombie.
pub(crate) fn exists(pid: Pid) -> bool {
    // SAFETY: nothing is sent.
    unsafe { libc::kill(pid, 0) == 0 || Error::last_os_error().raw_os_error() == Some(libc::EPERM) }
}

/// Processor time of a process without its children, in nanoseconds.
pub(crate) fn processor_ns(pid: Pid) -> Option<u64> {
    clock((!pid << 3) | 2)
}

/// User and system time of a process without its children, as the system counts them: in ticks, in which it was found in
/// one of both. In nanoseconds.
pub(crate) fn counted_ns(pid: Pid) -> Option<(u64, u64)> {
    let (user, both) = (clock((!pid << 3) | 1)?, clock(!pid << 3)?);
    Some((user, both.saturating_sub(user)))
}

/// Bytes per page of memory.
pub(crate) fn page_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    // SAFETY: the call reads and writes no memory.
    *BYTES.get_or_init(|| u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096))
}

/// Host name, and release of the kernel.
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

/// Nanoseconds since the machine booted, including suspension.
pub(crate) fn since_boot_ns() -> Option<u64> {
    clock(libc::CLOCK_BOOTTIME)
}

/// Returns true if two processes share their memory: one started the other by `vfork`, or by `clone` with CLONE_VM. `None` if
/// the system does not say.
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

/// Kills a process that has not executed its command yet, and reaps it.
pub(crate) fn kill(pid: Pid) {
    // SAFETY: as above.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    // It may stop in its exit event before it ends.
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

/// A pipe that programs do not inherit: its ends for reading and for writing.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the system writes two numbers, and they are nobody else's.
    unsafe {
        checked(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC).into())?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// A pair of connected sockets that programs do not inherit. What is sent stays whole.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: as for `pipe`.
    unsafe {
        checked(libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()).into())?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Aligned for the header of a control message, with room for one descriptor.
type Control = [u64; 4];

/// Sends numbers into a socket, with a descriptor of this process or none. Allocates nothing.
pub(crate) fn send<const N: usize>(to: i32, numbers: [i32; N], descriptor: Option<i32>) -> io::Result<()> {
    let (mut numbers, mut control): (_, Control) = (numbers, Control::default());
    let mut words = libc::iovec { iov_base: numbers.as_mut_ptr().cast(), iov_len: size_of_val(&numbers) };
    // SAFETY: the message is filled in with places that live as long as the call; its header fits into `control`.
    unsafe {
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_iov = &raw mut words;
        message.msg_iovlen = 1;
        if let Some(descriptor) = descriptor {
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(size_of::<i32>() as u32) as _;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<i32>() as u32) as _;
            ptr::write_unaligned(libc::CMSG_DATA(header).cast::<i32>(), descriptor);
        }
        checked(libc::sendmsg(to, &raw const message, libc::MSG_NOSIGNAL) as libc::c_long).map(drop)
    }
}

/// Waits for a message of [`send`]. Allocates nothing.
///
/// # Errors
/// The other end was closed without one.
pub(crate) fn receive<const N: usize>(from: &OwnedFd) -> io::Result<([i32; N], Option<OwnedFd>)> {
    let (mut numbers, mut control) = ([0_i32; N], Control::default());
    let mut room = libc::iovec { iov_base: numbers.as_mut_ptr().cast(), iov_len: size_of_val(&numbers) };
    // SAFETY: the message is filled in with places that live as long as the call, and the system writes no more than they hold;
    // a descriptor that comes with it is this process's own.
    unsafe {
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_iov = &raw mut room;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let read = libc::recvmsg(from.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC);
        if checked(read as libc::c_long)? != size_of_val(&numbers) as libc::c_long {
            return Err(Error::from_raw_os_error(libc::EPIPE));
        }
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        let descriptor = (!header.is_null())
            .then(|| OwnedFd::from_raw_fd(ptr::read_unaligned(libc::CMSG_DATA(header).cast::<i32>())));
        Ok((numbers, descriptor))
    }
}

/// Checks that this process may execute a file.
///
/// # Errors
/// It may not.
pub(crate) fn may_execute(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path ends with a zero.
    let result = unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) };
    checked(result.into()).map(drop)
}

/// Lets all threads allocate from one heap. The C library would map 64 MiB for each of the recorder's threads, which allocate
/// little.
pub(crate) fn share_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: a plain call, before other threads exist.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// The hard limit of open files of this process.
pub(crate) fn most_files() -> u64 {
    // SAFETY: the system writes one limit.
    unsafe {
        let mut limit: libc::rlimit = mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 { limit.rlim_max } else { 0 }
    }
}

/// Raises the limit of open files to the hard limit: each watched process needs at least one.
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

/// The status of a child that has ended, and the usage of it and the children it waited for; `None` while it runs. Calls `stopped`
/// when a signal of the terminal has stopped it.
pub(crate) fn ended(child: Pid, stopped: fn(i32)) -> io::Result<Option<(i32, Resources)>> {
    loop {
        let mut status = 0;
        // SAFETY: it may be all zeros.
        let mut usage: libc::rusage = unsafe { mem::zeroed() };
        // SAFETY: the system writes one of each.
        let result = unsafe { libc::wait4(child, &raw mut status, libc::WUNTRACED | libc::WNOHANG, &raw mut usage) };
        match checked(result.into()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(0) => return Ok(None),
            Ok(_) if libc::WIFSTOPPED(status) => {
                if libc::WSTOPSIG(status) != libc::SIGSTOP {
                    stopped(libc::WSTOPSIG(status));
                }
            }
            Ok(_) => return Ok(Some((status, Resources::of(&usage)))),
        }
    }
}
