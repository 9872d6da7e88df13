//! The tree of an expression, and the names of attributes and properties.

use std::sync::Arc;

use barrow_format::ObjectId;
use regex::Regex;

use crate::graph::object_set::ObjectSet;

/// An expression or a part of one.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Any(Vec<Node>),
    /// Without parts it matches every object.
    All(Vec<Node>),
    Not(Box<Node>),
    Text(TextComparison),
    Number(NumberComparison),
    Site(SiteComparison),
    Is(Property),
    Member(Arc<ObjectSet>),
    Object(ObjectId),
}

impl Node {
    /// The type names that are compared exactly, from left to right.
    pub(super) fn type_names(&self) -> Vec<&str> {
        match self {
            Node::Any(nodes) | Node::All(nodes) => nodes.iter().flat_map(Node::type_names).collect(),
            Node::Not(node) => node.type_names(),
            Node::Text(TextComparison { attribute: TextAttribute::Type, pattern: Pattern::Exact(name), .. }) => {
                vec![name]
            }
            _ => Vec::new(),
        }
    }

    /// The objects that are named by id.
    pub(super) fn objects(&self) -> Vec<ObjectId> {
        match self {
            Node::Any(nodes) | Node::All(nodes) => nodes.iter().flat_map(Node::objects).collect(),
            Node::Not(node) => node.objects(),
            Node::Object(object) => vec![*object],
            _ => Vec::new(),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct TextComparison {
    pub(super) attribute: TextAttribute,
    pub(super) pattern: Pattern,
    pub(super) negated: bool,
}

/// A comparison of the text of an allocation site. Site ids are compared by [`NumberComparison`].
#[derive(Debug, Clone)]
pub(super) struct SiteComparison {
    pub(super) pattern: Pattern,
    pub(super) negated: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Pattern {
    Exact(String),
    Regex(Regex),
}

impl Pattern {
    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Exact(exact) => text == exact,
            Pattern::Regex(regex) => regex.is_match(text),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct NumberComparison {
    pub(super) attribute: NumberAttribute,
    pub(super) range: Range,
}

/// The numbers from `low` to `high`, both included, or all others if negated. Every comparison of numbers is a range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) negated: bool,
}

impl Range {
    /// The numbers that satisfy `operator value`; `None` if the operator does not compare numbers.
    pub(super) fn compared(operator: &str, value: u64) -> Option<Self> {
        // The empty range, for `< 0` and `> u64::MAX`.
        const NOTHING: (u64, u64) = (1, 0);
        let (low, high) = match operator {
            "=" | "==" | "!=" => (value, value),
            "<" => value.checked_sub(1).map_or(NOTHING, |high| (0, high)),
            "<=" => (0, value),
            ">" => value.checked_add(1).map_or(NOTHING, |low| (low, u64::MAX)),
            ">=" => (value, u64::MAX),
            _ => return None,
        };
        Some(Range { low, high, negated: operator == "!=" })
    }

    pub(super) fn contains(self, value: u64) -> bool {
        (self.low <= value && value <= self.high) != self.negated
    }

    /// The same test for numbers of 32 bits, as a single comparison.
    pub(super) fn contains_narrow(self) -> impl Fn(u32) -> bool {
        let most = u64::from(u32::MAX);
        let is_empty = self.low > self.high.min(most);
        let (low, high) = if is_empty { (0, 0) } else { (self.low as u32, self.high.min(most) as u32) };
        // An empty range contains nothing, so only `negated` decides.
        let (length, inside) = (high - low, !is_empty);
        move |value| (inside & (value.wrapping_sub(low) <= length)) != self.negated
    }
}

/// The attributes and properties of expressions, with their meanings.
pub const ATTRIBUTES: [(&str, &str); 19] = [
    ("type", "name of the type or function"),
    ("name", "the object's own name or text where it has one, else that of its type"),
    ("kind", "name of the kind"),
    ("layout", "memory layout in the runtime's words (also: repr)"),
    ("file", "file the type is declared in"),
    ("size", "shallow size in bytes (also: shallow)"),
    ("unmanaged", "bytes outside the managed heap"),
    ("retained", "bytes freed if the object were collected"),
    ("distance", "references from the nearest root; no comparison holds for unreachable objects"),
    ("inrefs", "number of incoming references (also: in, incoming)"),
    ("refs", "number of outgoing references (also: references, outrefs)"),
    ("id", "number of the object"),
    ("site", "allocation site, if recorded: a number, or a text such as \"app.rb:12\" or /parse/"),
    ("generation", "collection in which the object was allocated, if its site says so"),
    ("serial", "what names the object across snapshots, if recorded"),
    ("address", "where the object lived, if recorded: 0x7f00"),
    ("reachable", "true if references lead to it from a root"),
    ("unreachable", "true if none do"),
    ("root", "true if the runtime itself refers to it"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextAttribute {
    Type,
    Name,
    Kind,
    Layout,
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberAttribute {
    Size,
    Unmanaged,
    Retained,
    Distance,
    Incoming,
    Outgoing,
    Id,
    Site,
    Generation,
    Serial,
    Address,
}

/// A property that an object has or has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Reachable,
    Unreachable,
    Root,
}

/// The word that a term starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attribute {
    Text(TextAttribute),
    Number(NumberAttribute),
    /// Compared as a number or as a text.
    Site,
    Property(Property),
}

impl Attribute {
    /// The attribute with this name, ignoring case.
    pub(super) fn named(word: &str) -> Option<Self> {
        use Attribute::{Number, Property as Is, Text};
        Some(match word.to_ascii_lowercase().as_str() {
            "type" => Text(TextAttribute::Type),
            "name" => Text(TextAttribute::Name),
            "kind" => Text(TextAttribute::Kind),
            "layout" | "repr" => Text(TextAttribute::Layout),
            "file" => Text(TextAttribute::File),
            "size" | "shallow" => Number(NumberAttribute::Size),
            "unmanaged" => Number(NumberAttribute::Unmanaged),
            "retained" => Number(NumberAttribute::Retained),
            "distance" => Number(NumberAttribute::Distance),
            "inrefs" | "in" | "incoming" => Number(NumberAttribute::Incoming),
            "refs" | "references" | "outrefs" => Number(NumberAttribute::Outgoing),
            "id" => Number(NumberAttribute::Id),
            "site" => Attribute::Site,
            "generation" => Number(NumberAttribute::Generation),
            "serial" => Number(NumberAttribute::Serial),
            "address" => Number(NumberAttribute::Address),
            "reachable" => Is(Property::Reachable),
            "unreachable" => Is(Property::Unreachable),
            "root" => Is(Property::Root),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_in_the_list_is_known() {
        for (name, meaning) in ATTRIBUTES {
            assert!(Attribute::named(name).is_some() && !meaning.is_empty(), "{name}");
        }
    }

    #[test]
    fn comparisons_are_ranges() {
        let holds = |found: u64, operator, value| Range::compared(operator, value).unwrap().contains(found);
        for (operator, expected) in [
            ("=", [false, true, false]),
            ("==", [false, true, false]),
            ("!=", [true, false, true]),
            ("<", [true, false, false]),
            ("<=", [true, true, false]),
            (">", [false, false, true]),
            (">=", [false, true, true]),
        ] {
            assert_eq!([4, 5, 6].map(|found| holds(found, operator, 5)), expected, "{operator}");
        }
        for found in [0, 1, u64::MAX] {
            assert!(!holds(found, "<", 0) && !holds(found, ">", u64::MAX));
        }
        assert!(Range::compared("~", 5).is_none());
    }
}
