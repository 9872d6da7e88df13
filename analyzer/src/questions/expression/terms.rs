//! The terms of expressions about objects, and the table of attributes and properties.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use barrow_expressions::{FieldTest, NumberTest, Pattern, Range, TextTest};
use barrow_format::block::ColumnSelection;
use barrow_format::{ObjectId, TypeId};

use super::block_objects::BlockObjects;
use crate::file::object::ObjectDetails;
use crate::file::tables::Tables;
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

/// What is tested, as it is typed.
impl Display for FieldTerm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FieldTerm::Field(path, _) => path.fmt(f),
            FieldTerm::Measure(Measure::Elements, _) => f.write_str("elements"),
            FieldTerm::Measure(Measure::Fill, _) => f.write_str("fill"),
            FieldTerm::Line(_) => f.write_str("line"),
        }
    }
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

/// The patterns without `*` and `?` that type names are compared with.
pub(super) fn type_words(node: &Node) -> Vec<&str> {
    let words = node.terms().into_iter().filter_map(|term| match term {
        Term::Text(TextComparison {
            attribute: TextAttribute::Type | TextAttribute::Is,
            test: TextTest { pattern: Pattern::Word(word), .. },
        }) => Some(word.as_str()),
        _ => None,
    });
    words.collect()
}

/// Returns whether the bases of types are compared.
pub(super) fn asks_for_bases(node: &Node) -> bool {
    let mut terms = node.terms().into_iter();
    terms.any(|term| match term {
        Term::Text(TextComparison { attribute: TextAttribute::Is, .. }) => true,
        Term::Text(TextComparison { attribute: TextAttribute::OfType(text), .. }) => {
            std::ptr::fn_addr_eq(*text, superclass as TypeText)
        }
        _ => false,
    })
}

/// The name of the type that a type is derived from.
fn superclass(tables: &Tables, id: TypeId) -> Option<&str> {
    tables.type_base(id).map(|base| tables.type_name(base))
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

/// An attribute or property of objects, as expressions name it.
#[derive(Debug)]
pub struct Attribute {
    /// The words for it; the first is the usual one.
    pub words: &'static [&'static str],
    /// The meaning, for people.
    pub document: &'static str,
    operand: Operand,
    /// The key and the heading of the column that shows it, if they are not its usual word.
    column: Option<(&'static str, &'static str)>,
    quantity: Option<Quantity>,
}

/// The unit of an attribute that is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes.
    Bytes,
    /// A plain count.
    Count,
    /// An identifier: it counts nothing.
    Number,
    /// A part of a whole, from 0 to 1.
    Share,
    /// A place in memory.
    Address,
}

