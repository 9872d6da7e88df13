//! Ctrl-C while a question runs or its answer is printed.
//!
//! ```text
//!   one-shot   first: stop, exit code 130      second: end at once; so does the first if printing is blocked
//!   prompt     first: stop, the session stays  later ones: only if nothing stops for a second, an offer to end
//!                                              barrow (or the command of `| COMMAND`), and then that end
//! ```
//!
//! A prompt that waits for a line sees Ctrl-C as a key, not here.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use barrow_query::error::code;
use parking_lot::Mutex;

use crate::complaint::complain;

/// Relaxed everywhere: flags of their own, which order nothing else.
static STOP: AtomicBool = AtomicBool::new(false);
/// There is a session that must not be lost.
static IS_SESSION: AtomicBool = AtomicBool::new(false);
/// A command of `| COMMAND` runs.
static HAS_COMMAND: AtomicBool = AtomicBool::new(false);
/// That command must end.
static END_COMMAND: AtomicBool = AtomicBool::new(false);
/// Writes to stdout that began and that ended: odd while one is under way.
static PRINTED: AtomicU64 = AtomicU64::new(0);
static PRESSED: Mutex<Option<Presses>> = Mutex::new(None);

/// Time that a question has to stop, before ending the process is offered. This is a judgement: questions check for it
/// within milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);
/// The offer has to be read before it is taken: a key that is held down repeats faster, ten times a second or more.
const READING: Duration = Duration::from_millis(300);
/// Time that the offer is valid: enough to read it, and a later Ctrl-C is for something else. This is a judgement.
const OFFER: Duration = Duration::from_secs(5);
/// Time that a write may be blocked after Ctrl-C: a reader that is alive reads sooner. This is a judgement.
const BLOCKED: Duration = Duration::from_millis(500);

/// The times at which Ctrl-C was pressed during this question.
#[derive(Debug, Clone, Copy)]
struct Presses {
    first: Instant,
    offered: Option<Instant>,
}

/// The effect of a further Ctrl-C in a session.
#[derive(Debug, PartialEq, Eq)]
enum Response {
    Wait,
    Offer,
    End,
}

impl Presses {
    fn again(self, now: Instant) -> Response {
        match self.offered.map(|offered| now - offered) {
            _ if now - self.first < PATIENCE => Response::Wait,
            Some(since) if since < READING => Response::Wait,
            Some(since) if since < OFFER => Response::End,
            _ => Response::Offer,
        }
    }
}

/// Listens for Ctrl-C from now on. Where that is impossible, Ctrl-C simply ends the program.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        let is_first = !STOP.swap(true, Ordering::Relaxed);
        if IS_SESSION.load(Ordering::Relaxed) {
            press(is_first);
        } else if !is_first {
            end();
        } else {
            std::thread::spawn(end_if_blocked);
        }
    });
}

/// From now on there is a session: Ctrl-C does not end it while it responds.
pub(crate) fn keep_session() {
    IS_SESSION.store(true, Ordering::Relaxed);
}

/// Forgets an earlier Ctrl-C: a new question begins, or the prompt is back.
pub(crate) fn clear() {
    *PRESSED.lock() = None;
    STOP.store(false, Ordering::Relaxed);
    END_COMMAND.store(false, Ordering::Relaxed);
}

/// Returns whether the question should stop.
pub(crate) fn requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Fails if printing should stop.
///
/// # Errors
/// One that [`is_stop`].
pub(crate) fn check() -> io::Result<()> {
    if requested() { Err(io::Error::other(Stopped)) } else { Ok(()) }
}

/// Returns whether an error is that of [`check`].
pub(crate) fn is_stop(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.is::<Stopped>())
}

/// A command of `| COMMAND` runs as long as this lives.
pub(crate) struct Running;

impl Running {
    pub(crate) fn new() -> Self {
        HAS_COMMAND.store(true, Ordering::Relaxed);
        Running
    }

    /// Returns whether the command must end.
    pub(crate) fn is_to_end(&self) -> bool {
        END_COMMAND.load(Ordering::Relaxed)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        HAS_COMMAND.store(false, Ordering::Relaxed);
    }
}

/// Stdout, of which is known whether a write to it is under way.
pub(crate) struct Printer<W>(pub(crate) W);

impl<W: Write> Write for Printer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        PRINTED.fetch_add(1, Ordering::Relaxed);
        let written = self.0.write(bytes);
        PRINTED.fetch_add(1, Ordering::Relaxed);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        PRINTED.fetch_add(1, Ordering::Relaxed);
        let flushed = self.0.flush();
        PRINTED.fetch_add(1, Ordering::Relaxed);
        flushed
    }
}

/// Printing has been stopped.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
struct Stopped;

/// Ctrl-C in a session.
fn press(is_first: bool) {
    let mut pressed = PRESSED.lock();
    let now = Instant::now();
    let known = match *pressed {
        Some(known) if !is_first => known,
        _ => {
            *pressed = Some(Presses { first: now, offered: None });
            return;
        }
    };
    let has_command = HAS_COMMAND.load(Ordering::Relaxed);
    match known.again(now) {
        Response::Wait => {}
        Response::Offer => {
            *pressed = Some(Presses { offered: Some(now), ..known });
            let (what, end) = match has_command {
                true => ("the command after `|` still runs", "ends that command"),
                false => ("it does not stop yet", "ends barrow, and the sets of this session are lost"),
            };
            complain(&format!("{what}; Ctrl-C once more within {} s {end}", OFFER.as_secs()));
        }
        Response::End if has_command => END_COMMAND.store(true, Ordering::Relaxed),
        Response::End => end(),
    }
}

/// Ends the process if it stays in one write to stdout, because the reader does not read.
fn end_if_blocked() {
    let mut before = PRINTED.load(Ordering::Relaxed);
    loop {
        std::thread::sleep(BLOCKED);
        let now = PRINTED.load(Ordering::Relaxed);
        if now == before && now % 2 == 1 {
            end();
        }
        before = now;
    }
}

fn end() {
    std::process::exit(code::STOPPED.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_only_after_an_offer_that_could_be_read() {
        let first = Instant::now();
        let at = |ms: u64| first + Duration::from_millis(ms);
        let pressed = Presses { first, offered: None };
        assert_eq!([1, 500, 999].map(|ms| pressed.again(at(ms))), [Response::Wait, Response::Wait, Response::Wait]);
        assert_eq!(pressed.again(at(1000)), Response::Offer);
        let offered = Presses { first, offered: Some(at(1000)) };
        let later = [1001, 1299, 1300, 5999, 6000].map(|ms| offered.again(at(ms)));
        assert_eq!(later, [Response::Wait, Response::Wait, Response::End, Response::End, Response::Offer]);
    }
}
