//! Predicates over objects, as users type them: `type = "Hash" and size > 1K`.
//!
//! ```text
//!   any   := all { ("or" | "|") all }
//!   all   := one { ("and" | "&") one | "-" one }         a - b: a and not b
//!   one   := ("not" | "!") one | "(" any ")" | comparison | property | objects
//!   text attributes    type name kind layout file site       = != ~ !~    "text"  word  Glob*  /regex/
//!   number attributes  size retained distance …              = != < <= > >=    12  1.5M  64KiB  0x7f00
//!                                                            in                1K..2M  1K..  ..2M
//!   properties         reachable unreachable root
//!   objects            $name and $_ (a named set)   @123 (that object)   %3 (row 3 of the last table)
//! ```
//!
//! `not` binds tightest, then `and`, `&` and `-` from left to right, then `or` and `|`. `-` needs blanks around it,
//! because names may contain it. A word ends at a blank or at one of `( ) " ' = ! ~ < > & |`.
//!
//! `=` compares whole texts. `~` takes a glob pattern for a whole text, or a regular expression that matches anywhere.
//! A range includes both ends. A comparison is false, even with `!=`, if the object has no such number: the distance of
//! an unreachable object, or an address, serial or site that was not recorded. A site is compared as a text if the
//! value is not a number: as `function (file:line)`, or with `=` also as `file:line`.

use barrow_format::{KindId, ObjectId, SnapshotId, TypeId};

use crate::file::tables::Tables;

mod block_objects;
mod evaluation;
mod lexer;
mod names;
mod needs;
mod number;
mod parse;
mod tree;

pub(crate) use block_objects::{BlockObjects, Sizes};
pub(crate) use evaluation::{DerivedColumns, Prepared};
pub use names::Names;
pub use number::parse_size;
pub(crate) use parse::name_pattern;
pub use tree::ATTRIBUTES;

use names::NoNames;
use tree::Node;

/// An error in the text of an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// The position in the text, in bytes.
    pub position: usize,
    /// What is wrong, and what is expected at this position.
    pub message: String,
}

impl ExpressionError {
    fn new(position: usize, message: impl Into<String>) -> Self {
        ExpressionError { position, message: message.into() }
    }
}

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

    /// Parses an expression that may contain `$name` and `%3`. They are looked up now, so later changes of the names
    /// have no effect.
    ///
    /// # Errors
    /// [`ExpressionError`] with the position in the text.
    pub fn parse_with(text: &str, names: &dyn Names) -> Result<Self, ExpressionError> {
        let (node, has_names) = parse::parse(text, names)?;
        Ok(Expression { node, snapshot: has_names.then(|| names.snapshot()) })
    }

    /// The type names that it compares with `=` or `!=` although `tables` has no type with that name.
    #[must_use]
    pub fn unknown_types(&self, tables: &Tables) -> Vec<&str> {
        let mut names = self.node.type_names();
        names.retain(|name| !(0..tables.type_count() as u32).any(|id| tables.type_name(TypeId(id)) == *name));
        names
    }

    /// A text that no other expression and kinds have. Texts that were typed differently may have one text. `None` if it
    /// names objects as `$name` or `%3`: what these mean changes.
    pub(crate) fn text(&self, kinds: &[KindId]) -> Option<String> {
        self.snapshot.is_none().then(|| format!("{kinds:?} {:?}", self.node))
    }

    /// The objects that it names as `@123`.
    pub(crate) fn objects(&self) -> impl Iterator<Item = ObjectId> {
        self.node.objects().into_iter()
    }

    /// The snapshot whose objects it names as `$name` or `%3`; `None` without such names. The expression is not valid
    /// in other snapshots.
    #[must_use]
    pub fn snapshot(&self) -> Option<SnapshotId> {
        self.snapshot
    }
}
