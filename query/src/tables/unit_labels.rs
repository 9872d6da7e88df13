//! Labels of the programs in a table: the source, crate or target that each builds.

use barrow_processes::{ImageId, ProcessTree, Rules};

use crate::error::QueryError;

/// The schema that says what a program builds: a source, a crate, a target.
pub(crate) const UNITS: &str = "unit";

/// Labels only the programs that are shown: to label all takes 1 s for each million.
pub(crate) struct UnitLabels {
    /// The rules of a file; none are the default ones.
    rules: Option<Rules>,
}

impl UnitLabels {
    pub(crate) fn new(rules: Option<Rules>) -> Self {
        UnitLabels { rules }
    }

    /// The unit that each of these images builds, where that is known.
    ///
    /// # Errors
    /// A label of the user's rules is too long.
    pub(crate) fn of(&self, tree: &ProcessTree, images: &[ImageId]) -> Result<Vec<Option<String>>, QueryError> {
        let rules = self.rules.as_ref().unwrap_or_else(|| Rules::standard());
        let Some(schema) = rules.schema_names().position(|name| name == UNITS) else {
            return Ok(vec![None; images.len()]);
        };
        let evaluation = rules.evaluation(schema);
        let mut labeller = rules.labeller(tree.recording(), &evaluation);
        let label = |&id: &ImageId| {
            let image = tree.image(id);
            let label = labeller.label(tree.program(image), tree.process(image.process).label)?;
            Ok(label.map(str::to_owned))
        };
        images.iter().map(label).collect()
    }
}
