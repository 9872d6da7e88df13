//! How to record.

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
    pub(crate) fn redacted(&self, text: &str) -> String {
        self.redact.iter().fold(text.to_owned(), |text, expression| expression.replace_all(&text, "…").into_owned())
    }

    /// Arguments without what has to be left out.
    pub(crate) fn arguments_of(&self, words: Vec<String>) -> Vec<String> {
        let kept = if self.arguments { words.len() } else { 1 };
        words.iter().take(kept).map(|word| self.redacted(word)).collect()
    }
}
