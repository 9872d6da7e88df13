//! The command before it starts: a process that waits.
//!
//! ```text
//!   recorder ── fork ──▶ guardian ── clone ──▶ command: installs the filter, waits, executes
//!       ╰───────── (without a filter: fork) ─────▶
//! ```
//!
//! A fork copies the tables of all pages, and each page once one side writes to it. The command shares the pages of the guardian
//! instead, until it is executed, so that there is one fork for both.

use std::ffi::{CString, OsString};
use std::io::{self, Error};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::{mem, ptr};

use crate::notify::filter::Filter;
use crate::notify::guardian::Guardian;
use crate::signals::{self, Inherited};
use crate::standard_files;
use crate::system::{Pid, checked, pair, pipe, receive, send};

/// A process that waits for [`Forked::go`] before it executes the command.
pub(crate) struct Forked {
    pub(crate) pid: Pid,
    go: OwnedFd,
    failure: OwnedFd,
}

/// The result of installing a filter.
pub(crate) struct Filtered {
    /// Receives the reported calls.
    pub(crate) listener: OwnedFd,
    pub(crate) guardian: Guardian,
    /// Setuid and setgid programs run without the rights of their owners.
    pub(crate) is_without_new_rights: bool,
}

/// The message of the process after it tried to install a filter: the error code or 0, whether `no_new_privs` is set, and its
/// number. Without a process, the number is 0.
type Said = [i32; 3];

/// What the new process needs: prepared before, since it may not allocate.
struct Start<'a> {
    arguments: Vec<*const libc::c_char>,
    inherited: &'a Inherited,
    filter: Option<&'a Filter>,
    await_go: OwnedFd,
    fail: OwnedFd,
    say: OwnedFd,
    /// The recorder's ends. While one is open here, the end of the recorder goes unnoticed.
    of_recorder: [i32; 3],
}

impl Start<'_> {
    /// Executes the command in a new process, once it may.
    ///
    /// # Safety
    /// This process is a fork, or shares the memory of one that waits.
    unsafe fn run(&self) -> ! {
        // SAFETY: only functions that are safe after a fork of a program with threads, with memory that was prepared before.
        unsafe {
            for end in self.of_recorder {
                libc::close(end);
            }
            if let Some(filter) = self.filter {
                let (installed, is_without_new_rights) = filter.install_anyway();
                let code = installed.as_ref().err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EINVAL));
                let said: Said = [code, is_without_new_rights.into(), libc::getpid()];
                let listener = installed.ok();
                let _ = send(self.say.as_raw_fd(), said, listener);
                if let Some(listener) = listener {
                    libc::close(listener);
                }
            }
            wait_for_go(&self.await_go);
            signals::restore_ignored();
            standard_files::close_again();
            self.inherited.restore();
            libc::execvp(self.arguments[0], self.arguments.as_ptr());
            let code = *libc::__errno_location();
            libc::write(self.fail.as_raw_fd(), (&raw const code).cast(), mem::size_of::<i32>());
            libc::_exit(if code == libc::ENOENT { 127 } else { 126 });
        }
    }

    /// Says that there is no process.
    fn give_up(&self, error: &Error) {
        let said: Said = [error.raw_os_error().unwrap_or(libc::EINVAL), 0, 0];
        let _ = send(self.say.as_raw_fd(), said, None);
    }
}

impl Forked {
    /// Starts a process that waits. `words` are the command, which starts with what is `inherited`. With a filter, it has tried
    /// to install that: the system refuses it with EBUSY if the process already has one with a listener.
    pub(crate) fn new(
        words: &[OsString],
        inherited: &Inherited,
        filter: Option<&Filter>,
    ) -> io::Result<(Self, Option<io::Result<Filtered>>)> {
        let words: Vec<CString> = words
            .iter()
            .map(|word| CString::new(word.clone().into_vec()).map_err(Error::from))
            .collect::<io::Result<_>>()?;
        let mut arguments: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
        arguments.push(ptr::null());
        let ((await_go, go), (failure, fail)) = (pipe()?, pipe()?);
        let (said, say) = pair()?;
        let of_recorder = [&go, &failure, &said].map(AsRawFd::as_raw_fd);
        let start = Start { arguments, inherited, filter, await_go, fail, say, of_recorder };
        if filter.is_none() {
            // SAFETY: the child only does what is safe in a fork, and never returns.
            return match unsafe { libc::fork() } {
                // SAFETY: this is the fork.
                0 => unsafe { start.run() },
                -1 => Err(Error::last_os_error()),
                pid => Ok((Forked { pid, go, failure }, None)),
            };
        }
        // SAFETY: the guardian waits.
        let run = || unsafe { start.run() };
        let guardian = Guardian::fork(start.arguments.len(), &run, &|error| start.give_up(&error))?;
        drop(start);
        let heard: io::Result<(Said, Option<OwnedFd>)> = receive(&said);
        let ([code, is_without_new_rights, pid], listener) = match heard {
            Ok(heard) if heard.0[2] != 0 => heard,
            other => {
                guardian.withdraw();
                let error = |([code, ..], _): (Said, _)| Error::from_raw_os_error(code);
                return Err(other.map_or_else(|failure| failure, error));
            }
        };
        let filtered = match listener.filter(|_| code == 0) {
            Some(listener) => Ok(Filtered { listener, guardian, is_without_new_rights: is_without_new_rights != 0 }),
            None => {
                guardian.withdraw();
                Err(Error::from_raw_os_error(code))
            }
        };
        Ok((Forked { pid, go, failure }, Some(filtered)))
    }

    /// Lets the process continue.
    pub(crate) fn go(&self) -> io::Result<()> {
        // SAFETY: one byte is there.
        checked(unsafe { libc::write(self.go.as_raw_fd(), [1_u8].as_ptr().cast(), 1) } as libc::c_long).map(drop)
    }

    /// Waits until the process has executed the command or ended. Returns why the command could not be executed.
    pub(crate) fn failure(&self) -> Option<Error> {
        let mut code = 0_i32;
        let size = mem::size_of::<i32>();
        // SAFETY: there is room for four bytes.
        let read = unsafe { libc::read(self.failure.as_raw_fd(), (&raw mut code).cast(), size) };
        (read == size as isize).then(|| Error::from_raw_os_error(code))
    }
}

/// Waits for a byte in the forked process, and ends it if the recorder is gone.
fn wait_for_go(await_go: &OwnedFd) {
    let mut byte = 0_u8;
    // SAFETY: there is room for one byte; no filter reports the call `exit`.
    unsafe {
        if libc::read(await_go.as_raw_fd(), (&raw mut byte).cast(), 1) != 1 {
            libc::syscall(libc::SYS_exit, 125);
        }
    }
}
