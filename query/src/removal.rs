//! Exclusions from a heap: `without EXPR`, `without references NAME [from EXPR]`.

use std::sync::Arc;

use barrow_analyzer::{Cut, Exclusion, Expression, Heap, KindId, ObjectSet};

use crate::error::QueryError;
use crate::progress::Meter;

/// An exclusion by one `without`. Its sets and rows keep the meaning that they had when it was typed.
#[derive(Debug)]
pub(crate) struct Removal {
    /// As it was typed, but for rows.
    pub(crate) text: String,
    pub(crate) target: Target,
}

/// The objects or references that an exclusion removes.
#[derive(Debug)]
pub(crate) enum Target {
    Objects(ObjectFilter),
    /// References of this name, of these objects or of all.
    References {
        name: String,
        from: Option<ObjectFilter>,
    },
}

/// Objects of some kinds, or of any, that match an expression.
#[derive(Debug)]
pub(crate) struct ObjectFilter {
    pub(crate) kinds: Vec<KindId>,
    pub(crate) expression: Expression,
}

/// Words for all exclusions together; empty if there are none.
pub(crate) fn text(removals: &[Arc<Removal>]) -> String {
    let texts: Vec<&str> = removals.iter().map(|removal| removal.text.as_str()).collect();
    if texts.is_empty() { String::new() } else { format!("without {}", texts.join(", without ")) }
}

impl Removal {
    /// A heap without it, besides what that is without already.
    ///
    /// # Errors
    /// Those of the analyzer: it may name objects of one snapshot only.
    pub(crate) fn applied(&self, heap: &Heap, meter: &Meter) -> Result<Heap, QueryError> {
        let select = |objects: &ObjectFilter| heap.select(&objects.kinds, &objects.expression, meter);
        let (removed, cut) = match &self.target {
            Target::Objects(objects) => (select(objects)?.0, None),
            Target::References { name, from } => {
                let sources = from.as_ref().map(select).transpose()?.map(|(set, _)| set);
                let cut = Cut::named(heap.recording().tables()?, name, sources);
                let cut = cut.map_err(|error| QueryError::usage(error.message))?;
                (ObjectSet::new(heap.snapshot(), heap.object_count()), Some(cut))
            }
        };
        Ok(heap.excluding(Exclusion::new(heap, &removed, cut, meter)?))
    }

    /// The objects that an expression describes; `None` if there is none.
    pub(crate) fn objects(&self) -> Option<&ObjectFilter> {
        match &self.target {
            Target::Objects(objects) => Some(objects),
            Target::References { from, .. } => from.as_ref(),
        }
    }

    /// Returns whether the excluded objects are exact: not if retained sizes that are lower bounds decide.
    ///
    /// # Errors
    /// Those of [`Heap::matches_exactly`].
    pub(crate) fn is_exact(&self, heap: &Heap, meter: &Meter) -> Result<bool, QueryError> {
        match &self.target {
            Target::Objects(objects) | Target::References { from: Some(objects), .. } => {
                Ok(heap.matches_exactly(&objects.expression, meter)?)
            }
            Target::References { from: None, .. } => Ok(true),
        }
    }
}
