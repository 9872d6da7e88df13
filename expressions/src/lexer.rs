//! Splits the text of an expression into tokens.

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

/// The operators, longer ones first.
const OPERATORS: [&str; 12] = ["!=", "!~", "<=", ">=", "==", "=", "~", "<", ">", "&", "|", "!"];

/// Splits the whole text.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(first) = text[position..].chars().next() {
        if first.is_whitespace() {
            position += first.len_utf8();
            continue;
        }
        let (kind, length) = token(&text[position..], first, position)?;
        tokens.push(Token { kind, position });
        position += length;
    }
    Ok(tokens)
}

/// The token at the start of `rest`, and its length.
fn token(rest: &str, first: char, position: usize) -> Result<(TokenKind, usize), ExpressionError> {
    if let Some(operator) = OPERATORS.into_iter().find(|operator| rest.starts_with(operator)) {
        return Ok((TokenKind::Operator(operator), operator.len()));
    }
    match first {
        '(' => Ok((TokenKind::Open, 1)),
        ')' => Ok((TokenKind::Close, 1)),
        '"' | '\'' | '/' => {
            let (content, length) = delimited(rest, first).ok_or_else(|| {
                ExpressionError::new(position, format!("the {first} that begins here is never closed"))
            })?;
            Ok((if first == '/' { TokenKind::Regex(content) } else { TokenKind::Quoted(content) }, length))
        }
        _ => {
            let ends = |c: char| c.is_whitespace() || "()\"'=!~<>&|".contains(c);
            // The first character does not end a word: it was checked above.
            let length = rest.find(ends).unwrap_or(rest.len());
            let kind = word(&rest[..length]).map_err(|message| ExpressionError::new(position, message))?;
            Ok((kind, length))
        }
    }
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
        assert_eq!(
            kinds(r#"~"a\"b"/c\/\d/"#),
            [operator("~"), TokenKind::Quoted("a\"b".into()), TokenKind::Regex(r"c/\d".into())]
        );
    }
}
