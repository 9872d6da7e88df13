//! The standard input of programs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::error::TrialError;

/// Interval between checks for a request to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// Opens the input of programs, which is empty unless told. A named pipe is open when something writes to it. `None` if
/// `is_stopped` said so before.
///
/// # Errors
/// The file cannot be opened.
pub(crate) fn open(path: Option<&Path>, is_stopped: &dyn Fn() -> bool) -> Result<Option<File>, TrialError> {
    let path = path.unwrap_or(Path::new("/dev/null"));
    let is_pipe = path.metadata().is_ok_and(|found| found.file_type().is_fifo());
    let opened = if is_pipe { opened_aside(path, is_stopped) } else { Some(File::open(path)) };
    opened.transpose().map_err(TrialError::io("open the input"))
}

/// Opens a file in another thread: the system waits for a writer of a pipe, and goes on waiting after a signal. That thread
/// stays behind if the trial is stopped.
fn opened_aside(path: &Path, is_stopped: &dyn Fn() -> bool) -> Option<io::Result<File>> {
    let (send, receive) = mpsc::channel();
    let path = path.to_owned();
    let opening = thread::Builder::new().name("input".to_owned()).spawn(move || send.send(File::open(path)));
    let opening = match opening {
        Ok(opening) => opening,
        Err(error) => return Some(Err(error)),
    };
    loop {
        match receive.recv_timeout(PATIENCE) {
            Ok(opened) => {
                // This process is copied next, best without another thread.
                let _ = opening.join();
                return Some(opened);
            }
            Err(RecvTimeoutError::Timeout) if is_stopped() => return None,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Some(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_is_waited_for_until_the_trial_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(open(Some(&pipe), &|| true).unwrap().is_none());
        // The thread that stays behind opens the pipe as well, and reads nothing.
        let mut writer = Command::new("sh");
        writer.args(["-c", "sleep 0.2; echo text > pipe"]).current_dir(folder.path());
        let mut writer = writer.spawn().unwrap();
        let mut text = String::new();
        open(Some(&pipe), &|| false).unwrap().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text\n");
        writer.wait().unwrap();
        assert!(open(Some(&folder.path().join("none")), &|| true).is_err());
    }
}
