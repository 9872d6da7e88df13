//! `| COMMAND`: an answer goes to a command of the shell.
//!
//! ```text
//!   draw ──▶ Feed ──▶ pieces, a few at a time ──▶ a thread ──▶ stdin of the command
//! ```
//!
//! The thread may be blocked for ever by a command that does not read; the question is not.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use crate::interrupt::{self, Running};

/// Bytes of a piece: the capacity of a pipe on Linux.
const PIECE_BYTES: usize = 1 << 16;
/// Pieces that may wait for the command: rows are made while it reads, and a slow one costs 256 KiB.
const PIECES: usize = 4;
/// Time between two checks whether a command has ended: people notice no delay.
const NAP: Duration = Duration::from_millis(2);

/// Runs a command of the shell and writes into it. A command that does not read to the end is no error.
///
/// # Errors
/// The system's; that of `draw`.
pub(crate) fn pipe(command: &str, draw: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let running = Running::new();
    let mut shell = Command::new("sh").arg("-c").arg(command).stdin(Stdio::piped()).spawn()?;
    let mut stdin = shell.stdin.take().expect("stdin is piped");
    let (pieces, waiting) = sync_channel::<Vec<u8>>(PIECES);
    // It ends when all is written, or when the command reads no more.
    std::thread::spawn(move || waiting.iter().try_for_each(|piece| stdin.write_all(&piece)));
    let mut out = BufWriter::with_capacity(PIECE_BYTES, Feed(pieces));
    let drawn = draw(&mut out).and_then(|()| out.flush());
    // The rest of the buffer ends with a whole row; then the command sees the end.
    drop(out);
    end_of(&mut shell, &running)?;
    match drawn {
        // Ctrl-C ended the command, too, before the answer was drawn.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => interrupt::check(),
        drawn => drawn,
    }
}

/// Waits until the command ends by itself, or is to be ended.
fn end_of(shell: &mut Child, running: &Running) -> io::Result<()> {
    while shell.try_wait()?.is_none() {
        if running.is_to_end() {
            shell.kill()?;
            shell.wait()?;
            restore_terminal();
            break;
        }
        std::thread::sleep(NAP);
    }
    Ok(())
}

/// A command that was killed, such as a pager, leaves the terminal as it had set it.
fn restore_terminal() {
    if io::stdin().is_terminal() {
        let _ = Command::new("stty").arg("sane").status();
    }
}

/// The way to the thread that writes.
struct Feed(SyncSender<Vec<u8>>);

impl Write for Feed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut piece = bytes.to_vec();
        loop {
            match self.0.try_send(piece) {
                Ok(()) => return Ok(bytes.len()),
                Err(TrySendError::Disconnected(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(TrySendError::Full(back)) => piece = back,
            }
            interrupt::check()?;
            std::thread::sleep(NAP);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
