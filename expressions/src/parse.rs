//! Parses the tokens of an expression into its tree.

use crate::error::ExpressionError;
use crate::field::{FieldTest, Number, NumberTest};
use crate::language::{Attribute, Language, Unit};
use crate::lexer::{Token, TokenKind, tokens};
use crate::moment::{Moment, TimeTest};
use crate::nearest::nearest;
use crate::number::{parse_duration, parse_number};
use crate::path::{PathStep, parse_path};
use crate::pattern::{Pattern, TextTest};
use crate::range::Range;
use crate::tree::Node;

/// The maximum nesting of parentheses and `not`: the parser is recursive, and must not overflow the stack.
const MAX_DEPTH: usize = 100;

const NUMBERS_ARE_COMPARED_WITH: &str = "numbers are compared with = != < <= > >= in";

const OPERATOR: &str = "an operator such as `=`, `>` or `in`";

/// Parses the whole text. An empty text matches every row.
///
/// # Errors
/// [`ExpressionError`] with the position in the text.
pub fn parse<L: Language>(text: &str, language: &L) -> Result<Node<L::Term>, ExpressionError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, end: text.len(), depth: 0, language };
    if tokens.is_empty() {
        return Ok(Node::All(Vec::new()));
    }
    let node = parser.any()?;
    match parser.peek() {
        None => Ok(node),
        Some(Token { kind: TokenKind::Word(word), position }) if word.starts_with('-') => {
            Err(error(*position, "`-` needs blanks around it: `$a - $b`"))
        }
        Some(token) => Err(error(token.position, "expected `and`, `or`, `&`, `|`, `-` or the end here")),
    }
}

fn error(position: usize, message: impl Into<String>) -> ExpressionError {
    ExpressionError::new(position, message)
}

struct Parser<'t, L> {
    tokens: &'t [Token],
    next: usize,
    /// The length of the text, which is the position of an error where something is missing at the end.
    end: usize,
    depth: usize,
    language: &'t L,
}

