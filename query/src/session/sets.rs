//! Sets of objects that have a name in a session: `$large`, and `$_` for the last result.

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::{Names, ObjectId, ObjectSet, SnapshotId};

/// The name of the last result.
const LAST: &str = "_";

/// The sets of a session, by name without the `$`. Each belongs to the snapshot it was made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sets(BTreeMap<String, Arc<ObjectSet>>);

impl Sets {
    /// Gives a set a name; a set that had it is forgotten.
    pub(crate) fn name(&mut self, name: &str, set: Arc<ObjectSet>) {
        self.0.insert(name.to_owned(), set);
    }

    /// Makes a set the last result, `$_`.
    pub(crate) fn set_last(&mut self, set: Arc<ObjectSet>) {
        self.name(LAST, set);
    }

    /// All sets with their names, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &ObjectSet)> {
        self.0.iter().map(|(name, set)| (name.as_str(), &**set))
    }

    /// Whether a set can be given this name.
    pub(crate) fn can_be_named(name: &str) -> bool {
        !name.is_empty() && name != LAST && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    }
}

/// What names mean in a question about one snapshot.
pub(crate) struct Scope<'s> {
    /// The snapshot.
    pub(crate) snapshot: SnapshotId,
    /// The sets of the session.
    pub(crate) sets: &'s Sets,
    /// The objects in the rows of the last table.
    pub(crate) listed: &'s [(SnapshotId, ObjectId)],
}

impl Names for Scope<'_> {
    fn snapshot(&self) -> SnapshotId {
        self.snapshot
    }

    fn set(&self, name: &str) -> Option<Arc<ObjectSet>> {
        self.sets.0.get(name).map(Arc::clone)
    }

    fn set_names(&self) -> Vec<String> {
        self.sets.0.keys().cloned().collect()
    }

    fn row(&self, row: usize) -> Option<(SnapshotId, ObjectId)> {
        row.checked_sub(1).and_then(|at| self.listed.get(at).copied())
    }

    fn row_count(&self) -> usize {
        self.listed.len()
    }
}
