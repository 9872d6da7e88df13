//! The ends of processes, reported by their pidfds.
//!
//! ```text
//!   runs ──▶ ended (readable) ──▶ its parent waited for it (hangs up; has the status since Linux 6.15)
//! ```

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

use crate::system::{self, Pid, checked};

/// Reports the ends of processes.
pub(crate) struct Ends {
    epoll: OwnedFd,
}

/// Largest number of ends reported by one call of [`Ends::news`].
pub(crate) const MOST: usize = 256;

impl Ends {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the number that the system gives is nobody else's.
        let epoll = unsafe {
            let number = checked(libc::epoll_create1(libc::EPOLL_CLOEXEC).into())?;
            OwnedFd::from_raw_fd(number as i32)
        };
        Ok(Ends { epoll })
    }

    /// Reports the end of a process from now on, as `key`.
    pub(crate) fn watch(&self, process: &OwnedFd, key: u64) -> io::Result<()> {
        let events = (libc::EPOLLIN | libc::EPOLLET) as u32;
        let mut event = libc::epoll_event { events, u64: key };
        let (epoll, process) = (self.epoll.as_raw_fd(), process.as_raw_fd());
        // SAFETY: the system reads one description.
        checked(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, process, &raw mut event) }.into()).map(drop)
    }

    /// Waits for news. Returns whether there is any.
    pub(crate) fn wait(&self, patience: Duration) -> bool {
        let mut poll = libc::pollfd { fd: self.epoll.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let most = i32::try_from(patience.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: one description.
        unsafe { libc::poll(&raw mut poll, 1, most) > 0 }
    }

    /// The keys of processes with news, and whether their parents waited for them. Each piece of news is returned once.
    pub(crate) fn news(&self) -> Vec<(u64, bool)> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MOST];
        // SAFETY: the system writes no more events than there is room for.
        let count = unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), MOST as i32, 0) };
        let heard = events.into_iter().take(usize::try_from(count).unwrap_or(0));
        heard.map(|event| (event.u64, event.events & libc::EPOLLHUP as u32 != 0)).collect()
    }
}

/// Opens a pidfd.
///
/// # Errors
/// There is no such process, or `pid` is a thread other than the first one of a process.
pub(crate) fn descriptor(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: the number that the system gives is nobody else's.
    unsafe { checked(libc::syscall(libc::SYS_pidfd_open, pid, 0)).map(|number| OwnedFd::from_raw_fd(number as i32)) }
}

/// Waits until a process has ended.
///
/// # Errors
/// The system cannot wait for it.
pub(crate) fn await_end(process: &OwnedFd) -> io::Result<()> {
    let mut poll = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one description.
    checked(unsafe { libc::poll(&raw mut poll, 1, -1) }.into()).map(drop)
}

/// Returns true until the parent of the process has waited for it. Until then no other process has its number.
pub(crate) fn has_number(process: &OwnedFd) -> bool {
    let (nothing, flags) = (ptr::null::<libc::siginfo_t>(), 0);
    // SAFETY: signal 0 is not sent, and no description of it is read.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), 0, nothing, flags) };
    checked(result).err().and_then(|error| error.raw_os_error()) != Some(libc::ESRCH)
}

/// `struct pidfd_info` as of Linux 6.15.
#[repr(C)]
#[derive(Default)]
struct Info {
    mask: u64,
    control_group: u64,
    process: u32,
    group: u32,
    parent: u32,
    identities: [u32; 8],
    exit_code: i32,
}

/// The bit of `mask` that requests the exit status, and confirms it in the result.
const EXIT: u64 = 1 << 3;

fn info(process: &OwnedFd, mask: u64) -> Option<Info> {
    const GET_INFO: libc::c_ulong = 0xc040_ff0b;
    let mut info = Info { mask, ..Info::default() };
    // SAFETY: the system reads and writes one of these, of the size that the number names.
    let result = unsafe { libc::ioctl(process.as_raw_fd(), GET_INFO, &raw mut info) };
    (result == 0).then_some(info)
}

/// The parent of a process. `None` before Linux 6.13.
pub(crate) fn parent(process: &OwnedFd) -> Option<Pid> {
    Pid::try_from(info(process, 0)?.parent).ok()
}

/// The status of a process that its parent waited for, encoded as by `wait`. `None` before Linux 6.15.
pub(crate) fn status(process: &OwnedFd) -> Option<i32> {
    info(process, EXIT).filter(|info| info.mask & EXIT != 0).map(|info| info.exit_code)
}

/// Returns true if pidfds report that a parent waited for a process, and its status: since Linux 6.15.
pub(crate) fn are_noticed() -> bool {
    let [_, release] = system::names();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(6), Some(15))
}
