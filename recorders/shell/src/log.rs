//! The log: records are appended under a lock, each in one piece or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use crate::system;

/// The variable that names the log.
const LOG: &str = "BARROW_SH_LOG";
/// The variable that identifies the enclosing wrapper: `PID@HOST`.
const PARENT: &str = "BARROW_SH_PARENT";
/// The first bytes of a log.
const MAGIC: &[u8] = b"<kleknevMagicNumber />\n";

/// Where records go.
pub(crate) struct Log {
    path: PathBuf,
    host: String,
}

impl Log {
    /// The log that the environment names.
    pub(crate) fn of_environment() -> Option<Self> {
        let path = std::env::var_os(LOG).filter(|path| !path.is_empty())?;
        Some(Log { path: path.into(), host: system::host() })
    }

    /// The name of this machine.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// The wrapper around this one, if it is on this machine.
    pub(crate) fn parent(&self) -> Option<u32> {
        let parent = std::env::var(PARENT).ok()?;
        let (pid, host) = parent.split_once('@')?;
        if host == self.host { pid.parse().ok() } else { None }
    }

    /// Tells what is run that this process is the wrapper around it.
    pub(crate) fn tell_children(&self, pid: u32) {
        system::set_variable(PARENT, &format!("{pid}@{}", self.host));
    }

    /// Appends a record.
    ///
    /// # Errors
    /// The system's; then the log is as it was.
    pub(crate) fn append(&self, record: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
        // Closing the file releases the lock.
        system::lock(file.as_raw_fd())?;
        let before = file.metadata()?.len();
        let mut text = if before == 0 { MAGIC.to_vec() } else { Vec::new() };
        text.extend_from_slice(record);
        file.write_all(&text).inspect_err(|_| take_back(&file, before))
    }
}

/// Removes what was written of a record.
fn take_back(file: &File, length: u64) {
    let _ = file.set_len(length);
}
