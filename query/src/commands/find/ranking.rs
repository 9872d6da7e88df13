//! The objects of a set in the order of an attribute, found as far as they are shown.

use std::sync::Arc;

use barrow_analyzer::{Heap, ObjectId, ObjectSet, RankOrder};

use super::ListPage;
use crate::ask::Ask;
use crate::attributes::ObjectAttribute;
use crate::error::QueryError;

/// Memory for each object that is put in order, in bytes: its value and its number.
const RANK_BYTES: u64 = 16;

/// The objects of a set in the order of an attribute; those without a value are the last ones, equal ones are in the order
/// of their numbers.
#[derive(Clone)]
pub(crate) struct Ranking {
    set: Arc<ObjectSet>,
    by: &'static ObjectAttribute,
    order: RankOrder,
    /// The first of them.
    first: Arc<[ObjectId]>,
}

impl Ranking {
    /// The order of these objects.
    pub(crate) fn of(set: Arc<ObjectSet>, by: &'static ObjectAttribute, order: RankOrder) -> Self {
        Ranking { set, by, order, first: Arc::default() }
    }

    /// The objects, in no order.
    pub(crate) fn set(&self) -> Arc<ObjectSet> {
        Arc::clone(&self.set)
    }

    /// The number of objects.
    pub(crate) fn total(&self) -> usize {
        // A set has a bit for each object.
        self.set.len() as usize
    }

    /// The objects up to the end of a page.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn up_to(&mut self, page: &ListPage, heap: &Heap, ask: &Ask) -> Result<&[ObjectId], QueryError> {
        if page.rows.end > self.first.len() {
            // All pages in turn come from one search, and each later page from a search of twice as many rows.
            let is_each = page.is_whole && !page.has_skipped;
            let rows = if is_each { self.total() } else { page.rows.end.max(2 * self.first.len()) };
            ask.context.require_rows_of(rows.min(self.total()), RANK_BYTES)?;
            self.first = heap.first_by(&self.set, self.by.of, self.order, rows, &ask.meter())?.into();
        }
        Ok(&self.first[..page.rows.end])
    }
}