/// All attributes, in the order of `help expressions`.
pub static ATTRIBUTES: [Attribute; 27] = {
    use NumberAttribute as N;
    use Quantity as Q;
    use TextAttribute as T;
    use barrow_expressions::Attribute::{Either, Is as IsA, Measure, Number, Property as Is, Text};
    use barrow_expressions::Unit::Size;
    [
        row(&["type"], "name of the type or function; `=` also knows its title, `f (a.js:3)`", Text(T::Type)),
        row(
            &["is"],
            "the type or one that it is derived from, or an interface, without an operator: `is Exception`, `is java.util.*`",
            IsA(T::Is),
        ),
        row(
            &["package"],
            "the type's name up to its last part: `java.util`; `not package ~ /./` for types without",
            Text(T::OfType(Tables::type_package)),
        ),
        row(
            &["superclass"],
            "name of the type that the type is derived from, if recorded",
            Text(T::OfType(superclass)),
        ),
        row(
            &["loader"],
            "class of the loader of the type; a type of the JVM itself has none",
            Text(T::OfType(Tables::type_loader)),
        ),
        row(&["name"], "the object's own name or text where it has one, else that of its type", Text(T::Name)),
        row(
            &["text"],
            "what a string says, or the name of a thread; no comparison holds for objects that say nothing",
            Text(T::Text),
        )
        .column("name", "name"),
        row(
            &["line"],
            "what `info` shows as `reads as`: a date, a URL, the line of `--lines`; no comparison holds for objects without",
            Text(T::Line),
        ),
        row(&["kind"], "name of the kind", Text(T::Kind)),
        row(&["layout", "repr"], "memory layout in the runtime's words", Text(T::OfType(Tables::type_layout))),
        row(&["file"], "file the type is declared in", Text(T::OfType(Tables::type_file))),
        row(&["size", "shallow"], "shallow size in bytes", Number(N::Size, Size))
            .of(Q::Bytes)
            .column("shallow_bytes", "shallow"),
        row(&["unmanaged"], "bytes outside the managed heap", Number(N::Unmanaged, Size))
            .of(Q::Bytes)
            .column("unmanaged_bytes", "unmanaged"),
        row(&["retained"], "bytes freed if the object were collected", Number(N::Retained, Size))
            .of(Q::Bytes)
            .column("retained_bytes", "retained"),
        row(
            &["elements"],
            "elements of an array or a collection, where its type says how they are counted",
            Measure(N::Elements),
        )
        .of(Q::Count),
        row(
            &["fill"],
            "elements for each slot of a collection, as a share: `fill < 25%` or `fill < 0.25`; not of an array",
            Measure(N::Fill),
        )
        .of(Q::Share),
        row(
            &["distance"],
            "references from the nearest root; no comparison holds for unreachable objects",
            Number(N::Distance, Size),
        )
        .of(Q::Count),
        row(&["inrefs", "in", "incoming"], "number of incoming references", Number(N::Incoming, Size))
            .of(Q::Count)
            .column("incoming", "inrefs"),
        row(&["refs", "references", "outrefs"], "number of outgoing references", Number(REFERENCES, Size))
            .of(Q::Count)
            .column("references", "references"),
        row(&["id"], "number of the object", Number(ID, Size)).of(Q::Number),
        row(
            &["site"],
            "allocation site, if recorded: a number, or a text such as \"app.rb:12\" or /parse/",
            Either(T::Site, N::Site, Size),
        )
        .of(Q::Number),
        row(
            &["generation"],
            "collection in which the object was allocated, if its site says so",
            Number(N::Generation, Size),
        )
        .of(Q::Number),
        row(&["serial"], "what names the object across snapshots, if recorded", Number(SERIAL, Size)).of(Q::Number),
        row(&["address"], "where the object lived, if recorded: 0x7f00", Number(ADDRESS, Size)).of(Q::Address),
        row(&["reachable"], "true if references lead to it from a root", Is(Property::Reachable)),
        row(&["unreachable"], "true if none do", Is(Property::Unreachable)),
        row(&["root"], "true if the runtime itself refers to it", Is(Property::Root)),
    ]
};

const REFERENCES: NumberAttribute = NumberAttribute::Stored(Stored {
    columns: ColumnSelection::Counts,
    in_block: |block, row| Some(block.references(row)),
    of_object: |object| Some(object.references),
});
const ID: NumberAttribute = NumberAttribute::Stored(Stored {
    columns: ColumnSelection::Sizes,
    in_block: |block, row| Some(block.object(row).0.into()),
    of_object: |object| Some(object.id.0.into()),
});
const SERIAL: NumberAttribute = NumberAttribute::Stored(Stored {
    columns: ColumnSelection::Identity,
    in_block: |block, row| block.identity(row, |columns| &columns.serials),
    of_object: |object| object.serial,
});
const ADDRESS: NumberAttribute = NumberAttribute::Stored(Stored {
    columns: ColumnSelection::Identity,
    in_block: |block, row| block.identity(row, |columns| &columns.addresses),
    of_object: |object| object.address,
});

const fn row(words: &'static [&'static str], document: &'static str, operand: Operand) -> Attribute {
    Attribute { words, document, operand, column: None, quantity: None }
}

/// A text of a type, which all of its objects have.
pub type TypeText = for<'t> fn(&'t Tables, TypeId) -> Option<&'t str>;

#[derive(Debug, Clone, Copy)]
pub(crate) enum TextAttribute {
    Type,
    /// The type or one of those that it is derived from.
    Is,
    /// Another text of the type.
    OfType(TypeText),
    Name,
    /// The name of an object that is data of the program.
    Text,
    /// See [`crate::Heap::lines`].
    Line,
    Kind,
    Site,
}

