//! Paths from an object to a value.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use barrow_expressions::{ExpressionError, PathStep, parse_path, path_text};

use crate::error::AnalyzerError;

/// The steps from an object to a value: names of fields, and keys of maps. The objects between are those that references
/// lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    steps: Arc<[PathStep]>,
    /// Which field counts where the path begins.
    begin: Declaration,
}

/// Which of several fields of a name counts for the objects of a type, if bases of the type declare some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Declaration {
    /// That of the most derived type: people see it first.
    MostDerived,
    /// That of the nearest type with this attribute, or of its nearest base with one: types that derive from a collection
    /// may have fields of the same names, and the collection does not use these.
    OfAttribute(&'static str),
    /// That of the least derived type: an attribute says what a field of another object is called, not of which class.
    LeastDerived,
}

impl FieldPath {
    /// Reads `.owner.name`, without keys; `None` if that is no path.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let names: Vec<&str> = text.strip_prefix('.')?.split('.').collect();
        let steps = names.iter().map(|&name| PathStep::Field(name.to_owned()));
        (!names.contains(&"")).then(|| FieldPath { steps: steps.collect(), begin: Declaration::MostDerived })
    }

    /// Reads the same in an attribute of a type, from which the path begins: a field of the name in a type derived from it
    /// is another one.
    pub(crate) fn of_attribute(attribute: &'static str, text: &str) -> Option<Self> {
        Self::parse(text).map(|path| FieldPath { begin: Declaration::OfAttribute(attribute), ..path })
    }

    /// Reads `.owner."full name"` or `.attributes["tenant"]`, as people type it.
    ///
    /// # Errors
    /// [`ExpressionError`] with the position in the text.
    pub fn typed(text: &str) -> Result<Self, ExpressionError> {
        parse_path(text).map(FieldPath::of)
    }

    /// The field of this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        FieldPath::of(vec![PathStep::Field(name.to_owned())])
    }

    /// The fields of these names, as the classes of a library declare them.
    pub(crate) fn of_library(names: &[&str]) -> Self {
        let steps = names.iter().map(|&name| PathStep::Field(name.to_owned()));
        FieldPath { steps: steps.collect(), begin: Declaration::LeastDerived }
    }

    pub(crate) fn of(steps: Vec<PathStep>) -> Self {
        FieldPath { steps: steps.into(), begin: Declaration::MostDerived }
    }

    /// The field of this name that the path begins with.
    pub(crate) fn first(&self) -> Option<Self> {
        let steps = self.steps.get(..1)?.into();
        Some(FieldPath { steps, begin: self.begin })
    }

    /// Which field of the name of a step counts.
    pub(super) fn declaration(&self, step: usize) -> Declaration {
        match self.begin {
            Declaration::OfAttribute(_) if step > 0 => Declaration::LeastDerived,
            begin => begin,
        }
    }

    /// The steps, at least one.
    pub(crate) fn steps(&self) -> &[PathStep] {
        &self.steps
    }

    /// The name of the field of this step; `None` if it is a key, or there is no such step.
    pub(crate) fn name_at(&self, step: usize) -> Option<&str> {
        if let PathStep::Field(name) = self.steps.get(step)? { Some(name) } else { None }
    }

    /// Returns whether a step is a key of a map.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, PathStep::Key(_)))
    }

    /// An error about one of the names, with the whole path.
    pub(crate) fn place(&self, error: AnalyzerError) -> AnalyzerError {
        match error {
            AnalyzerError::NoField { name, near, known, .. } if self.steps.len() > 1 => {
                AnalyzerError::NoField { name, path: Some(self.to_string()), near, known }
            }
            other => other,
        }
    }
}

impl Display for FieldPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&path_text(&self.steps))
    }
}
