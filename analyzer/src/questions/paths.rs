//! Paths from the roots: why an object is alive.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use barrow_format::rows::{KindRole, Label, Root, StrengthClass};
use barrow_format::{ObjectId, StrengthId, StringId, TypeId};

use crate::error::Result;
use crate::file::object::{ObjectDetails, ObjectWithReferences, Reference, object, objects_and_references};
use crate::graph::adjacency::Follow;
use crate::graph::distances::{Bounds, Distances};
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;

/// A way from a root to an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The root it begins at.
    pub root: Root,
    /// The objects on it, the last of them the one that was asked for. [`Heap::steps`] tells more of them.
    pub objects: Vec<ObjectId>,
    /// Whether it may go over references that keep nothing alive.
    weak: bool,
}

/// An object on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The object.
    pub object: ObjectDetails,
    /// The reference that leads to it from the step before; `None` for the first.
    pub reference: Option<(Label, StrengthId)>,
}

/// Which ways count.
#[derive(Debug, Clone, Default)]
pub struct PathOptions {
    /// Objects that no path leads through.
    pub avoid: Option<ObjectSet>,
    /// Whether references that keep nothing alive count too.
    pub weak: bool,
    /// How many paths to look for that share no object but the last, and no root. Objects that only stand for groups of
    /// roots may be on several.
    pub count: usize,
}

impl Heap {
    /// A shortest path from a root to `object`, and then others that share none of the objects before
    /// it but those that only stand for groups of roots: each the shortest that those before leave, and fewer than asked
    /// for if they leave no more. Where a group refers to the object itself, it is on that path alone.
    /// Empty if it is unreachable.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn paths(&self, object: ObjectId, options: &PathOptions, progress: &dyn Progress) -> Result<Vec<Path>> {
        let mut paths: Vec<Path> = Vec::new();
        let mut avoid = options.avoid.clone();
        let is_plain = !options.weak && avoid.is_none();
        let adjacency = if options.weak { Some(self.build_adjacency(Follow::All, progress)?) } else { None };
        let mut roots = self.roots()?.targets();
        while paths.len() < options.count.max(1) {
            let bounds = Bounds { avoid: avoid.as_ref(), until: Some(object) };
            let objects = match &adjacency {
                None if is_plain && paths.is_empty() => self.shortest_path(object, progress)?,
                None => self.search(&roots, bounds, progress)?.path(object),
                Some(adjacency) => {
                    Distances::find(self.snapshot(), adjacency, &roots, bounds, self.run(progress))?.path(object)
                }
            };
            let Some((_, before)) = objects.split_last() else { break };
            let root = self.roots()?.rows().iter().copied().find(|root| root.target == objects[0]);
            let Some(root) = root else { break };
            if before.is_empty() {
                // A root refers to it; others may hold it as well.
                roots.retain(|&root| root != object);
            }
            if paths.len() + 1 < options.count {
                // The group that refers to the object is all that could be left out of such a path.
                let shared = self.leading_groups(before)?.min(before.len().saturating_sub(1));
                let avoided = avoid.get_or_insert_with(|| ObjectSet::new(self.snapshot(), self.object_count()));
                before[shared..].iter().for_each(|&object| _ = avoided.insert(object));
            }
            paths.push(Path { root, objects, weak: options.weak });
        }
        Ok(paths)
    }

    /// How many of these objects, which a path begins with, only stand for groups of roots.
    fn leading_groups(&self, objects: &[ObjectId]) -> Result<usize> {
        let tables = self.recording().tables()?;
        for (at, &id) in objects.iter().enumerate() {
            let type_id = object(self.recording(), self.snapshot(), id)?.type_id;
            if tables.kind_role(tables.type_kind(type_id)) != KindRole::Root {
                return Ok(at);
            }
        }
        Ok(objects.len())
    }

    /// The steps of a path whose numbers are in `range`. Each block that holds some of them is decoded once.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`].
    ///
    /// # Panics
    /// If the path has no such steps.
    pub fn steps(&self, path: &Path, range: Range<usize>) -> Result<Vec<Step>> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let tables = self.recording().tables()?;
        let next = |at: usize| path.objects.get(at).copied().filter(|_| at < range.end);
        // The step before them has the first reference.
        let from = range.start.saturating_sub(1);
        let asked: Vec<(ObjectId, Option<ObjectId>)> =
            (from..range.end).map(|at| (path.objects[at], next(at + 1))).collect();
        let mut steps = Vec::with_capacity(range.len());
        let mut reference = None;
        let found = objects_and_references(self.recording(), self.snapshot(), &asked)?;
        for (at, ObjectWithReferences { object, references, .. }) in (from..).zip(found) {
            if at >= range.start {
                steps.push(Step { object, reference });
            }
            let is_cut = |reference: &&Reference| self.exclusion().is_some_and(|it| it.cuts(object.id, reference));
            // The strongest, if there are several.
            let ranked = references.iter().filter(|reference| !is_cut(reference)).filter_map(|reference| match tables
                .strength_class(reference.strength)
            {
                StrengthClass::Strong => Some((0, reference)),
                StrengthClass::Ephemeron => Some((1, reference)),
                StrengthClass::Soft => path.weak.then_some((2, reference)),
                StrengthClass::Weak => path.weak.then_some((3, reference)),
            });
            let best = ranked.min_by_key(|&(rank, _)| rank);
            reference = best.map(|(_, reference)| (reference.label, reference.strength));
        }
        Ok(steps)
    }

    /// The shortest paths to all objects of a set, merged into one tree: objects of one type that are
    /// reached in the same way are one node, and so are objects that stand for a class or a module of one name.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn merged_paths(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<MergedPaths> {
        let types = self.types(progress)?;
        let names = self.names_of_classes(progress)?;
        let distances = self.distances(progress)?;
        // From the farthest to the nearest: how many of the set are reached through each object.
        let mut through: HashMap<ObjectId, u64> = HashMap::new();
        let mut children: HashMap<Option<ObjectId>, Vec<ObjectId>> = HashMap::new();
        let mut by_distance: BTreeMap<u32, Vec<ObjectId>> = BTreeMap::new();
        let mut unreachable = 0;
        for object in set.iter() {
            match distances.distance(object) {
                None => unreachable += 1,
                Some(distance) => {
                    through.insert(object, 1);
                    by_distance.entry(distance).or_default().push(object);
                }
            }
        }
        while let Some((_, objects)) = by_distance.pop_last() {
            crate::progress::check(progress)?;
            for object in objects {
                let parent = distances.parent_of(object);
                children.entry(parent).or_default().push(object);
                if let Some(parent) = parent {
                    let count = through[&object];
                    if !through.contains_key(&parent) {
                        let distance = distances.distance(parent).unwrap_or(0);
                        by_distance.entry(distance).or_default().push(parent);
                    }
                    *through.entry(parent).or_default() += count;
                }
            }
        }
        let top = children.get(&None).cloned().unwrap_or_default();
        let mut nodes = Vec::new();
        let merge = Merge { types, names: &names, set, through: &through, children: &children };
        merge.below(&top, 0, &mut nodes);
        Ok(MergedPaths { nodes, unreachable })
    }
}