impl<'t, L: Language> Parser<'t, L> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.next)
    }

    fn take(&mut self, missing: &str) -> Result<&'t Token, ExpressionError> {
        let token = self.peek().ok_or_else(|| error(self.end, format!("expected {missing} here")))?;
        self.next += 1;
        Ok(token)
    }

    /// Consumes `word` or `sign` if it is the next token. Returns whether it was.
    fn is_next(&mut self, word: &str, sign: &str) -> bool {
        let is_next = self.peek().is_some_and(|token| match &token.kind {
            TokenKind::Word(next) => next.eq_ignore_ascii_case(word),
            TokenKind::Operator(next) => *next == sign,
            _ => false,
        });
        self.next += usize::from(is_next);
        is_next
    }

    fn any(&mut self) -> Result<Node<L::Term>, ExpressionError> {
        let mut nodes = vec![self.all()?];
        while self.is_next("or", "|") {
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) })
    }

    fn all(&mut self) -> Result<Node<L::Term>, ExpressionError> {
        let mut nodes = vec![self.one()?];
        loop {
            if self.is_next("and", "&") {
                nodes.push(self.one()?);
            } else if self.is_next("-", "") {
                nodes.push(Node::Not(Box::new(self.one()?)));
            } else {
                break;
            }
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::All(nodes) })
    }

    fn one(&mut self) -> Result<Node<L::Term>, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let position = self.peek().map_or(self.end, |token| token.position);
            return Err(error(position, format!("nested deeper than {MAX_DEPTH}")));
        }
        let node = self.one_inside();
        self.depth -= 1;
        node
    }

    fn one_inside(&mut self) -> Result<Node<L::Term>, ExpressionError> {
        if self.is_next("not", "!") {
            return Ok(Node::Not(Box::new(self.one()?)));
        }
        let token = self.take(L::TERM)?;
        match &token.kind {
            TokenKind::Open => {
                let node = self.any()?;
                match self.take("`)`")? {
                    Token { kind: TokenKind::Close, .. } => Ok(node),
                    other => Err(error(other.position, "expected `)` here")),
                }
            }
            TokenKind::Word(word) if word.starts_with('.') => self.field(path(word, token.position)?, token.position),
            TokenKind::Path(steps) => self.field(steps.clone(), token.position),
            TokenKind::Word(word) if word.eq_ignore_ascii_case("length") => self.length(),
            TokenKind::Word(word) => self.attribute(word, token.position),
            TokenKind::Set(name) => named(self.language.set(name), token.position),
            TokenKind::Object(number) => named(self.language.object(*number), token.position),
            TokenKind::ObjectOf(snapshot, number) => named(self.language.object_of(*snapshot, *number), token.position),
            TokenKind::Row(row) => named(self.language.row(*row), token.position),
            _ => Err(error(token.position, format!("expected {} here", L::TERM))),
        }
    }

    /// Parses the rest after `length`: a text in parentheses, whose number of characters is compared.
    fn length(&mut self) -> Result<Node<L::Term>, ExpressionError> {
        const OF_WHAT: &str = "a text in parentheses, as in `length(text) > 1K` or `length(.name) = 0`,";
        let opening = self.take(OF_WHAT)?;
        if !matches!(opening.kind, TokenKind::Open) {
            return Err(error(opening.position, format!("expected {OF_WHAT} here")));
        }
        let text = self.take(OF_WHAT)?;
        let (word, field) = match &text.kind {
            TokenKind::Word(word) if word.starts_with('.') => ("", Some(path(word, text.position)?)),
            TokenKind::Word(word) => (word.as_str(), None),
            TokenKind::Path(steps) => ("", Some(steps.clone())),
            _ => return Err(error(text.position, format!("expected {OF_WHAT} here"))),
        };
        let closing = self.take("`)`")?;
        if !matches!(closing.kind, TokenKind::Close) {
            return Err(error(closing.position, "expected `)` here"));
        }
        if let Some(path) = field {
            let test = TextTest { pattern: Pattern::Length(self.range(Unit::Size)?), negated: false };
            return named(self.language.field(path, FieldTest::Text(test)), text.position);
        }
        let attribute = match self.language.attribute(&word.to_ascii_lowercase()) {
            Some(Attribute::Text(attribute) | Attribute::Either(attribute, ..)) => attribute,
            Some(_) => return Err(error(text.position, format!("`{word}` is no text, and has no length"))),
            None => return Err(error(text.position, unknown(word, &self.language.attributes()))),
        };
        let test = TextTest { pattern: Pattern::Length(self.range(Unit::Size)?), negated: false };
        Ok(Node::Term(self.language.text(attribute, test)))
    }

    /// Parses the rest after a path: nothing, for a test that it is true, or a comparison.
    fn field(&mut self, path: Vec<PathStep>, position: usize) -> Result<Node<L::Term>, ExpressionError> {
        let is_compared = match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Operator(operator)) => !["&", "|", "!"].contains(operator),
            Some(TokenKind::Word(word)) => word.eq_ignore_ascii_case("in"),
            _ => false,
        };
        let test = if is_compared { self.field_test()? } else { FieldTest::Boolean(true) };
        named(self.language.field(path, test), position)
    }

    fn field_test(&mut self) -> Result<FieldTest, ExpressionError> {
        let (operator, position) = self.operator()?;
        let value = self.take("a value")?;
        let word = if let TokenKind::Word(word) = &value.kind { Some(word.as_str()) } else { None };
        if operator == "in" {
            let numbers = word.and_then(|word| NumberTest::range(word, Number::exact)).map(FieldTest::Number);
            let times = || word.and_then(TimeTest::range).map(|test| FieldTest::Time(test, None));
            let message = "expected a range such as -1..3, 0.5.., ..2M or 2020-01-01..2020-03-31 here, without blanks";
            return numbers.or_else(times).ok_or_else(|| error(value.position, message));
        }
        let is_equality = ["=", "==", "!="].contains(&operator);
        let negated = operator == "!=";
        match word.filter(|_| !operator.ends_with('~')) {
            Some("null") if is_equality => return Ok(FieldTest::Null { negated }),
            Some("undefined") if is_equality => return Ok(FieldTest::Undefined { negated }),
            Some("unknown") if is_equality => return Ok(FieldTest::Unknown { negated }),
            Some(word @ ("true" | "false")) if is_equality => {
                return Ok(FieldTest::Boolean((word == "true") != negated));
            }
            Some("NaN" | "nan") if is_equality => {
                let test = NumberTest::compared(operator, Number::Real(f64::NAN));
                return test.map(FieldTest::Number).ok_or_else(|| error(position, NUMBERS_ARE_COMPARED_WITH));
            }
            Some(word) => {
                if let Some(test) = Number::exact(word).and_then(|number| NumberTest::compared(operator, number)) {
                    return Ok(FieldTest::Number(test));
                }
                if let Some(test) = Moment::parse(word).and_then(|time| TimeTest::compared(operator, time)) {
                    let text = is_equality.then(|| TextTest { pattern: Pattern::Exact(word.to_owned()), negated });
                    return Ok(FieldTest::Time(test, text));
                }
            }
            None => {}
        }
        if !is_equality && !operator.ends_with('~') {
            let message = "expected a number such as 100, -3, 0.25 or 1.5M, or a date such as 2020-02-10, here";
            return Err(error(value.position, message));
        }
        test::<L>(operator, position, value).map(FieldTest::Text)
    }

    fn attribute(&mut self, word: &str, position: usize) -> Result<Node<L::Term>, ExpressionError> {
        match self.language.attribute(&word.to_ascii_lowercase()) {
            None => Err(error(position, unknown(word, &self.language.attributes()))),
            Some(Attribute::Property(property)) => self.property(word, property),
            Some(Attribute::Text(attribute)) => self.text(attribute),
            Some(Attribute::Is(attribute)) => self.is(word, attribute),
            Some(Attribute::Number(attribute, unit)) => self.number(attribute, unit),
            Some(Attribute::Measure(attribute)) => self.measure(attribute, position),
            Some(Attribute::Either(text, number, unit)) => match self.is_text(unit) {
                true => self.text(text),
                false => self.number(number, unit),
            },
        }
    }

    fn property(&mut self, word: &str, property: L::Property) -> Result<Node<L::Term>, ExpressionError> {
        match self.peek() {
            Some(Token { kind: TokenKind::Operator(operator), position }) if !["&", "|", "!"].contains(operator) => {
                Err(error(*position, format!("`{word}` is true or false, and compared with nothing")))
            }
            _ => Ok(Node::Term(self.language.property(property))),
        }
    }

    fn text(&mut self, attribute: L::Text) -> Result<Node<L::Term>, ExpressionError> {
        let (operator, position) = self.operator()?;
        let value = self.take("a value")?;
        let test = test::<L>(operator, position, value)?;
        Ok(Node::Term(self.language.text(attribute, test)))
    }

    /// Parses the rest after `is`: a whole text, a glob pattern if a word has `*` or `?`, or a regular expression.
    fn is(&mut self, word: &str, attribute: L::Text) -> Result<Node<L::Term>, ExpressionError> {
        let value = self.take("a value")?;
        let pattern = match &value.kind {
            TokenKind::Regex(source) => Pattern::regex(source),
            TokenKind::Word(text) if text.contains(['*', '?']) => Pattern::glob(text),
            TokenKind::Word(text) | TokenKind::Quoted(text) => Ok(Pattern::Exact(text.clone())),
            _ => Err(format!("expected a text after `{word}`, such as `{word} {0}` or `{word} /^{0}/`", L::TEXT)),
        };
        let pattern = pattern.map_err(|message| error(value.position, message))?;
        Ok(Node::Term(self.language.text(attribute, TextTest { pattern, negated: false })))
    }

    fn number(&mut self, attribute: L::Number, unit: Unit) -> Result<Node<L::Term>, ExpressionError> {
        let range = self.range(unit)?;
        Ok(Node::Term(self.language.number(attribute, range)))
    }

    /// A comparison with numbers.
    fn range(&mut self, unit: Unit) -> Result<Range, ExpressionError> {
        let (operator, position) = self.operator()?;
        let value = self.take("a value")?;
        if operator == "in" {
            return range(value, unit);
        }
        // A wrong operator is reported before a wrong value.
        let compared =
            |number| Range::compared(operator, number).ok_or_else(|| error(position, NUMBERS_ARE_COMPARED_WITH));
        compared(0)?;
        let TokenKind::Word(word) = &value.kind else { return Err(error(value.position, unit.expected())) };
        compared(unit.parse(word).ok_or_else(|| error(value.position, unit.expected()))?)
    }

    /// A comparison with numbers that may have fractions.
    fn measure(&mut self, attribute: L::Number, at: usize) -> Result<Node<L::Term>, ExpressionError> {
        let (operator, position) = self.operator()?;
        let value = self.take("a value")?;
        if operator != "in" && NumberTest::compared(operator, Number::Whole(0)).is_none() {
            return Err(error(position, NUMBERS_ARE_COMPARED_WITH));
        }
        let word = if let TokenKind::Word(word) = &value.kind { word } else { "" };
        let test = if operator == "in" {
            NumberTest::range(word, Number::parse_share)
        } else {
            Number::parse_share(word).and_then(|number| NumberTest::compared(operator, number))
        };
        let message = match operator {
            "in" => "expected a range such as 10..1K, 5%..25% or ..0.5 here, without blanks",
            _ => "expected a number such as 100, 1.5M, 25% or 0.25 here",
        };
        named(self.language.measure(attribute, test.ok_or_else(|| error(value.position, message))?), at)
    }

    /// Whether the next operator or value is one for texts.
    fn is_text(&self, unit: Unit) -> bool {
        let Some(operator) = self.tokens.get(self.next) else { return false };
        match &operator.kind {
            TokenKind::Operator("~" | "!~") => true,
            TokenKind::Operator("=" | "==" | "!=") => match self.tokens.get(self.next + 1).map(|value| &value.kind) {
                Some(TokenKind::Quoted(_) | TokenKind::Regex(_)) => true,
                Some(TokenKind::Word(word)) => unit.parse(word).is_none(),
                _ => false,
            },
            _ => false,
        }
    }

    /// The operator of a comparison, and its position.
    fn operator(&mut self) -> Result<(&'static str, usize), ExpressionError> {
        let token = self.take(OPERATOR)?;
        match &token.kind {
            TokenKind::Operator(operator) if !["&", "|", "!"].contains(operator) => Ok((operator, token.position)),
            TokenKind::Word(word) if word.eq_ignore_ascii_case("in") => Ok(("in", token.position)),
            _ => Err(error(token.position, format!("expected {OPERATOR} here"))),
        }
    }
}

