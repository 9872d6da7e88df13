//! Calls of the system. All `unsafe` of this crate is here.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::c_int;

/// A program with its arguments.
pub(crate) struct Command {
    program: CString,
    words: Vec<CString>,
}

/// The end of a command, and the usage of it and the children it waited for.
pub(crate) struct Ended {
    /// Its exit status, unless a signal ended it.
    pub(crate) status: Option<c_int>,
    /// The signal that ended it.
    pub(crate) signal: Option<c_int>,
    pub(crate) used: libc::rusage,
}

/// Copies an argument or path of a process, which has no zeros.
fn text(bytes: &[u8]) -> CString {
    CString::new(bytes).unwrap_or_default()
}

/// Signals that are passed on to the command. A terminal sends the others to the command itself.
const PASSED_ON: [c_int; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGCONT,
];
/// The process that signals are passed on to. Relaxed: the number stands alone.
static CHILD: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: c_int) {
    let child = CHILD.load(Ordering::Relaxed);
    if child > 0 {
        // SAFETY: `kill` may be called in a handler.
        unsafe { libc::kill(child, signal) };
    }
}

impl Command {
    /// Prepares `program` with the arguments of this program; the name `barrow-sh` becomes `/bin/sh`.
    pub(crate) fn new(program: &Path, words: &[OsString]) -> Self {
        let mut words: Vec<CString> = words.iter().map(|word| text(word.as_bytes())).collect();
        if let Some(first) = words.first_mut().filter(|first| first.to_bytes().ends_with(b"barrow-sh")) {
            *first = text(b"/bin/sh");
        }
        Command { program: text(program.as_os_str().as_bytes()), words }
    }

    /// Becomes the program.
    pub(crate) fn execute(&self) -> ! {
        let mut words: Vec<*const libc::c_char> = self.words.iter().map(|word| word.as_ptr()).collect();
        words.push(std::ptr::null());
        // The standard library ignores SIGPIPE in this program; the program that follows is to have what this one had.
        restore_pipe();
        // SAFETY: the words are terminated strings that live, and so is their list.
        unsafe { libc::execv(self.program.as_ptr(), words.as_ptr()) };
        let code = if io::Error::last_os_error().raw_os_error() == Some(libc::ENOENT) { 127 } else { 126 };
        std::process::exit(code)
    }

    /// Runs the program to its end. Signals to this process reach it.
    ///
    /// # Errors
    /// The system's: it did not run.
    pub(crate) fn run(&self) -> io::Result<Ended> {
        let before = block_all();
        // SAFETY: there is one thread, so that the child may do anything.
        let child = unsafe { libc::fork() };
        if child < 0 {
            let error = io::Error::last_os_error();
            set_blocked(&before);
            return Err(error);
        }
        if child == 0 {
            end_with_parent();
            set_blocked(&before);
            self.execute();
        }
        CHILD.store(child, Ordering::Relaxed);
        listen();
        set_blocked(&before);
        Ok(wait(child))
    }
}

impl Ended {
    /// Ends this process as the other one ended.
    pub(crate) fn end_likewise(&self) -> ! {
        if let Some(signal) = self.signal {
            // SAFETY: nothing of this process is needed any more.
            unsafe {
                let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
            std::process::exit(128 + signal);
        }
        std::process::exit(self.status.unwrap_or(0))
    }
}

fn wait(child: c_int) -> Ended {
    loop {
        let mut status = 0;
        // SAFETY: an `rusage` of zeros is valid.
        let mut used: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both are written by the call.
        let waited = unsafe { libc::wait4(child, &raw mut status, libc::WUNTRACED, &raw mut used) };
        if waited != child {
            // Interrupted by a signal that was passed on.
            continue;
        }
        if libc::WIFSTOPPED(status) {
            // Whoever waits for this process sees it stopped, too. SIGCONT is passed on.
            // SAFETY: it stops this process and nothing else.
            unsafe { libc::raise(libc::SIGSTOP) };
            continue;
        }
        let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
        let status = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        return Ended { status, signal, used };
    }
}

/// Passes signals on, except those that are ignored.
fn listen() {
    for signal in PASSED_ON {
        // SAFETY: actions of zeros are valid; the handler calls nothing but `kill`.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut old);
            if old.sa_sigaction != libc::SIG_IGN {
                let mut new: libc::sigaction = std::mem::zeroed();
                new.sa_sigaction = pass_on as extern "C" fn(c_int) as libc::sighandler_t;
                libc::sigaction(signal, &raw const new, std::ptr::null_mut());
            }
        }
    }
}

fn block_all() -> libc::sigset_t {
    // SAFETY: both sets are written by the calls.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        before
    }
}

fn set_blocked(signals: &libc::sigset_t) {
    // SAFETY: the set was in force before.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const *signals, std::ptr::null_mut()) };
}

/// In the child: a signal that ends the wrapper without a word ends it, too.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    // SAFETY: it changes an attribute of this process.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)
    };
}

fn restore_pipe() {
    // SAFETY: the default action needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Waits for the lock on an open file.
///
/// # Errors
/// The system's.
pub(crate) fn lock(file: RawFd) -> io::Result<()> {
    loop {
        // SAFETY: the file is open.
        if unsafe { libc::flock(file, libc::LOCK_EX) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The name of this machine.
pub(crate) fn host() -> String {
    let mut name = vec![0; 256];
    // SAFETY: the call writes at most that many bytes.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) };
    name.truncate(name.iter().position(|&byte| byte == 0).unwrap_or(name.len()));
    OsString::from_vec(name).to_string_lossy().into_owned()
}

/// Sets a variable of the environment for what is run.
pub(crate) fn set_variable(name: &str, value: &str) {
    // SAFETY: there is one thread.
    unsafe { std::env::set_var(name, value) };
}
