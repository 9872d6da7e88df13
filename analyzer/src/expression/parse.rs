//! From the text of an expression to its tree.

use regex::RegexBuilder;

use super::{ATTRIBUTES, Comparison, ExpressionError, Node, NumberAttribute, Pattern, TextAttribute, TextComparison};

/// Parentheses and `not` may be nested this deep.
const MAX_DEPTH: usize = 100;
/// A compiled regular expression may take this much memory, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// Reads the whole text; an empty one describes every object.
pub(super) fn parse(text: &str) -> Result<Node, ExpressionError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, end: text.len(), depth: 0, texts: 0 };
    if tokens.is_empty() {
        return Ok(Node::Everything);
    }
    let node = parser.any()?;
    match parser.peek() {
        None => Ok(node),
        Some(token) => Err(error(token.position, "expected `and`, `or` or the end here")),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TokenKind {
    Word(String),
    Quoted(String),
    Regex(String),
    Operator(&'static str),
    Open,
    Close,
}

#[derive(Debug, Clone)]
struct Token {
    kind: TokenKind,
    position: usize,
}

const OPERATORS: [&str; 9] = ["!=", "!~", "<=", ">=", "==", "=", "~", "<", ">"];

fn error(position: usize, message: impl Into<String>) -> ExpressionError {
    ExpressionError { position, message: message.into() }
}

fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(first) = text[position..].chars().next() {
        let rest = &text[position..];
        if first.is_whitespace() {
            position += first.len_utf8();
            continue;
        }
        let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator));
        let (kind, length) = match (first, operator) {
            ('(', _) => (TokenKind::Open, 1),
            (')', _) => (TokenKind::Close, 1),
            ('"' | '\'' | '/', _) => {
                let (content, length) = delimited(rest, first)
                    .ok_or_else(|| error(position, format!("the {first} that begins here is never closed")))?;
                (if first == '/' { TokenKind::Regex(content) } else { TokenKind::Quoted(content) }, length)
            }
            (_, Some(operator)) => (TokenKind::Operator(operator), operator.len()),
            _ => {
                let ends = |c: char| c.is_whitespace() || "()\"'=!~<>".contains(c);
                let length = rest.find(ends).unwrap_or(rest.len()).max(first.len_utf8());
                (TokenKind::Word(rest[..length].to_owned()), length)
            }
        };
        tokens.push(Token { kind, position });
        position += length;
    }
    Ok(tokens)
}

/// The content of a delimited text, in which a backslash makes the delimiter ordinary; and the length
/// of the whole.
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

struct Parser<'t> {
    tokens: &'t [Token],
    next: usize,
    /// Length of the text: where an error is that something is missing.
    end: usize,
    depth: usize,
    /// Text comparisons so far.
    texts: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.next)
    }

    fn take(&mut self, missing: &str) -> Result<&'t Token, ExpressionError> {
        let token = self.peek().ok_or_else(|| error(self.end, format!("expected {missing} here")))?;
        self.next += 1;
        Ok(token)
    }

    fn word(&mut self, word: &str) -> bool {
        let is_next =
            matches!(self.peek(), Some(Token { kind: TokenKind::Word(next), .. }) if next.eq_ignore_ascii_case(word));
        self.next += usize::from(is_next);
        is_next
    }

    fn any(&mut self) -> Result<Node, ExpressionError> {
        let mut nodes = vec![self.all()?];
        while self.word("or") {
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) })
    }

    fn all(&mut self) -> Result<Node, ExpressionError> {
        let mut nodes = vec![self.one()?];
        while self.word("and") {
            nodes.push(self.one()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::All(nodes) })
    }

    fn one(&mut self) -> Result<Node, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let position = self.peek().map_or(self.end, |token| token.position);
            return Err(error(position, format!("nested deeper than {MAX_DEPTH}")));
        }
        let node = self.one_inside();
        self.depth -= 1;
        node
    }

    fn one_inside(&mut self) -> Result<Node, ExpressionError> {
        if self.word("not") {
            return Ok(Node::Not(Box::new(self.one()?)));
        }
        let token = self.take("an attribute such as `type` or `size`")?;
        match &token.kind {
            TokenKind::Open => {
                let node = self.any()?;
                match self.take("`)`")? {
                    Token { kind: TokenKind::Close, .. } => Ok(node),
                    other => Err(error(other.position, "expected `)` here")),
                }
            }
            TokenKind::Word(word) => self.comparison(word, token.position),
            _ => Err(error(token.position, "expected an attribute such as `type` or `size` here")),
        }
    }

    fn comparison(&mut self, attribute: &str, position: usize) -> Result<Node, ExpressionError> {
        let operator_token = self.take("an operator such as `=` or `>`")?;
        let TokenKind::Operator(operator) = operator_token.kind else {
            return Err(error(operator_token.position, "expected an operator such as `=` or `>` here"));
        };
        let value = self.take("a value")?;
        let text = match attribute.to_ascii_lowercase().as_str() {
            "type" | "name" => Some(TextAttribute::Name),
            "kind" => Some(TextAttribute::Kind),
            "layout" | "repr" => Some(TextAttribute::Layout),
            "file" => Some(TextAttribute::File),
            _ => None,
        };
        if let Some(attribute) = text {
            let (pattern, negated) = pattern(operator, operator_token.position, value)?;
            let number = self.texts;
            self.texts += 1;
            return Ok(Node::Text(TextComparison { number, attribute, pattern, negated }));
        }
        let attribute = match attribute.to_ascii_lowercase().as_str() {
            "size" | "shallow" => NumberAttribute::Size,
            "unmanaged" => NumberAttribute::Unmanaged,
            "refs" | "references" => NumberAttribute::References,
            "id" => NumberAttribute::Id,
            _ => {
                let known: Vec<&str> = ATTRIBUTES.iter().map(|(name, _)| *name).collect();
                return Err(error(position, format!("unknown attribute; there are {}", known.join(", "))));
            }
        };
        let comparison = match operator {
            "=" | "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return Err(error(operator_token.position, "numbers are compared with = != < <= > >=")),
        };
        let TokenKind::Word(word) = &value.kind else {
            return Err(error(value.position, "expected a number such as 100, 64KiB or 1.5M here"));
        };
        let value = parse_size(word)
            .ok_or_else(|| error(value.position, "expected a number such as 100, 64KiB or 1.5M here"))?;
        Ok(Node::Number { attribute, comparison, value })
    }
}

