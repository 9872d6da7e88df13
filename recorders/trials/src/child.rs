//! A process that was started: waited for, or killed.

use std::io::{self, Error};
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

use crate::order::Start;
use crate::starter::Starter;
use crate::system::{Pid, now_ns, zeroed};

/// A child that was started.
pub(crate) struct Child {
    pub(crate) pid: Pid,
    descriptor: Option<OwnedFd>,
    is_waited_for: bool,
    has_group: bool,
}

/// The end of a child, and the usage of it and the children it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) exit_status: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) began_ns: i64,
    pub(crate) wall_ns: i64,
    pub(crate) user_ns: i64,
    pub(crate) system_ns: i64,
    pub(crate) peak_bytes: i64,
    pub(crate) page_faults: i64,
    pub(crate) context_switches: i64,
}

impl Child {
    /// Starts a program. With `before`, the child waits until that was called with its number.
    ///
    /// # Errors
    /// Those of the system; that the program could not be executed is one of [`Child::wait`].
    pub(crate) fn start(
        starter: &mut Starter,
        start: &Start<'_>,
        before: Option<&mut dyn FnMut(Pid)>,
    ) -> io::Result<Self> {
        let pid = starter.start(start, before)?;
        Ok(Child { pid, descriptor: descriptor(pid), is_waited_for: false, has_group: start.has_group })
    }

    /// Waits until the child has ended, a reader has input, or `time` has passed. Returns whether the child has ended; it is not
    /// reaped.
    pub(crate) fn has_ended_within(&self, time: Duration, readers: [RawFd; 2]) -> bool {
        let ended = self.descriptor.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let mut polls = [ended, readers[0], readers[1]].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        // Linux before 5.3 has no pidfds; the child is polled each millisecond then.
        let time = if ended < 0 { time.min(Duration::from_millis(1)) } else { time };
        let milliseconds = i32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        // SAFETY: so many entries are there; those with a negative number are passed over.
        unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, milliseconds) };
        if ended >= 0 {
            return polls[0].revents != 0;
        }
        let mut info = mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: there is room for the information, which zeros are a value of.
        unsafe {
            libc::waitid(libc::P_PID, self.pid as libc::id_t, info.as_mut_ptr(), how) == 0
                && info.assume_init_ref().si_pid() != 0
        }
    }

    /// Kills the child, and its group if it has one.
    pub(crate) fn kill(&self) {
        // SAFETY: the child was not waited for, so its number is its own.
        unsafe {
            if self.has_group {
                libc::kill(-self.pid, libc::SIGKILL);
            }
            libc::kill(self.pid, libc::SIGKILL);
        }
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// That the program could not be executed; those of the system.
    pub(crate) fn wait(mut self, starter: &Starter) -> io::Result<Waited> {
        let mut status = 0;
        let mut used: libc::rusage = zeroed();
        loop {
            // SAFETY: there is room for the status and the resources.
            let ended = unsafe { libc::wait4(self.pid, &raw mut status, 0, &raw mut used) };
            if ended == self.pid {
                break;
            }
            let error = Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let now = now_ns();
        self.is_waited_for = true;
        if let Some(failure) = starter.failure() {
            return Err(failure);
        }
        let began_ns = starter.began();
        let [user_ns, system_ns] =
            [used.ru_utime, used.ru_stime].map(|time| time.tv_sec * 1_000_000_000 + time.tv_usec * 1_000);
        Ok(Waited {
            exit_status: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
            began_ns,
            wall_ns: now - began_ns,
            user_ns,
            system_ns,
            // In KiB.
            peak_bytes: used.ru_maxrss * 1024,
            page_faults: used.ru_minflt + used.ru_majflt,
            context_switches: used.ru_nvcsw + used.ru_nivcsw,
        })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.is_waited_for {
            self.kill();
            // SAFETY: nothing is told of the status.
            unsafe { libc::waitpid(self.pid, ptr::null_mut(), 0) };
        }
    }
}

/// A pidfd, which is readable once the process has ended, if the kernel has pidfds.
fn descriptor(pid: Pid) -> Option<OwnedFd> {
    // SAFETY: the call takes two numbers; the descriptor is new and owned by nothing else.
    unsafe {
        let descriptor = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor as RawFd))
    }
}
