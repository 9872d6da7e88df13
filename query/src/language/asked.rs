//! The rows of an expression, in a recording that may hold snapshots, processes or both.
//!
//! ```text
//!   the recording holds      an expression is about
//!   snapshots                objects
//!   processes                processes
//!   both                     processes if it begins with the word `processes`, or names an attribute of processes;
//!                            else objects
//! ```
//!
//! No attribute belongs to both. Sets and rows are of objects or of processes.

use std::sync::Arc;

use barrow_analyzer::{ExpressionError, KindId, Names, SnapshotId, nearest};
use barrow_processes::{Classes, Expression, ImageId, ImageNames, ImageSet, ProcessTree, StrangeLabel};

use crate::answer::{Answer, units, visible};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::flags::QuestionFlags;
use crate::session::state::State;
use crate::tables::found::{self, AS_FAR_AS_KNOWN, EXPRESSIONS, pointed_at};

/// The word that asks for processes where a kind of objects could be.
pub(crate) const PROCESSES: &str = "processes";

/// Bytes of the name of a recorder that a sentence repeats: it is a text of the file, and the sentence stays short
/// whatever that says.
const LONGEST_RECORDER: usize = 40;

/// The rows that a question selects.
pub(crate) enum Asked {
    /// Objects of these kinds.
    Objects(SnapshotId, Vec<KindId>, barrow_analyzer::Expression),
    /// Processes.
    Processes(Expression),
}

/// Reads `[KIND] [EXPR]` from the words from `first` on; without any word every row matches.
///
/// # Errors
/// A usage error, with a caret where the expression has a mistake.
pub(crate) fn asked(state: &State, arguments: &Arguments, first: usize) -> Result<Asked, QueryError> {
    let recording = state.recording()?;
    let text = arguments.expression(first);
    let has_snapshots = recording.snapshot_ids().next().is_some();
    let is_meant = || names_attribute(&text, &state.scope(state.snapshot().unwrap_or(SnapshotId(0))));
    if !recording.has_processes() {
        let objects = objects(state, arguments, first);
        return objects.map_err(|error| if is_meant() { QueryError::NoProcesses } else { error });
    }
    if let Some(rest) = after_word(&text) {
        return processes(state, rest, &arguments.flags);
    }
    if !has_snapshots {
        let is_of_objects = || !text.is_empty() && barrow_analyzer::Expression::parse(&text).is_ok();
        return processes(state, &text, &arguments.flags).map_err(|error| match is_of_objects() {
            true => QueryError::usage(
                "this recording holds processes and no objects; `help expressions` lists their attributes",
            ),
            false => error,
        });
    }
    match (processes(state, &text, &arguments.flags), objects(state, arguments, first)) {
        (_, Ok(objects)) => Ok(objects),
        (Ok(processes), Err(_)) => Ok(processes),
        (Err(error), Err(_)) if is_meant() => Err(error),
        (Err(_), Err(error)) => Err(error),
    }
}

/// The processes that the words of `arguments` describe, where only processes can be asked for.
///
/// # Errors
/// As for [`asked`]; [`QueryError::NoProcesses`] if the recording holds none.
pub(crate) fn asked_processes(state: &State, arguments: &Arguments) -> Result<Expression, QueryError> {
    if !state.recording()?.has_processes() {
        return Err(QueryError::NoProcesses);
    }
    let expression = parsed(state, &arguments.expression(0), &arguments.flags);
    expression.map_err(|(text, error)| pointed_at(&text, &error, EXPRESSIONS))
}

/// The images that an expression describes, and their tree.
///
/// # Errors
/// Those of reading the tree and its classes.
pub(crate) fn select(
    state: &State,
    expression: &Expression,
    flags: &QuestionFlags,
) -> Result<(Arc<ProcessTree>, Arc<ImageSet>), QueryError> {
    let tree = state.process_tree()?;
    if let Some(attribute) = expression.unknown_attribute(&tree) {
        return Err(QueryError::usage(untold(attribute, &tree)));
    }
    let classes = if expression.needs_classes() { Some(classes(state, &tree, expression, flags)?) } else { None };
    if let Some(classes) = &classes
        && let Some(strange) = expression.strange_labels(classes).into_iter().find(|strange| strange.schema.is_none())
    {
        return Err(QueryError::usage(told(strange, classes)));
    }
    let images = expression.select(&tree, classes.as_deref());
    Ok((tree, Arc::new(images)))
}

/// Says that the recording tells an attribute of no process.
pub(crate) fn untold(attribute: &str, tree: &ProcessTree) -> String {
    let facts = tree.recording().facts().unwrap_or_default();
    let by = facts.iter().find(|(key, _)| key == "recorded by").map(|(_, by)| by.as_str());
    match by {
        Some("ninja") if attribute == "failed" => {
            "`failed` is unknown: ninja logs only commands that succeeded".to_owned()
        }
        Some(by) if by.len() <= LONGEST_RECORDER => {
            format!("`{attribute}` is unknown: what {} records does not tell", visible::cell(by))
        }
        _ => format!("`{attribute}` is unknown: the recording does not tell"),
    }
}

/// Says where a label is found that the first schema does not have.
pub(crate) fn told(strange: StrangeLabel<'_>, classes: &Classes) -> String {
    let StrangeLabel { label, schema } = strange;
    if let Some(schema) = schema.and_then(|number| classes.schemata().get(number)) {
        return format!("\"{label}\" is a class of the schema `{0}`: `class.{0}`", schema.name());
    }
    let known = classes.schemata().iter().flat_map(|schema| schema.labels());
    let near = nearest(label, known.map(String::as_str));
    let near = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
    format!("no process of this recording has the class \"{label}\"{near}")
}

