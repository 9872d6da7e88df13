//! The recordings and dumps in a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use barrow_query::is_readable;

use super::place::ServedPath;

/// Depth of the search below a folder: dumps of a project are seldom deeper, and a search of a home folder ends. This
/// is a judgement.
const DEPTH: usize = 3;
/// Maximum number of served files: a page lists all of them, and each has a state in memory. This is a judgement.
const MOST_FILES: usize = 1_000;
/// Maximum number of entries of folders that are searched: a folder such as `/` must not occupy the server.
const MOST_ENTRIES: usize = 20_000;

/// A file that can be served.
pub(super) struct FoundFile {
    pub(super) name: String,
    pub(super) place: ServedPath,
}

/// The files of a folder.
pub(super) struct FoundFiles {
    pub(super) files: Vec<FoundFile>,
    /// No file was left out because there are too many.
    pub(super) are_all: bool,
}

/// The files in a folder that barrow reads, by name. Links out of the folder, hidden files, and files that barrow
/// stores beside recordings are left out.
pub(super) fn files(folder: &Path) -> FoundFiles {
    let (mut found, mut seen, mut are_all) = (Vec::new(), 0, true);
    let Ok(top) = folder.canonicalize().map(Arc::<Path>::from) else { return FoundFiles { files: found, are_all } };
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((folder, below, depth)) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            seen += 1;
            if seen > MOST_ENTRIES || found.len() > MOST_FILES {
                are_all = false;
                break;
            }
            let name = format!("{below}{}", file_name(&path));
            if file_name(&path).starts_with('.') {
                continue;
            }
            if path.is_dir() {
                if depth < DEPTH && !path.is_symlink() {
                    open.push((path, format!("{name}/"), depth + 1));
                }
                continue;
            }
            let place = ServedPath { path, within: Some(Arc::clone(&top)) };
            if place.problem().is_none() && is_readable(&place.path).unwrap_or(false) {
                found.push(FoundFile { name, place });
            }
        }
    }
    found.truncate(MOST_FILES);
    found.sort_by(|one, other| one.name.cmp(&other.name));
    FoundFiles { files: found, are_all }
}

/// The last part of a path.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
