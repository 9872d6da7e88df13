//! A snapshot as `diff` takes it: `2` or `last` of the open recording, `FILE` or `FILE:2` of another.

use std::path::Path;
use std::sync::Arc;

use barrow_analyzer::{Recording, SnapshotId};

use crate::answer::{Column, Fact, Value};
use crate::error::QueryError;
use crate::flags::SnapshotName;
use crate::language::{field, selection};
use crate::session::state::State;
use crate::sources::opening::OpenFile;

/// A snapshot to compare, not looked up yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operand {
    /// One of the open recording.
    Open(SnapshotName),
    /// One of another file.
    Other(String, SnapshotName),
}

/// A snapshot to compare.
pub(crate) struct Compared {
    /// The file, as it was named.
    pub(crate) file: String,
    /// Its recording.
    pub(crate) recording: Arc<Recording>,
    /// The snapshot.
    pub(crate) snapshot: SnapshotId,
    /// The losses of another file; those of the open one are reported already.
    pub(crate) damage: Option<String>,
}

impl Compared {
    /// For machines: the file and the snapshot, and what a question says of them.
    pub(crate) fn described(&self, facts: impl IntoIterator<Item = (Column, Value)>) -> Value {
        let own = [
            (Column::text("file"), self.file.as_str().into()),
            (Column::text("damage").own_words(), self.damage.clone().into()),
            (Column::number("snapshot"), self.snapshot.0.into()),
        ];
        Value::Record(own.into_iter().chain(facts).map(|(column, value)| Fact { column, value }).collect())
    }
}

impl Operand {
    /// Reads `word`, if it is a number, `last`, or the name of a file that is open beside, exists or looks like a
    /// recording.
    pub(crate) fn named(word: &str, is_open: &dyn Fn(&str) -> bool) -> Option<Self> {
        let is_file = |name: &str| is_open(name) || Path::new(name).is_file();
        if let Ok(snapshot) = word.parse() {
            return Some(Operand::Open(snapshot));
        }
        if is_file(word) {
            return Some(Operand::Other(word.to_owned(), SnapshotName::Last));
        }
        let (file, snapshot) = match word.rsplit_once(':').map(|(file, snapshot)| (file, snapshot.parse())) {
            Some((file, Ok(snapshot))) => (file, snapshot),
            _ => (word, SnapshotName::Last),
        };
        // A word with a dot or a slash was meant to be a file, if it is not a part of an expression.
        let is_meant = is_file(file) || file.contains(['.', '/']) && !is_of_expression(word);
        is_meant.then(|| Operand::Other(file.to_owned(), snapshot))
    }

    /// The snapshots that the first words name.
    pub(crate) fn leading(words: &[String], is_open: &dyn Fn(&str) -> bool) -> Vec<Self> {
        words.iter().map_while(|word| Operand::named(word, is_open)).collect()
    }

    /// Looks it up; another file is opened as the first one was.
    ///
    /// # Errors
    /// A usage error if there is no such snapshot; those of [`State::other`].
    pub(crate) fn look_up(&self, state: &State, verb: &'static str) -> Result<Compared, QueryError> {
        match self {
            Operand::Open(name) => open(state, selection::one(*name, &state.snapshots()?)?),
            Operand::Other(name, snapshot) => other(state.other(name, verb)?, *snapshot),
        }
    }
}

/// Returns whether a word, which may be a whole expression that a shell was given, is none of a file that is missing.
fn is_of_expression(word: &str) -> bool {
    field::begins(word) || word.contains(char::is_whitespace) || word.contains(['=', '<', '>', '~', '"', '\'', '('])
}

/// This snapshot of the open recording.
///
/// # Errors
/// A usage error if none is open.
pub(crate) fn open(state: &State, snapshot: SnapshotId) -> Result<Compared, QueryError> {
    let file = state.file().map_or_else(String::new, |file| file.name.clone());
    Ok(Compared { file, recording: state.recording()?, snapshot, damage: None })
}

fn other(file: OpenFile, snapshot: SnapshotName) -> Result<Compared, QueryError> {
    let OpenFile { name, recording, damage, .. } = file;
    let known: Vec<SnapshotId> = recording.snapshot_ids().collect();
    let snapshot = selection::one(snapshot, &known).map_err(|error| match error {
        QueryError::Usage { message } => QueryError::usage(format!("{name}: {message}")),
        error => QueryError::unreadable(&name, error),
    })?;
    Ok(Compared { file: name, recording, snapshot, damage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_named_by_number_and_by_file() {
        let other = |file: &str, snapshot| Some(Operand::Other(file.to_owned(), snapshot));
        let (number, last) = (SnapshotName::Number, SnapshotName::Last);
        for (word, operand) in [
            ("2", Some(Operand::Open(number(2)))),
            ("last", Some(Operand::Open(last))),
            ("a.barrow", other("a.barrow", last)),
            ("a.barrow:2", other("a.barrow", number(2))),
            ("./dump:last", other("./dump", last)),
            ("./dump:", other("./dump:", last)),
            ("C:/dump", other("C:/dump", last)),
            // Tests run in the folder of the crate.
            ("Cargo.toml", other("Cargo.toml", last)),
            ("src", None),
            ("frames", None),
            ("frames:2", None),
            (".closed", None),
            (r#".attributes["a/b"]"#, None),
            (r#"type = "java.lang.String""#, None),
            ("/x|y/ or size>1.5K", None),
            (".hidden/dump", None),
            ("../dump", other("../dump", last)),
            ("", None),
        ] {
            assert_eq!(Operand::named(word, &|_| false), operand, "{word}");
        }
    }

    #[test]
    fn files_that_are_open_beside_have_any_name() {
        let named = |word: &str| Operand::named(word, &|name| ["with blank", "a = b.hprof"].contains(&name));
        let other = |file: &str, snapshot| Some(Operand::Other(file.to_owned(), snapshot));
        assert_eq!(named("with blank"), other("with blank", SnapshotName::Last));
        assert_eq!(named("a = b.hprof:3"), other("a = b.hprof", SnapshotName::Number(3)));
        assert_eq!(named("without blank"), None);
    }
}
