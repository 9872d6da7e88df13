//! Parses the tokens of an expression into its tree.

use barrow_format::{ObjectId, SnapshotId};
use regex::{Regex, RegexBuilder};

use super::ExpressionError;
use super::lexer::{Token, TokenKind, tokens};
use super::names::Names;
use super::number::parse_number;
use super::tree::{
    ATTRIBUTES, Attribute, Node, NumberAttribute, NumberComparison, Pattern, Property, Range, SiteComparison,
    TextAttribute, TextComparison,
};

/// The maximum nesting of parentheses and `not`.
const MAX_DEPTH: usize = 100;
/// The maximum memory of a compiled regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;

const TERM: &str = "an attribute such as `type` or `size`, a set, an object or `(`";
const OPERATOR: &str = "an operator such as `=`, `>` or `in`";
const NUMBER: &str = "expected a number such as 100, 64KiB or 1.5M here";
const RANGE: &str = "expected a range such as 1K..2M, 1K.. or ..2M here, without blanks";

/// Parses the whole text; an empty text matches every object. The flag says whether names were looked up.
pub(super) fn parse(text: &str, names: &dyn Names) -> Result<(Node, bool), ExpressionError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, end: text.len(), depth: 0, names, has_names: false };
    if tokens.is_empty() {
        return Ok((Node::All(Vec::new()), false));
    }
    let node = parser.any()?;
    match parser.peek() {
        None => Ok((node, parser.has_names)),
        Some(Token { kind: TokenKind::Word(word), position }) if word.starts_with('-') => {
            Err(error(*position, "`-` needs blanks around it: `$a - $b`"))
        }
        Some(token) => Err(error(token.position, "expected `and`, `or`, `&`, `|`, `-` or the end here")),
    }
}

fn error(position: usize, message: impl Into<String>) -> ExpressionError {
    ExpressionError::new(position, message)
}

