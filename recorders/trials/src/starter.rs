//! The process that starts programs.
//!
//! The system counts the memory of the process that executes a program as the program's own (`ru_maxrss` of wait4(2)
//! begins with it), and copying a process for each run takes longer the larger it is. So barrow copies itself once, while
//! it is small:
//!
//! ```text
//!   barrow ──order──▶ starter ── borrows its memory to ──▶ child ── execve ──▶ program
//!     ▲                  │  ▲                                                     │
//!     └──── it ended ────┘  └──────────────────── its end ────────────────────────┘
//! ```
//!
//! The starter stands still until the child has executed its program, as with `posix_spawn`: nothing is copied. Then it waits
//! for its end. So barrow wakes up once in each run, when the program has ended; with its large memory and cold caches, each
//! time costs more than the starter's. Only a child that waits tells barrow its number before. Orders, and how programs ended,
//! are written to memory that both processes share, at one address.
//!
//! The starter stays on one processor, so each program begins there, with the caches that the run before has left; it may run
//! on all that barrow may run on. Otherwise the system moves processes almost twice in each run, because two of barrow were
//! awake just before it: a `sort` of 5.9 ms took 5 % longer than below hyperfine, which is one process.

use std::fs::File;
use std::io::{self, Error, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering};

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
/// What the starter tells when a child has ended. Other numbers are those of children that wait, and negative errors.
const ENDED: Pid = 0;

/// The beginning of the shared memory; zeros are a value of it.
#[repr(C)]
struct Board {
    /// The number of the child; 0 until it has begun.
    child: AtomicI32,
    /// Whether it has ended: its number may soon be another process's.
    has_ended: AtomicBool,
    /// The time at which the program was executed, in nanoseconds of [`now_ns`].
    began: AtomicI64,
    /// Why it could not be executed; 0 if it was.
    failure: AtomicI64,
    /// The most memory that the starter had, in bytes.
    starter_peak: AtomicI64,
    /// Read by the starter and its child alone, after a byte that follows its writing.
    order: MaybeUninit<Order>,
    /// Read by barrow alone, after a number that follows its writing.
    end: MaybeUninit<End>,
}

/// The end of a child.
#[derive(Clone, Copy)]
pub(crate) struct End {
    /// In nanoseconds of [`now_ns`].
    pub(crate) at_ns: i64,
    /// As wait4(2) tells it.
    pub(crate) status: libc::c_int,
    pub(crate) used: libc::rusage,
    /// The system randomised its addresses although that was switched off: it became a program with other rights.
    pub(crate) has_own_addresses: bool,
}

/// Starts programs.
pub(crate) struct Starter {
    pid: Pid,
    board: *mut Board,
    orders: File,
    /// Numbers of four bytes, as [`ENDED`].
    told: File,
    uses_huge_pages: Option<bool>,
}

impl Starter {
    /// Copies this process. Descriptors that programs are to have are open by now.
    pub(crate) fn new() -> io::Result<Self> {
        let ([orders, send], [receive, told]) = (pipe()?, pipe()?);
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
                let (orders, told) = (orders.as_raw_fd(), told.as_raw_fd());
                serve(&Served { board, orders, told, blocked: before, processors: stay() }, top);
            }
            let error = Error::last_os_error();
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
            let starter = Starter { pid, board, orders: send, told: receive, uses_huge_pages: uses_huge_pages() };
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

    /// The number of the last program; `None` if it has not begun, or has ended.
    pub(crate) fn running(&self) -> Option<Pid> {
        let child = self.board().child.load(Ordering::SeqCst);
        (child > 0 && !self.board().has_ended.load(Ordering::SeqCst)).then_some(child)
    }

    /// Becomes readable when the program has ended.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.told.as_raw_fd()
    }

    /// Starts a program. `before` is called with its number while the child waits, if there is anything to call. Each start is
    /// followed by [`Starter::wait`] before the next.
    ///
    /// # Errors
    /// Those of the system; that the program could not be executed is [`Starter::failure`] when it has ended.
    pub(crate) fn start(&mut self, start: &Start<'_>, before: Option<&mut dyn FnMut(Pid)>) -> io::Result<()> {
        let mut room = Room::new(self.board.cast(), BOARD_BYTES);
        room.take(size_of::<Board>())?;
        let mut order = Order::write(start, &mut room)?;
        // The starter has what the child before asked for.
        order.thp = order.thp.or(self.uses_huge_pages);
        order.waits = before.is_some();
        // SAFETY: the starter waits for an order, so that this process alone uses the memory.
        unsafe { (*self.board).order = MaybeUninit::new(order) };
        self.board().child.store(0, Ordering::SeqCst);
        self.board().has_ended.store(false, Ordering::SeqCst);
        self.board().began.store(0, Ordering::Relaxed);
        self.board().failure.store(0, Ordering::Relaxed);
        self.orders.write_all(&[ORDER])?;
        if let Some(before) = before {
            before(self.hear()?);
            self.orders.write_all(&[GO])?;
        }
        Ok(())
    }

    /// Waits for the end of the program, and returns its number with it.
    ///
    /// # Errors
    /// No process could be made for it; those of the system.
    pub(crate) fn wait(&mut self) -> io::Result<(Pid, End)> {
        self.hear()?;
        // SAFETY: it was written before the number that has been heard; the starter waits for an order.
        Ok((self.board().child.load(Ordering::SeqCst), unsafe { (*self.board).end.assume_init() }))
    }

    /// The next number.
    fn hear(&mut self) -> io::Result<Pid> {
        let mut number = [0; 4];
        self.told.read_exact(&mut number).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::other("the process of barrow that starts programs was killed"),
            _ => error,
        })?;
        let number = Pid::from_ne_bytes(number);
        if number < 0 { Err(Error::from_raw_os_error(-number)) } else { Ok(number) }
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
    told: RawFd,
    /// The signals that are blocked in the process that was copied, and so in programs.
    blocked: libc::sigset_t,
    /// The processors that programs may run on, if the starter has fewer.
    processors: Option<libc::cpu_set_t>,
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
        unsafe { libc::write(self.told, bytes.as_ptr().cast(), bytes.len()) };
    }
}

