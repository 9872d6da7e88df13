//! A line: who, when, and what.

/// What messages of strace itself begin with.
pub(super) const MESSAGE: &[u8] = b"strace: ";
/// What strace adds to a line that it had begun when it took on another process.
const ATTACHED: &[u8] = b"strace: Process ";
/// What a line ends with whose call has not returned.
const UNFINISHED: &[u8] = b"<unfinished ...>";

/// A line of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'d> {
    /// The process or thread; `None` while there is one only, if strace wrote to a terminal.
    pub(super) task: Option<u64>,
    /// In nanoseconds since 1970.
    pub(super) wall_ns: i128,
    pub(super) what: What<'d>,
}

/// Reads lines one after the other. On a terminal, strace writes messages into the middle of lines:
///
/// ```text
///   [pid 7] 1.5 set_robust_list(0x7f7b63a08a20, 24strace: Process 8 attached
///   ) = 0
/// ```
#[derive(Debug, Default)]
pub(super) struct LineReader {
    /// The task and time of the line before, if a message ended it.
    broken: Option<(Option<u64>, i128)>,
}

impl LineReader {
    /// Reads the next line, if it has a time or goes on with the line before.
    pub(super) fn read<'d>(&mut self, text: &'d [u8]) -> Option<Line<'d>> {
        let broken = self.broken.take();
        if let Some(line) = Line::parse(text) {
            self.broken = message(text).map(|_| (line.task, line.wall_ns));
            return Some(line);
        }
        let ((task, wall_ns), (arguments, result)) = broken.zip(result(text))?;
        Some(Line { task, wall_ns, what: What::Resumed { name: b"", arguments, result } })
    }
}

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What<'d> {
    /// A call with all that is known of it: its name, its arguments, and what follows them.
    Call { name: &'d [u8], arguments: &'d [u8], result: &'d [u8] },
    /// A call that has not returned: its name and its arguments so far.
    Unfinished { name: &'d [u8], arguments: &'d [u8] },
    /// The rest of a call that had not returned.
    Resumed { name: &'d [u8], arguments: &'d [u8], result: &'d [u8] },
    /// `+++ … +++`: something that happened to the process.
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
        let (wall_ns, rest) = time(rest)?;
        Some(Line { task, wall_ns, what: What::of(rest) })
    }

    /// Whether nothing but strace writes such a line.
    pub(super) fn is_of_strace(&self) -> bool {
        self.what != What::Other
    }
}

