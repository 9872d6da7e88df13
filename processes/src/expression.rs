//! Predicates over processes, as users type them: `class = "cc1" and memory > 500M`.
//!
//! `barrow_expressions` knows the syntax, and [`ATTRIBUTES`](crate::ATTRIBUTES) the words. Rows are images: the programs
//! that processes executed.
//!
//! A comparison with a number that was not recorded is false, even with `!=`. A text that was not recorded equals no
//! text and matches no pattern, so `!=` and `!~` hold.
//!
//! A property that was not recorded, such as `failed` of a process whose exit status is unknown, holds for no image,
//! and neither does its opposite.
//!
//! A sum, such as `cpu`, `faults` or a total of the images below an image, adds the known values; it is unknown if none
//! of them is known. So it is the number that tables show.

use barrow_expressions::ExpressionError;

use crate::attributes::{Attribute, Text};
use crate::classes::Classes;
use crate::image_set::ImageSet;
use crate::tree::ProcessTree;

mod evaluation;
mod labels;
mod language;
mod names;
mod terms;

pub use labels::StrangeLabel;
pub use names::ImageNames;

use language::Images;
use names::NoNames;
use terms::{Node, Term};

/// A predicate over images.
#[derive(Debug, Clone)]
pub struct Expression {
    node: Node,
    has_names: bool,
}

impl Expression {
    /// Parses an expression without names. An empty text matches every image.
    ///
    /// # Errors
    /// [`ExpressionError`] with the position in the text; `class.NAME`, `$name` and `%3` are errors, too.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Expression::parse_with(text, &NoNames)
    }

    /// Parses an expression that may contain `class.NAME`, `$name` and `%3`. They are resolved now, so later changes of
    /// the names have no effect.
    ///
    /// # Errors
    /// [`ExpressionError`] with the position in the text.
    pub fn parse_with(text: &str, names: &dyn ImageNames) -> Result<Self, ExpressionError> {
        let language = Images::new(names);
        let node = barrow_expressions::parse(text, &language)?;
        Ok(Expression { node, has_names: language.has_names() })
    }

    /// Whether a word, in any case, is an attribute of processes, or begins like `class.NAME`.
    #[must_use]
    pub fn is_attribute(word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        word.starts_with("class.") || Attribute::named(&word).is_some()
    }

    /// Whether it tests nothing, and so matches every image.
    #[must_use]
    pub fn is_of_all(&self) -> bool {
        self.node.terms().is_empty()
    }

    /// Whether it tests classes.
    #[must_use]
    pub fn needs_classes(&self) -> bool {
        self.last_schema().is_some()
    }

    /// The number of the last schema it names; that of the first if it tests `class` alone.
    #[must_use]
    pub fn last_schema(&self) -> Option<usize> {
        let schemata = self.node.terms().into_iter().filter_map(|term| match term {
            Term::Text(Text::Class, _) => Some(0),
            Term::Text(Text::ClassOf(schema), _) => Some(*schema),
            _ => None,
        });
        schemata.max()
    }

    /// Whether it refers to images as `$name` or `%3`, whose meaning changes.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.has_names
    }

    /// The first property or number it tests that the recording of a tree states for no process.
    #[must_use]
    pub fn unknown_attribute(&self, tree: &ProcessTree) -> Option<&'static str> {
        let knows = tree.knowledge();
        let tested = self.node.terms().into_iter().filter_map(|term| match term {
            Term::Is(attribute) | Term::Number(attribute, _) => Some(*attribute),
            Term::Text(..) | Term::Member(_) | Term::Image(_) => None,
        });
        let mut unknown = tested.filter(|attribute| !(attribute.is_told)(&knows));
        unknown.next().map(Attribute::word)
    }

    /// The images that match, using all threads. `classes` are those of the tree; without them no image has a class.
    #[must_use]
    pub fn select(&self, tree: &ProcessTree, classes: Option<&Classes>) -> ImageSet {
        evaluation::select(&self.node, tree, classes)
    }

    /// The images of which too little is recorded to know whether they match: a number is known in part or not at all, or a
    /// property is unknown. What is recorded decides whether [`select`](Self::select) has them.
    #[must_use]
    pub fn undecided(&self, tree: &ProcessTree, classes: Option<&Classes>) -> ImageSet {
        evaluation::undecided(&self.node, tree, classes)
    }
}
