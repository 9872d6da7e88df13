//! Excluding objects and references from a heap, as if they did not exist.

use barrow_format::rows::Label;
use barrow_format::varint::put;
use barrow_format::{ObjectId, StringId};

use crate::file::object::Reference;
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use barrow_expressions::{ExpressionError, name_pattern};

/// The objects and references that are excluded from a heap.
#[derive(Debug, Clone)]
pub struct Exclusion {
    /// The excluded objects.
    removed: ObjectSet,
    /// The excluded references, by name and optionally by source.
    cuts: Vec<Cut>,
    /// The excluded objects, and those that only they and the excluded references kept alive.
    freed: ObjectSet,
    /// Objects whose incoming references are all excluded, so that only roots refer to them.
    only_by_roots: Option<ObjectSet>,
}

/// References to exclude.
#[derive(Debug, Clone)]
pub struct Cut {
    /// Their names: for each string id, whether it is one of them.
    pub names: Vec<bool>,
    /// The objects they start from; `None` for all objects.
    pub sources: Option<ObjectSet>,
}

impl Cut {
    /// References with a name that matches, from the objects of a set or from all. `name` is a glob pattern, or a
    /// regular expression between slashes.
    ///
    /// # Errors
    /// [`ExpressionError`] if the pattern is invalid or no string of the recording matches it.
    pub fn named(tables: &Tables, name: &str, sources: Option<ObjectSet>) -> Result<Self, ExpressionError> {
        let pattern = name_pattern(name)?;
        let names = tables.map_strings(|text| pattern.is_match(text));
        if !names.contains(&true) {
            return Err(ExpressionError { position: 0, message: format!("no reference is called `{name}`") });
        }
        Ok(Cut { names, sources })
    }

    /// Returns whether it cuts references of this name from `source`.
    fn applies(&self, source: ObjectId, name: StringId) -> bool {
        self.names.get(name.index()) == Some(&true)
            && self.sources.as_ref().is_none_or(|sources| sources.contains(source))
    }
}

impl Exclusion {
    /// Excludes objects and references in addition to `before`. The objects that they alone kept alive are not known yet.
    pub(crate) fn besides(before: Option<&Exclusion>, removed: &ObjectSet, cut: Option<Cut>) -> Self {
        let (mut all, mut cuts) = (removed.clone(), Vec::new());
        if let Some(before) = before {
            all.union_with(&before.removed);
            cuts.clone_from(&before.cuts);
        }
        cuts.extend(cut);
        let nothing = ObjectSet::new(removed.snapshot(), removed.snapshot_objects());
        Exclusion { removed: all, cuts, freed: nothing, only_by_roots: None }
    }

    /// The same with the objects that are freed.
    pub(crate) fn with_freed(self, mut freed: ObjectSet) -> Self {
        freed.union_with(&self.removed);
        Exclusion { freed, ..self }
    }

    /// The same with further objects that are excluded.
    pub(crate) fn freeing(mut self, objects: &ObjectSet) -> Self {
        self.freed.union_with(objects);
        self
    }

    /// Excludes all references to `objects`, in addition to `before`.
    pub(crate) fn referred_to_by_roots_only(before: Option<&Exclusion>, objects: ObjectSet) -> Self {
        let nothing = ObjectSet::new(objects.snapshot(), objects.snapshot_objects());
        let same = before.cloned().unwrap_or_else(|| Exclusion::besides(None, &nothing, None));
        Exclusion { only_by_roots: Some(objects), ..same }
    }

    /// Appends the definition of the exclusion. The objects that are freed follow from it.
    pub(crate) fn put_content(&self, out: &mut Vec<u8>) {
        self.removed.put_runs(out);
        put(out, self.cuts.len() as u64);
        for cut in &self.cuts {
            let names = (0..).zip(&cut.names).filter(|&(_, &is_cut)| is_cut).map(|(name, _)| name);
            put(out, names.clone().count() as u64);
            names.for_each(|name| put(out, name));
            put_set(cut.sources.as_ref(), out);
        }
        put_set(self.only_by_roots.as_ref(), out);
    }

    /// Returns whether no references are excluded by name.
    pub(crate) fn cuts_nothing(&self) -> bool {
        self.cuts.is_empty()
    }

    /// The excluded objects, and those that only they and the excluded references kept alive.
    #[must_use]
    pub fn freed(&self) -> &ObjectSet {
        &self.freed
    }

    /// Returns whether an object is excluded.
    pub(crate) fn removes(&self, object: ObjectId) -> bool {
        self.removed.contains(object)
    }

    /// Returns whether an object is excluded, or was kept alive only by excluded objects and references.
    pub(crate) fn frees(&self, object: ObjectId) -> bool {
        self.freed.contains(object)
    }

    /// Returns whether a reference is excluded, by itself or because its source or target is.
    pub(crate) fn cuts(&self, source: ObjectId, reference: &Reference) -> bool {
        self.frees(source)
            || self.removes(source)
            || self.frees(reference.target)
            || self.removes(reference.target)
            || self.only_by_roots.as_ref().is_some_and(|objects| objects.contains(reference.target))
            || matches!(reference.label, Label::Name(name) if self.cuts.iter().any(|cut| cut.applies(source, name)))
    }
}

fn put_set(set: Option<&ObjectSet>, out: &mut Vec<u8>) {
    put(out, set.is_some().into());
    if let Some(set) = set {
        set.put_runs(out);
    }
}
