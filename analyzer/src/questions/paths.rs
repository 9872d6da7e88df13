//! Paths from the roots, which explain why an object is alive.

use std::ops::Range;

use barrow_format::rows::{KindRole, Label, Root, StrengthClass};
use barrow_format::varint::put;
use barrow_format::{ObjectId, StrengthId};

use crate::error::Result;
use crate::file::object::{ObjectDetails, ObjectWithReferences, object, objects_and_references};
use crate::graph::adjacency::Follow;
use crate::graph::distances::{Bounds, Distances};
use crate::graph::object_runs::{put_objects, take_objects};
use crate::graph::object_set::ObjectSet;
use crate::heap::{Heap, QuestionKind};
use crate::progress::Progress;

/// A path from a root to an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The root it starts at.
    pub root: Root,
    /// The objects on it in order; the last is the target. [`Heap::steps`] gives their details.
    pub objects: Vec<ObjectId>,
    /// It may use soft and weak references.
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
    /// Soft and weak references count, too.
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
        let question = self.asked(QuestionKind::Paths, &options.to_bytes(object));
        if let Some(answer) = self.kept_answer(&question)
            && let Some(paths) = self.paths_from_bytes(object, options.weak, &answer)?
        {
            return Ok(paths);
        }
        let paths = self.find_paths(object, options, progress)?;
        self.keep_answer(&question, &to_bytes(&paths), progress)?;
        Ok(paths)
    }

    /// Decodes the bytes of [`to_bytes`]. `None` if they are damaged.
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
        self.steps_of(path, &[range])
    }

    /// The steps of a path with positions in several ranges, in the order of these. Each block that holds some of the
    /// objects is decoded once.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`].
    ///
    /// # Panics
    /// If the path has no such steps.
    pub fn steps_of(&self, path: &Path, ranges: &[Range<usize>]) -> Result<Vec<Step>> {
        let tables = self.recording().tables()?;
        let mut asked: Vec<(ObjectId, Option<ObjectId>)> = Vec::new();
        let mut are_wanted = Vec::new();
        for range in ranges.iter().filter(|range| !range.is_empty()) {
            // The first reference belongs to the step before the range.
            let from = range.start.saturating_sub(1);
            let objects = &path.objects[from..range.end];
            asked.extend(objects.iter().copied().zip(objects[1..].iter().copied().map(Some).chain([None])));
            are_wanted.extend((from..range.end).map(|at| at >= range.start));
        }
        let mut steps = Vec::with_capacity(asked.len());
        let mut reference = None;
        let found = objects_and_references(self.recording(), self.snapshot(), &asked)?;
        for (is_wanted, ObjectWithReferences { object, references, .. }) in are_wanted.into_iter().zip(found) {
            if is_wanted {
                steps.push(Step { object, reference });
            }
            // The strongest reference, if there are several.
            let ranked = references.iter().filter_map(|reference| {
                let rank = match tables.strength_class(reference.strength) {
                    StrengthClass::Strong => 0,
                    StrengthClass::Ephemeron => 1,
                    StrengthClass::Soft if path.weak => 2,
                    StrengthClass::Weak if path.weak => 3,
                    StrengthClass::Soft | StrengthClass::Weak => return None,
                };
                self.has_reference(object.id, reference).then_some((rank, reference))
            });
            let best = ranked.min_by_key(|&(rank, _)| rank);
            reference = best.map(|(_, reference)| (reference.label, reference.strength));
        }
        Ok(steps)
    }
}
