//! Effects of the process on the library: forks, and signals that interrupt threads.

use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::codes::{Code, Failure};

/// Number of forks between the first process that used barrow and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process in which a handle was made. After a fork the child has the parent's memory, but not its encoder threads,
/// and both would write to one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process(u32);

impl Process {
    /// This one.
    pub(crate) fn current() -> Self {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| {
            // SAFETY: `count_fork` is a function for as long as this library is loaded: the C library
            // forgets the functions of a library that is unloaded. It only adds to an atomic number, which
            // may be done in the child of a process with several threads.
            unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
        });
        // Relaxed: the child of a fork begins with one thread.
        Process(FORKS.load(Ordering::Relaxed))
    }

    pub(crate) fn is_current(self) -> bool {
        self.0 == FORKS.load(Ordering::Relaxed)
    }

    pub(crate) fn check(self) -> Result<(), Failure> {
        if self.is_current() { Ok(()) } else { Err(forked()) }
    }
}

#[cold]
fn forked() -> Failure {
    Failure::new(Code::Forked, "the handle belongs to the parent of this process: begin a recording of its own here")
}

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Signals that report a thread's own fault: they are not blocked.
const FAULTS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT];

/// Runs `work`, which starts threads, with signals blocked, so that these threads never handle signals of the program:
/// a handler may expect to run on a thread that the runtime knows.
pub(crate) fn without_signals<T>(work: impl FnOnce() -> T) -> T {
    let _before = SignalMask::block();
    work()
}

/// The previous signal mask of the calling thread; dropping it restores that.
struct SignalMask(libc::sigset_t);

impl SignalMask {
    fn block() -> Self {
        let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: `sigfillset` makes `all` a whole set, from which the numbers of signals are removed;
        // `pthread_sigmask` fails for no set, and so makes `before` a whole one.
        let before = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            for fault in FAULTS {
                libc::sigdelset(all.as_mut_ptr(), fault);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
            before.assume_init()
        };
        SignalMask(before)
    }
}

impl Drop for SignalMask {
    fn drop(&mut self) {
        // SAFETY: the set is the one that the system gave.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }
}
