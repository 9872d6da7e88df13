//! Options of a recording.

use std::borrow::Cow;
use std::time::Duration;

use regex::Regex;

/// The mechanism that reports processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Via {
    /// `Notify` if the system supports it and nothing else uses it; otherwise `Ptrace`.
    #[default]
    Auto,
    /// A seccomp filter, whose calls wait until the recorder has seen them.
    Notify,
    /// ptrace, which stops processes at events.
    Ptrace,
}

impl Via {
    /// The mechanism of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Via::Auto, Via::Notify, Via::Ptrace].into_iter().find(|via| via.name() == name)
    }

    /// The name of the mechanism.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Via::Auto => "auto",
            Via::Notify => "notify",
            Via::Ptrace => "ptrace",
        }
    }
}

/// Options of a recording.
#[derive(Debug, Clone)]
pub struct Options {
    /// The mechanism that reports processes.
    pub via: Via,
    /// Matches of these in texts of the recording are replaced by `…`.
    pub redact: Vec<Regex>,
    /// Records all arguments; otherwise only the first one, the name of the program.
    pub arguments: bool,
    /// Samples the memory of processes.
    pub memory: bool,
    /// Shortest time between two samples.
    pub interval: Duration,
    /// Records until all processes have ended, even those that outlive the command.
    pub wait_all: bool,
}

impl Default for Options {
    fn default() -> Self {
        let interval = Duration::from_millis(50);
        Options { via: Via::Auto, redact: Vec::new(), arguments: true, memory: true, interval, wait_all: false }
    }
}

impl Options {
    /// A text with the matches of `redact` replaced.
    pub(crate) fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact.iter().fold(Cow::Borrowed(text), |text, expression| {
            if expression.is_match(&text) { expression.replace_all(&text, "…").into_owned().into() } else { text }
        })
    }

    /// The arguments to record, redacted. Each of `words` ends with a zero.
    pub(crate) fn arguments_of<'t>(&self, words: &'t str) -> Vec<Cow<'t, str>> {
        let kept = if self.arguments { usize::MAX } else { 1 };
        words.split_terminator('\0').take(kept).map(|word| self.redacted(word)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_left_out_of_each_word() {
        let redact = vec![Regex::new("to.en").unwrap(), Regex::new("x+").unwrap()];
        let options = Options { redact, ..Options::default() };
        assert_eq!(options.arguments_of("a\0\0--token=xx\0"), ["a", "", "--…=…"]);
        let options = Options { arguments: false, ..options };
        assert_eq!(options.arguments_of("cc\0-c\0"), ["cc"]);
        assert_eq!(options.arguments_of(""), [""; 0]);
    }
}
