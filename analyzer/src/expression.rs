//! Predicates over objects, as users type them: `type = "Hash" and size > 1K`.
//!
//! ```text
//!   any   := all   { "or" all }
//!   all   := one   { "and" one }
//!   one   := "not" one | "(" any ")" | attribute operator value
//!   text attributes    type name kind layout file      = != ~ !~    "text"  word  Glob*  /regex/
//!   number attributes  size unmanaged refs id          = != < <= > >=    12  1.5M  64KiB
//! ```
//!
//! `=` compares texts whole, `~` takes a glob pattern or a regular expression that matches anywhere.

use barrow_format::{KindId, TypeId};
use regex::{Regex, RegexBuilder};

use crate::object::ObjectDetails;
use crate::tables::Tables;

/// What is wrong with the text of an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// Where in the text, in bytes.
    pub position: usize,
    /// What is wrong, and what could stand there.
    pub message: String,
}

/// A predicate over objects.
#[derive(Debug, Clone)]
pub struct Expression(Node);

#[derive(Debug, Clone)]
enum Node {
    Everything,
    Any(Vec<Node>),
    All(Vec<Node>),
    Not(Box<Node>),
    Text(TextComparison),
    Number { attribute: NumberAttribute, comparison: Comparison, value: u64 },
}

#[derive(Debug, Clone)]
struct TextComparison {
    /// Counts the text comparisons of an expression.
    number: usize,
    attribute: TextAttribute,
    pattern: Pattern,
    negated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextAttribute {
    Name,
    Kind,
    Layout,
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberAttribute {
    Size,
    Unmanaged,
    References,
    Id,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone)]
enum Pattern {
    Exact(String),
    Regex(Regex),
}

/// The attributes an expression can ask for, with what they mean.
pub const ATTRIBUTES: [(&str, &str); 9] = [
    ("type", "name of the type (also: name)"),
    ("name", "name of the type or function"),
    ("kind", "name of the kind"),
    ("layout", "memory layout in the runtime's words (also: repr)"),
    ("file", "file the type is declared in"),
    ("size", "shallow size in bytes (also: shallow)"),
    ("unmanaged", "bytes outside the managed heap"),
    ("refs", "number of outgoing references"),
    ("id", "number of the object"),
];

/// Parentheses and `not` may be nested this deep.
const MAX_DEPTH: usize = 100;
/// A compiled regular expression may take this much memory, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;

impl Expression {
    /// Reads an expression. An empty text describes every object.
    ///
    /// # Errors
    /// [`ExpressionError`] with the place in the text.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, next: 0, end: text.len(), depth: 0, texts: 0 };
        if tokens.is_empty() {
            return Ok(Expression(Node::Everything));
        }
        let node = parser.any()?;
        match parser.peek() {
            None => Ok(Expression(node)),
            Some(token) => Err(error(token.position, "expected `and`, `or` or the end here")),
        }
    }

    /// Evaluates what depends on types only, once for every type.
    pub(crate) fn prepare<'e>(&'e self, tables: &Tables, kinds: &[KindId]) -> Prepared<'e> {
        let types = (0u32..).map(TypeId).take(tables.type_count());
        let of_kind = types.map(|id| kinds.is_empty() || kinds.contains(&tables.type_kind(id))).collect();
        let mut by_type = Vec::new();
        prepare(&self.0, tables, &mut by_type);
        Prepared { node: &self.0, of_kind, by_type }
    }
}

/// An expression with its answers for every type.
#[derive(Debug)]
pub(crate) struct Prepared<'e> {
    node: &'e Node,
    /// For each type, whether its kind is asked for.
    of_kind: Vec<bool>,
    /// For each text comparison, by its number: its answer for each type.
    by_type: Vec<Vec<bool>>,
}

impl Prepared<'_> {
    pub(crate) fn matches(&self, object: &ObjectDetails) -> bool {
        self.of_kind[object.type_id.index()] && matches(self.node, object, &self.by_type)
    }
}

