//! What is known of the process tree of their recording: its totals, and the classes of its images.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use barrow_processes::{Classes, Lanes, Plan, ProcessTree, Rules, Totals};

use super::state::State;
use crate::error::QueryError;
use crate::flags::QuestionFlags;
use crate::tables::unit_labels::UnitLabels;

/// The file of rules beside a recording.
const RULES: &str = "barrow-classes.toml";
/// A file of rules is not longer.
const MOST_BYTES: u64 = 1 << 20;

impl State {
    /// The totals of the process tree of the open recording.
    ///
    /// # Errors
    /// As for [`State::process_tree`].
    pub(crate) fn process_totals(&self) -> Result<Arc<Totals>, QueryError> {
        Ok(self.context.workspace.process_totals(&self.process_tree()?))
    }

    /// The process tree of the open recording as jobs that can be replayed.
    ///
    /// # Errors
    /// As for [`State::process_tree`].
    pub(crate) fn process_plan(&self) -> Result<Arc<Plan>, QueryError> {
        Ok(self.context.workspace.process_plan(&self.process_tree()?))
    }

    /// The lanes of the process tree of the open recording.
    ///
    /// # Errors
    /// As for [`State::process_tree`].
    pub(crate) fn process_lanes(&self) -> Result<Arc<Lanes>, QueryError> {
        Ok(self.context.workspace.process_lanes(&self.process_tree()?))
    }

    /// The critical path of the process tree of the open recording, as a lane.
    ///
    /// # Errors
    /// As for [`State::process_tree`].
    pub(crate) fn process_critical(&self) -> Result<Arc<Lanes>, QueryError> {
        Ok(self.context.workspace.process_critical(&self.process_tree()?))
    }

    /// The classes of the images of the open recording: by the rules of `--classes`, or of the file beside it, or the
    /// default ones.
    ///
    /// # Errors
    /// As for [`State::process_tree`]; a file of rules that cannot be read.
    pub(crate) fn classes(&self, flags: &QuestionFlags) -> Result<Arc<Classes>, QueryError> {
        let tree = self.process_tree()?;
        let file = self.rules_file(flags);
        let text = file.as_deref().map(read).transpose()?;
        let key = format!("all {text:?}");
        self.context.workspace.classes(&tree, &key, || {
            with_rules(file.as_deref(), text.as_deref(), |rules| Ok(Classes::of(&tree, rules)?))
        })
    }

    /// The same for one schema, which takes less: the first one, or that of a name. The others may have no labels.
    ///
    /// # Errors
    /// As for [`State::classes`].
    pub(crate) fn classes_in(&self, flags: &QuestionFlags, name: Option<&str>) -> Result<Arc<Classes>, QueryError> {
        let tree = self.process_tree()?;
        let Some(name) = name else { return self.first_classes(&tree, 1, flags) };
        let file = self.rules_file(flags);
        let text = file.as_deref().map(read).transpose()?;
        self.context.workspace.classes(&tree, &format!("{name:?} {text:?}"), || {
            with_rules(file.as_deref(), text.as_deref(), |rules| {
                let at = rules.schema_names().position(|known| known == name);
                Ok(Classes::only(&tree, rules, |schema| schema == at.unwrap_or(0))?)
            })
        })
    }

    /// The same for the first schemata, so many of them, of the open tree or of another one.
    ///
    /// # Errors
    /// A file of rules that cannot be read.
    pub(crate) fn first_classes(
        &self,
        tree: &Arc<ProcessTree>,
        count: usize,
        flags: &QuestionFlags,
    ) -> Result<Arc<Classes>, QueryError> {
        let file = self.rules_file(flags);
        let text = file.as_deref().map(read).transpose()?;
        let make = || {
            with_rules(file.as_deref(), text.as_deref(), |rules| {
                Ok(Classes::only(tree, rules, |schema| schema < count)?)
            })
        };
        match self.process_tree() {
            Ok(open) if Arc::ptr_eq(&open, tree) => {
                self.context.workspace.classes(tree, &format!("{count} {text:?}"), make)
            }
            _ => Ok(Arc::new(make()?)),
        }
    }

    /// The names of all schemata.
    ///
    /// # Errors
    /// A file of rules that cannot be read.
    pub(crate) fn schema_names(&self, flags: &QuestionFlags) -> Result<Vec<String>, QueryError> {
        let file = self.rules_file(flags);
        let text = file.as_deref().map(read).transpose()?;
        let names = |rules: &Rules| Ok(rules.schema_names().map(str::to_owned).collect());
        with_rules(file.as_deref(), text.as_deref(), names)
    }

    /// The rules for classes, if they are not the default ones.
    ///
    /// # Errors
    /// A file of rules that cannot be read.
    pub(crate) fn class_rules(&self, flags: &QuestionFlags) -> Result<Option<Rules>, QueryError> {
        let Some(file) = self.rules_file(flags) else { return Ok(None) };
        Ok(Some(Rules::read(&file.display().to_string(), &read(&file)?)?))
    }

    /// What labels the programs of a table with what they build.
    ///
    /// # Errors
    /// A file of rules that cannot be read.
    pub(crate) fn unit_labels(&self, flags: &QuestionFlags) -> Result<UnitLabels, QueryError> {
        let Some(file) = self.rules_file(flags) else { return Ok(UnitLabels::new(None)) };
        Ok(UnitLabels::new(Some(Rules::read(&file.display().to_string(), &read(&file)?)?)))
    }

    fn rules_file(&self, flags: &QuestionFlags) -> Option<PathBuf> {
        flags.classes.clone().or_else(|| {
            let folder = Path::new(&self.file()?.name).parent()?.join(RULES);
            folder.is_file().then_some(folder)
        })
    }
}

/// Makes something with the rules of a file, or with the default ones.
fn with_rules<T>(
    file: Option<&Path>,
    text: Option<&str>,
    make: impl FnOnce(&Rules) -> Result<T, QueryError>,
) -> Result<T, QueryError> {
    match file.zip(text) {
        Some((file, text)) => make(&Rules::read(&file.display().to_string(), text)?),
        None => make(Rules::standard()),
    }
}

fn read(file: &Path) -> Result<String, QueryError> {
    let unreadable = |cause: String| QueryError::Unreadable { path: file.display().to_string(), cause };
    let length = fs::metadata(file).map_err(|error| unreadable(error.to_string()))?.len();
    if length > MOST_BYTES {
        return Err(unreadable("a file of rules is at most 1 MiB long".to_owned()));
    }
    fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))
}