/// Paths merged into a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedPaths {
    /// Its nodes, parents before children, siblings by falling counts.
    pub nodes: Vec<MergedNode>,
    /// Objects of the set that no root reaches.
    pub unreachable: u64,
}

/// Objects of one type that are reached in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedNode {
    /// How deep it stands in the tree.
    pub depth: u32,
    /// The type.
    pub type_id: TypeId,
    /// The name of the class or module that they stand for, if they do.
    pub stands_for: Option<StringId>,
    /// How many objects of the set are reached through this node, those in it included.
    pub through: u64,
    /// How many objects are in it.
    pub objects: u64,
    /// How many of them are in the set.
    pub members: u64,
    /// One of them: that through which most are reached.
    pub example: ObjectId,
}

/// Nodes deeper than this are left out.
const MAX_DEPTH: u32 = 200;

/// What is known of the paths that are merged.
struct Merge<'m> {
    types: &'m [u32],
    names: &'m HashMap<ObjectId, StringId>,
    set: &'m ObjectSet,
    /// How many objects of the set are reached through each object.
    through: &'m HashMap<ObjectId, u64>,
    children: &'m HashMap<Option<ObjectId>, Vec<ObjectId>>,
}

/// Objects that become one node: how many of the set are reached through them, what they are, and themselves.
type Alike = (u64, (u32, Option<StringId>), Vec<ObjectId>);

impl Merge<'_> {
    /// Adds the nodes of these objects, and of what is reached through them.
    fn below(&self, objects: &[ObjectId], depth: u32, nodes: &mut Vec<MergedNode>) {
        let mut alike: BTreeMap<(u32, Option<StringId>), Vec<ObjectId>> = BTreeMap::new();
        for &object in objects {
            let key = (self.types[object.index()], self.names.get(&object).copied());
            alike.entry(key).or_default().push(object);
        }
        let through = |objects: &[ObjectId]| objects.iter().map(|object| self.through[object]).sum();
        let mut groups: Vec<Alike> =
            alike.into_iter().map(|(key, objects)| (through(&objects), key, objects)).collect();
        groups.sort_by_key(|&(count, key, _)| (std::cmp::Reverse(count), key));
        for (count, (type_id, stands_for), mut objects) in groups {
            objects.sort_unstable_by_key(|object| (std::cmp::Reverse(self.through[object]), *object));
            nodes.push(MergedNode {
                depth,
                type_id: TypeId(type_id),
                stands_for,
                through: count,
                objects: objects.len() as u64,
                members: objects.iter().filter(|object| self.set.contains(**object)).count() as u64,
                example: objects[0],
            });
            if depth < MAX_DEPTH {
                let children = objects.iter().filter_map(|object| self.children.get(&Some(*object)));
                let below: Vec<ObjectId> = children.flatten().copied().collect();
                self.below(&below, depth + 1, nodes);
            }
        }
    }
}
