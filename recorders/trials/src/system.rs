//! Calls of the system that no safe crate offers.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, Error};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use std::{mem, ptr};

pub(crate) type Pid = libc::pid_t;

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// An unnamed file in memory, to which all writers append.
pub(crate) fn memory_file() -> io::Result<File> {
    // SAFETY: the name is a C string; the descriptor is new and owned by nothing else.
    unsafe {
        let file = checked(libc::memfd_create(c"barrow-output".as_ptr(), libc::MFD_CLOEXEC).into())? as RawFd;
        let file = File::from_raw_fd(file);
        checked(libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND).into())?;
        Ok(file)
    }
}

/// Nanoseconds of the clock that never goes back.
pub(crate) fn now_ns() -> i64 {
    let mut time: libc::timespec = zeroed();
    // SAFETY: there is room for the time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// A plain structure of zeros.
fn zeroed<T: Plain>() -> T {
    // SAFETY: `Plain` types consist of numbers and null pointers when they are zero.
    unsafe { mem::zeroed() }
}

/// Structures of the system for which zeros are a value.
trait Plain {}
impl Plain for libc::timespec {}
impl Plain for libc::rusage {}
impl Plain for libc::sigset_t {}
impl Plain for libc::sigaction {}

/// Whether the system permits to switch the randomisation of addresses off.
pub(crate) fn can_fix_addresses() -> bool {
    // SAFETY: the call changes a number of this process, and puts it back.
    unsafe {
        let before = libc::personality(0xffff_ffff);
        if before < 0 || libc::personality(before as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong) < 0 {
            return false;
        }
        let is_set = libc::personality(0xffff_ffff) & libc::ADDR_NO_RANDOMIZE != 0;
        libc::personality(before as libc::c_ulong);
        is_set
    }
}

/// Whether the system permits to switch huge pages off for a program.
pub(crate) fn can_disable_huge_pages() -> bool {
    // SAFETY: the call reads, then sets what was read.
    unsafe {
        let before = libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0);
        before >= 0 && libc::prctl(libc::PR_SET_THP_DISABLE, before, 0, 0, 0) == 0
    }
}

/// What a child tells its parent before it executes a program: a page that both see.
pub(crate) struct Shared {
    page: *mut [AtomicI64; 2],
}

impl Shared {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: a new mapping, which nothing else uses.
        let page = unsafe {
            libc::mmap(
                ptr::null_mut(),
                mem::size_of::<[AtomicI64; 2]>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if page == libc::MAP_FAILED { Err(Error::last_os_error()) } else { Ok(Shared { page: page.cast() }) }
    }

    fn at(&self, place: usize) -> &AtomicI64 {
        // SAFETY: the page is mapped as long as this lives, and zeros are such numbers.
        unsafe { &(*self.page)[place] }
    }

    /// When the program was executed.
    fn began(&self) -> &AtomicI64 {
        self.at(0)
    }

    /// Why it could not be executed; 0 if it was.
    fn failure(&self) -> &AtomicI64 {
        self.at(1)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing refers to it any more.
        unsafe { libc::munmap(self.page.cast(), mem::size_of::<[AtomicI64; 2]>()) };
    }
}

/// What a child does before it executes a program.
pub(crate) struct Start<'s> {
    /// The path to execute.
    pub(crate) path: OsString,
    /// The arguments, beginning with the name of the program.
    pub(crate) words: &'s [OsString],
    /// `NAME=VALUE`.
    pub(crate) environment: Vec<OsString>,
    /// Its standard input.
    pub(crate) input: RawFd,
    /// Its standard output and standard error; `None`: those of this process.
    pub(crate) output: Option<RawFd>,
    /// Whether the system randomises addresses; `None`: as it does for this process.
    pub(crate) aslr: Option<bool>,
    /// Whether huge pages may be used; `None`: as for this process.
    pub(crate) thp: Option<bool>,
    /// It is the leader of a group of its own, which can be killed as a whole.
    pub(crate) has_group: bool,
}

/// A child that was started.
pub(crate) struct Child {
    pub(crate) pid: Pid,
    descriptor: Option<OwnedFd>,
    is_waited_for: bool,
    has_group: bool,
}

/// How a child ended, and what it and the children that it waited for used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) exit_status: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) began_ns: i64,
    pub(crate) wall_ns: i64,
    pub(crate) user_ns: i64,
    pub(crate) system_ns: i64,
    pub(crate) peak_bytes: i64,
    pub(crate) page_faults: i64,
    pub(crate) context_switches: i64,
}