/// Notes on what an expression about processes rests on.
pub(crate) struct Notes {
    /// Labels that no process has.
    strange: Vec<String>,
    /// Programs of which too little is recorded to know whether they match.
    undecided: Option<String>,
}

impl Notes {
    /// An answer with these notes, which is not exact if programs are undecided.
    pub(crate) fn on(self, answer: Answer) -> Answer {
        let answer = answer.lines(self.strange);
        match self.undecided {
            Some(note) => answer.inexact(AS_FAR_AS_KNOWN, &note),
            None => answer,
        }
    }
}

/// The notes on an expression.
///
/// # Errors
/// As for [`classes`].
pub(crate) fn notes(state: &State, expression: &Expression, flags: &QuestionFlags) -> Result<Notes, QueryError> {
    let tree = state.process_tree()?;
    let classes = if expression.needs_classes() { Some(classes(state, &tree, expression, flags)?) } else { None };
    let strange = classes
        .iter()
        .flat_map(|classes| expression.strange_labels(classes).into_iter().map(|strange| told(strange, classes)));
    let undecided = expression.undecided(&tree, classes.as_deref());
    let undecided = (!undecided.is_empty()).then(|| {
        let programs = units::counted(undecided.len() as u64, "program");
        format!("of {programs} too little is recorded to know whether they match; what is recorded decides")
    });
    Ok(Notes { strange: strange.collect(), undecided })
}

/// The classes of the processes of a tree that an expression asks for, and those of the first schema. The later schemata
/// are those that take long: they have labels only if the expression names them, or compares with a label that the
/// earlier ones do not have.
///
/// # Errors
/// Those of the rules.
pub(crate) fn classes(
    state: &State,
    tree: &Arc<ProcessTree>,
    expression: &Expression,
    flags: &QuestionFlags,
) -> Result<Arc<Classes>, QueryError> {
    let mut count = expression.last_schema().unwrap_or(0) + 1;
    loop {
        let classes = state.first_classes(tree, count, flags)?;
        let is_unknown = |strange: StrangeLabel<'_>| strange.schema.is_none();
        if count >= classes.schemata().len() || !expression.strange_labels(&classes).into_iter().any(is_unknown) {
            return Ok(classes);
        }
        count += 1;
    }
}

fn objects(state: &State, arguments: &Arguments, first: usize) -> Result<Asked, QueryError> {
    let snapshot = state.snapshot()?;
    let (kinds, expression) = found::kinds_and_expression_or_all(state, snapshot, arguments, first)?;
    Ok(Asked::Objects(snapshot, kinds, expression))
}

fn processes(state: &State, text: &str, flags: &QuestionFlags) -> Result<Asked, QueryError> {
    let expression = parsed(state, text, flags);
    expression.map(Asked::Processes).map_err(|(text, error)| pointed_at(&text, &error, EXPRESSIONS))
}

fn parsed(state: &State, text: &str, flags: &QuestionFlags) -> Result<Expression, (String, ExpressionError)> {
    Expression::parse_with(text, &Scope { state, flags }).map_err(|error| (text.to_owned(), error))
}

/// The text after the word `processes`, if `text` begins with it.
pub(crate) fn after_word(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix(PROCESSES)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

/// Returns whether a text names an attribute of processes where an expression about objects has its mistake.
pub(crate) fn names_attribute(text: &str, objects: &dyn Names) -> bool {
    let Err(error) = barrow_analyzer::Expression::parse_with(text, objects) else { return false };
    let (before, rest) = text.split_at_checked(error.position).unwrap_or((text, ""));
    if before.trim_end().ends_with(['=', '<', '>', '~']) {
        return false;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '.' && c != '_').unwrap_or(rest.len());
    Expression::is_attribute(&rest[..end])
}

/// Resolves the names of sets, rows and schemata in a question about processes.
pub(crate) struct Scope<'s> {
    /// The recording, its sets and the listed rows.
    pub(crate) state: &'s State,
    /// Its flags, which may name a file of rules for classes.
    pub(crate) flags: &'s QuestionFlags,
}

impl ImageNames for Scope<'_> {
    fn schemata(&self) -> Vec<String> {
        self.state.schema_names(self.flags).unwrap_or_default()
    }

    fn set(&self, name: &str) -> Result<Arc<ImageSet>, String> {
        self.state.scope(SnapshotId(0)).images(name)
    }

    fn row(&self, row: usize) -> Result<ImageId, String> {
        self.state.scope(SnapshotId(0)).image(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::listed::Listed;
    use crate::session::sets::{self, Sets};

    #[test]
    fn attributes_of_processes_tell_what_is_meant() {
        let (sets, listed) = (Sets::default(), Listed::default());
        let scope = sets::Scope { snapshot: SnapshotId(0), sets: &sets, listed: &listed };
        for text in ["class = a", "(memory>5)", "size > 5 and not failed", "class.folder = x", "CPU > 1s"] {
            assert!(names_attribute(text, &scope), "{text}");
        }
        for text in ["", "type = a", "classes", "$a", "size > memory", "type = command", "notfailed"] {
            assert!(!names_attribute(text, &scope), "{text}");
        }
    }

    #[test]
    fn a_word_asks_for_processes() {
        assert_eq!(after_word("processes memory > 5"), Some("memory > 5"));
        assert_eq!(after_word("processes"), Some(""));
        assert_eq!(after_word("processesx"), None);
    }
}
