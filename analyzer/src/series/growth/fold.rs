//! Merges the paths of one snapshot into the tree of all snapshots.

use super::path_tree::{MAX_DEPTH, PathTree, Selected};
use super::{FINER, Growth, GrowthNode, GrowthPart};
use crate::error::Result;
use crate::file::recording::Recording;
use crate::file::tables::Tables;
use crate::file::type_identity::TypeIdentity;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::type_steps::TypeStep;

impl<'a> Growth<'a> {
    /// Adds a snapshot of `recording` as this column. Fold large snapshots first: then the fewest values are missing.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    ///
    /// # Panics
    /// If there is no such column.
    pub fn fold(
        &mut self,
        column: usize,
        recording: &'a Recording,
        heap: &Heap,
        progress: &dyn Progress,
    ) -> Result<()> {
        let tables = recording.tables()?;
        let selected = Selected::Large(&|whole| self.least_of(whole), &|node, step| {
            self.places.get(&(node, part(tables, step))).copied()
        });
        let tree = PathTree::of(heap, selected, progress)?;
        self.fold_paths(column, tables, &tree);
        Ok(())
    }

    /// Adds the paths of a snapshot as this column: all of them, or all that are needed.
    pub(super) fn fold_paths(&mut self, column: usize, tables: &'a Tables, tree: &PathTree) {
        self.heap_bytes[column] = tree.whole_bytes;
        self.least_bytes[column] = self.least_of(tree.whole_bytes);
        self.is_exact &= tree.is_exact;
        self.merge(column, tables, tree, (0, 0));
        self.fill(column);
    }

    /// The size that a path needs to get a node, in a heap of this size.
    fn least_of(&self, whole_bytes: u64) -> u64 {
        ((whole_bytes as f64 * self.least_share / FINER) as u64).max(1)
    }

    /// Sets the values of a node and of those below it to those of a place in a tree.
    fn merge(&mut self, column: usize, tables: &'a Tables, tree: &PathTree, (place, node): (usize, usize)) {
        let path = *tree.node(place);
        self.nodes[node].retained_bytes[column] = Some(path.retained_bytes);
        self.nodes[node].objects[column] = Some(path.objects);
        if column + 1 == self.columns {
            self.nodes[node].largest = path.largest;
        }
        for child in tree.children(place) {
            let is_large = tree.node(child).retained_bytes >= self.least_bytes[column];
            if !is_large && self.nodes[node].children == 0 {
                continue;
            }
            if let Some(below) = self.child(node, part(tables, tree.node(child).step), is_large) {
                self.merge(column, tables, tree, (child, below));
            }
        }
    }

    /// Sets the missing values of a column to 0: these paths do not exist in the snapshot.
    fn fill(&mut self, column: usize) {
        for node in &mut self.nodes {
            node.retained_bytes[column].get_or_insert(0);
            node.objects[column].get_or_insert(0);
        }
    }

    /// The child of `parent` for a step: the existing node, or a new one if the step is large enough.
    fn child(&mut self, parent: usize, part: GrowthPart<'a>, is_large: bool) -> Option<usize> {
        if let Some(&known) = self.places.get(&(parent, part)) {
            return Some(known);
        }
        let above = &mut self.nodes[parent];
        if !is_large || above.depth as usize >= MAX_DEPTH {
            return None;
        }
        above.children += 1;
        // If the parent held nothing, the child held nothing.
        let [retained_bytes, objects] = [&above.retained_bytes, &above.objects]
            .map(|values| values.iter().map(|value| value.filter(|value| *value == 0)).collect());
        let node = GrowthNode {
            parent: Some(parent),
            depth: above.depth + 1,
            part,
            children: 0,
            retained_bytes,
            objects,
            largest: None,
        };
        self.nodes.push(node);
        self.places.insert((parent, part), self.nodes.len() - 1);
        Some(self.nodes.len() - 1)
    }
}

/// A step in a form that is valid for every recording.
fn part(tables: &Tables, step: TypeStep) -> GrowthPart<'_> {
    match step {
        TypeStep::Everything => GrowthPart::Everything,
        TypeStep::Roots(name) => GrowthPart::Roots(tables.string(name)),
        TypeStep::Type(id) => GrowthPart::Type(TypeIdentity::of(tables, id)),
        TypeStep::Class(id, name) => GrowthPart::Type(TypeIdentity::of_class(tables, id, tables.string(name))),
    }
}
