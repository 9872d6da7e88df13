//! A heap without some of its objects and references: what if they were gone?

use barrow_format::rows::Label;
use barrow_format::{ObjectId, StringId};

use crate::file::object::Reference;
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use crate::questions::expression::{ExpressionError, name_pattern};

/// What is thought away.
#[derive(Debug, Clone)]
pub struct Exclusion {
    /// Objects that are gone.
    removed: ObjectSet,
    /// References of these names that are gone, from objects of `sources` if there are some.
    cuts: Vec<Cut>,
    /// Objects that are gone, and all that they alone kept alive.
    freed: ObjectSet,
    /// Objects that only roots refer to: all references to them are gone.
    only_by_roots: Option<ObjectSet>,
}

/// References that are gone.
#[derive(Debug, Clone)]
pub struct Cut {
    /// Their names: whether a string is one, by string id.
    pub names: Vec<bool>,
    /// The objects they start from; `None` for all.
    pub sources: Option<ObjectSet>,
}

impl Cut {
    /// The references of a name, from the objects of a set or from all of them. The name is a glob
    /// pattern, or a regular expression between slashes.
    ///
    /// # Errors
    /// [`ExpressionError`] if it is none, or if nothing in the recording is called so.
    pub fn named(tables: &Tables, name: &str, sources: Option<ObjectSet>) -> Result<Self, ExpressionError> {
        let pattern = name_pattern(name)?;
        let names = tables.map_strings(|text| pattern.is_match(text));
        if !names.contains(&true) {
            return Err(ExpressionError { position: 0, message: format!("no reference is called `{name}`") });
        }
        Ok(Cut { names, sources })
    }
}

impl Exclusion {
    /// Objects and references that are gone, besides those of `before`; it is not known yet what these alone kept alive.
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

    /// The same, with all that is gone.
    pub(crate) fn with_freed(self, mut freed: ObjectSet) -> Self {
        freed.union_with(&self.removed);
        Exclusion { freed, ..self }
    }

    /// What `before` is without, and all references to these objects besides.
    pub(crate) fn referred_to_by_roots_only(before: Option<&Exclusion>, objects: ObjectSet) -> Self {
        let nothing = ObjectSet::new(objects.snapshot(), objects.snapshot_objects());
        let same = before.cloned().unwrap_or_else(|| Exclusion::besides(None, &nothing, None));
        Exclusion { only_by_roots: Some(objects), ..same }
    }

    /// Whether only objects are gone.
    pub(crate) fn cuts_nothing(&self) -> bool {
        self.cuts.is_empty()
    }

    /// The objects that are gone, with all that they alone kept alive.
    #[must_use]
    pub fn freed(&self) -> &ObjectSet {
        &self.freed
    }

    /// Whether an object is gone.
    pub(crate) fn removes(&self, object: ObjectId) -> bool {
        self.removed.contains(object)
    }

    /// Whether an object is gone, or was kept alive only by what is gone.
    pub(crate) fn frees(&self, object: ObjectId) -> bool {
        self.freed.contains(object)
    }

    /// Whether a reference is gone, by itself or with one of its ends.
    pub(crate) fn cuts(&self, source: ObjectId, reference: &Reference) -> bool {
        let is_named = |cut: &Cut, name: StringId| cut.names.get(name.index()) == Some(&true);
        let starts_at = |cut: &Cut| cut.sources.as_ref().is_none_or(|sources| sources.contains(source));
        self.frees(source)
            || self.removes(source)
            || self.frees(reference.target)
            || self.removes(reference.target)
            || self.only_by_roots.as_ref().is_some_and(|objects| objects.contains(reference.target))
            || matches!(reference.label, Label::Name(name)
                if self.cuts.iter().any(|cut| is_named(cut, name) && starts_at(cut)))
    }
}
