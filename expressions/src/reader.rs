//! Statements that contain expressions.

use std::ops::Range;

use crate::error::ExpressionError;
use crate::lexer::{Dialect, Token, TokenKind, next};

/// Reads a statement from left to right: `count(size > 1M) <= baseline + 10% over 3..10 # a comment`.
///
/// Words end at blanks, quotes, parentheses, `#` and the signs `= == != ≠ < <= > >= + - * ,`.
#[derive(Debug, Clone)]
pub struct Reader<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Reader<'t> {
    /// A reader at the start of a text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Reader { text, position: 0 }
    }

    /// The position of what comes next, in bytes.
    #[must_use]
    pub fn position(&self) -> usize {
        self.text.len() - self.text[self.position..].trim_start().len()
    }

    /// Whether nothing but a comment is left.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.clone().line().is_empty()
    }

    /// Reads everything up to a comment or the end.
    pub fn line(&mut self) -> &'t str {
        let rest = &self.text[self.position()..];
        let line = rest.split('#').next().unwrap_or_default().trim_end();
        self.position = self.position() + line.len();
        line
    }

    /// Reads a word. It is empty if something else comes next.
    pub fn word(&mut self) -> &'t str {
        match self.next(Dialect::Statement) {
            Ok(Some((Token { kind: TokenKind::Word(_), position }, end))) => {
                self.position = end;
                &self.text[position..end]
            }
            _ => "",
        }
    }

    /// Reads this word, if it comes next.
    pub fn is_word(&mut self, word: &str) -> bool {
        let before = self.position;
        let is_next = self.word() == word;
        self.position = if is_next { self.position } else { before };
        is_next
    }

    /// Reads a text in quotes, if that comes next. Returns what it says.
    pub fn quoted(&mut self) -> Option<String> {
        let Ok(Some((Token { kind: TokenKind::Quoted(content), .. }, end))) = self.next(Dialect::Statement) else {
            return None;
        };
        self.position = end;
        Some(content)
    }

    /// Reads a sign, if `meaning` has one for it. Returns the meaning.
    pub fn sign<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> Option<T> {
        let Ok(Some((Token { kind: TokenKind::Operator(sign), .. }, end))) = self.next(Dialect::Statement) else {
            return None;
        };
        let meaning = meaning(sign)?;
        self.position = end;
        Some(meaning)
    }

    /// Reads an expression in parentheses. Returns where it stands between them.
    ///
    /// # Errors
    /// The next token is not `(`, or a parenthesis or a quote is never closed.
    pub fn expression(&mut self) -> Result<Range<usize>, ExpressionError> {
        let mut ends = self.enclosed(Dialect::Expression)?.into_iter();
        Ok(ends.next().unwrap_or_default())
    }

    /// Reads names in parentheses, separated by `,`. A name that contains one of `( ) ,` is in quotes. Returns those that
    /// are not empty.
    ///
    /// # Errors
    /// As for [`expression`](Self::expression).
    pub fn names(&mut self) -> Result<Vec<String>, ExpressionError> {
        let parts = self.enclosed(Dialect::Statement)?.into_iter();
        let names = parts.map(|part| name(self.text[part].trim()));
        Ok(names.filter(|name| !name.is_empty()).collect())
    }

    /// Reads what is in parentheses. Returns the parts between `,`, which has no meaning in expressions.
    fn enclosed(&mut self, dialect: Dialect) -> Result<Vec<Range<usize>>, ExpressionError> {
        let open = self.position();
        let mut depth = 0_usize;
        let mut parts = Vec::new();
        let mut start = open + 1;
        while let Some((Token { kind, position }, end)) = self.next(dialect)? {
            match kind {
                TokenKind::Open => depth += 1,
                _ if depth == 0 => break,
                TokenKind::Close => depth -= 1,
                TokenKind::Operator(",") => {
                    parts.push(start..position);
                    start = end;
                }
                _ => {}
            }
            self.position = end;
            if depth == 0 {
                parts.push(start..position);
                return Ok(parts);
            }
        }
        Err(match depth {
            0 => ExpressionError::new(open, "expected `(` here"),
            _ => ExpressionError::new(open, "the ( that begins here is never closed"),
        })
    }

    fn next(&self, dialect: Dialect) -> Result<Option<(Token, usize)>, ExpressionError> {
        next(self.text, self.position, dialect)
    }
}

/// The content of a name that is in quotes, otherwise the name as it is.
fn name(text: &str) -> String {
    match next(text, 0, Dialect::Statement) {
        Ok(Some((Token { kind: TokenKind::Quoted(content), .. }, end))) if end == text.len() => content,
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_contain_expressions() {
        let text = r#"count(type ~ /\(/ and ("a)" < 'b,')) <=baseline-10%#it's"#;
        let mut reader = Reader::new(text);
        assert_eq!((reader.word(), reader.word(), reader.position()), ("count", "", 5));
        assert_eq!(&text[reader.expression().unwrap()], r#"type ~ /\(/ and ("a)" < 'b,')"#);
        assert_eq!(reader.sign(|sign| (sign == "<").then_some(())), None);
        assert_eq!(reader.sign(|sign| Some(sign.to_owned())).as_deref(), Some("<="));
        assert!(!reader.is_word("base") && reader.is_word("baseline") && !reader.is_at_end());
        assert_eq!(reader.clone().line(), "-10%");
        assert_eq!(reader.sign(|sign| Some(sign.to_owned())).as_deref(), Some("-"));
        assert_eq!((reader.word(), reader.is_at_end(), reader.position()), ("10%", true, text.len() - 5));
    }

    #[test]
    fn names_with_commas_are_in_quotes() {
        let names = |text: &str| Reader::new(text).names().map_err(|error| error.position);
        assert_eq!(names("(wall, sort -n /tmp (x), )").unwrap(), ["wall", "sort -n /tmp (x)"]);
        assert_eq!(names(r#" ("a (1), \"b\"",grep '#' "x") < 5"#).unwrap(), ["a (1), \"b\"", "grep '#' \"x\""]);
        assert!(names("()").unwrap().is_empty());
        assert_eq!([names("wall"), names(" (wall"), names("(\"wall)")], [Err(0), Err(1), Err(1)]);
    }
}