/// A number that the recording has of each object, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored {
    /// The columns of blocks that it is read from.
    pub(crate) columns: ColumnSelection,
    /// The number of the object in a row of a block.
    pub(crate) in_block: fn(&BlockObjects<'_>, usize) -> Option<u64>,
    /// The same number, from the details of an object.
    pub(crate) of_object: fn(&ObjectDetails) -> Option<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum NumberAttribute {
    Size,
    Unmanaged,
    Retained,
    Distance,
    Incoming,
    Site,
    Generation,
    Stored(Stored),
    /// The elements of a collection.
    Elements,
    /// The elements for each of its slots.
    Fill,
}

impl NumberAttribute {
    /// The number of an object that a block has itself; `None` for other attributes, and if the object has no such number.
    pub(crate) fn in_block(self, block: &BlockObjects<'_>, row: usize) -> Option<u64> {
        match self {
            NumberAttribute::Size => Some(block.shallow_bytes.at(row)),
            NumberAttribute::Unmanaged => Some(block.unmanaged_bytes.at(row)),
            NumberAttribute::Stored(stored) => (stored.in_block)(block, row),
            _ => None,
        }
    }

    /// The columns of blocks that it is read from: [`ColumnSelection::Sizes`] if they are not needed.
    pub(crate) fn columns(self) -> ColumnSelection {
        match self {
            NumberAttribute::Stored(stored) => stored.columns,
            NumberAttribute::Site | NumberAttribute::Generation => ColumnSelection::Identity,
            _ => ColumnSelection::Sizes,
        }
    }
}

/// A property that an object has or has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Property {
    Reachable,
    Unreachable,
    Root,
}

/// The beginning of a term.
pub(crate) type Operand = barrow_expressions::Attribute<TextAttribute, NumberAttribute, Property>;

impl PartialEq for Attribute {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Eq for Attribute {}

impl Attribute {
    const fn of(self, quantity: Quantity) -> Self {
        Attribute { quantity: Some(quantity), ..self }
    }

    const fn column(self, key: &'static str, heading: &'static str) -> Self {
        Attribute { column: Some((key, heading)), ..self }
    }

    /// The attribute that `word` names, in any case.
    #[must_use]
    pub fn named(word: &str) -> Option<&'static Attribute> {
        ATTRIBUTES.iter().find(|attribute| attribute.words.iter().any(|known| known.eq_ignore_ascii_case(word)))
    }

    /// The usual word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.words[0]
    }

    /// The key of the column that shows it: a noun with its unit.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.column.map_or(self.word(), |(key, _)| key)
    }

    /// The heading of that column.
    #[must_use]
    pub fn heading(&self) -> &'static str {
        self.column.map_or(self.word(), |(_, heading)| heading)
    }

    /// The unit of its numbers; `None` if it is a text or a property.
    #[must_use]
    pub fn quantity(&self) -> Option<Quantity> {
        self.quantity
    }

    /// Whether an object has it as a value. `is` only compares: it takes a type with all that this is derived from.
    #[must_use]
    pub fn has_value(&self) -> bool {
        !matches!(self.operand, Operand::Is(_))
    }

    /// The text of types that it is, if objects of a type cannot differ in it. Then lists and groups need nothing else.
    #[must_use]
    pub fn of_type(&self) -> Option<TypeText> {
        match self.operand {
            Operand::Text(TextAttribute::OfType(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether objects have an order by it that takes no texts of the program: it is a number, or a text of types.
    #[must_use]
    pub fn has_order(&self) -> bool {
        use TextAttribute::{Kind, OfType, Type};
        match self.operand {
            Operand::Number(..) | Operand::Measure(_) | Operand::Either(..) => true,
            Operand::Text(text) => matches!(text, Type | Kind | OfType(_)),
            Operand::Is(_) | Operand::Property(_) => false,
        }
    }

    pub(crate) fn operand(&self) -> Operand {
        self.operand
    }
}