/// The path in a word.
fn path(word: &str, position: usize) -> Result<Vec<PathStep>, ExpressionError> {
    parse_path(word).map_err(|mistake| error(position, mistake.message))
}

fn named<T>(term: Result<T, String>, position: usize) -> Result<Node<T>, ExpressionError> {
    term.map(Node::Term).map_err(|message| error(position, message))
}

/// Lists the attributes, and suggests the one that was probably meant.
fn unknown(word: &str, known: &[String]) -> String {
    let lower = word.to_ascii_lowercase();
    let near = nearest(&lower, known.iter().map(String::as_str));
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("unknown attribute; there are {}{near}", known.join(", "))
}

impl Unit {
    fn parse(self, text: &str) -> Option<u64> {
        match self {
            Unit::Size => parse_number(text),
            Unit::Duration => parse_duration(text),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Unit::Size => "expected a number such as 100, 64KiB or 1.5M here",
            Unit::Duration => "expected a time with its unit, such as 200ms, 1.5s or 10min, here",
        }
    }

    fn expected_range(self) -> &'static str {
        match self {
            Unit::Size => "expected a range such as 1K..2M, 1K.. or ..2M here, without blanks",
            Unit::Duration => "expected a range such as 1s..2min, 1s.. or ..2min here, without blanks",
        }
    }
}

