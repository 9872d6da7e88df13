//! Calls of the system that no safe crate offers.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Error};
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(crate) type Pid = libc::pid_t;

/// The result of a call, or why it failed.
pub(crate) fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
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

/// The flags of what a path is mounted from (`statvfs`).
fn mount_flags(path: &Path) -> Option<libc::c_ulong> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut found = mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path is a C string; there is room for what is found, and zeros are a value of it.
    unsafe { (libc::statvfs(path.as_ptr(), found.as_mut_ptr()) == 0).then(|| found.assume_init().f_flag) }
}

/// Whether this process may use huge pages; `None` if the system does not tell.
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
