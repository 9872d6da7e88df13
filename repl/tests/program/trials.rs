//! Trials in a folder, as `t.barrow`, and what is asked about them.

use std::path::Path;

use serde_json::Value;

use super::{Run, finished, program};

/// The program with these words, in a folder.
pub(crate) fn barrow(folder: &Path, words: &[&str]) -> Run {
    finished(program(folder).current_dir(folder).args(words).output().expect("the program starts"))
}

/// `barrow trial` with these words, quietly, into `t.barrow`.
pub(crate) fn trial(folder: &Path, words: &[&str]) -> Run {
    barrow(folder, &[&["trial", "--quiet", "--force", "-o", "t.barrow"], words].concat())
}

/// The answer of a question about `t.barrow`.
pub(crate) fn asked(folder: &Path, words: &[&str]) -> Value {
    let run = barrow(folder, &[&[words[0], "t.barrow"], &words[1..], &["--format", "json"]].concat());
    assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
    serde_json::from_str(&run.stdout).expect("answers are JSON")
}

/// The values of a metric.
pub(crate) fn values(folder: &Path, metric: &str) -> Vec<f64> {
    let answer = asked(folder, &["values", metric]);
    let rows = answer["rows"].as_array().expect("there are rows");
    rows.iter().map(|row| row["value"].as_f64().expect("each has a number")).collect()
}
