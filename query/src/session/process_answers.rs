//! Answers about the process tree of the open recording that the workspace keeps: totals, lanes, classes.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use barrow_processes::{Classes, Lanes, Plan, ProcessError, ProcessTree, Rules, Totals};

use super::state::State;
use crate::error::QueryError;
use crate::flags::QuestionFlags;
use crate::tables::unit_labels::UnitLabels;

/// The file of rules beside a recording.
const RULES: &str = "barrow-classes.toml";
/// A file of rules is not longer. This is a judgement: people write some hundred lines.
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
        self.made_classes(&tree, "all", flags, |rules| Classes::of(&tree, rules))
    }

    /// The same for one schema, which takes less: the first one, or that of a name. The others may have no labels.
    ///
    /// # Errors
    /// As for [`State::classes`].
    pub(crate) fn classes_in(&self, flags: &QuestionFlags, name: Option<&str>) -> Result<Arc<Classes>, QueryError> {
        let tree = self.process_tree()?;
        let Some(name) = name else { return self.first_classes(&tree, 1, flags) };
        self.made_classes(&tree, &format!("{name:?}"), flags, |rules| {
            let at = rules.schema_names().position(|known| known == name);
            Classes::only(&tree, rules, |schema| schema == at.unwrap_or(0))
        })
    }

    /// The same for the first `count` schemata, of the open tree or of another one.
    ///
    /// # Errors
    /// A file of rules that cannot be read.
    pub(crate) fn first_classes(
        &self,
        tree: &Arc<ProcessTree>,
        count: usize,
        flags: &QuestionFlags,
    ) -> Result<Arc<Classes>, QueryError> {
        self.made_classes(tree, &count.to_string(), flags, |rules| Classes::only(tree, rules, |schema| schema < count))
    }

    /// The classes that `make` makes by the rules. Those of the open tree are kept under `key` and the text of the rules.
    fn made_classes(
        &self,
        tree: &Arc<ProcessTree>,
        key: &str,
        flags: &QuestionFlags,
        make: impl FnOnce(&Rules) -> Result<Classes, ProcessError>,
    ) -> Result<Arc<Classes>, QueryError> {
        let file = self.rules_file(flags)?;
        let key = format!("{key} {:?}", file.as_ref().map(|(_, text)| text));
        let make = || {
            let rules = file.map(|(name, text)| Rules::read(&name, &text)).transpose()?;
            Ok(make(rules.as_ref().unwrap_or_else(|| Rules::standard()))?)
        };
        match self.process_tree() {
            Ok(open) if Arc::ptr_eq(&open, tree) => self.context.workspace.classes(tree, &key, make),
            _ => Ok(Arc::new(make()?)),
        }
    }

    /// The names of all schemata.
    ///
    /// # Errors
    /// A file of rules that cannot be read.
    pub(crate) fn schema_names(&self, flags: &QuestionFlags) -> Result<Vec<String>, QueryError> {
        let rules = self.class_rules(flags)?;
        let names = rules.as_ref().unwrap_or_else(|| Rules::standard()).schema_names();
        Ok(names.map(str::to_owned).collect())
    }

    /// The rules for classes, if they are not the default ones.
    ///
    /// # Errors
    /// A file of rules that cannot be read.
    pub(crate) fn class_rules(&self, flags: &QuestionFlags) -> Result<Option<Rules>, QueryError> {
        let Some((name, text)) = self.rules_file(flags)? else { return Ok(None) };
        Ok(Some(Rules::read(&name, &text)?))
    }

    /// Labels for the programs of a table: the unit that each builds.
    ///
    /// # Errors
    /// A file of rules that cannot be read.
    pub(crate) fn unit_labels(&self, flags: &QuestionFlags) -> Result<UnitLabels, QueryError> {
        self.class_rules(flags).map(UnitLabels::new)
    }

    /// The file of rules with its text, if there is one.
    fn rules_file(&self, flags: &QuestionFlags) -> Result<Option<(String, String)>, QueryError> {
        let beside = || Some(Path::new(&self.file()?.name).parent()?.join(RULES)).filter(|file| file.is_file());
        let Some(file) = flags.classes.clone().or_else(beside) else { return Ok(None) };
        let name = file.display().to_string();
        let system = |error: io::Error| QueryError::unreadable(&name, error);
        if fs::metadata(&file).map_err(system)?.len() > MOST_BYTES {
            return Err(QueryError::unreadable(&name, "a file of rules is at most 1 MiB long"));
        }
        let text = fs::read_to_string(&file).map_err(system)?;
        Ok(Some((name, text)))
    }
}
