//! Paths from the roots, which explain why an object is alive.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use barrow_format::rows::{KindRole, Label, Root, StrengthClass};
use barrow_format::varint::put;
use barrow_format::{ObjectId, StrengthId, StringId, TypeId};

use crate::error::Result;
use crate::file::object::{ObjectDetails, ObjectWithReferences, Reference, object, objects_and_references};
use crate::graph::adjacency::Follow;
use crate::graph::distances::{Bounds, Distances};
use crate::graph::object_runs::{put_objects, take_objects};
use crate::graph::object_set::ObjectSet;
use crate::heap::{Asked, Heap};
use crate::progress::Progress;

/// A path from a root to an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The root it starts at.
    pub root: Root,
    /// The objects on it in order; the last is the target. [`Heap::steps`] gives their details.
    pub objects: Vec<ObjectId>,
    /// Whether it may use soft and weak references.
    weak: bool,
}

/// An object on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The object.
    pub object: ObjectDetails,
    /// The reference that leads to it from the previous step; `None` for the first step.
    pub reference: Option<(Label, StrengthId)>,
}

/// The paths to look for.
#[derive(Debug, Clone, Default)]
pub struct PathOptions {
    /// Objects that no path may contain.
    pub avoid: Option<ObjectSet>,
    /// Whether soft and weak references count, too.
    pub weak: bool,
    /// The number of paths to look for. They share neither roots nor objects except the target. Objects that represent
    /// root categories may be on several paths.
    pub count: usize,
}

impl PathOptions {
    /// Everything that the paths to an object depend on.
    pub(crate) fn to_bytes(&self, object: ObjectId) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, object.0.into());
        put(&mut bytes, self.count as u64);
        bytes.extend([u8::from(self.weak), u8::from(self.avoid.is_some())]);
        self.avoid.iter().for_each(|avoid| avoid.put_runs(&mut bytes));
        bytes
    }
}

/// The objects of each path.
fn to_bytes(paths: &[Path]) -> Vec<u8> {
    let mut bytes = Vec::new();
    paths.iter().for_each(|path| put_objects(&path.objects, &mut bytes));
    bytes
}

impl Heap {
    /// A shortest path from a root to `object`, then further paths that share no object with earlier ones except
    /// `object` and objects that represent root categories. Each is a shortest of the remaining paths, and there are
    /// fewer than `options.count` if no more remain. A category object that refers to `object` directly is on one path
    /// only. The result is empty if `object` is unreachable.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn paths(&self, object: ObjectId, options: &PathOptions, progress: &dyn Progress) -> Result<Vec<Path>> {
        if !options.weak && options.avoid.is_none() && options.count <= 1 {
            return self.find_paths(object, options, progress);
        }
        // Each further path is a search of the heap.
        let question = self.asked(Asked::Paths, &options.to_bytes(object));
        if let Some(answer) = self.kept_answer(&question)
            && let Some(paths) = self.paths_from_bytes(object, options.weak, &answer)?
        {
            return Ok(paths);
        }
        let paths = self.find_paths(object, options, progress)?;
        self.keep_answer(&question, &to_bytes(&paths), progress)?;
        Ok(paths)
    }

    /// Reads what [`to_bytes`] has written. `None` if it is damaged.
    fn paths_from_bytes(&self, object: ObjectId, weak: bool, mut bytes: &[u8]) -> Result<Option<Vec<Path>>> {
        let mut paths = Vec::new();
        while !bytes.is_empty() {
            let Some(objects) = take_objects(self.object_count(), &mut bytes) else { return Ok(None) };
            let root = objects.first().map(|&first| self.root_of(first)).transpose()?.flatten();
            let Some(root) = root.filter(|_| objects.last() == Some(&object)) else { return Ok(None) };
            paths.push(Path { root, objects, weak });
        }
        Ok(Some(paths))
    }

    /// The first root that refers to an object.
    fn root_of(&self, object: ObjectId) -> Result<Option<Root>> {
        Ok(self.roots()?.rows().iter().copied().find(|root| root.target == object))
    }

    fn find_paths(&self, object: ObjectId, options: &PathOptions, progress: &dyn Progress) -> Result<Vec<Path>> {
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
            let Some(root) = self.root_of(objects[0])? else { break };
            if before.is_empty() {
                // A root refers to it directly; other objects may refer to it as well.
                roots.retain(|&root| root != object);
            }
            if paths.len() + 1 < options.count {
                // If the path consists of category objects only, the last of them must be avoided to find another path.
                let shared = self.leading_categories(before)?.min(before.len().saturating_sub(1));
                let avoided = avoid.get_or_insert_with(|| ObjectSet::new(self.snapshot(), self.object_count()));
                before[shared..].iter().for_each(|&object| _ = avoided.insert(object));
            }
            paths.push(Path { root, objects, weak: options.weak });
        }
        Ok(paths)
    }

    /// The number of leading objects of a path that represent root categories.
    fn leading_categories(&self, objects: &[ObjectId]) -> Result<usize> {
        let tables = self.recording().tables()?;
        for (at, &id) in objects.iter().enumerate() {
            let type_id = object(self.recording(), self.snapshot(), id)?.type_id;
            if tables.kind_role(tables.type_kind(type_id)) != KindRole::Root {
                return Ok(at);
            }
        }
        Ok(objects.len())
    }

    /// The steps of a path with these positions. Each block that holds some of the objects is decoded once.
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
        // The first reference belongs to the step before `range`.
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
            // The strongest reference, if there are several.
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

    /// The shortest paths to all objects of a set, merged into one tree. Objects of the same type that are reached
    /// through the same node form one node. Objects that represent classes or modules are merged by name, too.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn merged_paths(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<MergedPaths> {
        let types = self.types(progress)?;
        let names = self.names_of_classes(progress)?;
        let distances = self.distances(progress)?;
        // From the farthest objects to the nearest, count the members that are reached through each object.
        let mut through: HashMap<ObjectId, u64> = HashMap::new();
        let mut children: HashMap<Option<ObjectId>, Vec<ObjectId>> = HashMap::new();
        let mut by_distance: BTreeMap<u32, Vec<ObjectId>> = BTreeMap::new();
        let mut unreachable = 0;
        for (at, object) in set.iter().enumerate() {
            if at.is_multiple_of(OBJECTS) {
                crate::progress::check(progress)?;
            }
            match distances.distance(object) {
                None => unreachable += 1,
                Some(distance) => {
                    through.insert(object, 1);
                    by_distance.entry(distance).or_default().push(object);
                }
            }
        }
        while let Some((_, objects)) = by_distance.pop_last() {
            for (at, object) in objects.into_iter().enumerate() {
                if at.is_multiple_of(OBJECTS) {
                    crate::progress::check(progress)?;
                }
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
        merge.below(&top, 0, &mut nodes, progress)?;
        Ok(MergedPaths { nodes, unreachable })
    }
}

