//! Signals: those that processes send to the recorder are passed on to the command.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{mem, ptr};

use crate::system::Pid;

/// These signals were ignored when this program started. Relaxed: written before `main`, read by the same thread.
static PIPE_WAS_IGNORED: AtomicBool = AtomicBool::new(false);
static CHILD_WAS_IGNORED: AtomicBool = AtomicBool::new(false);

/// Runs before the standard library starts to ignore SIGPIPE.
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

/// Ignores SIGPIPE and SIGCHLD only if they were ignored when this program started. Called in a forked process.
pub(crate) fn restore_ignored() {
    for (signal, was_ignored) in [(libc::SIGPIPE, &PIPE_WAS_IGNORED), (libc::SIGCHLD, &CHILD_WAS_IGNORED)] {
        let action = if was_ignored.load(Ordering::Relaxed) { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: neither action runs code of this program.
        unsafe { libc::signal(signal, action) };
    }
}

/// The blocked signals and the timers of this process when it began: the command has them as if it had been executed then.
pub(crate) struct Inherited {
    mask: libc::sigset_t,
    timers: [libc::itimerval; TIMERS.len()],
}

const TIMERS: [i32; 3] = [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF];

/// Blocks all signals in this thread and those that it starts, so that they stay pending for a [`Passage`], and stops the timers:
/// both are for the command. Faults of this program still end it.
pub(crate) fn prepare() -> Inherited {
    // SAFETY: the system fills in both sets of signals, and the timers.
    unsafe {
        // While SIGCHLD is ignored, the system reaps children itself.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let (mut blocked, mut mask): (libc::sigset_t, libc::sigset_t) = (mem::zeroed(), mem::zeroed());
        libc::sigfillset(&raw mut blocked);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, &raw mut mask);
        let stopped: libc::itimerval = mem::zeroed();
        let timers = TIMERS.map(|timer| {
            let mut left = stopped;
            libc::setitimer(timer as _, &raw const stopped, &raw mut left);
            left
        });
        Inherited { mask, timers }
    }
}

impl Inherited {
    /// Gives them to this process, which was forked and is about to execute the command.
    pub(crate) fn restore(&self) {
        // SAFETY: the system reads one set, and one description of each timer.
        unsafe {
            libc::sigprocmask(libc::SIG_SETMASK, &raw const self.mask, ptr::null_mut());
            for (timer, left) in TIMERS.into_iter().zip(&self.timers) {
                libc::setitimer(timer as _, left, ptr::null_mut());
            }
        }
    }
}

/// Stops this process by the terminal's signal that stopped the command.
pub(crate) fn stop_likewise(signal: i32) {
    // SAFETY: the set is filled in by the system; this thread has the signal blocked before and after. It is sent to this
    // thread alone: as one of the whole process, a `Passage` would take it.
    unsafe {
        let mut only: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, signal);
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const only, ptr::null_mut());
    }
}

/// Passes all signals that processes send on to process `to`, forever. See [`Passage`].
pub(crate) fn pass_on(to: Pid) {
    let passage = Passage::to(to);
    loop {
        passage.wait(None);
    }
}

/// The way of signals to the command. Signals of the terminal reach the command directly, and signals of the system, such as for the
/// end of a child or a file that is too large, concern the recorder. The hangup of a terminal is an exception: the system tells it to
/// the leader of the session alone, which the command would be without the recorder.
pub(crate) struct Passage {
    to: Pid,
    is_leader: bool,
    awaited: libc::sigset_t,
}

impl Passage {
    pub(crate) fn to(to: Pid) -> Self {
        // SAFETY: the system fills in the set.
        unsafe {
            let mut awaited: libc::sigset_t = mem::zeroed();
            libc::sigfillset(&raw mut awaited);
            Passage { to, is_leader: libc::getsid(0) == libc::getpid(), awaited }
        }
    }

    /// Waits for the next signal, at most as long as `patience` if that is given, and passes it on if a process sent it.
    pub(crate) fn wait(&self, patience: Option<Duration>) {
        let time = patience.map(|patience| libc::timespec {
            tv_sec: patience.as_secs() as libc::time_t,
            tv_nsec: patience.subsec_nanos().into(),
        });
        let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the description of the signal is filled in by the system.
        unsafe {
            let mut info: libc::siginfo_t = mem::zeroed();
            let signal = libc::sigtimedwait(&raw const self.awaited, &raw mut info, time);
            let is_hangup = info.si_code == libc::SI_KERNEL && matches!(signal, libc::SIGHUP | libc::SIGCONT);
            if signal <= 0 || info.si_code > 0 && !(self.is_leader && is_hangup) {
                return;
            }
            match info.si_code {
                // Keeps the value of the signal.
                libc::SI_QUEUE => libc::sigqueue(self.to, signal, info.si_value()),
                _ => libc::kill(self.to, signal),
            };
        }
    }
}

/// Ends this process by the signal that ended the command, without a core dump.
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
        // To this thread: the thread that passes signals on would consume one for the process.
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, ptr::null_mut());
        libc::_exit(128 + signal)
    }
}
