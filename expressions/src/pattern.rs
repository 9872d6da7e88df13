//! Tests of texts: equality, glob patterns and regular expressions.

use regex::{Regex, RegexBuilder};

use crate::error::ExpressionError;
use crate::range::Range;

/// The maximum memory of a compiled regular expression, in bytes: `(.{1000}){1000}` must not fill it.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// A comparison of a text.
#[derive(Debug, Clone)]
pub struct TextTest {
    /// The pattern that it is compared with.
    pub pattern: Pattern,
    /// Whether the comparison holds for all other texts.
    pub negated: bool,
}

impl TextTest {
    /// Whether the comparison holds for a text. A missing text equals no text and matches no pattern.
    #[must_use]
    pub fn holds(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.pattern.matches(text)) != self.negated
    }
}

/// A pattern for texts.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// This text.
    Exact(String),
    /// The text of a glob pattern without `*` and `?`: this one.
    Word(String),
    /// Every text that contains a match.
    Regex(Regex),
    /// Every text with this number of characters.
    Length(Range),
}

impl Pattern {
    /// Whether a text is equal, or matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Exact(exact) | Pattern::Word(exact) => text == exact,
            Pattern::Regex(regex) => regex.is_match(text),
            Pattern::Length(range) => range.contains(text.chars().count() as u64),
        }
    }

    /// The regular expression of this source; the error is in words.
    pub(crate) fn regex(source: &str) -> Result<Self, String> {
        compiled(source).map(Pattern::Regex)
    }

    /// The glob pattern.
    pub(crate) fn glob(pattern: &str) -> Result<Self, String> {
        if pattern.contains(['*', '?']) {
            Pattern::regex(&glob(pattern))
        } else {
            Ok(Pattern::Word(pattern.to_owned()))
        }
    }
}

fn compiled(source: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(source).size_limit(MAX_REGEX_BYTES).build();
    built.map_err(|cause| format!("not a regular expression: {}", last_line(&cause)))
}

fn last_line(cause: &regex::Error) -> String {
    cause.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Compiles a glob pattern, or a regular expression between slashes, as people type names.
///
/// # Errors
/// [`ExpressionError`] if the regular expression is not valid.
pub fn name_pattern(text: &str) -> Result<Regex, ExpressionError> {
    let between = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let source = between.map_or_else(|| glob(text), str::to_owned);
    compiled(&source).map_err(|message| ExpressionError::new(0, message))
}

/// Translates a glob pattern into a regular expression: `*` matches any text, `?` any character.
fn glob(pattern: &str) -> String {
    let escaped = regex::escape(pattern).replace(r"\*", ".*").replace(r"\?", ".");
    format!("(?s)^{escaped}$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_texts() {
        let regex = Regex::new(&glob("BOOT*?rray")).unwrap();
        assert!(regex.is_match("BOOTArray"));
        assert!(!regex.is_match("a BOOTArray"));
    }

    #[test]
    fn a_missing_text_equals_none() {
        let test = |negated| TextTest { pattern: Pattern::glob("*").unwrap(), negated };
        assert!(test(false).holds(Some("")) && !test(false).holds(None));
        assert!(!test(true).holds(Some("")) && test(true).holds(None));
    }
}
