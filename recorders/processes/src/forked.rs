//! The command before it starts: a forked process that waits.

use std::ffi::{CString, OsString};
use std::io::{self, Error};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::{mem, ptr};

use crate::notify::filter::Filter;
use crate::signals::{self, Inherited};
use crate::standard_files;
use crate::system::{Pid, checked, pipe};

/// A forked process that waits for [`Forked::go`] before it executes the command.
pub(crate) struct Forked {
    pub(crate) pid: Pid,
    go: OwnedFd,
    failure: OwnedFd,
    said: OwnedFd,
}

/// The result of installing a filter.
pub(crate) struct Filtered {
    /// Receives the reported calls.
    pub(crate) listener: OwnedFd,
    /// Setuid and setgid programs run without the rights of their owners.
    pub(crate) is_without_new_rights: bool,
}

/// The message of the process after it tried to install a filter: the error code or 0, and whether `no_new_privs` is set.
type Said = [i32; 2];

impl Forked {
    /// Forks this process. `words` are the command, which starts with what is `inherited`. With a filter, the process
    /// installs it after the first [`Forked::go`] and waits for a second one.
    pub(crate) fn new(words: &[OsString], inherited: &Inherited, filter: Option<&Filter>) -> io::Result<Self> {
        let words: Vec<CString> = words
            .iter()
            .map(|word| CString::new(word.clone().into_vec()).map_err(Error::from))
            .collect::<io::Result<_>>()?;
        let mut arguments: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
        arguments.push(ptr::null());
        let ((await_go, go), (failure, fail)) = (pipe()?, pipe()?);
        let (said, say) = pair()?;
        // SAFETY: the child only calls functions that are safe after a fork of a program with threads, with memory that
        // was prepared before.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: as above. The child never returns.
            unsafe {
                // Close the recorder's ends: while one is open here, the end of the recorder goes unnoticed.
                for end in [&go, &failure, &said] {
                    libc::close(end.as_raw_fd());
                }
                wait_for_go(&await_go);
                if let Some(filter) = filter {
                    let (installed, is_without_new_rights) = filter.install_anyway();
                    let code = installed.as_ref().err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EINVAL));
                    send_filtered(say.as_raw_fd(), [code, is_without_new_rights.into()], installed.ok());
                    wait_for_go(&await_go);
                }
                signals::restore_ignored();
                standard_files::close_again();
                inherited.restore();
                libc::execvp(arguments[0], arguments.as_ptr());
                let code = *libc::__errno_location();
                libc::write(fail.as_raw_fd(), (&raw const code).cast(), mem::size_of::<i32>());
                libc::_exit(if code == libc::ENOENT { 127 } else { 126 });
            }
        }
        if pid < 0 { Err(Error::last_os_error()) } else { Ok(Forked { pid, go, failure, said }) }
    }

    /// Lets the process continue.
    pub(crate) fn go(&self) -> io::Result<()> {
        // SAFETY: one byte is there.
        checked(unsafe { libc::write(self.go.as_raw_fd(), [1_u8].as_ptr().cast(), 1) } as libc::c_long).map(drop)
    }

    /// Waits until the process has installed its filter.
    ///
    /// # Errors
    /// The system refused the filter: with EBUSY if the process already has one with a listener.
    pub(crate) fn filtered(&self) -> io::Result<Filtered> {
        let mut said: Said = [0; 2];
        let mut room = libc::iovec { iov_base: said.as_mut_ptr().cast(), iov_len: size_of::<Said>() };
        // Aligned for the header of a control message, with room for one descriptor.
        let mut control = [0_u64; 4];
        // SAFETY: the message is filled in with places that live as long as the call, and the system writes no more than
        // they hold; a descriptor that comes with it is this process's own.
        unsafe {
            let mut message: libc::msghdr = mem::zeroed();
            message.msg_iov = &raw mut room;
            message.msg_iovlen = 1;
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = size_of_val(&control) as _;
            let flags = libc::MSG_CMSG_CLOEXEC;
            let read = libc::recvmsg(self.said.as_raw_fd(), &raw mut message, flags);
            if checked(read as libc::c_long)? != size_of::<Said>() as libc::c_long {
                return Err(Error::other("it ended before it had a filter"));
            }
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            if said[0] != 0 || header.is_null() {
                return Err(Error::from_raw_os_error(said[0]));
            }
            let descriptor = ptr::read_unaligned(libc::CMSG_DATA(header).cast::<i32>());
            Ok(Filtered { listener: OwnedFd::from_raw_fd(descriptor), is_without_new_rights: said[1] != 0 })
        }
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

/// Sends the result of installing the filter from the forked process, with the descriptor of the listener if there is one.
fn send_filtered(to: i32, said: Said, listener: Option<i32>) {
    let mut said = said;
    let mut control = [0_u64; 4];
    // SAFETY: as in `filtered`. The descriptor is this process's own, and closed once it is sent.
    unsafe {
        let mut words = libc::iovec { iov_base: said.as_mut_ptr().cast(), iov_len: size_of::<Said>() };
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_iov = &raw mut words;
        message.msg_iovlen = 1;
        if let Some(listener) = listener {
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(size_of::<i32>() as u32) as _;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<i32>() as u32) as _;
            ptr::write_unaligned(libc::CMSG_DATA(header).cast::<i32>(), listener);
        }
        libc::sendmsg(to, &raw const message, libc::MSG_NOSIGNAL);
        if let Some(listener) = listener {
            libc::close(listener);
        }
    }
}

/// A pair of connected sockets.
fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: as for `pipe`.
    unsafe {
        checked(libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()).into())?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}
