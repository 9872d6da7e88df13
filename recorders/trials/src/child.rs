//! A process that was started: waited for, or killed.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use crate::order::Start;
use crate::starter::Starter;
use crate::system::Pid;

/// A child that was started.
pub(crate) struct Child<'s> {
    starter: &'s mut Starter,
    is_waited_for: bool,
    has_group: bool,
}

/// The end of a child, and the usage of it and the children it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) pid: Pid,
    pub(crate) exit_status: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) began_ns: i64,
    pub(crate) wall_ns: i64,
    pub(crate) user_ns: i64,
    pub(crate) system_ns: i64,
    pub(crate) peak_bytes: i64,
    pub(crate) page_faults: i64,
    pub(crate) context_switches: i64,
    /// Its addresses were randomised although that was switched off.
    pub(crate) has_own_addresses: bool,
}

impl<'s> Child<'s> {
    /// Starts a program. With `before`, the child waits until that was called with its number.
    ///
    /// # Errors
    /// Those of the system; that the program could not be executed is one of [`Child::wait`].
    pub(crate) fn start(
        starter: &'s mut Starter,
        start: &Start<'_>,
        before: Option<&mut dyn FnMut(Pid)>,
    ) -> io::Result<Self> {
        starter.start(start, before)?;
        Ok(Child { starter, is_waited_for: false, has_group: start.has_group })
    }

    /// Waits until the child has ended, a reader has input, or `time` has passed. Returns whether the child has ended.
    pub(crate) fn has_ended_within(&self, time: Duration, readers: [RawFd; 2]) -> bool {
        let ended = self.starter.descriptor();
        let mut polls = [ended, readers[0], readers[1]].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        let milliseconds = i32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        // SAFETY: so many entries are there.
        unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, milliseconds) };
        polls[0].revents != 0
    }

    /// Kills the child, and its group if it has one. One that has not begun yet is not killed.
    pub(crate) fn kill(&self) {
        let Some(pid) = self.starter.running() else { return };
        // SAFETY: the calls take numbers. If the child is reaped right now, its number is free, but the system gives out all
        // others first.
        unsafe {
            if self.has_group {
                libc::kill(-pid, libc::SIGKILL);
            }
            libc::kill(pid, libc::SIGKILL);
        }
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// That the program could not be executed; those of the system.
    pub(crate) fn wait(mut self) -> io::Result<Waited> {
        self.is_waited_for = true;
        let (pid, end) = self.starter.wait()?;
        if let Some(failure) = self.starter.failure() {
            return Err(failure);
        }
        let (began_ns, status, used) = (self.starter.began(), end.status, end.used);
        let [user_ns, system_ns] =
            [used.ru_utime, used.ru_stime].map(|time| time.tv_sec * 1_000_000_000 + time.tv_usec * 1_000);
        Ok(Waited {
            pid,
            exit_status: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
            began_ns,
            wall_ns: end.at_ns - began_ns,
            user_ns,
            system_ns,
            // In KiB.
            peak_bytes: used.ru_maxrss * 1024,
            page_faults: used.ru_minflt + used.ru_majflt,
            context_switches: used.ru_nvcsw + used.ru_nivcsw,
            has_own_addresses: end.has_own_addresses,
        })
    }
}

impl Drop for Child<'_> {
    fn drop(&mut self) {
        /// Time between attempts to kill a child that has not begun: executing a program takes about as long.
        const PATIENCE: Duration = Duration::from_millis(1);
        if !self.is_waited_for {
            self.kill();
            while !self.has_ended_within(PATIENCE, [-1; 2]) {
                self.kill();
            }
            // The end of a run that was stopped is not recorded.
            let _ = self.starter.wait();
        }
    }
}
