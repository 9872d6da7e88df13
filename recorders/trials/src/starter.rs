//! The process that starts programs.
//!
//! The system counts the memory of the process that executes a program as the program's own (`ru_maxrss` of wait4(2)
//! begins with it), and copying a process for each run takes longer the larger it is. So barrow copies itself once, while
//! it is small:
//!
//! ```text
//!   barrow ──order──▶ starter ── borrows its memory to ──▶ child ── execve ──▶ program
//!     ▲                                                      │
//!     └────────────── its number, and its parent ────────────┘
//! ```
//!
//! The child is one of barrow, not of the starter. The starter stands still until the child has executed its program, as
//! with `posix_spawn`: nothing is copied. Then it tells the number, so that barrow does not wake up, which takes time, while
//! the program is being executed; only a child that waits tells it itself. Orders are written to memory that both processes
//! share, at one address.

use std::fs::File;
use std::io::{self, Error, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::order::{Order, Room, Start};
use crate::signals;
use crate::system::{Pid, now_ns, pipe, uses_huge_pages, zeroed};

/// Room for an order: more than the system accepts as arguments and environment.
const BOARD_BYTES: usize = 8 << 20;
/// The system counts memory in steps of about so many bytes on each processor.
pub(crate) const PEAK_STEP: i64 = 128 << 10;
/// The stack of a child until it executes its program.
const STACK_BYTES: usize = 64 << 10;

/// Bytes that the starter and its child read from one pipe: an order is there; the child may execute its program. What is
/// not expected is left over from a child that ended early.
const ORDER: u8 = 1;
const GO: u8 = 2;

/// The beginning of the shared memory; zeros are a value of it.
#[repr(C)]
struct Board {
    /// The time at which the program was executed, in nanoseconds of [`now_ns`].
    began: AtomicI64,
    /// Why it could not be executed; 0 if it was.
    failure: AtomicI64,
    /// The most memory that the starter had, in bytes.
    starter_peak: AtomicI64,
    /// Read by the starter and its child alone, after a byte that follows its writing.
    order: MaybeUninit<Order>,
}

/// Starts programs as children of this process.
pub(crate) struct Starter {
    pid: Pid,
    board: *mut Board,
    orders: File,
    /// Four bytes: the number of a child, or a negative error.
    children: File,
    uses_huge_pages: Option<bool>,
}

impl Starter {
    /// Copies this process. Descriptors that programs are to have are open by now.
    pub(crate) fn new() -> io::Result<Self> {
        let ([orders, send], [receive, children]) = (pipe()?, pipe()?);
        signals::keep_children();
        let mut stack = vec![0_u128; STACK_BYTES / 16];
        let top = stack.as_mut_ptr_range().end.cast();
        let (access, how) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, which nothing else uses. After the fork the child calls only functions that may be called
        // there, and never returns. No signal may run a handler of this process in it, or stop it before this process ends.
        unsafe {
            let board = libc::mmap(ptr::null_mut(), BOARD_BYTES, access, how | libc::MAP_NORESERVE, -1, 0);
            if board == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
            let board = board.cast::<Board>();
            let (mut all, mut before) = (zeroed::<libc::sigset_t>(), zeroed::<libc::sigset_t>());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
            let pid = libc::fork();
            if pid == 0 {
                libc::close(send.as_raw_fd());
                libc::close(receive.as_raw_fd());
                let (orders, children) = (orders.as_raw_fd(), children.as_raw_fd());
                serve(&Served { board, orders, children, blocked: before }, top);
            }
            let error = Error::last_os_error();
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
            let starter = Starter { pid, board, orders: send, children: receive, uses_huge_pages: uses_huge_pages() };
            if pid < 0 { Err(error) } else { Ok(starter) }
        }
    }

    fn board(&self) -> &Board {
        // SAFETY: the memory is mapped as long as this lives, and zeros are a board; both sides change only its atomics
        // while it can be seen.
        unsafe { &*self.board }
    }

    /// The time at which the last program was executed.
    pub(crate) fn began(&self) -> i64 {
        self.board().began.load(Ordering::Relaxed)
    }

    /// Why the last program could not be executed.
    pub(crate) fn failure(&self) -> Option<Error> {
        let failure = self.board().failure.load(Ordering::Relaxed);
        (failure != 0).then(|| Error::from_raw_os_error(failure as i32))
    }

    /// The most memory that the starter had, in bytes: no program seems to have had less.
    pub(crate) fn peak_bytes(&self) -> i64 {
        self.board().starter_peak.load(Ordering::Relaxed)
    }

    /// Starts a program and returns its number. `before` is called with this number while the child waits, if there is
    /// anything to call.
    ///
    /// # Errors
    /// Those of the system; that the program could not be executed is [`Starter::failure`] when it has ended.
    pub(crate) fn start(&mut self, start: &Start<'_>, before: Option<&mut dyn FnMut(Pid)>) -> io::Result<Pid> {
        let mut room = Room::new(self.board.cast(), BOARD_BYTES);
        room.take(size_of::<Board>())?;
        let mut order = Order::write(start, &mut room)?;
        // The starter has what the child before asked for.
        order.thp = order.thp.or(self.uses_huge_pages);
        order.waits = before.is_some();
        // SAFETY: the starter waits for an order, so that this process alone uses the memory.
        unsafe { (*self.board).order = MaybeUninit::new(order) };
        self.board().began.store(0, Ordering::Relaxed);
        self.board().failure.store(0, Ordering::Relaxed);
        self.orders.write_all(&[ORDER])?;
        let mut number = [0; 4];
        self.children.read_exact(&mut number)?;
        let pid = Pid::from_ne_bytes(number);
        if pid < 0 {
            return Err(Error::from_raw_os_error(-pid));
        }
        if let Some(before) = before {
            before(pid);
            self.orders.write_all(&[GO])?;
        }
        Ok(pid)
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        // It ends by itself when no order can come any more; but other copies of this process may have the pipe as well.
        // SAFETY: it is a child that was not waited for; nothing refers to the memory any more.
        unsafe {
            if self.pid > 0 {
                libc::kill(self.pid, libc::SIGKILL);
                libc::waitpid(self.pid, ptr::null_mut(), 0);
            }
            libc::munmap(self.board.cast(), BOARD_BYTES);
        }
    }
}

/// The memory and the descriptors of the starter, and the signals of programs.
struct Served {
    board: *mut Board,
    orders: RawFd,
    children: RawFd,
    /// The signals that are blocked in the process that was copied, and so in programs.
    blocked: libc::sigset_t,
}

impl Served {
    /// Waits for a byte. Returns whether it came, or nothing can come any more.
    ///
    /// # Safety
    /// The descriptor is open.
    unsafe fn hears(&self, expected: u8) -> bool {
        let mut byte = 0_u8;
        loop {
            // SAFETY: there is room for a byte.
            match unsafe { libc::read(self.orders, (&raw mut byte).cast(), 1) } {
                1 if byte != expected => {}
                read => return read == 1,
            }
        }
    }

    /// # Safety
    /// The descriptor is open.
    unsafe fn tell(&self, number: Pid) {
        let bytes = number.to_ne_bytes();
        // SAFETY: four bytes are there.
        unsafe { libc::write(self.children, bytes.as_ptr().cast(), bytes.len()) };
    }
}

/// Runs the starter until the process that it was copied from ends.
///
/// # Safety
/// Only after a fork, with all signals blocked, and with the end of a stack that nothing else uses.
unsafe fn serve(served: &Served, stack: *mut libc::c_void) -> ! {
    extern "C" fn run(served: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the pointer is that of `serve`, which stands still.
        unsafe { execute(&*served.cast::<Served>()) }
    }
    // SAFETY: the caller's promise. The stack is the child's alone until it has executed a program or ended, because this
    // process goes on only then.
    unsafe {
        // Children take over what signals do here: handlers must not run in borrowed memory.
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGWINCH, libc::SIGCHLD] {
            let mut action: libc::sigaction = zeroed();
            libc::sigaction(signal, ptr::null(), &raw mut action);
            if ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        while served.hears(ORDER) {
            let how = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PARENT | libc::SIGCHLD;
            // Not after the call: when a child has told its number, the next order may be written.
            let child_tells = (*served.board).order.assume_init_ref().waits;
            let pid = libc::clone(run, stack, how, ptr::from_ref(served).cast_mut().cast());
            let failure = *libc::__errno_location();
            let mut used: libc::rusage = zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut used);
            (*served.board).starter_peak.fetch_max(used.ru_maxrss * 1024, Ordering::Relaxed);
            if pid < 0 {
                served.tell(-failure);
            } else if !child_tells {
                served.tell(pid);
            }
        }
        libc::_exit(0)
    }
}

