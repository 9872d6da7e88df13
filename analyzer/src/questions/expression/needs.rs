//! The columns that an expression needs.

use barrow_format::block::ColumnSelection;

use super::Expression;
use super::terms::{Node, NumberAttribute, Property, Term, TextAttribute};

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
                Node::Term(Term::Number(comparison))
                    if matches!(comparison.attribute, NumberAttribute::Retained) && !comparison.range.negated =>
                {
                    comparison.range.low
                }
                _ => 0,
            }
        }
        least(&self.node)
    }

    /// Returns whether only the types of objects, and their kinds, decide which of them match.
    #[must_use]
    pub fn is_of_types(&self) -> bool {
        !any(&self.node, &|term| match term {
            Term::Text(comparison) => !matches!(comparison.attribute, TextAttribute::Type | TextAttribute::Kind),
            _ => true,
        })
    }

    /// Returns whether the expression compares the texts of objects.
    #[must_use]
    pub fn asks_for_texts(&self) -> bool {
        any(&self.node, &|term| matches!(term, Term::Text(text) if matches!(text.attribute, TextAttribute::Text)))
    }

    /// Returns whether it may be unknown of an object whether it matches.
    #[must_use]
    pub fn may_be_unknown(&self) -> bool {
        any(&self.node, &|term| matches!(term, Term::Field(_))) || !self.own_texts().is_empty()
    }

    /// The attributes in it that compare the text of each object itself.
    pub(crate) fn own_texts(&self) -> Vec<&'static str> {
        let compares = |wanted: fn(&TextAttribute) -> bool| {
            any(&self.node, &|term| matches!(term, Term::Text(text) if wanted(&text.attribute)))
        };
        let texts = compares(|attribute| matches!(attribute, TextAttribute::Text)).then_some("text");
        let names = compares(|attribute| matches!(attribute, TextAttribute::Name)).then_some("name");
        texts.into_iter().chain(names).collect()
    }

    /// Returns whether the expression compares unmanaged sizes.
    pub(crate) fn asks_for_unmanaged(&self) -> bool {
        let is_unmanaged = |term: &Term| matches!(term, Term::Number(comparison) if matches!(comparison.attribute, NumberAttribute::Unmanaged));
        any(&self.node, &is_unmanaged)
    }

    /// Returns whether the expression needs the types of objects.
    pub(crate) fn needs_types(&self) -> bool {
        any(&self.node, &|term| matches!(term, Term::Text(text) if !matches!(text.attribute, TextAttribute::Site)))
    }

    /// The columns of blocks that the expression needs.
    pub(crate) fn wanted(&self) -> ColumnSelection {
        use TextAttribute::{Name, Site, Text};
        let is_wanted = |columns| {
            any(&self.node, &|term| match term {
                Term::Number(comparison) => comparison.attribute.columns() == columns,
                Term::Text(comparison) if matches!(comparison.attribute, Name | Text | Site) => {
                    columns == ColumnSelection::Identity
                }
                _ => false,
            })
        };
        let most_first = [ColumnSelection::Identity, ColumnSelection::Counts];
        most_first.into_iter().find(|&columns| is_wanted(columns)).unwrap_or(ColumnSelection::Sizes)
    }
}

fn needs(node: &Node) -> Needs {
    let none = Needs::default();
    let of_terms = node.terms().into_iter().map(|term| match term {
        Term::Number(comparison) => match comparison.attribute {
            NumberAttribute::Retained => Needs { retained: true, ..none },
            NumberAttribute::Distance => Needs { distance: true, ..none },
            NumberAttribute::Incoming => Needs { incoming: true, ..none },
            _ => none,
        },
        Term::Is(Property::Reachable | Property::Unreachable) => Needs { reachable: true, ..none },
        Term::Is(Property::Root) => Needs { roots: true, ..none },
        Term::Text(_) | Term::Member(_) | Term::Object(_) | Term::Field(_) => none,
    });
    of_terms.fold(none, Needs::and)
}

/// Returns whether any term satisfies `is`.
fn any(node: &Node, is: &impl Fn(&Term) -> bool) -> bool {
    node.terms().into_iter().any(is)
}

/// Returns whether the expression needs the table of sites.
pub(super) fn needs_sites(node: &Node) -> bool {
    use NumberAttribute::{Generation, Site};
    any(node, &|term| match term {
        Term::Text(comparison) => matches!(comparison.attribute, TextAttribute::Site),
        Term::Number(comparison) => matches!(comparison.attribute, Generation | Site),
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
        assert_eq!(wanted("size > 1 and (type = a or id in 2..5)"), ColumnSelection::Sizes);
        assert_eq!(wanted("size > 1 and (type = a or refs in 2..5)"), ColumnSelection::Counts);
        for text in [
            "size > 1 and not site = 1",
            "serial = 5",
            "(address > 0x10 or size > 1)",
            "name = a",
            "text = a",
            "site ~ a*",
        ] {
            assert_eq!(wanted(text), ColumnSelection::Identity, "{text}");
        }
    }
}
