//! A line: its task, time and event.

/// The beginning of messages of strace itself.
pub(super) const MESSAGE: &[u8] = b"strace: ";
/// The beginning of a message that strace adds to an incomplete line when it attaches to another process.
const ATTACHED: &[u8] = b"strace: Process ";
/// The end of a line whose call has not returned.
const UNFINISHED: &[u8] = b"<unfinished ...>";

/// A line of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'d> {
    /// The process or thread; `None` while there is one only, if strace wrote to a terminal.
    pub(super) task: Option<u64>,
    pub(super) time: Time,
    pub(super) what: LineEvent<'d>,
}

/// The time of a line, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    /// Since 1970 (`-ttt`).
    Wall(i128),
    /// Of the day (`-t`, `-tt`).
    Day(i128),
    /// Since the line before (`-r`).
    Since(i128),
}

/// Times before this one, in 1973, do not count from 1970.
const EARLIEST_NS: i128 = 100_000_000_000_000_000;
pub(super) const DAY_NS: i128 = 86_400_000_000_000;

/// Maximum disorder of lines of several processors.
const DISORDER_NS: i128 = 1_000_000_000;
/// A time of day that is earlier than the previous one by at most this is taken as a clock that was set back, as in
/// autumn, and not as the next day: 22 hours without a line are rarer.
const MOST_BACK_NS: i128 = 2 * 3_600_000_000_000;

/// Converts the times of consecutive lines to times since 1970 if the log has a date, otherwise since its first line.
/// If the clock was set back, time continues.
#[derive(Debug, Default)]
struct Times {
    last: Option<(Time, i128)>,
    /// Nanoseconds by which the last line is earlier than the one before.
    back_ns: i128,
    /// Number of times that the clock was set back.
    steps_back: u64,
}

impl Times {
    fn of(&mut self, time: Time) -> i128 {
        self.back_ns = 0;
        let at = match (time, self.last) {
            (Time::Wall(wall_ns), Some((Time::Wall(before), at))) => self.after(at, wall_ns - before),
            (Time::Wall(wall_ns), _) => wall_ns,
            (Time::Day(_), None) => 0,
            // After midnight the day begins again.
            (Time::Day(day_ns), Some((Time::Day(before), at))) => {
                let ahead = (day_ns - before).rem_euclid(DAY_NS);
                self.after(at, if ahead < DAY_NS - MOST_BACK_NS { ahead } else { ahead - DAY_NS })
            }
            (Time::Since(_), None) => 0,
            (Time::Since(since_ns), Some((_, at))) => at + since_ns,
            // From another log.
            (Time::Day(_), Some((_, at))) => at,
        };
        self.last = Some((time, at));
        at
    }

    /// The time `step_ns` after a time; the same time, if the clock was set back.
    fn after(&mut self, at: i128, step_ns: i128) -> i128 {
        self.back_ns = (-step_ns).max(0);
        if self.back_ns <= DISORDER_NS {
            return at + step_ns;
        }
        self.steps_back += 1;
        at
    }
}

/// Reads consecutive lines. On a terminal, strace writes messages into the middle of lines:
///
/// ```text
///   [pid 7] 1.5 set_robust_list(0x7f7b63a08a20, 24strace: Process 8 attached
///   ) = 0
/// ```
#[derive(Debug, Default)]
pub(super) struct LineReader {
    /// The task and time of the previous line, if a message ended it.
    broken: Option<(Option<u64>, Time, i128)>,
    times: Times,
}

impl LineReader {
    /// Returns whether the last line has an earlier time than the one before.
    pub(super) fn went_back(&self) -> bool {
        self.times.back_ns > 0
    }

    /// Number of times that the clock was set back.
    pub(super) fn steps_back(&self) -> u64 {
        self.times.steps_back
    }

    /// Reads the next line, if it has a time or continues the previous one. Also returns the time: see [`Times`].
    pub(super) fn read<'d>(&mut self, text: &'d [u8]) -> Option<(Line<'d>, i128)> {
        let broken = self.broken.take();
        if let Some(line) = Line::parse(text).filter(Line::is_of_strace) {
            let at_ns = self.times.of(line.time);
            self.broken = message(text).map(|_| (line.task, line.time, at_ns));
            return Some((line, at_ns));
        }
        let ((task, time, at_ns), (arguments, result)) = broken.zip(result(text))?;
        Some((Line { task, time, what: LineEvent::Resumed { name: b"", arguments, result } }, at_ns))
    }
}

