//! Splits the text of an expression into tokens.

use crate::delimited::{delimited, ends_word};
use crate::error::ExpressionError;
use crate::path::{self, PathStep};

/// A token and its position.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// The position in the text, in bytes.
    pub(crate) position: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Attributes, values, and `and or not in -`.
    Word(String),
    Quoted(String),
    Regex(String),
    /// `."content type".name` or `.attributes["tenant"]`: a path with quotes or keys.
    Path(Vec<PathStep>),
    /// `$name`, without the `$`.
    Set(String),
    /// `@123`.
    Object(u32),
    /// `2:@123`: the snapshot, and the object there.
    ObjectOf(u32, u32),
    /// `%3`.
    Row(usize),
    /// One of [`OPERATORS`].
    Operator(&'static str),
    Open,
    Close,
}

/// The operators of expressions, longer ones first.
const OPERATORS: [&str; 12] = ["!=", "!~", "<=", ">=", "==", "=", "~", "<", ">", "&", "|", "!"];

/// The signs of statements, longer ones first.
const SIGNS: [&str; 12] = ["!=", "<=", ">=", "==", "≠", "=", "<", ">", "+", "-", "*", ","];

/// Which characters have a meaning of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// In an expression: operators, and the first characters of regular expressions, sets, objects and rows.
    Expression,
    /// In a [statement](crate::Reader) outside of its expressions: signs and `#`.
    Statement,
}

impl Dialect {
    fn operators(self) -> &'static [&'static str] {
        match self {
            Dialect::Expression => &OPERATORS,
            Dialect::Statement => &SIGNS,
        }
    }

    fn ends_word(self, c: char) -> bool {
        match self {
            Dialect::Expression => ends_word(c),
            Dialect::Statement => c.is_whitespace() || "()\"'=<>≠+-*,#".contains(c),
        }
    }
}

/// Splits a whole expression.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some((token, end)) = next(text, position, Dialect::Expression)? {
        tokens.push(token);
        position = end;
    }
    Ok(tokens)
}

/// The first token at or after `position`, and the position where it ends; `None` if only blanks are left.
pub(crate) fn next(text: &str, position: usize, dialect: Dialect) -> Result<Option<(Token, usize)>, ExpressionError> {
    let rest = text[position..].trim_start();
    let position = text.len() - rest.len();
    let Some(first) = rest.chars().next() else { return Ok(None) };
    let (kind, length) = token(rest, first, position, dialect)?;
    Ok(Some((Token { kind, position }, position + length)))
}

/// The token at the start of `rest`, and its length.
fn token(rest: &str, first: char, position: usize, dialect: Dialect) -> Result<(TokenKind, usize), ExpressionError> {
    if let Some(operator) = dialect.operators().iter().find(|operator| rest.starts_with(**operator)) {
        return Ok((TokenKind::Operator(operator), operator.len()));
    }
    match first {
        '(' => Ok((TokenKind::Open, 1)),
        ')' => Ok((TokenKind::Close, 1)),
        '"' | '\'' => closed(rest, first, position).map(|(text, length)| (TokenKind::Quoted(text), length)),
        '/' if dialect == Dialect::Expression => {
            closed(rest, first, position).map(|(source, length)| (TokenKind::Regex(source), length))
        }
        _ if dialect == Dialect::Statement => {
            // `#` is a word of its own.
            let ends = |c| first == '#' || dialect.ends_word(c);
            let begins = first.len_utf8();
            let length = rest[begins..].find(ends).map_or(rest.len(), |length| begins + length);
            Ok((TokenKind::Word(rest[..length].to_owned()), length))
        }
        _ => {
            // The first character does not end a word: it was checked above.
            let length = rest.find(ends_word).unwrap_or(rest.len());
            let has_quotes = rest[..length].ends_with('.') && rest[length..].starts_with(['"', '\'']);
            if first == '.' && (has_quotes || rest[..length].contains('[')) {
                let placed = |error: ExpressionError| ExpressionError::new(position + error.position, error.message);
                return path::read(rest, ends_word).map(|(steps, end)| (TokenKind::Path(steps), end)).map_err(placed);
            }
            let kind = word(&rest[..length]).map_err(|message| ExpressionError::new(position, message))?;
            Ok((kind, length))
        }
    }
}

/// The content of a text with delimiters, and its length with them.
fn closed(rest: &str, delimiter: char, position: usize) -> Result<(String, usize), ExpressionError> {
    let never = || ExpressionError::new(position, format!("the {delimiter} that begins here is never closed"));
    delimited(rest, delimiter).ok_or_else(never)
}

/// The kind of a word, by its first character.
fn word(word: &str) -> Result<TokenKind, &'static str> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    // Parsing a number would accept a sign.
    let is_number = |number: &str| number.starts_with(|c: char| c.is_ascii_digit());
    if let Some(name) = word.strip_prefix('$') {
        let named = is_name(name).then(|| TokenKind::Set(name.to_owned()));
        return named.ok_or("sets have names of letters, digits and `_`, like $large");
    }
    const OBJECTS: &str = "objects are numbered from @0 on, up to 32 bits";
    if let Some(number) = word.strip_prefix('@') {
        let object = number.parse().ok().filter(|_| is_number(number)).map(TokenKind::Object);
        return object.ok_or(OBJECTS);
    }
    if let Some((snapshot, number)) = word.split_once(":@").filter(|(snapshot, _)| is_number(snapshot)) {
        let both = snapshot.parse().ok().zip(number.parse().ok().filter(|_| is_number(number)));
        return both.map(|(snapshot, number)| TokenKind::ObjectOf(snapshot, number)).ok_or(OBJECTS);
    }
    if let Some(number) = word.strip_prefix('%') {
        let row = number.parse().ok().filter(|_| is_number(number)).map(TokenKind::Row);
        return row.ok_or("rows of the last table are numbered from %1 on");
    }
    Ok(TokenKind::Word(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_end_words_and_a_dash_does_not() {
        let kinds = |text| tokens(text).unwrap().into_iter().map(|token| token.kind).collect::<Vec<_>>();
        let word = |text: &str| TokenKind::Word(text.to_owned());
        let operator = TokenKind::Operator;
        assert_eq!(kinds("$a&!@3"), [TokenKind::Set("a".into()), operator("&"), operator("!"), TokenKind::Object(3)]);
        assert_eq!(kinds("a-b!=c - %4"), [word("a-b"), operator("!="), word("c"), word("-"), TokenKind::Row(4)]);
        let path = |text| TokenKind::Path(crate::parse_path(text).unwrap());
        assert_eq!(kinds(r#"."a b".c=1"#), [path(r#"."a b".c"#), operator("="), word("1")]);
        assert_eq!(kinds(r#".x.'a."b'<.5"#), [path(r#".x."a.\"b""#), operator("<"), word(".5")]);
        assert_eq!(kinds(r#"(.m["a b"].x[4]<[B)"#)[1..4], [path(r#".m["a b"].x[4]"#), operator("<"), word("[B")]);
        assert!(tokens(r#"."a b"#).is_err());
        assert_eq!(
            kinds(r#"~"a\"b"/c\/\d/"#),
            [operator("~"), TokenKind::Quoted("a\"b".into()), TokenKind::Regex(r"c/\d".into())]
        );
    }
}
