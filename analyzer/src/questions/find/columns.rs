//! The derived columns that an expression needs.

use std::sync::Arc;

use barrow_format::ObjectId;

use crate::error::Result;
use crate::file::blocks::BlockPlace;
use crate::graph::distances::Distances;
use crate::graph::dominators::Dominators;
use crate::graph::incoming::Incoming;
use crate::graph::object_set::ObjectSet;
use crate::graph::partial_set::PartialSet;
use crate::heap::{FlatRetained, Heap};
use crate::progress::Progress;
use crate::questions::expression::{DerivedColumns, Expression, FieldTerm};
use crate::questions::fields::Tested;

/// The derived columns that an expression needs, taken from a heap.
pub(super) struct HeapColumns<'h> {
    pub(super) tree: FromTree<'h>,
    distances: Option<&'h Distances>,
    incoming: Option<&'h Incoming>,
    roots: Option<Vec<ObjectId>>,
    /// The answer of each test of a field.
    pub(super) fields: Vec<(Arc<FieldTerm>, Tested)>,
}

impl<'h> HeapColumns<'h> {
    /// `possible` are the objects that can match, judging by their types; `None` are all.
    pub(super) fn of(
        heap: &'h Heap,
        expression: &Expression,
        possible: Option<&ObjectSet>,
        tree: FromTree<'h>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let needs = expression.needs();
        let distances = needs.distance || needs.reachable && matches!(tree, FromTree::Nothing);
        let mut fields = Vec::new();
        for term in expression.field_terms() {
            let tested = match &**term {
                FieldTerm::Field(path, test) => heap.field_matches(path, test, possible, progress)?,
                FieldTerm::Measure(measure, test) => heap.filling_matches(*measure, test, progress)?,
                FieldTerm::Line(test) => heap.line_matches(test, progress)?,
            };
            fields.push((Arc::clone(term), tested));
        }
        Ok(HeapColumns {
            fields,
            tree,
            distances: distances.then(|| heap.distances(progress)).transpose()?,
            incoming: needs.incoming.then(|| heap.incoming(progress)).transpose()?,
            roots: needs.roots.then(|| heap.roots().map(crate::Roots::targets)).transpose()?,
        })
    }
}

/// The part of the dominator tree that an expression needs: retained sizes or reachability.
#[derive(Clone, Copy)]
pub(super) enum FromTree<'h> {
    Nothing,
    /// The whole tree; with it the retained sizes and the reachable objects that the index file has.
    All(&'h Dominators, Option<&'h FlatRetained>, Option<&'h ObjectSet>),
    /// Only the reachable objects.
    Reachable(&'h ObjectSet),
    /// Only the objects that retain at least the bytes that the expression demands, in order of id, with their retained
    /// sizes. No others can match.
    Largest(&'h [(ObjectId, u64)]),
}

impl<'h> FromTree<'h> {
    /// The objects of a block that can match; `None` if all can.
    pub(super) fn candidates(self, place: &BlockPlace) -> Option<&'h [(ObjectId, u64)]> {
        let FromTree::Largest(largest) = self else { return None };
        let first = place.entry.first_object;
        let [start, end] =
            [first, first + place.entry.objects].map(|end| largest.partition_point(|(object, _)| object.0 < end));
        Some(&largest[start..end])
    }
}

/// Columns that the expression does not need are never queried.
impl DerivedColumns for HeapColumns<'_> {
    fn retained_bytes(&self, object: ObjectId) -> u64 {
        match self.tree {
            FromTree::Nothing | FromTree::Reachable(_) => 0,
            FromTree::All(dominators, ..) => dominators.retained_bytes(object),
            FromTree::Largest(largest) => {
                largest.binary_search_by_key(&object, |&(object, _)| object).map_or(0, |at| largest[at].1)
            }
        }
    }

    fn retained_in_a_row<'b>(&self, first: ObjectId, count: usize, buffer: &'b mut Vec<u32>) -> Option<&'b [u32]> {
        let FromTree::All(_, Some(flat), _) = self.tree else { return None };
        flat.in_a_row(first, count, buffer)
    }

    fn is_reachable(&self, object: ObjectId) -> bool {
        match self.tree {
            FromTree::Nothing => self.distance(object).is_some(),
            FromTree::All(_, _, Some(set)) | FromTree::Reachable(set) => set.contains(object),
            FromTree::All(dominators, ..) => dominators.is_reachable(object),
            FromTree::Largest(largest) => largest.binary_search_by_key(&object, |&(object, _)| object).is_ok(),
        }
    }

    fn reachable_in_a_row(&self, first: ObjectId, count: usize) -> Option<PartialSet> {
        match self.tree {
            FromTree::All(_, _, Some(set)) | FromTree::Reachable(set) => Some(set.part(first, count)),
            FromTree::All(dominators, ..) => dominators.reachable_part(first, count),
            _ => None,
        }
    }

    fn distance(&self, object: ObjectId) -> Option<u32> {
        self.distances.and_then(|distances| distances.distance(object))
    }

    fn incoming_count(&self, object: ObjectId) -> u64 {
        self.incoming.map_or(0, |incoming| incoming.count(object))
    }

    fn tested(&self, term: &Arc<FieldTerm>) -> Option<&Tested> {
        self.fields.iter().find(|(known, _)| Arc::ptr_eq(known, term)).map(|(_, tested)| tested)
    }

    fn is_root(&self, object: ObjectId) -> bool {
        self.roots.as_ref().is_some_and(|roots| roots.binary_search(&object).is_ok())
    }
}
