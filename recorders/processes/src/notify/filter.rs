//! The filter that a process gives itself: its calls to execute a program or to end wait until the recorder has seen them. What
//! it starts inherits it.
//!
//! ```text
//!   is it a call of this processor? ──▶ execve, execveat, exit_group? ──▶ report, and wait
//!                                   ──▶ seccomp with a listener?      ──▶ report, and wait
//!                                   ──▶ any other                     ──▶ go on
//! ```

use std::io::Error;

/// The calls of one kind of programs, as the system numbers them.
pub(crate) struct Calls {
    /// The kind: `AUDIT_ARCH_…`.
    pub(crate) architecture: u32,
    pub(crate) execve: u32,
    pub(crate) execveat: u32,
    pub(crate) exit_group: u32,
    seccomp: u32,
    /// Bytes of an address.
    pub(crate) word: usize,
}

/// Programs for 64 bits, and for the 32 bits of the same processor.
#[cfg(target_arch = "x86_64")]
pub(crate) const CALLS: [Calls; 2] = [
    Calls { architecture: 0xc000_003e, execve: 59, execveat: 322, exit_group: 231, seccomp: 317, word: 8 },
    Calls { architecture: 0x4000_0003, execve: 11, execveat: 358, exit_group: 252, seccomp: 354, word: 4 },
];
#[cfg(target_arch = "aarch64")]
pub(crate) const CALLS: [Calls; 2] = [
    Calls { architecture: 0xc000_00b7, execve: 221, execveat: 281, exit_group: 94, seccomp: 277, word: 8 },
    Calls { architecture: 0x4000_0028, execve: 11, execveat: 387, exit_group: 248, seccomp: 383, word: 4 },
];
/// Of other processors nothing was tried.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) const CALLS: [Calls; 0] = [];

impl Calls {
    /// The calls of a kind of programs.
    pub(crate) fn of(architecture: u32) -> Option<&'static Calls> {
        CALLS.iter().find(|calls| calls.architecture == architecture)
    }
}

/// Where a filter finds the number of a call, its kind, and the lower half of its second argument: `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const SECOND_ARGUMENT: u32 = 24;

/// Flags of `seccomp`: a filter with a listener; one that, once the listener has seen a call, lets only signals that end the
/// process disturb it (since Linux 5.19); and one that is no protection, so that the processor may guess ahead.
const NEW_LISTENER: u32 = 1 << 3;
const WAIT_KILLABLE: u32 = 1 << 5;
const GUESS_AHEAD: u32 = 1 << 2;

/// A filter.
pub(crate) struct Filter {
    program: Vec<libc::sock_filter>,
}

impl Filter {
    /// The filter for this processor, if there is one.
    pub(crate) fn new() -> Option<Self> {
        (!CALLS.is_empty()).then(|| Filter { program: program() })
    }

    /// Gives it to this process, which renounces new rights if it has to. Returns the listener, and whether it did. For a process
    /// that was forked.
    pub(crate) fn install_anyway(&self) -> (Result<i32, Error>, bool) {
        match self.install() {
            // The system gives it only to those that have all rights or renounce new ones.
            Err(error) if error.raw_os_error() == Some(libc::EACCES) => {
                // SAFETY: the call reads no memory.
                unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
                (self.install(), true)
            }
            other => (other, false),
        }
    }

    fn install(&self) -> Result<i32, Error> {
        match self.install_with(NEW_LISTENER | GUESS_AHEAD | WAIT_KILLABLE) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => self.install_with(NEW_LISTENER | GUESS_AHEAD),
            other => other,
        }
    }

    fn install_with(&self, flags: u32) -> Result<i32, Error> {
        const SET_MODE_FILTER: u32 = 1;
        let length = self.program.len() as u16;
        let program = libc::sock_fprog { len: length, filter: self.program.as_ptr().cast_mut() };
        // SAFETY: the program and its length are those of a vector; the system only reads them.
        let listener = unsafe { libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, flags, &raw const program) };
        if listener < 0 { Err(Error::last_os_error()) } else { Ok(listener as i32) }
    }
}

/// The instructions: for each kind of programs a block that nothing goes past.
fn program() -> Vec<libc::sock_filter> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const IF_BITS: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let jump = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let plain = |code, k| jump(code, k, 0, 0);
    let (allow, notify) = (plain(RETURN, libc::SECCOMP_RET_ALLOW), plain(RETURN, libc::SECCOMP_RET_USER_NOTIF));
    let mut program = vec![plain(LOAD, ARCHITECTURE)];
    for calls in &CALLS {
        let block = [
            plain(LOAD, NUMBER),
            jump(IF_EQUAL, calls.execve, 6, 0),
            jump(IF_EQUAL, calls.execveat, 5, 0),
            jump(IF_EQUAL, calls.exit_group, 4, 0),
            jump(IF_EQUAL, calls.seccomp, 0, 2),
            plain(LOAD, SECOND_ARGUMENT),
            jump(IF_BITS, NEW_LISTENER, 1, 0),
            allow,
            notify,
        ];
        program.push(jump(IF_EQUAL, calls.architecture, 0, block.len() as u8));
        program.extend(block);
    }
    program.push(allow);
    program
}
