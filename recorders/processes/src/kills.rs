//! Processes that the system killed because memory ran out.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use crate::files;
use crate::system::Pid;

/// The source of information about such kills.
pub(crate) enum Kills {
    /// The kernel log since the start of the recording, if it is readable. It names the process.
    Log(File),
    /// The number of kills on the whole machine.
    Count(Option<u64>),
}

impl Kills {
    pub(crate) fn new() -> Self {
        let log = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg");
        let at_end = log.and_then(|mut log| log.seek(SeekFrom::End(0)).map(|_| log));
        at_end.map_or_else(|_| Kills::Count(files::kills()), Kills::Log)
    }

    /// The reason for which SIGKILL ended a process, if it is known.
    pub(crate) fn reason(&mut self, pid: Pid) -> Option<&'static str> {
        match self {
            // The log is written before the process ends.
            Kills::Log(log) => is_named(log, pid).then_some("out of memory"),
            Kills::Count(before) => {
                let now = files::kills();
                let is_more = matches!((*before, now), (Some(before), Some(now)) if now > before);
                *before = now;
                is_more.then_some("perhaps out of memory")
            }
        }
    }
}

/// Returns true if a new line of the log names the process. Each call of `read` returns one line.
fn is_named(log: &mut impl Read, pid: Pid) -> bool {
    let name = format!("Killed process {pid} (");
    let mut line = [0; 8 << 10];
    // A read fails once if lines were overwritten; the next one continues behind them.
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
