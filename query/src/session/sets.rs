//! Sets of objects or of processes that have a name in a session: `$large`, and `$_` for the last result.

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::{Names, ObjectId, ObjectSet, SnapshotId};
use barrow_processes::{ImageId, ImageSet};

use super::listed::Listed;

/// The name of the last result.
pub(crate) const LAST: &str = "_";

/// The members of a set.
#[derive(Debug, Clone)]
pub(crate) enum Named {
    /// Objects of a snapshot.
    Objects(Arc<ObjectSet>),
    /// Images of the process tree.
    Images(Arc<ImageSet>),
}

/// The sets of a session, by name without the `$`. Those of objects each belong to the snapshot they were made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sets(BTreeMap<String, Named>);

impl Sets {
    /// Gives a set a name; a set that had it is forgotten.
    pub(crate) fn name(&mut self, name: &str, set: Named) {
        self.0.insert(name.to_owned(), set);
    }

    /// All sets with their names, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Named)> {
        self.0.iter().map(|(name, set)| (name.as_str(), set))
    }

    /// Returns whether a set can be given this name.
    pub(crate) fn can_be_named(name: &str) -> bool {
        !name.is_empty() && name != LAST && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    }
}

/// The meanings of names in a question about one snapshot, or about the process tree.
pub(crate) struct Scope<'s> {
    /// The snapshot.
    pub(crate) snapshot: SnapshotId,
    /// The sets of the session.
    pub(crate) sets: &'s Sets,
    /// The rows of the last table.
    pub(crate) listed: &'s Listed,
}

impl Scope<'_> {
    /// The images of the set of this name.
    ///
    /// # Errors
    /// A sentence if there is no such set of processes.
    pub(crate) fn images(&self, name: &str) -> Result<Arc<ImageSet>, String> {
        match self.sets.0.get(name) {
            Some(Named::Images(set)) => Ok(Arc::clone(set)),
            Some(Named::Objects(_)) => Err(format!("${name} is a set of objects; this question is about processes")),
            None => Err(no_set(name, &self.set_names())),
        }
    }

    /// The image in a row of the last table, counted from 1.
    ///
    /// # Errors
    /// A sentence if the table has no such row of a process.
    pub(crate) fn image(&self, row: usize) -> Result<ImageId, String> {
        let images = self.listed.images();
        let found = row.checked_sub(1).and_then(|at| images.get(at).copied());
        found.ok_or_else(|| match (images.len(), self.listed.len()) {
            (0, 0) => "the last table lists no processes".to_owned(),
            (0, _) => format!("%{row} is an object; this question is about processes"),
            (rows, _) => format!("the last table has the rows %1 to %{rows}"),
        })
    }
}

/// Says that there is no set of this name, and which ones there are.
fn no_set(name: &str, known: &[String]) -> String {
    let known: Vec<String> = known.iter().map(|name| format!("${name}")).collect();
    match &known[..] {
        [] => format!("there is no set ${name}; no set has a name"),
        [only] => format!("there is no set ${name}; there is only {only}"),
        several => format!("there is no set ${name}; there are {}", several.join(", ")),
    }
}

impl Names for Scope<'_> {
    fn snapshot(&self) -> SnapshotId {
        self.snapshot
    }

    fn set(&self, name: &str) -> Option<Arc<ObjectSet>> {
        match self.sets.0.get(name) {
            Some(Named::Objects(set)) => Some(Arc::clone(set)),
            _ => None,
        }
    }

    fn set_names(&self) -> Vec<String> {
        self.sets.0.keys().cloned().collect()
    }

    fn row(&self, row: usize) -> Option<(SnapshotId, ObjectId)> {
        row.checked_sub(1).and_then(|at| self.listed.get(at).copied())
    }

    fn row_set(&self, row: usize) -> Option<Arc<ObjectSet>> {
        self.listed.set(row).map(Arc::new)
    }

    fn row_count(&self) -> usize {
        self.listed.len()
    }

    fn other_set(&self, name: &str) -> Option<String> {
        let is_other = matches!(self.sets.0.get(name), Some(Named::Images(_)));
        is_other.then(|| format!("${name} is a set of processes; this question is about objects"))
    }

    fn other_row(&self, row: usize) -> Option<String> {
        let is_other = (1..=self.listed.images().len()).contains(&row);
        is_other.then(|| format!("%{row} is a process; this question is about objects"))
    }
}