/// Keeps this process on the processor that it is on. Returns those that it could run on before; `None` if it still can.
///
/// # Safety
/// It may be called after a fork.
unsafe fn stay() -> Option<libc::cpu_set_t> {
    // SAFETY: the sets are as large as said, and zeros are an empty one.
    unsafe {
        let (mut before, mut one) = (zeroed::<libc::cpu_set_t>(), zeroed::<libc::cpu_set_t>());
        let processor =
            usize::try_from(libc::sched_getcpu()).ok().filter(|&processor| processor < libc::CPU_SETSIZE as usize)?;
        libc::CPU_SET(processor, &mut one);
        let bytes = size_of::<libc::cpu_set_t>();
        let is_known = libc::sched_getaffinity(0, bytes, &raw mut before) == 0;
        (is_known && libc::sched_setaffinity(0, bytes, &raw const one) == 0).then_some(before)
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
            let how = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
            let pid = libc::clone(run, stack, how, ptr::from_ref(served).cast_mut().cast());
            let failure = *libc::__errno_location();
            let mut used: libc::rusage = zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut used);
            (*served.board).starter_peak.fetch_max(used.ru_maxrss * 1024, Ordering::Relaxed);
            if pid < 0 {
                served.tell(-failure);
                continue;
            }
            // The number stays the child's until it is reaped by `wait4`. Barrow sends no signal once `has_ended` is set.
            let mut ended = MaybeUninit::<libc::siginfo_t>::zeroed();
            libc::waitid(libc::P_PID, pid as libc::id_t, ended.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT);
            let at_ns = now_ns();
            (*served.board).has_ended.store(true, Ordering::SeqCst);
            let has_own_addresses = (*served.board).order.assume_init().aslr == Some(false) && has_own_addresses(pid);
            let mut status = 0;
            let is_known = libc::wait4(pid, &raw mut status, 0, &raw mut used) == pid;
            let failure = *libc::__errno_location();
            (*served.board).end = MaybeUninit::new(End { at_ns, status, used, has_own_addresses });
            served.tell(if is_known { ENDED } else { -failure });
        }
        libc::_exit(0)
    }
}

/// Whether a process that has ended and was not reaped had lost what switches randomised addresses off, as the system takes it
/// from programs that gain rights. Of one that has other rights than this process, it may not be read.
///
/// # Safety
/// It may be called after a fork.
unsafe fn has_own_addresses(pid: Pid) -> bool {
    let mut path = [0; 32];
    // The last byte stays the zero that ends it.
    let Ok(()) = write!(&mut path[..31], "/proc/{pid}/personality") else { return false };
    let is_forbidden = |failure| failure == libc::EACCES || failure == libc::EPERM;
    let mut text = [0_u8; 8];
    // SAFETY: the path ends with a zero, and there is room for so many bytes.
    let (read, failure) = unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return is_forbidden(*libc::__errno_location());
        }
        let read = libc::read(file, text.as_mut_ptr().cast(), text.len());
        let failure = *libc::__errno_location();
        libc::close(file);
        (read, failure)
    };
    if read < 0 {
        return is_forbidden(failure);
    }
    let number = std::str::from_utf8(&text).ok().and_then(|text| libc::c_int::from_str_radix(text, 16).ok());
    number.is_some_and(|number| number & libc::ADDR_NO_RANDOMIZE == 0)
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
        (*board).child.store(libc::getpid(), Ordering::SeqCst);
        if order.waits {
            served.tell(libc::getpid());
        }
        if order.has_group {
            libc::setpgid(0, 0);
        }
        // Actions of signals are the child's own, unlike memory.
        signals::restore_ignored();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const served.blocked, ptr::null_mut());
        if let Some(processors) = &served.processors {
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), ptr::from_ref(processors));
        }
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
