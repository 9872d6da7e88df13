//! The seccomp filter that a process installs for itself: its calls to execute a program or to end wait until the recorder has
//! seen them. Its children inherit the filter.
//!
//! ```text
//!   known architecture? ──▶ execve, execveat, exit_group? ──▶ report, and wait
//!                       ──▶ seccomp with a listener?      ──▶ report, and wait
//!                       ──▶ any other                     ──▶ continue
//! ```

use std::io::Error;

/// The numbers of the reported calls on one architecture.
pub(crate) struct Calls {
    /// `AUDIT_ARCH_…`.
    pub(crate) architecture: u32,
    pub(crate) execve: u32,
    pub(crate) execveat: u32,
    pub(crate) exit_group: u32,
    seccomp: u32,
    /// Bytes of an address.
    pub(crate) word: usize,
}

/// The 64-bit architecture and its 32-bit companion.
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
/// Other processors are untested.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) const CALLS: [Calls; 0] = [];

impl Calls {
    /// The calls of an architecture.
    pub(crate) fn of(architecture: u32) -> Option<&'static Calls> {
        CALLS.iter().find(|calls| calls.architecture == architecture)
    }
}

/// Offsets in `struct seccomp_data`: number of the call, architecture, lower half of the second argument.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const SECOND_ARGUMENT: u32 = 24;

/// Flags of `seccomp`: the filter has a listener; a received call is interrupted by fatal signals only (since Linux 5.19); the
/// filter is not a protection, so that speculative execution stays enabled.
const NEW_LISTENER: u32 = 1 << 3;
const WAIT_KILLABLE: u32 = 1 << 5;
const GUESS_AHEAD: u32 = 1 << 2;

/// A filter.
pub(crate) struct Filter {
    program: Vec<libc::sock_filter>,
}

impl Filter {
    /// The filter for this processor, if it is supported.
    pub(crate) fn new() -> Option<Self> {
        (!CALLS.is_empty()).then(|| Filter { program: program() })
    }

    /// Installs the filter for this process, which must be a fork; sets `no_new_privs` if the system demands it. Returns the
    /// listener, and whether `no_new_privs` was set.
    pub(crate) fn install_anyway(&self) -> (Result<i32, Error>, bool) {
        match self.install() {
            // Only privileged processes and those with `no_new_privs` may install a filter.
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

/// The instructions: one block per architecture, each of which ends with a verdict.
fn program() -> Vec<libc::sock_filter> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const IF_BITS: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
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

const fn jump(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

const fn plain(code: u16, k: u32) -> libc::sock_filter {
    jump(code, k, 0, 0)
}
