//! Completion with Tab: what lines of a recording know, and names of files.

mod files;

use std::sync::Arc;

use barrow_analyzer::{Recording, SnapshotId};
use rustyline::completion::Pair;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use barrow_query::completion::{Known, file_start};

/// Completes lines about one recording.
pub(crate) struct Completer {
    recording: Arc<Recording>,
    /// The sets of the session, like `$large`.
    pub(crate) sets: Vec<String>,
    /// The selected snapshot.
    pub(crate) snapshot: Option<SnapshotId>,
}

impl Completer {
    /// Completes lines about `recording`.
    pub(crate) fn new(recording: Arc<Recording>) -> Self {
        Completer { recording, sets: Vec::new(), snapshot: None }
    }

    /// The start of the last word of a line, and its completions. Names of files follow where nothing else does, or
    /// beside words that begin at the same place.
    fn offered(&self, line: &str) -> (usize, Vec<String>) {
        let known = Known { recording: &self.recording, snapshot: self.snapshot, sets: &self.sets, beside: &[] };
        let found = known.complete(line);
        let mut words: Vec<String> = found.choices.into_iter().map(|choice| choice.text).collect();
        let file = file_start(line);
        if !found.has_files || !words.is_empty() && found.start != file {
            return (found.start, words);
        }
        words.extend(files::beginning(&line[file..]));
        (file, words)
    }
}

impl rustyline::completion::Completer for Completer {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, choices) = self.offered(&line[..position]);
        let pairs = choices.into_iter().map(|choice| Pair { display: choice.clone(), replacement: choice });
        Ok((start, pairs.collect()))
    }
}

impl Hinter for Completer {
    type Hint = String;
}

impl Highlighter for Completer {}
impl Validator for Completer {}
impl Helper for Completer {}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_of_files_follow_what_asks_for_one() {
        let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/orders.barrow");
        let completer = Completer::new(Arc::new(Recording::open(&recording).unwrap()));
        let offered = |line: &str| completer.offered(line).1;
        // Tests run in the folder of the crate.
        for line in ["top > Car", "import Car", "diff Car", "repair -o Car", "repack -o Car", "assert --from Car"] {
            assert_eq!(offered(line), ["Cargo.toml"], "{line}");
        }
        assert_eq!(offered("find size > Car"), Vec::<String>::new());
        let after_diff = offered("diff ");
        assert!(
            after_diff.contains(&"by".to_owned()) && after_diff.contains(&"Cargo.toml".to_owned()),
            "{after_diff:?}"
        );
    }
}
