//! The words and flags of a question, as its command reads them.

use crate::error::QueryError;
use crate::flags::QuestionFlags;
use crate::language::line;

/// The words and flags of a question.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// The words after the verb.
    words: Vec<String>,
    /// The words still have their quotes: those of a shell have lost them.
    quoted: bool,
    /// The flags beside them.
    pub flags: QuestionFlags,
}

impl Arguments {
    /// The words after the verb, with the flags beside them.
    pub(crate) fn new(words: &[String], quoted: bool, flags: QuestionFlags) -> Self {
        Arguments { words: words.to_vec(), quoted, flags }
    }

    /// The words of a part of a line.
    ///
    /// # Errors
    /// A quote that does not end.
    pub(crate) fn of_text(text: &str) -> Result<Self, QueryError> {
        Ok(Arguments { words: line::words(text)?, quoted: true, ..Arguments::default() })
    }

    /// The same with the words of one that a shell was given in quotes.
    pub(crate) fn divided(&self) -> Self {
        match &self.words[..] {
            [word] if !self.quoted && word.contains(char::is_whitespace) => match line::words(word) {
                Ok(words) => Arguments { words, quoted: true, ..self.clone() },
                Err(_) => self.clone(),
            },
            _ => self.clone(),
        }
    }

    /// The same with these of its words.
    pub(crate) fn only(&self, kept: &[usize]) -> Self {
        Arguments { words: kept.iter().map(|&at| self.words[at].clone()).collect(), ..self.clone() }
    }

    /// All words as they were typed, as one text.
    pub(crate) fn text(&self) -> String {
        self.expression(0)
    }

    /// The words as assertions: from a shell, and in single quotes, each of them; else all as one.
    pub(crate) fn assertions(&self) -> Vec<String> {
        match &self.words[..] {
            [] => Vec::new(),
            words if !self.quoted || words.iter().all(|word| word.starts_with('\'')) => self.words(),
            words => vec![words.join(" ")],
        }
    }

    /// Returns whether a word ends with a quote, so that none of its characters is an operator.
    pub(crate) fn ends_quoted(&self, at: usize) -> bool {
        self.quoted && self.words[at].ends_with(['"', '\'', '/'])
    }

    /// A word as it was typed.
    pub(crate) fn typed(&self, at: usize) -> &str {
        &self.words[at]
    }

    /// The words, without quotes.
    pub(crate) fn words(&self) -> Vec<String> {
        let plain = |word: &String| if self.quoted { line::unquoted(word) } else { word.clone() };
        self.words.iter().map(plain).collect()
    }

    /// The words from number `first` on as an expression, whose quotes mean something. Quotes around
    /// the whole of it, as a shell needs them, are taken off.
    pub(crate) fn expression(&self, first: usize) -> String {
        match &self.words[first.min(self.words.len())..] {
            [whole] if self.quoted && whole.starts_with('\'') => line::unquoted(whole),
            words => words.join(" "),
        }
    }
}