/// Appends the answers of all text comparisons, in the order of their numbers.
fn prepare(node: &Node, tables: &Tables, by_type: &mut Vec<Vec<bool>>) {
    match node {
        Node::Any(nodes) | Node::All(nodes) => nodes.iter().for_each(|node| prepare(node, tables, by_type)),
        Node::Not(node) => prepare(node, tables, by_type),
        Node::Text(comparison) => {
            debug_assert_eq!(comparison.number, by_type.len(), "numbers follow the order of the text");
            let types = (0u32..).map(TypeId).take(tables.type_count());
            by_type.push(types.map(|id| comparison.holds(tables, id)).collect());
        }
        Node::Everything | Node::Number { .. } => {}
    }
}

impl TextComparison {
    fn holds(&self, tables: &Tables, id: TypeId) -> bool {
        let text = match self.attribute {
            TextAttribute::Name => Some(tables.type_name(id)),
            TextAttribute::Kind => Some(tables.kind_name(tables.type_kind(id))),
            TextAttribute::Layout => tables.type_layout(id),
            TextAttribute::File => tables.type_file(id),
        };
        let is_match = text.is_some_and(|text| match &self.pattern {
            Pattern::Exact(exact) => text == exact,
            Pattern::Regex(regex) => regex.is_match(text),
        });
        is_match != self.negated
    }
}

fn matches(node: &Node, object: &ObjectDetails, by_type: &[Vec<bool>]) -> bool {
    match node {
        Node::Everything => true,
        Node::Any(nodes) => nodes.iter().any(|node| matches(node, object, by_type)),
        Node::All(nodes) => nodes.iter().all(|node| matches(node, object, by_type)),
        Node::Not(node) => !matches(node, object, by_type),
        Node::Text(comparison) => by_type[comparison.number][object.type_id.index()],
        Node::Number { attribute, comparison, value } => {
            let found = match attribute {
                NumberAttribute::Size => object.shallow_bytes,
                NumberAttribute::Unmanaged => object.unmanaged_bytes,
                NumberAttribute::References => object.references,
                NumberAttribute::Id => object.id.0.into(),
            };
            match comparison {
                Comparison::Equal => found == *value,
                Comparison::NotEqual => found != *value,
                Comparison::Less => found < *value,
                Comparison::LessOrEqual => found <= *value,
                Comparison::Greater => found > *value,
                Comparison::GreaterOrEqual => found >= *value,
            }
        }
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
    let value = number.parse::<f64>().ok()? * factor as f64;
    (value.is_finite() && value < u64::MAX as f64).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use barrow_format::ObjectId;

    fn object(shallow_bytes: u64) -> ObjectDetails {
        ObjectDetails {
            id: ObjectId(7),
            type_id: TypeId(0),
            shallow_bytes,
            unmanaged_bytes: 5,
            references: 2,
            address: None,
            serial: None,
            site: None,
        }
    }

    fn holds(text: &str, object: &ObjectDetails) -> bool {
        let expression = Expression::parse(text).unwrap();
        // There is one type, and no text comparison in these expressions.
        Prepared { node: &expression.0, of_kind: vec![true], by_type: Vec::new() }.matches(object)
    }

    #[test]
    fn numbers_are_compared() {
        for text in ["", "size > 1K", "size >= 2k and refs = 2", "not (id = 8 or unmanaged != 5)", "size<=2KiB"] {
            assert!(holds(text, &object(2048)), "{text}");
        }
        for text in ["size < 2048", "refs = 3 or id > 7", "not not size = 1"] {
            assert!(!holds(text, &object(2048)), "{text}");
        }
    }

    #[test]
    fn and_binds_closer_than_or() {
        assert!(holds("id = 7 or id = 8 and id = 9", &object(1)));
        assert!(!holds("(id = 7 or id = 8) and id = 9", &object(1)));
    }

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
            assert_eq!(Expression::parse(text).unwrap_err().position, position, "{text}");
        }
        assert!(Expression::parse(&"(".repeat(100_000)).is_err());
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