/// Paths merged into a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedPaths {
    /// Its nodes, parents before children, siblings by descending count.
    pub nodes: Vec<MergedNode>,
    /// Objects of the set that no root reaches.
    pub unreachable: u64,
}

/// Objects of one type that are reached through the same parent node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedNode {
    /// Its depth in the tree.
    pub depth: u32,
    /// The type.
    pub type_id: TypeId,
    /// The name of the class or module that they represent, if they do.
    pub stands_for: Option<StringId>,
    /// The number of objects of the set that are reached through this node, including those in it.
    pub through: u64,
    /// The number of objects in it.
    pub objects: u64,
    /// The number of them that are in the set.
    pub members: u64,
    /// The one of them through which most objects of the set are reached.
    pub example: ObjectId,
}

/// Objects between two checks whether to go on.
const OBJECTS: usize = 1 << 12;
/// Deeper nodes are omitted.
const MAX_DEPTH: u32 = 200;

/// The paths to merge.
struct Merge<'m> {
    types: &'m [u32],
    names: &'m HashMap<ObjectId, StringId>,
    set: &'m ObjectSet,
    /// The number of objects of the set that are reached through each object.
    through: &'m HashMap<ObjectId, u64>,
    children: &'m HashMap<Option<ObjectId>, Vec<ObjectId>>,
}

/// Objects that form one node: the number of objects of the set reached through them, their type and name, and the
/// objects.
type Merged = (u64, (u32, Option<StringId>), Vec<ObjectId>);

impl Merge<'_> {
    /// Adds the nodes of these objects, and of the objects reached through them.
    fn below(
        &self,
        objects: &[ObjectId],
        depth: u32,
        nodes: &mut Vec<MergedNode>,
        progress: &dyn Progress,
    ) -> Result<()> {
        crate::progress::check(progress)?;
        let mut alike: BTreeMap<(u32, Option<StringId>), Vec<ObjectId>> = BTreeMap::new();
        for &object in objects {
            let key = (self.types[object.index()], self.names.get(&object).copied());
            alike.entry(key).or_default().push(object);
        }
        let through = |objects: &[ObjectId]| objects.iter().map(|object| self.through[object]).sum();
        let mut merged: Vec<Merged> =
            alike.into_iter().map(|(key, objects)| (through(&objects), key, objects)).collect();
        merged.sort_by_key(|&(count, key, _)| (std::cmp::Reverse(count), key));
        for (count, (type_id, stands_for), mut objects) in merged {
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
                self.below(&below, depth + 1, nodes, progress)?;
            }
        }
        Ok(())
    }
}
