//! The interface to a crate that knows rows: their attributes, and the rows that have names.

use crate::field::{FieldTest, NumberTest};
use crate::path::{PathStep, path_text};
use crate::pattern::TextTest;
use crate::range::Range;

/// An attribute or property of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribute<T, N, P> {
    /// Compared as a text.
    Text(T),
    /// Compared with what follows, without an operator: `is Map`, `is /Cache/`.
    Is(T),
    /// Compared as a number.
    Number(N, Unit),
    /// Compared as a number that may have a fraction or be a percentage: `25%`, `0.25`.
    Measure(N),
    /// Compared as a text if the operator or the value is one for texts, else as a number.
    Either(T, N, Unit),
    /// True or false of a row.
    Property(P),
}

/// The unit of a number, which determines how it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes or items: `100`, `64KiB`, `0x7f00`.
    Size,
    /// Nanoseconds: `10min`, `1.5s`, `200ms`, `0`.
    Duration,
}

/// The rows that expressions are about.
pub trait Language {
    /// Attributes that are texts.
    type Text;
    /// Attributes that are numbers.
    type Number;
    /// Properties that a row may have.
    type Property;
    /// A comparison, a property, or named rows.
    type Term;

    /// The alternatives at the start of a term, in words: ``an attribute such as `type` or `size`, a set, an object or
    /// `(` ``.
    const TERM: &'static str;
    /// A text to compare with, as an example: `Hash`.
    const TEXT: &'static str;

    /// The attribute with this name, in lower case.
    fn attribute(&self, word: &str) -> Option<Attribute<Self::Text, Self::Number, Self::Property>>;
    /// The names of all attributes, in the order to show them.
    fn attributes(&self) -> Vec<String>;

    /// The comparison of a text.
    fn text(&self, attribute: Self::Text, test: TextTest) -> Self::Term;
    /// The comparison of a number.
    fn number(&self, attribute: Self::Number, range: Range) -> Self::Term;
    /// A property.
    fn property(&self, property: Self::Property) -> Self::Term;

    /// The comparison of a number that may have a fraction.
    ///
    /// # Errors
    /// A sentence if rows have no such number.
    fn measure(&self, _attribute: Self::Number, _test: NumberTest) -> Result<Self::Term, String> {
        Err("what is listed here has no such number".to_owned())
    }

    /// A test of the value that this path leads to: `.owner.name`, `.attributes["tenant"]`.
    ///
    /// # Errors
    /// A sentence if rows have no fields.
    fn field(&self, path: Vec<PathStep>, _test: FieldTest) -> Result<Self::Term, String> {
        Err(format!("`{}` is no attribute: what is listed here has no fields", path_text(&path)))
    }

    /// The rows of the set of this name, given without `$`.
    ///
    /// # Errors
    /// A sentence if there is no such set.
    fn set(&self, name: &str) -> Result<Self::Term, String>;
    /// The row `@123`.
    ///
    /// # Errors
    /// A sentence if rows have no such names.
    fn object(&self, number: u32) -> Result<Self::Term, String>;
    /// The row of this number in a snapshot, which is not in others.
    ///
    /// # Errors
    /// A sentence if rows have no such names, or the question is about another snapshot.
    fn object_of(&self, snapshot: u32, number: u32) -> Result<Self::Term, String>;
    /// The row of this number, counted from 1, in the last table.
    ///
    /// # Errors
    /// A sentence if the table has no such row.
    fn row(&self, row: usize) -> Result<Self::Term, String>;
}
