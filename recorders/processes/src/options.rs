//! How to record.

use std::borrow::Cow;
use std::time::Duration;

use regex::Regex;

/// How to hear of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Via {
    /// By calls that wait until they were seen, if the system has that and nothing else uses it; otherwise by ptrace.
    #[default]
    Auto,
    /// By calls that wait until they were seen.
    Notify,
    /// By stops when something happens.
    Ptrace,
}

impl Via {
    /// The way of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Via::Auto, Via::Notify, Via::Ptrace].into_iter().find(|via| via.name() == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Via::Auto => "auto",
            Via::Notify => "notify",
            Via::Ptrace => "ptrace",
        }
    }
}

/// How to record.
#[derive(Debug, Clone)]
pub struct Options {
    /// How to hear of processes.
    pub via: Via,
    /// What these match in arguments is replaced by `…`.
    pub redact: Vec<Regex>,
    /// Arguments are recorded; otherwise only the first word of each, the name of the program.
    pub arguments: bool,
    /// The memory of processes is sampled.
    pub memory: bool,
    /// How long to wait between two samples at least.
    pub interval: Duration,
    /// Recording goes on until all processes have ended, also those that outlive the command.
    pub wait_all: bool,
}

impl Default for Options {
    fn default() -> Self {
        let interval = Duration::from_millis(50);
        Options { via: Via::Auto, redact: Vec::new(), arguments: true, memory: true, interval, wait_all: false }
    }
}

impl Options {
    /// A text without what has to be left out.
    pub(crate) fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact.iter().fold(Cow::Borrowed(text), |text, expression| {
            if expression.is_match(&text) { expression.replace_all(&text, "…").into_owned().into() } else { text }
        })
    }

    /// Arguments without what has to be left out. `words` have a zero after each.
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
