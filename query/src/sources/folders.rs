//! Folders among what is to be imported: `target/criterion` is a folder for each benchmark.
//!
//! ```text
//!   target/criterion/sum/fold/100/base/sample.json      the run before: left out
//!                                 new/sample.json       imported
//!                    report/index.html
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::QueryError;

/// Folders in one another are not deeper than this, at most: a group, a function, a parameter and `new`.
const MOST_DEPTH: usize = 16;

/// The same paths with the samples in each folder in its place, in the order of their names.
///
/// # Errors
/// A folder that cannot be read, or without samples.
pub(crate) fn expanded(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, QueryError> {
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        if !path.is_dir() {
            all.push(path);
            continue;
        }
        let before = all.len();
        add_samples(&path, MOST_DEPTH, &mut all)?;
        if all.len() == before {
            let cause = "this is a folder without samples of Criterion (`new/sample.json`); name the files";
            return Err(QueryError::unreadable(path.display(), cause));
        }
    }
    Ok(all)
}

/// Adds the samples in a folder. Links to other folders are not followed, so this ends.
fn add_samples(folder: &Path, depth: usize, samples: &mut Vec<PathBuf>) -> Result<(), QueryError> {
    let system = |error| QueryError::file(folder, error);
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).map_err(system)?.collect();
    let mut entries = entries.map_err(system)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().map_err(system)?.is_dir() {
            if depth > 0 {
                add_samples(&path, depth - 1, samples)?;
            }
        } else if entry.file_name() == "sample.json" && folder.ends_with("new") {
            samples.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_its_newest_samples() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(&path, "{}").expect("written");
            path
        };
        let expected = [write("c/a/10/new/sample.json"), write("c/b/new/sample.json")];
        write("c/b/base/sample.json");
        write("c/b/new/benchmark.json");
        let other = write("other.csv");
        let all = expanded(vec![other.clone(), folder.path().join("c")]).expect("readable");
        assert_eq!(all, [&[other][..], &expected].concat());
        let none = expanded(vec![folder.path().join("c/b/base")]).expect_err("no samples").to_string();
        assert!(none.contains("this is a folder without samples of Criterion"), "{none}");
    }
}
