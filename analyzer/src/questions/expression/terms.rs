//! The terms of expressions about objects, and the names of attributes and properties.

use std::sync::Arc;

use barrow_expressions::{FieldTest, NumberTest, Pattern, Range, TextTest, Unit};
use barrow_format::ObjectId;

use crate::graph::object_set::ObjectSet;
use crate::questions::fields::{FieldPath, Measure};

/// An expression or a part of one.
pub(super) type Node = barrow_expressions::Node<Term>;

/// A condition on an object.
#[derive(Debug, Clone)]
pub(super) enum Term {
    Text(TextComparison),
    Number(NumberComparison),
    Is(Property),
    Member(Arc<ObjectSet>),
    Object(ObjectId),
    Field(Arc<FieldTerm>),
}

/// A test of the contents of objects. Its answer is a set of objects, which is computed before objects are searched.
#[derive(Debug)]
pub(crate) enum FieldTerm {
    /// A test of a field.
    Field(FieldPath, FieldTest),
    /// A test of their filling.
    Measure(Measure, NumberTest),
    /// A test of their line.
    Line(TextTest),
}

/// The tests of fields, from left to right.
pub(super) fn fields(node: &Node) -> Vec<&Arc<FieldTerm>> {
    let terms = node.terms().into_iter();
    terms.filter_map(|term| if let Term::Field(field) = term { Some(field) } else { None }).collect()
}

/// The type names that are compared exactly, from left to right, and whether those of interfaces count, too.
pub(super) fn type_names(node: &Node) -> Vec<(&str, bool)> {
    let names = node.terms().into_iter().filter_map(|term| match term {
        &Term::Text(TextComparison {
            attribute: attribute @ (TextAttribute::Type | TextAttribute::Is),
            test: TextTest { pattern: Pattern::Exact(ref name), .. },
        }) => Some((name.as_str(), matches!(attribute, TextAttribute::Is))),
        _ => None,
    });
    names.collect()
}

/// Returns whether the bases of types are compared.
pub(super) fn asks_for_bases(node: &Node) -> bool {
    let mut terms = node.terms().into_iter();
    terms.any(|term| matches!(term, Term::Text(TextComparison { attribute: TextAttribute::Is, .. })))
}

/// The objects that are named by id.
pub(super) fn objects(node: &Node) -> Vec<ObjectId> {
    let terms = node.terms().into_iter();
    terms.filter_map(|term| if let Term::Object(object) = term { Some(*object) } else { None }).collect()
}

/// A comparison of a text of an object. [`TextAttribute::Site`] is the text of its allocation site, whose id is compared
/// by [`NumberComparison`].
#[derive(Debug, Clone)]
pub(super) struct TextComparison {
    pub(super) attribute: TextAttribute,
    pub(super) test: TextTest,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct NumberComparison {
    pub(super) attribute: NumberAttribute,
    pub(super) range: Range,
}

/// The attributes and properties of expressions, with their meanings.
pub const ATTRIBUTES: [(&str, &str); 27] = [
    ("type", "name of the type or function"),
    (
        "is",
        "the type or one that it is derived from, or an interface, without an operator: `is Exception`, `is java.util.*`",
    ),
    ("package", "the type's name up to its last part: `java.util`; `not package ~ /./` for types without"),
    ("superclass", "name of the type that the type is derived from, if recorded"),
    ("loader", "class of the loader of the type; a type of the JVM itself has none"),
    ("name", "the object's own name or text where it has one, else that of its type"),
    ("text", "what a string says, or the name of a thread; no comparison holds for objects that say nothing"),
    ("line", "what `info` shows as `reads as`: a date, a URL; no comparison holds for objects without"),
    ("kind", "name of the kind"),
    ("layout", "memory layout in the runtime's words (also: repr)"),
    ("file", "file the type is declared in"),
    ("size", "shallow size in bytes (also: shallow)"),
    ("unmanaged", "bytes outside the managed heap"),
    ("retained", "bytes freed if the object were collected"),
    ("elements", "elements of an array or a collection, where its type says how they are counted"),
    ("fill", "elements for each slot of a collection, as a share: `fill < 25%` or `fill < 0.25`; not of an array"),
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
    /// The type or one of those that it is derived from.
    Is,
    Package,
    Superclass,
    Loader,
    Name,
    /// The name of an object that is data of the program.
    Text,
    /// See [`crate::Heap::lines`].
    Line,
    Kind,
    Layout,
    File,
    Site,
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
    /// The elements of a collection.
    Elements,
    /// The elements for each of its slots.
    Fill,
}

/// A property that an object has or has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Reachable,
    Unreachable,
    Root,
}

/// The beginning of a term.
pub(super) type Attribute = barrow_expressions::Attribute<TextAttribute, NumberAttribute, Property>;

/// The attribute with this name, in lower case.
pub(super) fn attribute_named(word: &str) -> Option<Attribute> {
    use barrow_expressions::Attribute::{Either, Property as Is, Text};
    Some(match word {
        "type" => Text(TextAttribute::Type),
        "is" => Attribute::Is(TextAttribute::Is),
        "package" => Text(TextAttribute::Package),
        "superclass" => Text(TextAttribute::Superclass),
        "loader" => Text(TextAttribute::Loader),
        "name" => Text(TextAttribute::Name),
        "text" => Text(TextAttribute::Text),
        "line" => Text(TextAttribute::Line),
        "kind" => Text(TextAttribute::Kind),
        "layout" | "repr" => Text(TextAttribute::Layout),
        "file" => Text(TextAttribute::File),
        "size" | "shallow" => number(NumberAttribute::Size),
        "unmanaged" => number(NumberAttribute::Unmanaged),
        "retained" => number(NumberAttribute::Retained),
        "distance" => number(NumberAttribute::Distance),
        "inrefs" | "in" | "incoming" => number(NumberAttribute::Incoming),
        "refs" | "references" | "outrefs" => number(NumberAttribute::Outgoing),
        "id" => number(NumberAttribute::Id),
        "elements" => Attribute::Measure(NumberAttribute::Elements),
        "fill" => Attribute::Measure(NumberAttribute::Fill),
        "site" => Either(TextAttribute::Site, NumberAttribute::Site, Unit::Size),
        "generation" => number(NumberAttribute::Generation),
        "serial" => number(NumberAttribute::Serial),
        "address" => number(NumberAttribute::Address),
        "reachable" => Is(Property::Reachable),
        "unreachable" => Is(Property::Unreachable),
        "root" => Is(Property::Root),
        _ => return None,
    })
}

/// An attribute that is a number of things or bytes, such as 3 or 1.5K.
fn number(attribute: NumberAttribute) -> Attribute {
    Attribute::Number(attribute, Unit::Size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_in_the_list_is_known() {
        for (name, meaning) in ATTRIBUTES {
            assert!(attribute_named(name).is_some() && !meaning.is_empty(), "{name}");
        }
    }
}
