//! How to record.

use std::borrow::Cow;
use std::time::Duration;

use regex::Regex;

/// How to record.
#[derive(Debug, Clone)]
pub struct Options {
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
        Options { redact: Vec::new(), arguments: true, memory: true, interval, wait_all: false }
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
