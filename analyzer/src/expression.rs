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
use regex::Regex;

mod parse;

pub use parse::parse_size;

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

impl Expression {
    /// Reads an expression. An empty text describes every object.
    ///
    /// # Errors
    /// [`ExpressionError`] with the place in the text.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        parse::parse(text).map(Expression)
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
}
