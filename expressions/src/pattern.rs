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

    /// Whether the comparison holds for a text of which only the beginning is known; `None` if the rest decides.
    #[must_use]
    pub fn holds_for(&self, beginning: &Beginning<'_>) -> Option<bool> {
        self.pattern.matches_beginning(beginning).map(|matches| matches != self.negated)
    }
}

/// The beginning of a text whose rest is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beginning<'t> {
    /// The beginning.
    pub text: &'t str,
    /// The least and the greatest number of characters that the whole text may have.
    pub characters: (u64, u64),
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

    /// Whether a text of which only the beginning is known is equal, or matches; `None` if the rest decides.
    fn matches_beginning(&self, beginning: &Beginning<'_>) -> Option<bool> {
        let (least, most) = beginning.characters;
        match self {
            Pattern::Exact(exact) | Pattern::Word(exact) => {
                let may_be_it = || (least..=most).contains(&(exact.chars().count() as u64));
                (!exact.starts_with(beginning.text) || !may_be_it()).then_some(false)
            }
            // What follows a match that ends before the last known character does not matter.
            Pattern::Regex(regex) => match regex.shortest_match(beginning.text) {
                Some(end) if end < beginning.text.len() => Some(true),
                _ => {
                    let start = literal_start(regex.as_str())?;
                    let differs = !start.starts_with(beginning.text) && !beginning.text.starts_with(&start);
                    differs.then_some(false)
                }
            },
            Pattern::Length(range) => range.of_all(least, most),
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

/// Translates a glob pattern into a regular expression: `*` matches any text, `?` any character. Any end may follow a
/// `*` at its end.
fn glob(pattern: &str) -> String {
    let start = pattern.trim_end_matches('*');
    let escaped = regex::escape(start).replace(r"\*", ".*").replace(r"\?", ".");
    let end = if start.len() == pattern.len() { "$" } else { "" };
    format!("(?s)^{escaped}{end}")
}

/// The text that every match begins with, at the start of the whole text; `None` if the regular expression does not begin
/// with `^` and such a text, or has alternatives or flags.
fn literal_start(source: &str) -> Option<String> {
    let source = source.strip_prefix("(?s)").unwrap_or(source);
    let mut rest = source.strip_prefix('^').filter(|rest| !rest.contains('|') && !rest.contains("(?"))?.chars();
    let mut start = String::new();
    while let Some(character) = rest.next() {
        let literal = match character {
            '\\' => rest.next().filter(char::is_ascii_punctuation),
            _ => Some(character).filter(|one| !".+*?()[]{}^$".contains(*one)),
        };
        let Some(literal) = literal else { break };
        if rest.as_str().starts_with(['*', '?', '{']) {
            break;
        }
        start.push(literal);
    }
    (!start.is_empty()).then_some(start)
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
    fn the_beginning_of_a_text_decides_or_does_not() {
        let of = |pattern: Pattern| {
            TextTest { pattern, negated: false }.holds_for(&Beginning { text: "abcdef", characters: (10, 20) })
        };
        for (exact, expected) in [
            ("abcdef", Some(false)),
            ("abcdefghij", None),
            ("abcdefghijklmnopqrstuvw", Some(false)),
            ("abcdefg", Some(false)),
            ("xbcdefghij", Some(false)),
        ] {
            assert_eq!(of(Pattern::Exact(exact.to_owned())), expected, "{exact}");
        }
        for (regex, expected) in [
            ("bcd", Some(true)),
            ("^abc", Some(true)),
            ("f", None),
            ("abcdef$", None),
            ("^ab.*$", None),
            ("^xb", Some(false)),
            ("^ax*b", Some(true)),
            (r"^x\.b", Some(false)),
            ("^x?q", None),
            ("^x|q", None),
            ("(?i)^X", None),
            ("q", None),
        ] {
            assert_eq!(of(Pattern::regex(regex).unwrap()), expected, "{regex}");
        }
        for (glob, expected) in
            [("abc*", Some(true)), ("x*", Some(false)), ("*q*", None), ("ab*f", None), ("*c*", Some(true))]
        {
            assert_eq!(of(Pattern::glob(glob).unwrap()), expected, "{glob}");
        }
        for (low, high, expected) in
            [(0, 9, Some(false)), (0, 10, None), (5, 20, Some(true)), (15, 30, None), (21, 30, Some(false))]
        {
            assert_eq!(of(Pattern::Length(Range { low, high, negated: false })), expected, "{low}..{high}");
        }
        assert_eq!(of(Pattern::Length(Range { low: 0, high: 5, negated: true })), Some(true));
    }

    #[test]
    fn a_missing_text_equals_none() {
        let test = |negated| TextTest { pattern: Pattern::glob("*").unwrap(), negated };
        assert!(test(false).holds(Some("")) && !test(false).holds(None));
        assert!(!test(true).holds(Some("")) && test(true).holds(None));
    }
}