fn c_strings(words: &[OsString]) -> io::Result<Vec<CString>> {
    words.iter().map(|word| CString::new(word.clone().into_vec()).map_err(Error::from)).collect()
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

impl Child {
    /// Starts a program. `before` is called with the child's number while it waits, if there is anything to call.
    ///
    /// # Errors
    /// Those of the system; that the program could not be executed is one of [`Child::wait`].
    pub(crate) fn start(start: &Start<'_>, shared: &Shared, before: Option<&mut dyn FnMut(Pid)>) -> io::Result<Self> {
        let path = CString::new(start.path.clone().into_vec())?;
        let (words, environment) = (c_strings(start.words)?, c_strings(&start.environment)?);
        let (words, environment) = (pointers(&words), pointers(&environment));
        let mut gate = [-1; 2];
        if before.is_some() {
            // SAFETY: there is room for two numbers.
            checked(unsafe { libc::pipe2(gate.as_mut_ptr(), libc::O_CLOEXEC) }.into())?;
        }
        shared.began().store(0, Ordering::Relaxed);
        shared.failure().store(0, Ordering::Relaxed);
        let begin = Begin { start, path: &path, words: &words, environment: &environment, gate, shared };
        let pid = if before.is_some() { fork(&begin) } else { borrow(&begin) };
        let error = Error::last_os_error();
        let gate = gate.map(|end| {
            (end >= 0).then(|| {
                // SAFETY: both ends are new and owned by nothing else.
                unsafe { OwnedFd::from_raw_fd(end) }
            })
        });
        if pid < 0 {
            return Err(error);
        }
        let child = Child { pid, descriptor: descriptor(pid), is_waited_for: false, has_group: start.has_group };
        if let (Some(before), [_, Some(write)]) = (before, &gate) {
            before(pid);
            // SAFETY: one byte is there.
            unsafe { libc::write(write.as_raw_fd(), [1_u8].as_ptr().cast(), 1) };
        }
        Ok(child)
    }

    /// Waits until the child has ended, or for so long. Returns whether it has ended; its end is still to be asked for.
    pub(crate) fn has_ended_within(&self, time: Duration) -> bool {
        let milliseconds = i32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        match &self.descriptor {
            Some(descriptor) => {
                let mut poll = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: one entry is there.
                unsafe { libc::poll(&raw mut poll, 1, milliseconds) > 0 }
            }
            // Kernels before 5.3.
            None => {
                let until = std::time::Instant::now() + time;
                loop {
                    let mut info = mem::MaybeUninit::<libc::siginfo_t>::zeroed();
                    let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
                    // SAFETY: there is room for the information, which zeros are a value of.
                    let is_there = unsafe {
                        libc::waitid(libc::P_PID, self.pid as libc::id_t, info.as_mut_ptr(), how) == 0
                            && info.assume_init_ref().si_pid() != 0
                    };
                    if is_there || std::time::Instant::now() >= until {
                        return is_there;
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }

    /// Kills the child, and its group if it has one.
    pub(crate) fn kill(&self) {
        // SAFETY: the child was not waited for, so its number is its own.
        unsafe {
            if self.has_group {
                libc::kill(-self.pid, libc::SIGKILL);
            }
            libc::kill(self.pid, libc::SIGKILL);
        }
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// That the program could not be executed; those of the system.
    pub(crate) fn wait(mut self, shared: &Shared) -> io::Result<Waited> {
        let mut status = 0;
        let mut used: libc::rusage = zeroed();
        loop {
            // SAFETY: there is room for the status and the resources.
            let ended = unsafe { libc::wait4(self.pid, &raw mut status, 0, &raw mut used) };
            if ended == self.pid {
                break;
            }
            let error = Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let now = now_ns();
        self.is_waited_for = true;
        let failure = shared.failure().load(Ordering::Relaxed);
        if failure != 0 {
            return Err(Error::from_raw_os_error(failure as i32));
        }
        let began_ns = shared.began().load(Ordering::Relaxed);
        let time = |time: libc::timeval| time.tv_sec * 1_000_000_000 + time.tv_usec * 1_000;
        Ok(Waited {
            exit_status: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
            began_ns,
            wall_ns: now - began_ns,
            user_ns: time(used.ru_utime),
            system_ns: time(used.ru_stime),
            // In KiB.
            peak_bytes: used.ru_maxrss * 1024,
            page_faults: used.ru_minflt + used.ru_majflt,
            context_switches: used.ru_nvcsw + used.ru_nivcsw,
        })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.is_waited_for {
            self.kill();
            // SAFETY: nothing is told of the status.
            unsafe { libc::waitpid(self.pid, ptr::null_mut(), 0) };
        }
    }
}

/// A descriptor that can be read when a process has ended, where the kernel has such.
fn descriptor(pid: Pid) -> Option<OwnedFd> {
    // SAFETY: the call takes two numbers; the descriptor is new and owned by nothing else.
    unsafe {
        let descriptor = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor as RawFd))
    }
}

/// Everything that a child needs, prepared before there is one.
struct Begin<'b> {
    start: &'b Start<'b>,
    path: &'b CString,
    /// These end with null.
    words: &'b [*const libc::c_char],
    environment: &'b [*const libc::c_char],
    /// A pipe that the child reads from before it executes, or no descriptors.
    gate: [RawFd; 2],
    shared: &'b Shared,
}

/// A child with a copy of this process, which goes on meanwhile.
fn fork(begin: &Begin<'_>) -> Pid {
    // SAFETY: the child calls only functions that may be called after a fork, and never returns.
    unsafe {
        let pid = libc::fork();
        if pid == 0 {
            execute(begin);
        }
        pid
    }
}

/// A child that borrows the memory of this process, which waits until it has executed its program: nothing is copied, as
/// `posix_spawn` does it. It takes half the time of [`fork`].
fn borrow(begin: &Begin<'_>) -> Pid {
    const STACK_BYTES: usize = 64 << 10;
    extern "C" fn run(begin: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the pointer is that of `borrow`, whose caller waits.
        unsafe { execute(&*begin.cast::<Begin<'_>>()) }
    }
    let mut stack = vec![0_u128; STACK_BYTES / 16];
    // SAFETY: signals are blocked, so that no handler of this process runs in the child; `execute` unblocks them. The stack
    // is the child's alone, aligned, and outlives its use, because this thread goes on only when the child has executed a
    // program or ended.
    unsafe {
        let (mut all, mut before) = (zeroed::<libc::sigset_t>(), zeroed::<libc::sigset_t>());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        let top = stack.as_mut_ptr_range().end.cast();
        let how = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(run, top, how, std::ptr::from_ref(begin).cast_mut().cast());
        let error = *libc::__errno_location();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        *libc::__errno_location() = error;
        pid
    }
}

/// What the child does.
///
/// # Safety
/// Only in a child. Where it borrows the memory of this process, this process waits.
unsafe fn execute(begin: &Begin<'_>) -> ! {
    let Begin { start, path, words, environment, gate, shared } = *begin;
    // SAFETY: the caller's promise; all of these may be called after a fork.
    unsafe {
        if start.has_group {
            libc::setpgid(0, 0);
        }
        // Handlers of this process must not run in borrowed memory; Rust programs ignore SIGPIPE, and what they start would
        // as well.
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGWINCH, libc::SIGCHLD] {
            let mut action: libc::sigaction = zeroed();
            libc::sigaction(signal, ptr::null(), &raw mut action);
            if ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut signals: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const signals, ptr::null_mut());
        libc::dup2(start.input, 0);
        if let Some(output) = start.output {
            libc::dup2(output, 1);
            libc::dup2(output, 2);
        }
        if let Some(on) = start.aslr {
            let now = libc::personality(0xffff_ffff) as libc::c_ulong;
            let fixed = libc::ADDR_NO_RANDOMIZE as libc::c_ulong;
            libc::personality(if on { now & !fixed } else { now | fixed });
        }
        if let Some(on) = start.thp {
            libc::prctl(libc::PR_SET_THP_DISABLE, libc::c_ulong::from(!on), 0, 0, 0);
        }
        if gate[0] >= 0 {
            libc::close(gate[1]);
            let mut byte = 0_u8;
            if libc::read(gate[0], (&raw mut byte).cast(), 1) != 1 {
                libc::_exit(125);
            }
        }
        shared.began().store(now_ns(), Ordering::Relaxed);
        libc::execve(path.as_ptr(), words.as_ptr(), environment.as_ptr());
        let failure = *libc::__errno_location();
        shared.failure().store(failure.into(), Ordering::Relaxed);
        libc::_exit(127)
    }
}
