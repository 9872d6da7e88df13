//! The columns that an expression needs.

use barrow_format::block::Wanted;

use super::Expression;
use super::tree::{Node, NumberAttribute, Property, TextAttribute};

/// The derived columns that an expression needs: those computed from the references of all objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Needs {
    /// Retained sizes.
    pub(crate) retained: bool,
    /// Reachability, which follows from retained sizes and from distances, too.
    pub(crate) reachable: bool,
    /// Distances from the roots.
    pub(crate) distance: bool,
    /// Counts of incoming references.
    pub(crate) incoming: bool,
    /// The set of root objects.
    pub(crate) roots: bool,
}

impl Needs {
    fn and(self, other: Needs) -> Needs {
        Needs {
            retained: self.retained || other.retained,
            reachable: self.reachable || other.reachable,
            distance: self.distance || other.distance,
            incoming: self.incoming || other.incoming,
            roots: self.roots || other.roots,
        }
    }
}

impl Expression {
    /// The derived columns that the expression needs.
    pub(crate) fn needs(&self) -> Needs {
        needs(&self.node)
    }

    /// A lower bound of the retained size of every matching object, in bytes; 0 if the expression implies none.
    pub(crate) fn least_retained(&self) -> u64 {
        fn least(node: &Node) -> u64 {
            match node {
                Node::All(nodes) => nodes.iter().map(least).max().unwrap_or(0),
                Node::Any(nodes) => nodes.iter().map(least).min().unwrap_or(0),
                Node::Number(comparison)
                    if comparison.attribute == NumberAttribute::Retained && !comparison.range.negated =>
                {
                    comparison.range.low
                }
                _ => 0,
            }
        }
        least(&self.node)
    }

    /// Whether only the types of objects, and their kinds, decide which of them match.
    #[must_use]
    pub fn is_of_types(&self) -> bool {
        let is_other = |node: &Node| match node {
            Node::Any(_) | Node::All(_) | Node::Not(_) => false,
            Node::Text(comparison) => !matches!(comparison.attribute, TextAttribute::Type | TextAttribute::Kind),
            _ => true,
        };
        !any(&self.node, &is_other)
    }

    /// Whether the expression needs the types of objects.
    pub(crate) fn needs_types(&self) -> bool {
        any(&self.node, &|node| matches!(node, Node::Text(_)))
    }

    /// The columns of blocks that the expression needs.
    pub(crate) fn wanted(&self) -> Wanted {
        use NumberAttribute::{Address, Generation, Serial, Site};
        let tells_apart = |node: &Node| match node {
            Node::Number(comparison) => matches!(comparison.attribute, Address | Generation | Serial | Site),
            Node::Text(comparison) => comparison.attribute == TextAttribute::Name,
            Node::Site(_) => true,
            _ => false,
        };
        let counts =
            |node: &Node| matches!(node, Node::Number(comparison) if comparison.attribute == NumberAttribute::Outgoing);
        if any(&self.node, &tells_apart) {
            Wanted::Identity
        } else if any(&self.node, &counts) {
            Wanted::Counts
        } else {
            Wanted::Sizes
        }
    }
}

fn needs(node: &Node) -> Needs {
    let none = Needs::default();
    match node {
        Node::Any(nodes) | Node::All(nodes) => nodes.iter().map(needs).fold(none, Needs::and),
        Node::Not(node) => needs(node),
        Node::Number(comparison) => match comparison.attribute {
            NumberAttribute::Retained => Needs { retained: true, ..none },
            NumberAttribute::Distance => Needs { distance: true, ..none },
            NumberAttribute::Incoming => Needs { incoming: true, ..none },
            _ => none,
        },
        Node::Is(Property::Reachable | Property::Unreachable) => Needs { reachable: true, ..none },
        Node::Is(Property::Root) => Needs { roots: true, ..none },
        Node::Text(_) | Node::Site(_) | Node::Member(_) | Node::Object(_) => none,
    }
}

/// Whether any node of the tree satisfies `is`.
fn any(node: &Node, is: &impl Fn(&Node) -> bool) -> bool {
    let below = match node {
        Node::Any(nodes) | Node::All(nodes) => nodes.iter().any(|node| any(node, is)),
        Node::Not(node) => any(node, is),
        _ => false,
    };
    below || is(node)
}

/// Whether the expression needs the table of sites.
pub(super) fn needs_sites(node: &Node) -> bool {
    use NumberAttribute::{Generation, Site};
    any(node, &|node| match node {
        Node::Site(_) => true,
        Node::Number(comparison) => matches!(comparison.attribute, Generation | Site),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_those_of_every_term() {
        let needs = |text| Expression::parse(text).unwrap().needs();
        assert_eq!(needs("type = A and size > 1 - @5 | address = 1"), Needs::default());
        assert_eq!(needs("retained > 1 or not root"), Needs { retained: true, roots: true, ..Needs::default() });
        assert_eq!(needs("unreachable and in = 0"), Needs { reachable: true, incoming: true, ..Needs::default() });
        assert_eq!(needs("distance > 3"), Needs { distance: true, ..Needs::default() });
    }

    #[test]
    fn identity_columns_are_decoded_only_if_an_expression_needs_them() {
        let wanted = |text| Expression::parse(text).unwrap().wanted();
        assert_eq!(wanted("size > 1 and (type = a or id in 2..5)"), Wanted::Sizes);
        assert_eq!(wanted("size > 1 and (type = a or refs in 2..5)"), Wanted::Counts);
        for text in ["size > 1 and not site = 1", "serial = 5", "(address > 0x10 or size > 1)", "name = a", "site ~ a*"]
        {
            assert_eq!(wanted(text), Wanted::Identity, "{text}");
        }
    }
}
