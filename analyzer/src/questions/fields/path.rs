//! Paths from an object to a value.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use barrow_expressions::{ExpressionError, PathStep, parse_path, path_text};

use crate::error::AnalyzerError;

/// The steps from an object to a value: names of fields, and keys of maps. The objects between are those that references
/// lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath(Arc<[PathStep]>);

impl FieldPath {
    /// Reads `.owner.name`, as attributes of types have it, without keys; `None` if that is no path.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let names: Vec<&str> = text.strip_prefix('.')?.split('.').collect();
        let steps = names.iter().map(|&name| PathStep::Field(name.to_owned()));
        (!names.contains(&"")).then(|| FieldPath(steps.collect()))
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

    pub(crate) fn of(steps: Vec<PathStep>) -> Self {
        FieldPath(steps.into())
    }

    /// The steps, at least one.
    pub(crate) fn steps(&self) -> &[PathStep] {
        &self.0
    }

    /// The name of the field of this step; `None` if it is a key, or there is no such step.
    pub(crate) fn name_at(&self, step: usize) -> Option<&str> {
        if let PathStep::Field(name) = self.0.get(step)? { Some(name) } else { None }
    }

    /// Returns whether a step is a key of a map.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.0.iter().any(|step| matches!(step, PathStep::Key(_)))
    }

    /// An error about one of the names, with the whole path.
    pub(super) fn place(&self, error: AnalyzerError) -> AnalyzerError {
        match error {
            AnalyzerError::NoField { name, near, has_contents, .. } if self.0.len() > 1 => {
                AnalyzerError::NoField { name, path: Some(self.to_string()), near, has_contents }
            }
            other => other,
        }
    }
}

impl Display for FieldPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&path_text(&self.0))
    }
}
