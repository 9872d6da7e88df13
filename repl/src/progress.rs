//! Progress of a long question on stderr: phase, rate and time left.
//!
//! Nothing in its first second, unless a part of the answer is known at once. Then one line that rewrites itself on a
//! terminal, and elsewhere a plain line at most every two seconds.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use barrow_query::Watcher;
use barrow_query::answer::units::rounded;
use barrow_query::answer::visible;
use parking_lot::Mutex;

use crate::complaint::complain;
use crate::interrupt;

/// Time that a question may take before it shows anything: most end sooner, and a line that vanishes at once only
/// flickers.
const PATIENCE: Duration = Duration::from_secs(1);

/// The progress of questions on stderr; shared by the threads that work on them. Ctrl-C stops them.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    quiet: bool,
    terminal: bool,
    /// Steps of the phase that are done. Relaxed: a figure to look at, it orders nothing.
    done: AtomicU64,
    shown: Mutex<LineState>,
}

#[derive(Debug)]
struct LineState {
    /// The part of the answer that is known.
    known: String,
    phase: String,
    total: u64,
    unit: &'static str,
    phase_begun: Instant,
    next: Instant,
    /// The width of what is on the terminal's line.
    width: usize,
}

impl ProgressLine {
    /// Shows nothing at all if `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let begun = Instant::now();
        let shown = LineState {
            known: String::new(),
            phase: String::new(),
            total: 0,
            unit: "",
            phase_begun: begun,
            next: begun + PATIENCE,
            width: 0,
        };
        let terminal = std::io::stderr().is_terminal();
        ProgressLine { quiet, terminal, done: AtomicU64::new(0), shown: Mutex::new(shown) }
    }

    /// A question begins: it shows nothing for some time.
    pub(crate) fn begin_question(&self) {
        self.shown.lock().next = Instant::now() + PATIENCE;
    }

    /// Whether [`ProgressLine::reached`] would show something now.
    pub(crate) fn is_due(&self) -> bool {
        !self.quiet && self.terminal && Instant::now() >= self.shown.lock().next
    }

    /// Shows how far something is that counts for itself: steps of a phase, how many there will be if that is known, and
    /// what follows them. Only on a terminal: elsewhere the lines of an hour would be in a log.
    pub(crate) fn reached(&self, phase: &str, done: u64, total: Option<u64>, elapsed: Duration, rest: &str) {
        if self.is_due() {
            let mut shown = self.shown.lock();
            shown.next = Instant::now() + self.pause();
            let text = line(phase, done, total.unwrap_or_default(), "", elapsed) + rest;
            self.show(&mut shown, &text);
        }
    }

    /// Time that a line stays.
    fn pause(&self) -> Duration {
        if self.terminal { Duration::from_millis(100) } else { Duration::from_secs(2) }
    }

    fn add(&self, steps: u64) {
        let done = self.done.fetch_add(steps, Ordering::Relaxed) + steps;
        if self.quiet {
            return;
        }
        // A thread that does not get the lock leaves the line to the one that has it.
        let Some(mut shown) = self.shown.try_lock() else { return };
        let now = Instant::now();
        if now < shown.next {
            return;
        }
        shown.next = now + self.pause();
        let text = line(&shown.phase, done, shown.total, shown.unit, now - shown.phase_begun);
        let text = shown.known.clone() + &text;
        self.show(&mut shown, &text);
    }

    fn show(&self, shown: &mut LineState, text: &str) {
        let text = visible::line(text);
        let mut stderr = std::io::stderr().lock();
        // Progress that cannot be shown is no reason to stop.
        let _ = if self.terminal {
            write!(stderr, "\r{text:width$}", width = shown.width).and_then(|()| stderr.flush())
        } else {
            writeln!(stderr, "{text}")
        };
        shown.width = text.chars().count();
    }
}

/// `decoding references: 45 M of 69 M, 120 M/s, 0.2 s left`. A total that is passed was none, and is not shown.
fn line(phase: &str, done: u64, total: u64, unit: &str, elapsed: Duration) -> String {
    let total = if done > total { 0 } else { total };
    let rate = done as f64 / elapsed.as_secs_f64().max(1e-3);
    // A phase like "decoding references" already names its unit.
    let unit = if unit.is_empty() || phase.contains(unit) { String::new() } else { format!(" {unit}") };
    let mut text = format!("{phase}: {}", rounded(done as f64));
    if total > 0 {
        text.push_str(&format!(" of {}", rounded(total as f64)));
    }
    text.push_str(&format!("{unit}, {}/s", rounded(rate)));
    if total > 0 && rate > 0.0 {
        text.push_str(&format!(", {:.1} s left", total.saturating_sub(done) as f64 / rate));
    }
    text
}

impl Watcher for ProgressLine {
    fn begin(&self, phase: &str, total: u64, unit: &'static str) {
        let mut shown = self.shown.lock();
        (shown.phase, shown.total, shown.unit) = (phase.to_owned(), total, unit);
        shown.phase_begun = Instant::now();
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) {
        self.add(steps);
    }

    fn bound(&self, bound: &str, phase: &str) {
        let mut shown = self.shown.lock();
        shown.known = format!("{bound}; ");
        if self.shows_bounds() {
            self.show(&mut shown, &format!("{bound}, {phase} …"));
        }
    }

    fn shows_bounds(&self) -> bool {
        self.terminal && !self.quiet
    }

    fn remark(&self, sentence: &str) {
        complain(sentence);
    }

    /// Leaves the terminal's line empty.
    fn end(&self) {
        let mut shown = self.shown.lock();
        if self.terminal && shown.width > 0 {
            let _ = write!(std::io::stderr(), "\r{:width$}\r", "", width = shown.width);
        }
        shown.width = 0;
        shown.known.clear();
        shown.next = Instant::now() + PATIENCE;
    }

    fn is_stopped(&self) -> bool {
        interrupt::requested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_phase_rate_and_time_left() {
        let second = Duration::from_millis(375);
        let text = line("decoding references", 45_000_000, 69_000_000, "references", second);
        assert_eq!(text, "decoding references: 45 M of 69 M, 120 M/s, 0.2 s left");
        let text = line("importing", 1000, 0, "bytes", Duration::from_secs(1));
        assert_eq!(text, "importing: 1000 bytes, 1000/s");
        let text = line("importing", 1001, 1000, "bytes", Duration::from_secs(1));
        assert_eq!(text, "importing: 1001 bytes, 1001/s");
    }
}
