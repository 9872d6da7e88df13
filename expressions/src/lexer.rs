//! Splits the text of an expression into tokens.

use std::borrow::Cow;

use crate::error::ExpressionError;

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
    /// `."content type".name`: a word of which a part is in quotes, as the names in it.
    Path(Vec<String>),
    /// `$name`, without the `$`.
    Set(String),
    /// `@123`.
    Object(u32),
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
            if rest[..length].ends_with('.') && first == '.' && rest[length..].starts_with(['"', '\'']) {
                return path(rest, position);
            }
            let kind = word(&rest[..length]).map_err(|message| ExpressionError::new(position, message))?;
            Ok((kind, length))
        }
    }
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || "()\"'=!~<>&|".contains(c)
}

/// The content of a text with delimiters, and its length with them.
fn closed(rest: &str, delimiter: char, position: usize) -> Result<(String, usize), ExpressionError> {
    let never = || ExpressionError::new(position, format!("the {delimiter} that begins here is never closed"));
    delimited(rest, delimiter).ok_or_else(never)
}

/// A path with names in quotes, from its first `.` on; and its length.
fn path(text: &str, position: usize) -> Result<(TokenKind, usize), ExpressionError> {
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(rest) = text[at..].strip_prefix('.') {
        let (name, length) = field_name(rest, ends_word)
            .ok_or_else(|| ExpressionError::new(position + at + 1, "the quote that begins here is never closed"))?;
        names.push(name);
        at += 1 + length;
    }
    Ok((TokenKind::Path(names), at))
}

/// The name of a field at the start of a text, and its length there; `None` if it is in quotes that do not end.
fn field_name(text: &str, ends: impl Fn(char) -> bool) -> Option<(String, usize)> {
    if let Some(quote @ ('"' | '\'')) = text.chars().next() {
        return delimited(text, quote);
    }
    let length = text.find(|c| c == '.' || ends(c)).unwrap_or(text.len());
    Some((text[..length].to_owned(), length))
}

/// The name of a field as [`field_path`] and expressions read it: in quotes if it needs them.
#[must_use]
pub fn quoted_name(name: &str) -> Cow<'_, str> {
    if !name.is_empty() && !name.contains(|c| c == '.' || c == ',' || ends_word(c)) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// The names in `.owner."full name"`, if a text consists of nothing else. Names with a `.` need the quotes.
#[must_use]
pub fn field_path(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, length) = field_name(rest.strip_prefix('.')?, |_| false)?;
        if name.is_empty() {
            return None;
        }
        names.push(name);
        rest = &rest[1 + length..];
    }
    (!names.is_empty()).then_some(names)
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
    if let Some(number) = word.strip_prefix('@') {
        let object = number.parse().ok().filter(|_| is_number(number)).map(TokenKind::Object);
        return object.ok_or("objects are numbered from @0 on, up to 32 bits");
    }
    if let Some(number) = word.strip_prefix('%') {
        let row = number.parse().ok().filter(|_| is_number(number)).map(TokenKind::Row);
        return row.ok_or("rows of the last table are numbered from %1 on");
    }
    Ok(TokenKind::Word(word.to_owned()))
}

/// The content of a delimited text, in which a backslash escapes the delimiter; and the length including delimiters.
fn delimited(text: &str, delimiter: char) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((position, character)) = characters.next() {
        if character == delimiter {
            return Some((content, position + 1));
        }
        if character == '\\' {
            let (_, next) = characters.next()?;
            // In a regular expression other escapes keep their meaning.
            if next != delimiter && (delimiter == '/' || next != '\\') {
                content.push('\\');
            }
            content.push(next);
        } else {
            content.push(character);
        }
    }
    None
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
        let path = |names: &[&str]| TokenKind::Path(names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(kinds(r#"."a b".c=1"#), [path(&["a b", "c"]), operator("="), word("1")]);
        assert_eq!(kinds(r#".x.'a."b'<.5"#), [path(&["x", "a.\"b"]), operator("<"), word(".5")]);
        assert!(tokens(r#"."a b"#).is_err());
        assert_eq!(
            kinds(r#"~"a\"b"/c\/\d/"#),
            [operator("~"), TokenKind::Quoted("a\"b".into()), TokenKind::Regex(r"c/\d".into())]
        );
    }

    #[test]
    fn names_in_a_path_may_have_quotes() {
        let path = |text: &str| field_path(text).map(|names| names.join("|"));
        assert_eq!(path(".owner.name").as_deref(), Some("owner|name"));
        assert_eq!(path(r#".x."a.b".'c "d"'"#).as_deref(), Some(r#"x|a.b|c "d""#));
        assert_eq!(path(".content type").as_deref(), Some("content type"));
        for name in ["plain", "größe", "this$0", "a.b", "a b", "a,b", r#"a\"b\\"'"#, "<x>", "\t"] {
            assert_eq!(path(&format!(".{}.x", quoted_name(name))), Some(format!("{name}|x")));
            let [token] = &tokens(&format!(".{}", quoted_name(name))).unwrap()[..] else { panic!("{name}") };
            assert!(
                [TokenKind::Word(format!(".{name}")), TokenKind::Path(vec![name.to_owned()])].contains(&token.kind)
            );
        }
        for text in ["", "x", ".", "..x", ".x.", r#"."a"#, r#"."a"b"#] {
            assert_eq!(path(text), None, "{text}");
        }
    }
}
