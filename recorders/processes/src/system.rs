//! Calls of the system that no safe crate offers.

use std::ffi::{CString, OsString};
use std::io::{self, Error};
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::{AtomicBool, Ordering};
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

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// A process that waits, before it executes anything, until it is told to.
pub(crate) struct Forked {
    pub(crate) pid: Pid,
    go: i32,
    failure: i32,
}

impl Forked {
    /// Forks this process. `words` are the command. Signals are blocked as `mask` says once it executes.
    pub(crate) fn new(words: &[OsString], mask: &libc::sigset_t) -> io::Result<Self> {
        let words: Vec<CString> = words
            .iter()
            .map(|word| CString::new(word.clone().into_vec()).map_err(Error::from))
            .collect::<io::Result<_>>()?;
        let mut arguments: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
        arguments.push(ptr::null());
        let (mut go, mut failure) = ([0; 2], [0; 2]);
        // SAFETY: both are arrays of two numbers.
        unsafe {
            checked(libc::pipe2(go.as_mut_ptr(), libc::O_CLOEXEC).into())?;
            checked(libc::pipe2(failure.as_mut_ptr(), libc::O_CLOEXEC).into())?;
        }
        // SAFETY: the child only calls functions that may be called after a fork of a program with threads, with memory
        // that was prepared before.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: as above. The child never returns.
            unsafe {
                libc::close(go[1]);
                let mut byte = 0_u8;
                if libc::read(go[0], (&raw mut byte).cast(), 1) != 1 {
                    libc::_exit(125);
                }
                restore_ignored();
                libc::sigprocmask(libc::SIG_SETMASK, mask, ptr::null_mut());
                libc::execvp(arguments[0], arguments.as_ptr());
                let code = *libc::__errno_location();
                libc::write(failure[1], (&raw const code).cast(), mem::size_of::<i32>());
                libc::_exit(if code == libc::ENOENT { 127 } else { 126 });
            }
        }
        let error = Error::last_os_error();
        // SAFETY: these were opened above and are used by nobody else.
        unsafe {
            libc::close(go[0]);
            libc::close(failure[1]);
        }
        let forked = Forked { pid, go: go[1], failure: failure[0] };
        if pid < 0 { Err(error) } else { Ok(forked) }
    }

    /// Lets it execute the command.
    pub(crate) fn go(&self) -> io::Result<()> {
        // SAFETY: one byte is there.
        checked(unsafe { libc::write(self.go, [1_u8].as_ptr().cast(), 1) } as libc::c_long).map(drop)
    }

    /// Why the command could not be executed, once that is known: the process executed something, or ended.
    pub(crate) fn failure(&self) -> Option<Error> {
        let mut code = 0_i32;
        let size = mem::size_of::<i32>();
        // SAFETY: there is room for four bytes.
        let read = unsafe { libc::read(self.failure, (&raw mut code).cast(), size) };
        (read == size as isize).then(|| Error::from_raw_os_error(code))
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        // SAFETY: these are open and nobody else's.
        unsafe {
            libc::close(self.go);
            libc::close(self.failure);
        }
    }
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

/// Signals that are passed on to the command when somebody sends them to the recorder.
const PASSED_ON: [i32; 5] = [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2, libc::SIGCONT];
/// Signals of the terminal, which reach the command as well: what it does decides.
const OF_TERMINAL: [i32; 5] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// What this program was told to ignore when it began. Relaxed: written before `main`, read by the same thread.
static PIPE_WAS_IGNORED: AtomicBool = AtomicBool::new(false);
static CHILD_WAS_IGNORED: AtomicBool = AtomicBool::new(false);

/// Runs before `main`, in which the standard library begins to ignore SIGPIPE.
#[used]
// SAFETY: the system's loader calls the functions of this section once, before other threads exist.
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = remember_ignored;

extern "C" fn remember_ignored() {
    PIPE_WAS_IGNORED.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
    CHILD_WAS_IGNORED.store(is_ignored(libc::SIGCHLD), Ordering::Relaxed);
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: the system fills in the action.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut action);
        action.sa_sigaction == libc::SIG_IGN
    }
}

/// Ignores what was ignored when this program began, and nothing else. For a process that was forked.
fn restore_ignored() {
    for (signal, was_ignored) in [(libc::SIGPIPE, &PIPE_WAS_IGNORED), (libc::SIGCHLD, &CHILD_WAS_IGNORED)] {
        let action = if was_ignored.load(Ordering::Relaxed) { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: neither action runs code of this program.
        unsafe { libc::signal(signal, action) };
    }
}

/// Blocks the signals that concern the command, in this thread and those that it starts. Returns which were blocked before.
pub(crate) fn prepare_signals() -> libc::sigset_t {
    // SAFETY: both are sets of signals that the system fills in.
    unsafe {
        // Where it is ignored, the system waits for children itself.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let (mut blocked, mut before): (libc::sigset_t, libc::sigset_t) = (mem::zeroed(), mem::zeroed());
        libc::sigemptyset(&raw mut blocked);
        // Beyond the largest size of a file, writing fails; the signal would end the recorder.
        for signal in PASSED_ON.into_iter().chain(OF_TERMINAL).chain([libc::SIGXFSZ]) {
            libc::sigaddset(&raw mut blocked, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, &raw mut before);
        before
    }
}

/// Stops this process by the signal of the terminal that stopped the command.
pub(crate) fn stop_likewise(signal: i32) {
    // SAFETY: the set is filled in by the system; this thread has the signal blocked before and after.
    unsafe {
        let mut only: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, signal);
        libc::kill(libc::getpid(), signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const only, ptr::null_mut());
    }
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

/// Passes signals on to a process, for ever. What the terminal sends reaches the command without that.
pub(crate) fn pass_signals_on(to: Pid) {
    // SAFETY: sets and the description of a signal are filled in by the system.
    unsafe {
        let mut awaited: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut awaited);
        for signal in PASSED_ON {
            libc::sigaddset(&raw mut awaited, signal);
        }
        loop {
            let mut info: libc::siginfo_t = mem::zeroed();
            let signal = libc::sigwaitinfo(&raw const awaited, &raw mut info);
            if signal > 0 && info.si_code <= 0 {
                libc::kill(to, signal);
            }
        }
    }
}

/// Ends this process as a signal ended the command, without a dump of its memory.
pub(crate) fn die_of(signal: i32) -> ! {
    // SAFETY: plain calls; the process ends here.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        libc::signal(signal, libc::SIG_DFL);
        let mut only: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, signal);
        // To this thread: another one waits for signals that are passed on.
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, ptr::null_mut());
        libc::_exit(128 + signal)
    }
}
