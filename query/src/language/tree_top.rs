//! Where a question about the dominator tree begins: at all roots, at a group of them, at an object.

use std::fmt;

use barrow_analyzer::{Dominators, Heap, ObjectId, StringId, TreePlace, nearest};

use crate::error::QueryError;

/// Where a question about the dominator tree begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TreeTop {
    /// All roots.
    Everything,
    /// The roots of a group, and its name.
    Roots(StringId, String),
    /// An object.
    Object(ObjectId),
}

impl TreeTop {
    /// The group of roots of this name.
    ///
    /// # Errors
    /// A usage error if there is none; those of the analyzer.
    pub(crate) fn roots(heap: &Heap, name: &str) -> Result<Self, QueryError> {
        let tables = heap.recording().tables()?;
        let groups = heap.roots()?.categories();
        if let Some(group) = groups.iter().find(|group| tables.string(group.name) == name) {
            return Ok(TreeTop::Roots(group.name, name.to_owned()));
        }
        let near = nearest(name, groups.iter().map(|group| tables.string(group.name)));
        let near = near.map_or_else(|| "`roots` lists them".to_owned(), |near| format!("did you mean `{near}`?"));
        Err(QueryError::usage(format!("there is no group of roots `{name}`; {near}")))
    }

    /// Its place; `None` for an unreachable object.
    pub(crate) fn place(&self, dominators: &Dominators) -> Option<TreePlace> {
        match self {
            TreeTop::Everything => Some(dominators.top()),
            TreeTop::Roots(name, _) => dominators.group(*name),
            TreeTop::Object(object) => dominators.place(*object),
        }
    }

    /// The object, if it is one.
    pub(crate) fn object(&self) -> Option<ObjectId> {
        match self {
            TreeTop::Object(object) => Some(*object),
            _ => None,
        }
    }
}

/// The words that name it, with a blank after them.
impl fmt::Display for TreeTop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TreeTop::Everything => Ok(()),
            TreeTop::Roots(_, name) => write!(f, "roots {name:?} "),
            TreeTop::Object(object) => write!(f, "@{object} "),
        }
    }
}