/// The event of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEvent<'d> {
    /// A whole call: its name, its arguments, and the text after them.
    Call { name: &'d [u8], arguments: &'d [u8], result: &'d [u8] },
    /// A call that has not returned: its name and its arguments so far.
    Unfinished { name: &'d [u8], arguments: &'d [u8] },
    /// The rest of a call that had not returned.
    Resumed { name: &'d [u8], arguments: &'d [u8], result: &'d [u8] },
    /// `+++ … +++`: an event of the process.
    Event(&'d [u8]),
    /// `--- … ---`: a signal that it received.
    Signal,
    /// Anything else.
    Other,
}

impl<'d> Line<'d> {
    /// Parses a line without its end, if it has a time.
    pub(super) fn parse(text: &'d [u8]) -> Option<Line<'d>> {
        let (task, rest) = task(text);
        // Without a task, a time in whole seconds looks like a task.
        let ((time, rest), task) = match time(rest) {
            Some(timed) => (timed, task),
            None => (time(text.trim_ascii_start())?, None),
        };
        Some(Line { task, time, what: LineEvent::of(places(rest)) })
    }

    /// Returns whether only strace writes such a line.
    pub(super) fn is_of_strace(&self) -> bool {
        self.what != LineEvent::Other
    }
}

impl<'d> LineEvent<'d> {
    fn of(text: &'d [u8]) -> Self {
        if let Some(event) = text.strip_prefix(b"+++ ").and_then(|rest| rest.strip_suffix(b" +++")) {
            return LineEvent::Event(event);
        }
        if text.starts_with(b"--- ") {
            return LineEvent::Signal;
        }
        if let Some(resumed) = text.strip_prefix(b"<... ") {
            let Some(end) = resumed.iter().position(|&byte| byte == b' ') else { return LineEvent::Other };
            let Some(rest) = resumed[end..].strip_prefix(b" resumed>") else { return LineEvent::Other };
            let (arguments, result) = result(rest).unwrap_or((rest, b""));
            return LineEvent::Resumed { name: &resumed[..end], arguments, result };
        }
        let end = text.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(0);
        let (name, rest) = text.split_at(end);
        let Some(rest) = rest.strip_prefix(b"(").filter(|_| end > 0) else { return LineEvent::Other };
        if let Some(arguments) = unfinished(rest) {
            return LineEvent::Unfinished { name, arguments };
        }
        match result(rest) {
            Some((arguments, result)) => LineEvent::Call { name, arguments, result },
            None => LineEvent::Other,
        }
    }
}

/// The arguments of a call that has not returned.
fn unfinished(rest: &[u8]) -> Option<&[u8]> {
    if let Some(arguments) = rest.strip_suffix(UNFINISHED) {
        return Some(arguments);
    }
    // `<pid changed to 24252 ...>`, `<detached ...>`
    if rest.ends_with(b" ...>") {
        return memchr::memrchr(b'<', rest).map(|at| &rest[..at]);
    }
    message(rest).map(|at| &rest[..at])
}

/// The position of a message at the end of a line.
fn message(text: &[u8]) -> Option<usize> {
    if text.ends_with(b" attached") { memchr::memmem::rfind(text, ATTACHED) } else { None }
}

/// Splits `…) = 0 <0.000021>` at the end of the arguments.
fn result(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = memchr::memmem::rfind(rest, b"= ")?;
    let arguments = rest[..equals].trim_ascii_end().strip_suffix(b")")?;
    Some((arguments, &rest[equals + 2..]))
}

/// The process or thread, and the text after it. `-Y` adds its name, which may hold any bytes.
fn task(text: &[u8]) -> (Option<u64>, &[u8]) {
    // `-r` pads with blanks.
    let text = if text.starts_with(b" ") { text.trim_ascii_start() } else { text };
    let found = match text.strip_prefix(b"[pid ") {
        Some(rest) => {
            digits(rest.trim_ascii_start()).and_then(|(pid, rest)| Some((pid, &rest[name_end(rest, b"] ")?..])))
        }
        None => digits(text).and_then(|(pid, rest)| Some((pid, &rest[name_end(rest, b" ")?..]))),
    };
    match found {
        Some((pid, rest)) => (Some(pid), rest.trim_ascii_start()),
        None => (None, text),
    }
}

/// The end of the name in angle brackets that `-Y` adds, and of `end` after it. A time must follow the name.
fn name_end(rest: &[u8], end: &[u8]) -> Option<usize> {
    if !rest.starts_with(b"<") {
        return rest.starts_with(end).then_some(end.len());
    }
    let mut ends = memchr::memmem::find_iter(rest, end).filter(|&at| rest[..at].ends_with(b">"));
    ends.find(|&at| time(rest[at + end.len()..].trim_ascii_start()).is_some()).map(|at| at + end.len())
}

/// The time of a line, and the text after it.
fn time(text: &[u8]) -> Option<(Time, &[u8])> {
    let (first, rest) = digits(text)?;
    let (time, rest) = if let Some(rest) = rest.strip_prefix(b":") {
        let (minutes, rest) = digits(rest)?;
        let (seconds, rest) = digits(rest.strip_prefix(b":")?)?;
        let (fraction_ns, rest) = fraction(rest)?;
        (first < 24 && minutes < 60 && seconds <= 60).then_some(())?;
        let seconds = (first * 60 + minutes) * 60 + seconds;
        (Time::Day(i128::from(seconds) * 1_000_000_000 + fraction_ns), rest)
    } else {
        let (fraction_ns, after) = fraction(rest)?;
        match i128::from(first) * 1_000_000_000 + fraction_ns {
            wall_ns if wall_ns >= EARLIEST_NS => (Time::Wall(wall_ns), after),
            // In whole seconds it would be the number of a task.
            since_ns if rest.starts_with(b".") => (Time::Since(since_ns), after),
            _ => return None,
        }
    };
    let rest = rest.strip_prefix(b" ")?;
    // `-r` beside other times: `(+     0.000123) `
    let since = rest.strip_prefix(b"(+").and_then(|since| Some(memchr::memchr(b')', since)? + 3));
    Some((time, since.map_or(rest, |length| rest[length..].trim_ascii_start())))
}

/// Up to nine digits after a point, in nanoseconds; 0 without a point.
fn fraction(text: &[u8]) -> Option<(i128, &[u8])> {
    let Some(fraction) = text.strip_prefix(b".") else { return Some((0, text)) };
    let (value, after) = digits(fraction)?;
    let length = fraction.len() - after.len();
    (1..=9).contains(&length).then(|| (i128::from(value) * 10_i128.pow(9 - length as u32), after))
}

/// The text after the number of the call (`-n`) and the address of the instruction (`-i`), if present.
fn places(mut text: &[u8]) -> &[u8] {
    while let Some((place, rest)) = text.strip_prefix(b"[").and_then(|rest| {
        let end = memchr::memchr(b']', rest.get(..20).unwrap_or(rest))?;
        Some((&rest[..end], rest[end + 1..].strip_prefix(b" ")?))
    }) {
        if !place.iter().all(|byte| byte.is_ascii_hexdigit() || b" ?".contains(byte)) {
            break;
        }
        text = rest;
    }
    text
}

fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    Some((str::from_utf8(&text[..length]).ok()?.parse().ok()?, &text[length..]))
}

/// The text after the task and the times of other options, if present.
pub(super) fn without_time(text: &[u8]) -> Option<&[u8]> {
    let (_, rest) = task(text);
    let length = rest.iter().position(|byte| !byte.is_ascii_digit() && !b":.".contains(byte))?;
    Some(places(rest[length..].trim_ascii_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn what(text: &str) -> LineEvent<'_> {
        Line::parse(text.as_bytes()).expect("a line").what
    }

    /// As strace 6.1 writes them with `-f` and each of `-ttt`, `-tt`, `-t`, `-r`, `-Y`, `-n`, `-i` and with several.
    #[test]
    fn tasks_and_times_are_read() {
        const WALL: Time = Time::Wall(1_700_000_000_000_002_000);
        let read = |text: &'static str| Line::parse(text.as_bytes()).map(|line| (line.task, line.time));
        for (text, task, time) in [
            ("12 1700000000.000002 vfork( <unfinished ...>", Some(12), WALL),
            ("[pid   12] 1700000000.000002 vfork( <unfinished ...>", Some(12), WALL),
            ("1700000000.000002 fork() = 3", None, WALL),
            ("1700000000 fork() = 3", None, Time::Wall(1_700_000_000_000_000_000)),
            ("12 1700000000 fork() = 3", Some(12), Time::Wall(1_700_000_000_000_000_000)),
            ("731   16:41:30.407027 fork() = 732", Some(731), Time::Day(60_090_407_027_000)),
            ("16:41:30 fork() = 732", None, Time::Day(60_090_000_000_000)),
            ("12     0.000123 fork() = 13", Some(12), Time::Since(123_000)),
            ("     0.000123 fork() = 13", None, Time::Since(123_000)),
            ("12<make> 1700000000.000002 fork() = 13<make>", Some(12), WALL),
            ("12<a> 5 b> 1700000000.000002 fork() = 13", Some(12), WALL),
            ("[pid 12<make>] 1700000000.000002 fork() = 13", Some(12), WALL),
            ("12 1700000000.000002 (+     0.000123) fork() = 13", Some(12), WALL),
            ("12 1700000000.000002 [  57] fork() = 13", Some(12), WALL),
            ("12 1700000000.000002 [00007f9803315ad7] fork() = 13", Some(12), WALL),
            ("12 1700000000.000002 [  57] [????????????????] fork() = 13", Some(12), WALL),
        ] {
            assert_eq!(read(text), Some((task, time)), "{text}");
            assert_ne!(what(text), LineEvent::Other, "{text}");
        }
        for text in
            ["", "12", "12 ", "12 1", "12 1. x", "12 1.1234567890 x", "[pid 12 1.5 x", "25:20:30.5 x", "12 fork() = 1"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn days_and_differences_become_one_time() {
        let times = |times: &[Time]| {
            let mut of = Times::default();
            times.iter().map(|&time| of.of(time)).collect::<Vec<_>>()
        };
        let hour = 3_600_000_000_000;
        let days = [Time::Day(23 * hour), Time::Day(23 * hour - 5), Time::Day(hour), Time::Day(14 * hour)];
        assert_eq!(times(&days), [0, -5, 2 * hour, 15 * hour]);
        // 13 hours later, then a clock that was set back by an hour.
        let days = [Time::Day(10 * hour), Time::Day(23 * hour), Time::Day(22 * hour), Time::Day(22 * hour + 7)];
        assert_eq!(times(&days), [0, 13 * hour, 13 * hour, 13 * hour + 7]);
        let wall = [Time::Wall(9 * hour), Time::Wall(8 * hour), Time::Wall(8 * hour + 7)];
        assert_eq!(times(&wall), [9 * hour, 9 * hour, 9 * hour + 7]);
        assert_eq!(times(&[Time::Since(7), Time::Since(5), Time::Since(6)]), [0, 5, 11]);
        assert_eq!(times(&[Time::Wall(7), Time::Wall(5)]), [7, 5]);
    }

    #[test]
    fn calls_return_now_or_later() {
        let (name, arguments) = (&b"chdir"[..], &b"\"a = b) = c\""[..]);
        let call = LineEvent::Call { name, arguments, result: b"0 <0.1>" };
        assert_eq!(what("1.5 chdir(\"a = b) = c\")    = 0 <0.1>"), call);
        let unfinished = LineEvent::Unfinished { name: b"clone3", arguments: b"{}, 88 " };
        assert_eq!(what("1.5 clone3({}, 88 <unfinished ...>"), unfinished);
        assert_eq!(what("1.5 clone3({}, 88 strace: Process 7 attached"), unfinished);
        assert_eq!(what("1.5 clone3({}, 88 <pid changed to 2 ...>"), unfinished);
        let resumed = LineEvent::Resumed { name: b"wait4", arguments: b"NULL, 0", result: b"-1 ECHILD (No child)" };
        assert_eq!(what("1.5 <... wait4 resumed>NULL, 0) = -1 ECHILD (No child)"), resumed);
        assert_eq!(what("1.5 +++ exited with 0 +++"), LineEvent::Event(b"exited with 0"));
        assert_eq!(what("1.5 --- SIGCHLD {si_signo=SIGCHLD} ---"), LineEvent::Signal);
        for other in ["1.5 ", "1.5 x", "1.5 x(", "1.5 (x) = 1", "1.5 <... x", "1.5 <... x y", "1.5 x() 1"] {
            assert_eq!(what(other), LineEvent::Other, "{other}");
        }
    }

    #[test]
    fn lines_go_on_after_a_message() {
        let mut reader = LineReader::default();
        let mut read = |text: &'static str| reader.read(text.as_bytes());
        assert_eq!(read(") = 0"), None);
        let broken = read("[pid 7] 1.5 chdir(\"a\"strace: Process 8 attached").expect("a line");
        assert_eq!(broken.0.what, LineEvent::Unfinished { name: b"chdir", arguments: b"\"a\"" });
        let what = LineEvent::Resumed { name: b"", arguments: b"", result: b"0" };
        assert_eq!(read(") = 0"), Some((Line { what, ..broken.0 }, broken.1)));
        assert_eq!(read(") = 0"), None);
    }

    #[test]
    fn other_times_are_passed_over() {
        for text in ["12 10:20:30 execve(", "10:20:30.12 execve(", "[pid 3] execve(", "12  execve(", "     0.0 execve("]
        {
            let rest = without_time(text.trim_ascii_start().as_bytes()).expect("a rest");
            assert_eq!(rest, b"execve(", "{text}");
        }
    }
}
