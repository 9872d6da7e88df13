//! Which processes the system killed because memory ran out.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use crate::files;
use crate::system::Pid;

/// What is known of such kills.
pub(crate) struct Kills {
    /// How many there were, on the whole machine.
    count: Option<u64>,
    /// The system's log from the beginning of the recording on, where it may be read: it names the process.
    log: Option<File>,
}

impl Kills {
    pub(crate) fn new() -> Self {
        let log = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg").ok();
        let log = log.and_then(|mut log| log.seek(SeekFrom::End(0)).is_ok().then_some(log));
        Kills { count: files::kills(), log }
    }

    /// For a process that SIGKILL ended: why, as far as anything says so.
    pub(crate) fn reason(&mut self, pid: Pid) -> Option<&'static str> {
        let before = std::mem::replace(&mut self.count, files::kills());
        if !matches!((before, self.count), (Some(before), Some(now)) if now > before) {
            return None;
        }
        // The log is written before the process ends.
        match &mut self.log {
            Some(log) => is_named(log, pid).then_some("out of memory"),
            None => Some("perhaps out of memory"),
        }
    }
}

/// Whether a line of what is new in the log names the process. Each call reads one line.
fn is_named(log: &mut impl Read, pid: Pid) -> bool {
    let name = format!("Killed process {pid} (");
    let mut line = [0; 8 << 10];
    // Lines that were overwritten meanwhile are an error, and the next one follows.
    let mut errors = 0;
    while errors < 2 {
        match log.read(&mut line) {
            Ok(0) => return false,
            Ok(length) if String::from_utf8_lossy(&line[..length]).contains(&name) => return true,
            Ok(_) => errors = 0,
            Err(_) => errors += 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_names_the_process() {
        let line = b"3,1,2,-;Out of memory: Killed process 1234 (cc1plus) total-vm:1kB\n";
        assert!(is_named(&mut &line[..], 1234));
        assert!(!is_named(&mut &line[..], 123));
        assert!(!is_named(&mut &line[..], 234));
    }
}
