//! Signals: what reaches the recorder from a process reaches the command.

use std::sync::atomic::{AtomicBool, Ordering};
use std::{mem, ptr};

use crate::system::Pid;

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
pub(crate) fn restore_ignored() {
    for (signal, was_ignored) in [(libc::SIGPIPE, &PIPE_WAS_IGNORED), (libc::SIGCHLD, &CHILD_WAS_IGNORED)] {
        let action = if was_ignored.load(Ordering::Relaxed) { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: neither action runs code of this program.
        unsafe { libc::signal(signal, action) };
    }
}

/// Blocks all signals in this thread and those that it starts, so that they wait for [`pass_on`]. Returns which were blocked
/// before. A fault of this program ends it all the same.
pub(crate) fn prepare() -> libc::sigset_t {
    // SAFETY: both are sets of signals that the system fills in.
    unsafe {
        // Where it is ignored, the system waits for children itself.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let (mut blocked, mut before): (libc::sigset_t, libc::sigset_t) = (mem::zeroed(), mem::zeroed());
        libc::sigfillset(&raw mut blocked);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, &raw mut before);
        before
    }
}

/// Stops this process by the signal of the terminal that stopped the command.
pub(crate) fn stop_likewise(signal: i32) {
    // SAFETY: the set is filled in by the system; this thread has the signal blocked before and after. It is sent to this
    // thread alone: as one of the whole process, `pass_on` would take it.
    unsafe {
        let mut only: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, signal);
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const only, ptr::null_mut());
    }
}

/// Passes all signals that processes send on to a process, for ever. What the terminal sends reaches the command without that,
/// and what the system sends, such as for the end of a child or a file that is too large, concerns the recorder.
pub(crate) fn pass_on(to: Pid) {
    // SAFETY: sets and the description of a signal are filled in by the system.
    unsafe {
        let mut awaited: libc::sigset_t = mem::zeroed();
        libc::sigfillset(&raw mut awaited);
        loop {
            let mut info: libc::siginfo_t = mem::zeroed();
            let signal = libc::sigwaitinfo(&raw const awaited, &raw mut info);
            if signal <= 0 || info.si_code > 0 {
                continue;
            }
            match info.si_code {
                // With the value that came with it.
                libc::SI_QUEUE => libc::sigqueue(to, signal, info.si_value()),
                _ => libc::kill(to, signal),
            };
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
