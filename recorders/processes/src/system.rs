//! Calls of the system: tracing, waiting, clocks and signals. All `unsafe` of this crate is here.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{c_int, c_long, pid_t};

/// What a traced process or thread did, and the process or thread itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) pid: pid_t,
    pub(crate) what: What,
}

/// What a traced process or thread did. It waits, unless it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// It forked; the number of the child.
    Forked(pid_t),
    /// It made a thread, or a process that shares much with it; the number of that.
    Cloned(pid_t),
    /// It executed a program. The number of the thread that did, before.
    Executed(pid_t),
    /// It is about to end.
    Ending,
    /// It stopped, as job control wants it.
    Stopped,
    /// It is there, and can be set going.
    Attached,
    /// A signal arrived.
    Signalled(c_int),
    /// It ended: exit status, or signal.
    Ended { status: Option<u8>, signal: Option<c_int> },
}

/// Processor time, in nanoseconds, and memory as the system adds them up when a process is waited for: its children that
/// were waited for are included.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waited {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its exit status, unless a signal ended it.
    pub status: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

const OPTIONS: c_int = libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT;

/// Traces a process that waits for this.
///
/// # Errors
/// The system's: `EPERM` where tracing is forbidden.
pub(crate) fn seize(pid: pid_t) -> io::Result<()> {
    trace(libc::PTRACE_SEIZE, pid, c_long::from(OPTIONS))
}

/// Sets a traced process or thread going, and gives it a signal unless that is 0. One that ended meanwhile is none.
pub(crate) fn go_on(pid: pid_t, signal: c_int) {
    let _ = trace(libc::PTRACE_CONT, pid, signal.into());
}

/// Lets a process that job control stopped wait for the signal that continues it.
pub(crate) fn stay_stopped(pid: pid_t) {
    let _ = trace(libc::PTRACE_LISTEN, pid, 0);
}

/// Stops tracing a process or thread, which goes on.
pub(crate) fn let_go(pid: pid_t) {
    let _ = trace(libc::PTRACE_DETACH, pid, 0);
}

fn trace(request: libc::c_uint, pid: pid_t, data: c_long) -> io::Result<()> {
    let none: *mut libc::c_void = std::ptr::null_mut();
    // SAFETY: these requests read no memory of this process; `data` is a number.
    checked(unsafe { libc::ptrace(request, pid, none, data) }).map(drop)
}

/// The number that belongs to the event at which `pid` waits.
fn message(pid: pid_t) -> pid_t {
    let mut number: libc::c_ulong = 0;
    let none: *mut libc::c_void = std::ptr::null_mut();
    // SAFETY: the request writes one `unsigned long` to `number`.
    let _ = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, none, &raw mut number) };
    pid_t::try_from(number).unwrap_or(0)
}

/// Waits for what happens next. A process that ended stays as it is until [`reap`]. `None` if there is nothing to wait for,
/// or, if `now`, nothing yet.
///
/// # Errors
/// The system's, `EINTR` not among them.
pub(crate) fn next(now: bool) -> io::Result<Option<Event>> {
    let flags = libc::WEXITED | libc::WSTOPPED | libc::__WALL | libc::WNOWAIT | if now { libc::WNOHANG } else { 0 };
    loop {
        // SAFETY: a `siginfo_t` of zeros is valid.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: `info` is written by the call.
        let waited = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, flags) };
        match checked(waited.into()) {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => continue,
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        // SAFETY: after `waitid` the fields of a child are valid.
        let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
        if pid == 0 {
            return Ok(None);
        }
        return Ok(Some(match info.si_code {
            libc::CLD_EXITED => Event { pid, what: What::Ended { status: Some((status & 0xff) as u8), signal: None } },
            libc::CLD_KILLED | libc::CLD_DUMPED => {
                Event { pid, what: What::Ended { status: None, signal: Some(status) } }
            }
            _ => match stop_of(pid) {
                Some(what) => Event { pid, what },
                // Killed while it was stopped: its end comes next.
                None => continue,
            },
        }));
    }
}

/// Takes the stop of a traced process or thread.
fn stop_of(pid: pid_t) -> Option<What> {
    let mut status = 0;
    // SAFETY: `status` is written by the call.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL | libc::WNOHANG) };
    if waited != pid || !libc::WIFSTOPPED(status) {
        return None;
    }
    let signal = libc::WSTOPSIG(status);
    Some(match status >> 16 {
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => What::Forked(message(pid)),
        libc::PTRACE_EVENT_CLONE => What::Cloned(message(pid)),
        libc::PTRACE_EVENT_EXEC => What::Executed(message(pid)),
        libc::PTRACE_EVENT_EXIT => What::Ending,
        libc::PTRACE_EVENT_STOP if signal == libc::SIGTRAP => What::Attached,
        libc::PTRACE_EVENT_STOP => What::Stopped,
        _ => What::Signalled(signal),
    })
}