fn pattern(operator: &str, position: usize, value: &Token) -> Result<(Pattern, bool), ExpressionError> {
    let negated = operator.starts_with('!');
    let matches = operator.ends_with('~');
    if !matches && !["=", "==", "!="].contains(&operator) {
        return Err(error(position, "texts are compared with = != ~ !~"));
    }
    let compile = |source: &str| {
        let built = RegexBuilder::new(source).size_limit(MAX_REGEX_BYTES).build();
        built.map_err(|cause| error(value.position, format!("not a regular expression: {}", last_line(&cause))))
    };
    let pattern = match &value.kind {
        TokenKind::Regex(source) => Pattern::Regex(compile(source)?),
        TokenKind::Quoted(text) | TokenKind::Word(text) if matches => Pattern::Regex(compile(&glob(text))?),
        TokenKind::Quoted(text) | TokenKind::Word(text) => Pattern::Exact(text.clone()),
        _ => return Err(error(value.position, "expected a text such as \"Hash\" or /^Hash/ here")),
    };
    Ok((pattern, negated))
}

fn last_line(cause: &regex::Error) -> String {
    cause.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// A glob pattern as a regular expression: `*` any text, `?` any character.
fn glob(pattern: &str) -> String {
    let escaped = regex::escape(pattern).replace(r"\*", ".*").replace(r"\?", ".");
    format!("(?s)^{escaped}$")
}

/// A number of bytes or things as people type it: `100`, `64KiB`, `1.5M`. Units are binary.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number = number.replace('_', "");
    let power = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return None,
    };
    let factor = 1u64 << (10 * power);
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    if factor == 1 {
        return None;
    }
    let value = number.parse::<f64>().ok()? * factor as f64;
    (value.is_finite() && value < u64::MAX as f64).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    #[test]
    fn errors_point_at_their_place() {
        for (text, position) in [
            ("size", 4),
            ("size >", 6),
            ("colour = 3", 0),
            ("size ~ 3", 5),
            ("type = \"open", 7),
            ("type ~ /(/", 7),
            ("size > 1 size", 9),
            ("(size > 1", 9),
            ("size > big", 7),
        ] {
            assert_eq!(parse(text).unwrap_err().position, position, "{text}");
        }
        assert!(parse(&"(".repeat(100_000)).is_err());
    }

    #[test]
    fn sizes_are_binary() {
        assert_eq!(parse_size("64KiB"), Some(65_536));
        assert_eq!(parse_size("1.5M"), Some(1_572_864));
        assert_eq!(parse_size("1_000"), Some(1000));
        assert_eq!(parse_size("99999999999T"), None);
        assert_eq!(parse_size("x"), None);
    }

    #[test]
    fn globs_match_whole_texts() {
        let regex = Regex::new(&glob("BOOT*?rray")).unwrap();
        assert!(regex.is_match("BOOTArray"));
        assert!(!regex.is_match("a BOOTArray"));
    }
}