/// Parses a range: `1K..2M`, `1K..` or `..2M`.
fn range(value: &Token, unit: Unit) -> Result<Range, ExpressionError> {
    let TokenKind::Word(word) = &value.kind else { return Err(error(value.position, unit.expected_range())) };
    let end = |text: &str, missing| if text.is_empty() { Some(missing) } else { unit.parse(text) };
    let ends = word.split_once("..").filter(|_| word != "..");
    let ends = ends.and_then(|(low, high)| Some((end(low, 0)?, end(high, u64::MAX)?)));
    match ends {
        None => Err(error(value.position, unit.expected_range())),
        Some((low, high)) if low > high => Err(error(value.position, "this range ends before it begins")),
        Some((low, high)) => Ok(Range { low, high, negated: false }),
    }
}

fn test<L: Language>(operator: &str, position: usize, value: &Token) -> Result<TextTest, ExpressionError> {
    let negated = operator.starts_with('!');
    let matches = operator.ends_with('~');
    if !matches && !["=", "==", "!="].contains(&operator) {
        return Err(error(position, "texts are compared with = != ~ !~"));
    }
    let pattern = match &value.kind {
        TokenKind::Regex(source) => Pattern::regex(source),
        TokenKind::Quoted(text) | TokenKind::Word(text) if matches => Pattern::glob(text),
        TokenKind::Quoted(text) | TokenKind::Word(text) => Ok(Pattern::Exact(text.clone())),
        _ => Err(format!("expected a text such as \"{0}\" or /^{0}/ here", L::TEXT)),
    };
    Ok(TextTest { pattern: pattern.map_err(|message| error(value.position, message))?, negated })
}