impl<'d> What<'d> {
    fn of(text: &'d [u8]) -> Self {
        if let Some(event) = text.strip_prefix(b"+++ ").and_then(|rest| rest.strip_suffix(b" +++")) {
            return What::Event(event);
        }
        if text.starts_with(b"--- ") {
            return What::Signal;
        }
        if let Some(resumed) = text.strip_prefix(b"<... ") {
            let Some(end) = resumed.iter().position(|&byte| byte == b' ') else { return What::Other };
            let Some(rest) = resumed[end..].strip_prefix(b" resumed>") else { return What::Other };
            let (arguments, result) = result(rest).unwrap_or((rest, b""));
            return What::Resumed { name: &resumed[..end], arguments, result };
        }
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = text.iter().position(|byte| !is_name(byte)).unwrap_or(0);
        let (name, rest) = text.split_at(end);
        let Some(rest) = rest.strip_prefix(b"(").filter(|_| end > 0) else { return What::Other };
        if let Some(arguments) = unfinished(rest) {
            return What::Unfinished { name, arguments };
        }
        match result(rest) {
            Some((arguments, result)) => What::Call { name, arguments, result },
            None => What::Other,
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

/// Where a message is at the end of a line.
fn message(text: &[u8]) -> Option<usize> {
    if text.ends_with(b" attached") { memchr::memmem::rfind(text, ATTACHED) } else { None }
}

/// Divides `…) = 0 <0.000021>` at the end of the arguments.
fn result(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = memchr::memmem::rfind(rest, b"= ")?;
    let arguments = rest[..equals].trim_ascii_end().strip_suffix(b")")?;
    Some((arguments, &rest[equals + 2..]))
}

/// The process or thread, and what follows it.
fn task(text: &[u8]) -> (Option<u64>, &[u8]) {
    let found = match text.strip_prefix(b"[pid ") {
        Some(rest) => digits(rest.trim_ascii_start()).and_then(|(pid, rest)| Some((pid, rest.strip_prefix(b"] ")?))),
        None => digits(text).filter(|(_, rest)| rest.starts_with(b" ")),
    };
    match found {
        Some((pid, rest)) => (Some(pid), rest.trim_ascii_start()),
        None => (None, text),
    }
}

/// A time of `-ttt`, in nanoseconds since 1970, and what follows it.
fn time(text: &[u8]) -> Option<(i128, &[u8])> {
    let (seconds, rest) = digits(text)?;
    let fraction = rest.strip_prefix(b".")?;
    let (value, after) = digits(fraction)?;
    let length = fraction.len() - after.len();
    let after = after.strip_prefix(b" ").filter(|_| (1..=9).contains(&length))?;
    Some((i128::from(seconds) * 1_000_000_000 + i128::from(value) * 10_i128.pow(9 - length as u32), after))
}

fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    Some((str::from_utf8(&text[..length]).ok()?.parse().ok()?, &text[length..]))
}

/// What follows the task and the time of other options, if they are there.
pub(super) fn without_time(text: &[u8]) -> Option<&[u8]> {
    let (_, rest) = task(text);
    let length = rest.iter().position(|byte| !byte.is_ascii_digit() && !b":.".contains(byte))?;
    Some(rest[length..].trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn what(text: &str) -> What<'_> {
        Line::parse(text.as_bytes()).expect("a line").what
    }

    #[test]
    fn tasks_and_times_are_read() {
        let read = |text: &'static str| Line::parse(text.as_bytes()).map(|line| (line.task, line.wall_ns));
        assert_eq!(read("12 1.000002 vfork( <unfinished ...>"), Some((Some(12), 1_000_002_000)));
        assert_eq!(read("[pid   12] 1.5 vfork( <unfinished ...>"), Some((Some(12), 1_500_000_000)));
        assert_eq!(read("1.123456789 fork() = 3"), Some((None, 1_123_456_789)));
        for text in ["", "12", "12 ", "12 1", "12 1. x", "12 1.1234567890 x", "[pid 12 1.5 x", "10:20:30.5 fork() = 1"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn calls_return_now_or_later() {
        let (name, arguments) = (&b"chdir"[..], &b"\"a = b) = c\""[..]);
        let call = What::Call { name, arguments, result: b"0 <0.1>" };
        assert_eq!(what("1.5 chdir(\"a = b) = c\")    = 0 <0.1>"), call);
        let unfinished = What::Unfinished { name: b"clone3", arguments: b"{}, 88 " };
        assert_eq!(what("1.5 clone3({}, 88 <unfinished ...>"), unfinished);
        assert_eq!(what("1.5 clone3({}, 88 strace: Process 7 attached"), unfinished);
        assert_eq!(what("1.5 clone3({}, 88 <pid changed to 2 ...>"), unfinished);
        let resumed = What::Resumed { name: b"wait4", arguments: b"NULL, 0", result: b"-1 ECHILD (No child)" };
        assert_eq!(what("1.5 <... wait4 resumed>NULL, 0) = -1 ECHILD (No child)"), resumed);
        assert_eq!(what("1.5 +++ exited with 0 +++"), What::Event(b"exited with 0"));
        assert_eq!(what("1.5 --- SIGCHLD {si_signo=SIGCHLD} ---"), What::Signal);
        for other in ["1.5 ", "1.5 x", "1.5 x(", "1.5 (x) = 1", "1.5 <... x", "1.5 <... x y", "1.5 x() 1"] {
            assert_eq!(what(other), What::Other, "{other}");
        }
    }

    #[test]
    fn lines_go_on_after_a_message() {
        let mut reader = LineReader::default();
        let mut read = |text: &'static str| reader.read(text.as_bytes());
        assert_eq!(read(") = 0"), None);
        let broken = read("[pid 7] 1.5 chdir(\"a\"strace: Process 8 attached").expect("a line");
        assert_eq!(broken.what, What::Unfinished { name: b"chdir", arguments: b"\"a\"" });
        let what = What::Resumed { name: b"", arguments: b"", result: b"0" };
        assert_eq!(read(") = 0"), Some(Line { what, ..broken }));
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
