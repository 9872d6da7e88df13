//! The guardian: a forked process that lets the calls of filtered processes continue once the recorder is gone.

use std::ffi::c_void;
use std::io::{self, Error};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use super::listener::{self, Page};
use crate::system::{self, Pid, pair};

/// Stack of the command before it is executed: more than the C library uses to search `PATH`, which it does with copies of
/// names.
const STACK: usize = 256 << 10;

/// The guardian, which takes over when this process has ended.
pub(crate) struct Guardian {
    pid: Pid,
    /// Closing this tells it that the recorder is gone. So the system does that, once no thread of this process is left: one that
    /// receives a call after the guardian looked for the last one would take it along.
    socket: ManuallyDrop<OwnedFd>,
    pub(crate) page: Page,
    listener: Option<Arc<OwnedFd>>,
}

impl Guardian {
    /// Forks the guardian, which starts another child of this process, with which it shares its memory: that calls `run`, which
    /// ends or executes a program, on a stack with room for `words` addresses. If there is none, the guardian calls `refused`.
    pub(crate) fn fork(words: usize, run: &dyn Fn(), refused: &dyn Fn(Error)) -> io::Result<Self> {
        let page = Page::new()?;
        let (socket, other) = pair()?;
        // The C library copies the words onto the stack to have a script run by a shell.
        let size = STACK + words * size_of::<*const u8>();
        let mut stack = Vec::<MaybeUninit<u8>>::with_capacity(size);
        // SAFETY: the child only makes calls of the system, and never returns.
        match unsafe { libc::fork() } {
            0 => {
                drop(socket);
                // SAFETY: the end of the stack, at an address of which the last bits are 0.
                let top = unsafe { stack.as_mut_ptr().add(size & !0xf) };
                guard(run, refused, top.map_addr(|top| top & !0xf).cast(), &other, page)
            }
            -1 => Err(Error::last_os_error()),
            pid => Ok(Guardian { pid, socket: ManuallyDrop::new(socket), page, listener: None }),
        }
    }

    /// Gives it the listener, whose calls it lets continue when this process is gone.
    pub(crate) fn guard(&mut self, listener: &Arc<OwnedFd>) -> io::Result<()> {
        system::send(self.socket.as_raw_fd(), [0], Some(listener.as_raw_fd()))?;
        self.listener = Some(Arc::clone(listener));
        Ok(())
    }

    /// Ends it before it has a listener.
    pub(crate) fn withdraw(self) {
        let Guardian { pid, socket, .. } = self;
        drop(ManuallyDrop::into_inner(socket));
        system::bury(pid);
    }

    /// Kills it if no filtered process is left: it would outlive this process as an orphan. The result must be
    /// [buried](system::bury), which may wait until the system has freed its memory.
    pub(crate) fn dismiss(self) -> Option<Pid> {
        let listener = self.listener.as_ref()?;
        // SAFETY: a child that was not waited for.
        listener::is_over(listener.as_raw_fd())
            .then(|| unsafe { libc::kill(self.pid, libc::SIGKILL) })
            .map(|_| self.pid)
    }
}

/// Starts the command, with a stack that ends at `top`; then waits until the recorder is gone. Closes all files, so that readers of
/// the recorder's pipes see their end.
fn guard(run: &dyn Fn(), refused: &dyn Fn(Error), top: *mut c_void, socket: &OwnedFd, page: Page) -> ! {
    /// Calls the function of which the argument is the address of a reference.
    extern "C" fn call(run: *mut c_void) -> i32 {
        // SAFETY: a reference of the process whose memory this one shares, which never returns. It uses the rest of the stack
        // below, and no variable that this one changes, not even `errno`: none of its calls fails until a program is executed.
        unsafe { (*run.cast::<&dyn Fn()>())() };
        125
    }
    let mut run = run;
    let flags = libc::CLONE_VM | libc::CLONE_PARENT | libc::SIGCHLD;
    // SAFETY: plain calls; the new process has a stack of its own.
    unsafe {
        if libc::clone(call, top, flags, (&raw mut run).cast()) < 0 {
            refused(Error::last_os_error());
            libc::_exit(0)
        }
        close_all_but(socket.as_raw_fd());
        libc::setsid();
        // A file system that the recorder was in may be unmounted.
        libc::chdir(c"/".as_ptr());
        libc::prctl(libc::PR_SET_NAME, c"record-guardian".as_ptr());
        let Ok(([0], Some(listener))) = system::receive(socket) else { libc::_exit(0) };
        let mut byte = 0_u8;
        while libc::read(socket.as_raw_fd(), (&raw mut byte).cast(), 1) < 0
            && Error::last_os_error().raw_os_error() == Some(libc::EINTR)
        {}
        listener::let_all_continue(listener.as_raw_fd(), page);
        libc::_exit(0)
    }
}

/// Closes all files but one.
fn close_all_but(one: i32) {
    for (first, last) in [(0, one - 1), (one + 1, i32::MAX)] {
        if first <= last {
            // SAFETY: the files are not used again.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}