struct Parser<'t> {
    tokens: &'t [Token],
    next: usize,
    /// The length of the text, which is the position of an error where something is missing at the end.
    end: usize,
    depth: usize,
    names: &'t dyn Names,
    /// Whether a name was looked up.
    has_names: bool,
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

    fn any(&mut self) -> Result<Node, ExpressionError> {
        let mut nodes = vec![self.all()?];
        while self.is_next("or", "|") {
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) })
    }

    fn all(&mut self) -> Result<Node, ExpressionError> {
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
        if self.is_next("not", "!") {
            return Ok(Node::Not(Box::new(self.one()?)));
        }
        let token = self.take(TERM)?;
        match &token.kind {
            TokenKind::Open => {
                let node = self.any()?;
                match self.take("`)`")? {
                    Token { kind: TokenKind::Close, .. } => Ok(node),
                    other => Err(error(other.position, "expected `)` here")),
                }
            }
            TokenKind::Word(word) => self.attribute(word, token.position),
            TokenKind::Set(name) => self.set(name, token.position),
            TokenKind::Object(number) => Ok(Node::Object(ObjectId(*number))),
            TokenKind::Row(row) => self.row(*row, token.position),
            _ => Err(error(token.position, format!("expected {TERM} here"))),
        }
    }

    fn set(&mut self, name: &str, position: usize) -> Result<Node, ExpressionError> {
        let Some(set) = self.names.set(name) else {
            let known: Vec<String> = self.names.set_names().iter().map(|name| format!("${name}")).collect();
            return Err(error(
                position,
                match known.len() {
                    0 => format!("there is no set ${name}; no set has a name"),
                    1 => format!("there is no set ${name}; there is only {}", known[0]),
                    _ => format!("there is no set ${name}; there are {}", known.join(", ")),
                },
            ));
        };
        self.belongs(&format!("${name} is a set"), set.snapshot(), position)?;
        Ok(Node::Member(set))
    }

    fn row(&mut self, row: usize, position: usize) -> Result<Node, ExpressionError> {
        let Some((snapshot, object)) = self.names.row(row) else {
            return Err(error(
                position,
                match self.names.row_count() {
                    0 => "the last table lists no objects".to_owned(),
                    rows => format!("the last table has the rows %1 to %{rows}"),
                },
            ));
        };
        self.belongs(&format!("%{row} is an object"), snapshot, position)?;
        Ok(Node::Object(object))
    }

    /// Rejects a set or row of another snapshot.
    fn belongs(&mut self, what: &str, snapshot: SnapshotId, position: usize) -> Result<(), ExpressionError> {
        let asked = self.names.snapshot();
        if snapshot != asked {
            return Err(error(position, format!("{what} of snapshot {snapshot}; this question is about {asked}")));
        }
        self.has_names = true;
        Ok(())
    }

    fn attribute(&mut self, word: &str, position: usize) -> Result<Node, ExpressionError> {
        match Attribute::named(word) {
            None => {
                let known: Vec<&str> = ATTRIBUTES.iter().map(|(name, _)| *name).collect();
                let lower = word.to_ascii_lowercase();
                let nearest = known.iter().min_by_key(|name| strsim::levenshtein(&lower, name));
                let near = nearest.filter(|name| strsim::levenshtein(&lower, name) <= 1 + lower.len() / 3);
                let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                Err(error(position, format!("unknown attribute; there are {}{near}", known.join(", "))))
            }
            Some(Attribute::Property(property)) => self.property(word, property),
            Some(Attribute::Text(attribute)) => self.text(attribute),
            Some(Attribute::Number(attribute)) => self.number(attribute),
            Some(Attribute::Site) => self.site(),
        }
    }

    fn property(&mut self, word: &str, property: Property) -> Result<Node, ExpressionError> {
        match self.peek() {
            Some(Token { kind: TokenKind::Operator(operator), position }) if !["&", "|", "!"].contains(operator) => {
                Err(error(*position, format!("`{word}` is true or false, and compared with nothing")))
            }
            _ => Ok(Node::Is(property)),
        }
    }

    fn text(&mut self, attribute: TextAttribute) -> Result<Node, ExpressionError> {
        let (operator, position) = self.operator()?;
        let value = self.take("a value")?;
        let (pattern, negated) = pattern(operator, position, value)?;
        Ok(Node::Text(TextComparison { attribute, pattern, negated }))
    }

    fn number(&mut self, attribute: NumberAttribute) -> Result<Node, ExpressionError> {
        let (operator, position) = self.operator()?;
        let value = self.take("a value")?;
        let range = if operator == "in" {
            range(value)?
        } else {
            // A wrong operator is reported before a wrong value.
            let compared = |number| {
                let message = "numbers are compared with = != < <= > >= in";
                Range::compared(operator, number).ok_or_else(|| error(position, message))
            };
            compared(0)?;
            let TokenKind::Word(word) = &value.kind else { return Err(error(value.position, NUMBER)) };
            compared(parse_number(word).ok_or_else(|| error(value.position, NUMBER))?)?
        };
        Ok(Node::Number(NumberComparison { attribute, range }))
    }

    /// A site is compared as a text if the operator or the value is one for texts.
    fn site(&mut self) -> Result<Node, ExpressionError> {
        let text_operator = |kind: &TokenKind| matches!(kind, TokenKind::Operator("~" | "!~"));
        let text_value = |kind: &TokenKind| match kind {
            TokenKind::Quoted(_) | TokenKind::Regex(_) => true,
            TokenKind::Word(word) => parse_number(word).is_none(),
            _ => false,
        };
        let equality = |kind: &TokenKind| matches!(kind, TokenKind::Operator("=" | "==" | "!="));
        let is_text = match self.tokens.get(self.next..).unwrap_or_default() {
            [operator, value, ..] => {
                text_operator(&operator.kind) || equality(&operator.kind) && text_value(&value.kind)
            }
            [operator] => text_operator(&operator.kind),
            [] => false,
        };
        if !is_text {
            return self.number(NumberAttribute::Site);
        }
        let (operator, position) = self.operator()?;
        let value = self.take("a value")?;
        let (pattern, negated) = pattern(operator, position, value)?;
        Ok(Node::Site(SiteComparison { pattern, negated }))
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

/// Parses a range: `1K..2M`, `1K..` or `..2M`.
fn range(value: &Token) -> Result<Range, ExpressionError> {
    let TokenKind::Word(word) = &value.kind else { return Err(error(value.position, RANGE)) };
    let end = |text: &str, missing| if text.is_empty() { Some(missing) } else { parse_number(text) };
    let ends = word.split_once("..").filter(|_| word != "..");
    let ends = ends.and_then(|(low, high)| Some((end(low, 0)?, end(high, u64::MAX)?)));
    match ends {
        None => Err(error(value.position, RANGE)),
        Some((low, high)) if low > high => Err(error(value.position, "this range ends before it begins")),
        Some((low, high)) => Ok(Range { low, high, negated: false }),
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

/// Compiles a glob pattern, or a regular expression between slashes, as people type names.
///
/// # Errors
/// [`ExpressionError`] if the regular expression is not valid.
pub(crate) fn name_pattern(text: &str) -> Result<Regex, ExpressionError> {
    let between = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let source = between.map_or_else(|| glob(text), str::to_owned);
    let built = RegexBuilder::new(&source).size_limit(MAX_REGEX_BYTES).build();
    built.map_err(|cause| ExpressionError::new(0, format!("not a regular expression: {}", last_line(&cause))))
}

/// Translates a glob pattern into a regular expression: `*` matches any text, `?` any character.
fn glob(pattern: &str) -> String {
    let escaped = regex::escape(pattern).replace(r"\*", ".*").replace(r"\?", ".");
    format!("(?s)^{escaped}$")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::names::NoNames;
    use super::*;
    use crate::graph::object_set::ObjectSet;
    use regex::Regex;

    /// `$a` and row 1 belong to this snapshot, `$b` and row 2 to another.
    struct TestNames;

    impl Names for TestNames {
        fn snapshot(&self) -> SnapshotId {
            SnapshotId(1)
        }

        fn set(&self, name: &str) -> Option<Arc<ObjectSet>> {
            let snapshot = ["b", "a"].iter().position(|known| *known == name)?;
            Some(Arc::new(ObjectSet::new(SnapshotId(snapshot as u32), 10)))
        }

        fn set_names(&self) -> Vec<String> {
            vec!["a".into(), "b".into()]
        }

        fn row(&self, row: usize) -> Option<(SnapshotId, ObjectId)> {
            (1..=2).contains(&row).then(|| (SnapshotId(2 - row as u32), ObjectId(7)))
        }

        fn row_count(&self) -> usize {
            2
        }
    }

    #[test]
    fn errors_point_at_their_place() {
        for (text, position, message) in [
            ("size", 4, "expected an operator"),
            ("size >", 6, "expected a value"),
            ("colour = 3", 0, "unknown attribute"),
            ("objects size > 3", 0, "unknown attribute"),
            ("size ~ 3", 5, "numbers are compared with"),
            ("size = \"3\"", 7, "expected a number"),
            ("size | 3", 5, "expected an operator"),
            ("type > a", 5, "texts are compared with"),
            ("type in a..b", 5, "texts are compared with"),
            ("type = $a", 7, "expected a text"),
            ("type = \"open", 7, "never closed"),
            ("type ~ /(/", 7, "not a regular expression"),
            ("size > 1 size", 9, "expected `and`"),
            ("(size > 1", 9, "expected `)`"),
            ("size > big", 7, "expected a number"),
            ("size > 0xfg", 7, "expected a number"),
            ("size in 5", 8, "expected a range"),
            ("size in ..", 8, "expected a range"),
            ("size in 1 .. 2", 8, "expected a range"),
            ("size in 3..2", 8, "ends before it begins"),
            ("size in", 7, "expected a value"),
            ("root = 1", 5, "`root` is true or false"),
            ("reachable size > 1", 10, "expected `and`"),
            ("not", 3, "expected an attribute"),
            ("!", 1, "expected an attribute"),
            ("$a - ", 5, "expected an attribute"),
            ("$a -$a", 3, "`-` needs blanks around it"),
            ("- $a", 0, "unknown attribute"),
            ("$a $a", 3, "expected `and`"),
            ("$a & | $a", 5, "expected an attribute"),
            ("$a and $c", 7, "there is no set $c; there are $a, $b"),
            ("$", 0, "sets have names"),
            ("!$a-b", 1, "sets have names"),
            ("$a or $b", 6, "$b is a set of snapshot 0; this question is about 1"),
            ("%1 or %2", 6, "%2 is an object of snapshot 0"),
            ("%3", 0, "the rows %1 to %2"),
            ("%0", 0, "the rows %1 to %2"),
            ("%x", 0, "from %1 on"),
            ("size > 1 and @", 13, "from @0 on"),
            ("@+1", 0, "from @0 on"),
            ("@4294967296", 0, "from @0 on"),
        ] {
            let error = parse(text, &TestNames).unwrap_err();
            assert_eq!(error.position, position, "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
        assert!(parse(&"(".repeat(100_000), &TestNames).is_err());
        assert!(parse(&"!".repeat(100_000), &TestNames).is_err());
    }

    #[test]
    fn without_names_there_are_none() {
        for (text, message) in [("$a", "no set has a name"), ("%1", "lists no objects")] {
            assert!(parse(text, &NoNames).unwrap_err().message.contains(message), "{text}");
        }
        assert!(!parse("@1 - size > 5", &TestNames).unwrap().1);
        assert!(parse("size > 5 or $a", &TestNames).unwrap().1);
    }

    #[test]
    fn globs_match_whole_texts() {
        let regex = Regex::new(&glob("BOOT*?rray")).unwrap();
        assert!(regex.is_match("BOOTArray"));
        assert!(!regex.is_match("a BOOTArray"));
    }
}