/// Runs in a child: executes its program.
///
/// # Safety
/// Only in a child that borrows the memory of the starter, which waits, when an order was written.
unsafe fn execute(served: &Served) -> ! {
    // SAFETY: the caller's promise; all of these may be called after a fork.
    unsafe {
        let board = served.board;
        let order = (*board).order.assume_init();
        if order.waits {
            served.tell(libc::getpid());
        }
        if order.has_group {
            libc::setpgid(0, 0);
        }
        // Actions of signals are the child's own, unlike memory.
        signals::restore_ignored();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const served.blocked, ptr::null_mut());
        libc::dup2(order.input, 0);
        if let Some(output) = order.output {
            libc::dup2(output, 1);
        }
        if let Some(errors) = order.errors {
            libc::dup2(errors, 2);
        }
        if let Some(on) = order.aslr {
            let now = libc::personality(0xffff_ffff) as libc::c_ulong;
            let fixed = libc::ADDR_NO_RANDOMIZE as libc::c_ulong;
            libc::personality(if on { now & !fixed } else { now | fixed });
        }
        if let Some(on) = order.thp {
            libc::prctl(libc::PR_SET_THP_DISABLE, libc::c_ulong::from(!on), 0, 0, 0);
        }
        if order.waits && !served.hears(GO) {
            libc::_exit(125);
        }
        (*board).began.store(now_ns(), Ordering::Relaxed);
        libc::execve(order.path, order.words, order.environment);
        let failure = *libc::__errno_location();
        (*board).failure.store(failure.into(), Ordering::Relaxed);
        libc::_exit(127)
    }
}
