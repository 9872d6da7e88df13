//! Calls of the system that no safe crate offers.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Error};
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) type Pid = libc::pid_t;

/// The result of a call, or why it failed.
pub(crate) fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// The ends of a pipe: to read from, and to write to.
pub(crate) fn pipe() -> io::Result<[File; 2]> {
    let mut ends = [-1; 2];
    // SAFETY: there is room for two descriptors, which are new and owned by nothing else.
    unsafe {
        checked(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC).into())?;
        Ok(ends.map(|end| File::from_raw_fd(end)))
    }
}

/// From now on, reading from this end of a pipe fails where it would wait.
pub(crate) fn read_without_waiting(end: &File) -> io::Result<()> {
    // SAFETY: the call takes numbers.
    unsafe { checked(libc::fcntl(end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK).into()).map(drop) }
}

/// The most bytes that a pipe holds.
pub(crate) fn pipe_bytes(end: &File) -> usize {
    // SAFETY: the call takes numbers.
    let bytes = unsafe { libc::fcntl(end.as_raw_fd(), libc::F_GETPIPE_SZ) };
    // The default of the system.
    usize::try_from(bytes).unwrap_or(64 << 10)
}

/// Nanoseconds of the clock that never goes back.
pub(crate) fn now_ns() -> i64 {
    let mut time: libc::timespec = zeroed();
    // SAFETY: there is room for the time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The time since the system began, in the steps in which it tells when a process began.
pub(crate) fn now_ticks() -> u64 {
    let mut time: libc::timespec = zeroed();
    // SAFETY: there is room for the time; the other call takes a number.
    let steps = unsafe {
        libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time);
        libc::sysconf(libc::_SC_CLK_TCK)
    };
    (time.tv_sec * steps + time.tv_nsec * steps / 1_000_000_000).unsigned_abs()
}

/// Whether SIGTERM or SIGHUP came since [`hear_termination`].
static IS_TERMINATED: AtomicBool = AtomicBool::new(false);

/// From now on the first SIGTERM and the first SIGHUP do not end this process, but the trial that it makes, as
/// [`Observer::is_cancelled`] does. A second one ends the process. A signal that was ignored stays so, as under `nohup`.
///
/// [`Observer::is_cancelled`]: crate::Observer::is_cancelled
pub fn hear_termination() {
    extern "C" fn heard(_: libc::c_int) {
        IS_TERMINATED.store(true, Ordering::Relaxed);
    }
    let mut action: libc::sigaction = zeroed();
    action.sa_sigaction = heard as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_RESETHAND;
    for signal in [libc::SIGTERM, libc::SIGHUP] {
        let mut before: libc::sigaction = zeroed();
        // SAFETY: the handler does no more than to write an atomic; both actions are there.
        unsafe {
            libc::sigaction(signal, &raw const action, &raw mut before);
            if before.sa_sigaction == libc::SIG_IGN {
                libc::sigaction(signal, &raw const before, ptr::null_mut());
            }
        }
    }
}

/// Whether one of them was heard.
pub(crate) fn is_terminated() -> bool {
    IS_TERMINATED.load(Ordering::Relaxed)
}

/// From now on reading and writing wait until they can be done.
pub(crate) fn block(file: &File) -> io::Result<()> {
    // SAFETY: the flags are by value.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The user whose rights this process has.
pub(crate) fn user() -> u32 {
    // SAFETY: the call takes nothing.
    unsafe { libc::geteuid() }
}

/// A plain structure of zeros.
pub(crate) fn zeroed<T: Plain>() -> T {
    // SAFETY: `Plain` types consist of numbers and null pointers when they are zero.
    unsafe { mem::zeroed() }
}

/// Structures of the system for which zeros are a value.
pub(crate) trait Plain {}
impl Plain for libc::timespec {}
impl Plain for libc::rusage {}
impl Plain for libc::sigset_t {}
impl Plain for libc::sigaction {}
impl Plain for libc::cpu_set_t {}

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

/// Whether no file of a folder can be executed, or loaded as a library. `false` if that is not known.
pub(crate) fn forbids_execution(folder: &Path) -> bool {
    mount_flags(folder).is_some_and(|flags| flags & libc::ST_NOEXEC != 0)
}

/// Whether a program at this path gains no rights, whatever its file says: its mount forbids it, or this process may gain none.
pub(crate) fn forbids_new_rights(program: &Path) -> bool {
    // SAFETY: the call reads a number.
    let may_gain_none = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) } == 1;
    may_gain_none || mount_flags(program).is_some_and(|flags| flags & libc::ST_NOSUID != 0)
}

/// Whether a file has capabilities of its own.
pub(crate) fn has_capabilities(program: &Path) -> bool {
    let Ok(path) = CString::new(program.as_os_str().as_bytes()) else { return false };
    // SAFETY: both are C strings; nothing is written where there is no room.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), ptr::null_mut(), 0) > 0 }
}

/// Whether the system randomises the addresses of programs that ask for nothing.
pub(crate) fn randomises_addresses() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/randomize_va_space").map_or(true, |setting| setting.trim() != "0")
}

/// The flags of what a path is mounted from (`statvfs`).
fn mount_flags(path: &Path) -> Option<libc::c_ulong> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut found = mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path is a C string; there is room for what is found, and zeros are a value of it.
    unsafe { (libc::statvfs(path.as_ptr(), found.as_mut_ptr()) == 0).then(|| found.assume_init().f_flag) }
}

/// Whether this process may use huge pages; `None` if the system does not say.
pub(crate) fn uses_huge_pages() -> Option<bool> {
    // SAFETY: the call reads a number.
    let is_off = unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) };
    (is_off >= 0).then_some(is_off == 0)
}

/// Whether the system permits to switch huge pages off for a program.
pub(crate) fn can_disable_huge_pages() -> bool {
    // SAFETY: the call sets what is set.
    uses_huge_pages()
        .is_some_and(|on| unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, libc::c_ulong::from(!on), 0, 0, 0) } == 0)
}