/// Takes the end of a process or thread, with what it and the children that it waited for used.
pub(crate) fn reap(pid: pid_t) -> Waited {
    let mut status = 0;
    // SAFETY: an `rusage` of zeros is valid.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both are written by the call.
    unsafe { libc::wait4(pid, &raw mut status, libc::__WALL | libc::WNOHANG, &raw mut used) };
    let ns = |time: libc::timeval| time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1_000;
    Waited { user_ns: ns(used.ru_utime), system_ns: ns(used.ru_stime) }
}

/// The processor time of a process and all its threads, in nanoseconds; `None` if it is gone.
pub(crate) fn cpu_ns(pid: pid_t) -> Option<u64> {
    // As glibc's `clock_getcpuclockid` makes it: the clock of a process that counts what its threads ran.
    const CPUCLOCK_SCHED: libc::clockid_t = 2;
    let clock = (!pid << 3) | CPUCLOCK_SCHED;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is written by the call.
    let got = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (got == 0).then(|| time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}

/// The processor time of this thread, in nanoseconds.
pub(crate) fn own_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is written by the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The user whose rights this process has.
pub(crate) fn own_user() -> u32 {
    // SAFETY: it cannot fail.
    unsafe { libc::geteuid() }
}

/// How long a tick of `/proc/PID/stat` is, in nanoseconds.
pub(crate) fn tick_ns() -> u64 {
    // SAFETY: it reads a constant of the system.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    1_000_000_000 / u64::try_from(ticks).unwrap_or(100).max(1)
}

/// Signals that whoever sends them to the recorder means for the command.
const PASSED_ON: [c_int; 4] = [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];
/// Signals that the terminal sends to the command as well.
const LEFT_TO_COMMAND: [c_int; 2] = [libc::SIGINT, libc::SIGQUIT];
/// The process that gets signals, once it is known. Relaxed: a number of its own.
static COMMAND: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: c_int) {
    let command = COMMAND.load(Ordering::Relaxed);
    if command > 0 {
        // SAFETY: `kill` may be called in a handler.
        unsafe { libc::kill(command, signal) };
    }
}

/// Signals that are passed on or ignored, until this is dropped.
pub(crate) struct Signals {
    before: Before,
}

/// What signals did before.
#[derive(Clone)]
pub(crate) struct Before(Vec<(c_int, libc::sigaction)>);

impl Before {
    /// From now on signals do that again.
    pub(crate) fn restore(&self) {
        for (signal, old) in &self.0 {
            // SAFETY: the action was in force before.
            unsafe { libc::sigaction(*signal, old, std::ptr::null_mut()) };
        }
    }
}

impl Signals {
    /// From now on passes signals on to the command, and ignores those that the terminal sends to it as well.
    pub(crate) fn take() -> Self {
        let mut before = Vec::new();
        let handlers = PASSED_ON.map(|signal| (signal, pass_on as extern "C" fn(c_int) as libc::sighandler_t));
        let ignored = LEFT_TO_COMMAND.map(|signal| (signal, libc::SIG_IGN));
        for (signal, handler) in handlers.into_iter().chain(ignored) {
            // SAFETY: actions of zeros are valid; the handler calls nothing but `kill`.
            unsafe {
                let mut old: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &raw mut old);
                before.push((signal, old));
                // What is ignored stays ignored, as for the command.
                if old.sa_sigaction != libc::SIG_IGN {
                    let mut new: libc::sigaction = std::mem::zeroed();
                    new.sa_sigaction = handler;
                    new.sa_flags = libc::SA_RESTART;
                    libc::sigaction(signal, &raw const new, std::ptr::null_mut());
                }
            }
        }
        Signals { before: Before(before) }
    }

    /// The process that signals are passed on to.
    pub(crate) fn pass_to(command: pid_t) {
        COMMAND.store(command, Ordering::Relaxed);
    }

    /// What signals did before.
    pub(crate) fn before(&self) -> Before {
        self.before.clone()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        COMMAND.store(0, Ordering::Relaxed);
        self.before.restore();
    }
}

/// Ends this process by a signal, without a core dump of its own. Returns if the signal does not end it.
pub fn die_of(signal: i32) {
    // SAFETY: nothing of this process is needed any more.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
        libc::raise(signal);
    }
}

/// Runs `before` in the child between fork and exec.
pub(crate) fn in_child(
    command: &mut std::process::Command,
    before: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    use std::os::unix::process::CommandExt;
    // SAFETY: `before` only sets signal actions, and reads and writes pipes.
    unsafe { command.pre_exec(before) };
}

fn checked(returned: c_long) -> io::Result<c_long> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}
