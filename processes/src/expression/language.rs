//! The expression language for processes: attributes, and named images.

use std::cell::Cell;

use barrow_expressions::{Attribute as Operand, Language, Range, TextTest};

use super::names::ImageNames;
use super::terms::{Term, operand};
use crate::attributes::{ATTRIBUTES, Attribute, Text};

/// Precedes the name of a schema.
const SCHEMA: &str = "class.";

/// Images of a process tree, and the names that some of them have.
pub(super) struct Images<'n> {
    names: &'n dyn ImageNames,
    /// Whether a name was looked up.
    has_names: Cell<bool>,
}

impl<'n> Images<'n> {
    /// Images with these names.
    pub(super) fn new(names: &'n dyn ImageNames) -> Self {
        Images { names, has_names: Cell::new(false) }
    }

    /// Whether a set or a row was looked up.
    pub(super) fn has_names(&self) -> bool {
        self.has_names.get()
    }
}

impl Language for Images<'_> {
    type Text = Text;
    type Number = &'static Attribute;
    type Property = &'static Attribute;
    type Term = Term;

    const TERM: &'static str = "an attribute such as `class` or `memory`, a set, a row or `(`";
    const TEXT: &'static str = "cc1";

    fn attribute(&self, word: &str) -> Option<Operand<Text, &'static Attribute, &'static Attribute>> {
        match word.strip_prefix(SCHEMA) {
            None => Attribute::named(word).map(operand),
            Some(schema) => {
                let mut schemata = self.names.schemata().into_iter();
                let number = schemata.position(|name| name.to_lowercase() == schema)?;
                Some(Operand::Text(Text::ClassOf(number)))
            }
        }
    }

    fn attributes(&self) -> Vec<String> {
        let mut names: Vec<String> = ATTRIBUTES.iter().map(|attribute| attribute.word().to_owned()).collect();
        let schemata = self.names.schemata().into_iter().skip(1);
        names.splice(1..1, schemata.map(|name| format!("{SCHEMA}{name}")));
        names
    }

    fn text(&self, attribute: Text, test: TextTest) -> Term {
        Term::Text(attribute, test)
    }

    fn number(&self, attribute: &'static Attribute, range: Range) -> Term {
        Term::Number(attribute, range)
    }

    fn property(&self, property: &'static Attribute) -> Term {
        Term::Is(property)
    }

    fn set(&self, name: &str) -> Result<Term, String> {
        self.has_names.set(true);
        self.names.set(name).map(Term::Member)
    }

    fn object_of(&self, _snapshot: u32, number: u32) -> Result<Term, String> {
        self.object(number)
    }

    fn object(&self, _number: u32) -> Result<Term, String> {
        Err("processes are named as in `process = \"1234:0\"`".to_owned())
    }

    fn row(&self, row: usize) -> Result<Term, String> {
        self.has_names.set(true);
        self.names.row(row).map(Term::Image)
    }
}
