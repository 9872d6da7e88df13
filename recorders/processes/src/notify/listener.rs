//! The listener of a seccomp filter: receives the calls of filtered processes and lets them continue.
//!
//! ```text
//!   process: execve ──▶ waits ──▶ recorder: receive, read facts, answer ──▶ execve continues
//!                                     ╰── the recorder was killed ──▶ guardian: answer
//! ```
//!
//! If the recorder is killed, a call that was received but not answered would wait forever, and later calls would fail. So the
//! *guardian*, a process forked from the recorder, then answers that call, which it finds in a shared page, and all later
//! calls, until no filtered process is left.

use std::io::{self, Error};
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use crate::system::{Pid, pipe};

/// A call that waits for an answer: `struct seccomp_notif`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Request {
    id: u64,
    /// The thread.
    pub(crate) thread: Pid,
    flags: u32,
    pub(crate) number: i32,
    /// The architecture of the program: `AUDIT_ARCH_…`.
    pub(crate) architecture: u32,
    instruction: u64,
    pub(crate) arguments: [u64; 6],
}

#[cfg(test)]
impl Request {
    /// A call with arguments that are 0.
    pub(crate) fn without_arguments(thread: Pid, number: u32, architecture: u32) -> Self {
        let number = i32::try_from(number).unwrap();
        Request { id: 0, thread, flags: 0, number, architecture, instruction: 0, arguments: [0; 6] }
    }
}

/// An answer: `struct seccomp_notif_resp`.
#[repr(C)]
struct Response {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// Flag of an answer: the call continues as if it had not been reported.
const CONTINUE: u32 = 1;

/// Requests of `ioctl`: of type `'!'`, with the size of the structure.
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const SET_FLAGS: libc::c_ulong = 0x4008_2104;
/// Flag that lets the recorder continue at once, on the processor of the waiting process (since Linux 6.6).
const SYNC_WAKE_UP: u64 = 1;

/// Size of the shared page, with room for larger requests of later systems.
const PAGE: usize = 4096;

/// A page shared with forked processes.
struct Page(*mut Request);

// SAFETY: only the thread that receives writes to it.
unsafe impl Send for Page {}

/// The listener of a filter.
pub(crate) struct Listener {
    descriptor: OwnedFd,
    received: Page,
    guardian: Pid,
    /// Closing this starts the guardian.
    _guarded: OwnedFd,
}

impl Listener {
    /// Takes ownership of a listener and forks its guardian.
    pub(crate) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        // SAFETY: the flags are by value. Systems that do not know them refuse.
        unsafe { libc::ioctl(descriptor.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
        let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, at an address of the system's choice, full of zeros.
        let page = unsafe { libc::mmap(ptr::null_mut(), PAGE, rights, kind, -1, 0) };
        if page == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        let received = Page(page.cast());
        let (end, guarded) = pipe()?;
        // SAFETY: the child only makes calls of the system, and never returns.
        let guardian = unsafe { libc::fork() };
        match guardian {
            0 => guard(descriptor.as_raw_fd(), end.as_raw_fd(), &received),
            -1 => Err(Error::last_os_error()),
            _ => Ok(Listener { descriptor, received, guardian, _guarded: guarded }),
        }
    }

    /// Waits for the next call. `None` once no filtered process is left.
    pub(crate) fn receive(&mut self) -> Option<Request> {
        receive(self.descriptor.as_raw_fd(), &self.received)
    }

    /// A handle that ends the guardian once no filtered process is left.
    pub(crate) fn dismissal(&self) -> io::Result<Dismissal> {
        Ok(Dismissal { descriptor: self.descriptor.try_clone()?, guardian: self.guardian })
    }

    /// Lets a call continue.
    pub(crate) fn answer(&mut self, request: &Request) {
        answer(self.descriptor.as_raw_fd(), request.id);
    }
}

/// Ends a guardian.
pub(crate) struct Dismissal {
    descriptor: OwnedFd,
    guardian: Pid,
}

impl Dismissal {
    /// Kills the guardian and waits for it, if no filtered process is left. Otherwise it would outlive this process as an
    /// orphan.
    pub(crate) fn dismiss(self) {
        let mut poll = libc::pollfd { fd: self.descriptor.as_raw_fd(), events: 0, revents: 0 };
        // SAFETY: one description; and the guardian is a child that nobody else waits for.
        unsafe {
            if libc::poll(&raw mut poll, 1, 0) > 0 && poll.revents & libc::POLLHUP != 0 {
                libc::kill(self.guardian, libc::SIGKILL);
                libc::waitpid(self.guardian, ptr::null_mut(), 0);
            }
        }
    }
}

fn receive(listener: i32, page: &Page) -> Option<Request> {
    loop {
        // SAFETY: the page is as large as any request, and the system wants it empty; nobody else writes to it.
        let result = unsafe {
            ptr::write_bytes(page.0.cast::<u8>(), 0, size_of::<Request>());
            libc::ioctl(listener, RECEIVE, page.0)
        };
        if result == 0 {
            // SAFETY: the system filled it in.
            return Some(unsafe { page.0.read() });
        }
        match Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => {}
            // The process was killed while it waited, or no process is left.
            Some(libc::ENOENT) if has_processes(listener) => {}
            _ => return None,
        }
    }
}

/// Waits until there is a call or no filtered process is left. Returns whether one is left.
fn has_processes(listener: i32) -> bool {
    let mut poll = libc::pollfd { fd: listener, events: libc::POLLIN, revents: 0 };
    // SAFETY: one description.
    let result = unsafe { libc::poll(&raw mut poll, 1, -1) };
    result <= 0 || poll.revents & libc::POLLHUP == 0
}

fn answer(listener: i32, id: u64) {
    let response = Response { id, value: 0, error: 0, flags: CONTINUE };
    // SAFETY: the system reads one response. It fails if the process was killed meanwhile.
    unsafe { libc::ioctl(listener, SEND, &raw const response) };
}

/// Waits until the recorder is gone, then lets all calls continue. Closes all other files, so that readers of the recorder's
/// pipes see their end.
fn guard(listener: i32, end: i32, page: &Page) -> ! {
    // SAFETY: plain calls; the copies are of descriptors that are open.
    unsafe {
        libc::setsid();
        // A file system that the recorder was in may be unmounted.
        libc::chdir(c"/".as_ptr());
        libc::prctl(libc::PR_SET_NAME, c"record-guardian".as_ptr());
        let (listener, end) = (libc::dup3(listener, 1000, libc::O_CLOEXEC), libc::dup3(end, 1001, libc::O_CLOEXEC));
        libc::syscall(libc::SYS_close_range, 0, 999, 0);
        libc::syscall(libc::SYS_close_range, 1002, u32::MAX, 0);
        let mut byte = 0_u8;
        while libc::read(end, (&raw mut byte).cast(), 1) < 0
            && Error::last_os_error().raw_os_error() == Some(libc::EINTR)
        {}
        let last = (*page.0).id;
        if last != 0 {
            answer(listener, last);
        }
        while let Some(request) = receive(listener, page) {
            answer(listener, request.id);
        }
        libc::_exit(0)
    }
}

/// The sizes are part of the request numbers; the system refuses others.
const _: () = assert!(mem::size_of::<Request>() == 80 && mem::size_of::<Response>() == 24);
