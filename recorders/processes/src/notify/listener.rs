//! The listener of a seccomp filter: receives the calls of filtered processes and lets them continue.
//!
//! ```text
//!   process: execve ──▶ waits ──▶ recorder: receive, read facts, answer ──▶ execve continues
//!                                     ╰── the recorder was killed ──▶ guardian: answer
//! ```
//!
//! If the recorder is killed, a call that was received but not answered would wait forever, and later calls would fail. So its
//! [`Guardian`](super::guardian::Guardian) then answers that call, which it finds in a shared page, and all later calls.

use std::io::{self, Error};
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::Arc;

use crate::system::Pid;

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

/// A page shared with forked processes: the last request that was received.
#[derive(Clone, Copy)]
pub(crate) struct Page(*mut Request);

// SAFETY: only the thread that receives writes to it, and the guardian after that thread is gone.
unsafe impl Send for Page {}

impl Page {
    pub(crate) fn new() -> io::Result<Self> {
        let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, at an address of the system's choice, full of zeros.
        let page = unsafe { libc::mmap(ptr::null_mut(), PAGE, rights, kind, -1, 0) };
        if page == libc::MAP_FAILED { Err(Error::last_os_error()) } else { Ok(Page(page.cast())) }
    }

    /// Number of the last request; 0 before the first one.
    pub(crate) fn last(self) -> u64 {
        // SAFETY: the page is mapped, and holds a request or zeros.
        unsafe { (*self.0).id }
    }
}

/// The listener of a filter.
pub(crate) struct Listener {
    descriptor: Arc<OwnedFd>,
    received: Page,
}

impl Listener {
    pub(crate) fn new(descriptor: Arc<OwnedFd>, received: Page) -> Self {
        // SAFETY: the flags are by value. Systems that do not know them refuse.
        unsafe { libc::ioctl(descriptor.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
        Listener { descriptor, received }
    }

    /// Waits for the next call. `None` once no filtered process is left.
    pub(crate) fn receive(&mut self) -> Option<Request> {
        receive(self.descriptor.as_raw_fd(), self.received)
    }

    /// Lets a call continue.
    pub(crate) fn answer(&mut self, request: &Request) {
        answer(self.descriptor.as_raw_fd(), request.id);
    }
}

/// Returns true if no filtered process is left.
pub(crate) fn is_over(listener: i32) -> bool {
    let mut poll = libc::pollfd { fd: listener, events: 0, revents: 0 };
    // SAFETY: one description.
    unsafe { libc::poll(&raw mut poll, 1, 0) > 0 && poll.revents & libc::POLLHUP != 0 }
}

/// Lets all calls continue, beginning with the last one that was received, until no filtered process is left. Allocates nothing.
pub(crate) fn let_all_continue(listener: i32, page: Page) {
    if page.last() != 0 {
        answer(listener, page.last());
    }
    while let Some(request) = receive(listener, page) {
        answer(listener, request.id);
    }
}

fn receive(listener: i32, page: Page) -> Option<Request> {
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

/// The sizes are part of the request numbers; the system refuses others.
const _: () = assert!(mem::size_of::<Request>() == 80 && mem::size_of::<Response>() == 24);
