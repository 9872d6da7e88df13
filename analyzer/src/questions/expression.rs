//! Predicates over objects, as users type them: `type = "Hash" and size > 1K`.
//!
//! `barrow_expressions` knows the syntax, and [`ATTRIBUTES`] the words. Besides, there are fields, such as `.count` and
//! `.owner.name`, and objects that have names:
//!
//! ```text
//!   $name and $_   a named set
//!   @123           that object
//!   %3             row 3 of the last table: an object, or the objects of a group
//! ```
//!
//! A comparison is false, even with `!=`, if the object has no text, or no such number: the distance of an unreachable object, or an
//! address, serial or site that was not recorded. Of the contents of an object that are not known it is unknown, see
//! `evaluation`. A site is compared as a text if the value is not a number: as `function (file:line)`, or with `=` also
//! as `file:line`.

use std::sync::Arc;

use barrow_expressions::{ExpressionError, FieldTest};
use barrow_format::{KindId, ObjectId, SnapshotId};

use crate::file::tables::Tables;

mod block_objects;
mod evaluation;
mod language;
mod names;
mod needs;
mod terms;
mod values;

pub(crate) use block_objects::{BlockObjects, Sizes};
pub(crate) use evaluation::{CompiledExpression, DerivedColumns};
pub use names::Names;
pub use terms::{ATTRIBUTES, Attribute, Quantity, TypeText};
pub(crate) use terms::{FieldTerm, NumberAttribute, Operand, TextAttribute};
pub use values::AttributeValue;

use language::Objects;
use names::NoNames;
use terms::Node;

/// A predicate over objects.
#[derive(Debug, Clone)]
pub struct Expression {
    node: Node,
    /// The snapshot of the sets and rows in it; `None` if there are none.
    snapshot: Option<SnapshotId>,
}

impl Expression {
    /// Parses an expression without names. An empty text matches every object.
    ///
    /// # Errors
    /// [`ExpressionError`] with the position in the text; `$name` and `%3` are errors, too.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Expression::parse_with(text, &NoNames)
    }

    /// Whether a word, in any case, is an attribute of objects.
    #[must_use]
    pub fn is_attribute(word: &str) -> bool {
        Attribute::named(word).is_some()
    }

    /// Parses an expression that may contain `$name` and `%3`. They are looked up now, so later changes of the names
    /// have no effect.
    ///
    /// # Errors
    /// [`ExpressionError`] with the position in the text.
    pub fn parse_with(text: &str, names: &dyn Names) -> Result<Self, ExpressionError> {
        let language = Objects::new(names);
        let node = barrow_expressions::parse(text, &language)?;
        Ok(Expression { node, snapshot: language.has_names().then(|| names.snapshot()) })
    }

    /// The type names that it compares with `=` or `!=` although `tables` has no type with that name.
    #[must_use]
    pub fn unknown_types(&self, tables: &Tables) -> Vec<&str> {
        let names = terms::type_names(&self.node).into_iter();
        let unknown = names.filter(|&(name, or_interface)| {
            !if or_interface {
                tables.has_type(name) || tables.has_interface(name)
            } else {
                tables.has_titled_type(name)
            }
        });
        unknown.map(|(name, _)| name).collect()
    }

    /// The patterns without `*` and `?` that it compares type names with: each matches one name.
    #[must_use]
    pub fn type_words(&self) -> Vec<&str> {
        terms::type_words(&self.node)
    }

    /// Returns whether it compares the bases of types.
    #[must_use]
    pub fn asks_for_bases(&self) -> bool {
        terms::asks_for_bases(&self.node)
    }

    /// The interfaces in it, as `is NAME`. It is not recorded of all types which of them implement these.
    #[must_use]
    pub fn interfaces(&self, tables: &Tables) -> Vec<&str> {
        let names = terms::type_names(&self.node).into_iter();
        let interfaces =
            names.filter(|&(name, or_interface)| or_interface && !tables.has_type(name) && tables.has_interface(name));
        interfaces.map(|(name, _)| name).collect()
    }

    /// A text that identifies the expression and the kinds. Expressions that were typed differently may have the same text.
    /// `None` if it names objects as `$name` or `%3`, whose meaning changes.
    pub(crate) fn text(&self, kinds: &[KindId]) -> Option<String> {
        self.snapshot.is_none().then(|| format!("{kinds:?} {:?}", self.node))
    }

    /// The tests of fields in it.
    pub(crate) fn field_terms(&self) -> Vec<&Arc<FieldTerm>> {
        terms::fields(&self.node)
    }

    /// Returns whether a time without a zone is compared.
    #[must_use]
    pub fn assumes_utc(&self) -> bool {
        let assumes_utc = |test: &FieldTest| matches!(test, FieldTest::Time(test, _) if test.assumes_utc());
        self.field_terms().into_iter().any(|term| matches!(&**term, FieldTerm::Field(_, test) if assumes_utc(test)))
    }

    /// The objects that it names as `@123`.
    pub(crate) fn objects(&self) -> impl Iterator<Item = ObjectId> {
        terms::objects(&self.node).into_iter()
    }

    /// The snapshot whose objects it names as `$name` or `%3`; `None` without such names. The expression is not valid
    /// in other snapshots.
    #[must_use]
    pub fn snapshot(&self) -> Option<SnapshotId> {
        self.snapshot
    }
}
