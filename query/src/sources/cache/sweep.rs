//! Removes recordings from the cache whenever a new one is put there.
//!
//! ```text
//!   recordings of the same dump with other content      it was written anew
//!   recordings of dumps that are gone, and their index
//!   recordings that were used least recently            until the rest fits into the limit
//!   half-written files of a day ago                     their process was killed
//! ```
//!
//! A process that has a recording open keeps it. Only files with names that barrow gives are touched.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use barrow_analyzer::{Recording, parse_size};

use crate::error::QueryError;
use crate::sources::destination::PART;

use super::{DUMP, fact, key::Key};

/// The variable that holds the limit of the cache.
const VARIABLE: &str = "BARROW_CACHE_SIZE";
/// The default limit of the cache, in bytes. This is a judgement: imports of large dumps fit, and most disks have as
/// much to spare.
const LIMIT_BYTES: u64 = 10 << 30;
/// A half-written file that was not changed for this time was left by a process that was killed. This is a judgement:
/// a running import writes more often than once a day.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// The limit of the cache, in bytes.
///
/// # Errors
/// A usage error if the variable holds no size.
pub(super) fn limit_bytes() -> Result<u64, QueryError> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(LIMIT_BYTES) };
    let text = text.to_string_lossy();
    parse_size(&text).ok_or_else(|| {
        QueryError::usage(format!("{VARIABLE} is `{text}`; sizes are written like 4096, 64KiB, 1M or 2GiB"))
    })
}

/// A recording in the cache with its index, or an index alone.
#[derive(Debug, Default)]
struct Entry {
    recording: Option<PathBuf>,
    /// The recording first, so that nothing finds it without what belongs to it.
    files: Vec<PathBuf>,
    length_bytes: u64,
    /// When it was used last.
    used: Option<SystemTime>,
}

/// Removes entries that are not needed beside the recording of `newest`, which stays.
pub(super) fn sweep(folder: &Path, newest: &Key, limit_bytes: u64) {
    let (mut kept, newest_name) = (Vec::new(), newest.file_name());
    let mut total_bytes = 0;
    for (name, entry) in entries(folder) {
        let is_newest = newest_name.strip_suffix(".barrow") == Some(&name);
        if !is_newest && (name.starts_with(&newest.prefix()) || entry.is_useless(&name)) {
            entry.remove();
            continue;
        }
        total_bytes += entry.length_bytes;
        if !is_newest {
            kept.push(entry);
        }
    }
    kept.sort_by_key(|entry| entry.used);
    for entry in kept {
        if total_bytes <= limit_bytes {
            break;
        }
        total_bytes -= entry.length_bytes;
        entry.remove();
    }
}

/// The entries of the folder, by the first part of the names. Removes half-written files that nothing writes any more.
fn entries(folder: &Path) -> BTreeMap<String, Entry> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    let Ok(files) = fs::read_dir(folder) else { return entries };
    for file in files.flatten() {
        let path = file.path();
        let (Some(name), Ok(metadata)) = (file.file_name().to_str().map(str::to_owned), file.metadata()) else {
            continue;
        };
        let used = metadata.modified().ok();
        let Some((stem, ending)) = parts(&name).filter(|_| metadata.is_file()) else { continue };
        if name.starts_with('.') {
            let is_half = [PART, ".half"].iter().any(|half| ending.ends_with(half));
            if is_half && used.and_then(|used| used.elapsed().ok()).is_some_and(|since| since > ABANDONED) {
                let _ = fs::remove_file(path);
            }
            continue;
        }
        let entry = entries.entry(stem.to_owned()).or_default();
        entry.length_bytes += metadata.len();
        entry.used = entry.used.max(used);
        if ending == "barrow" {
            entry.recording = Some(path.clone());
            entry.files.insert(0, path);
        } else {
            entry.files.push(path);
        }
    }
    entries
}

/// Splits a name of ours into that of the entry, and its ending.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (stem, ending) = name.strip_prefix('.').unwrap_or(name).split_once('.')?;
    let is_hex = |text: &str, digits| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_key = stem.split_once('-').is_some_and(|(path, content)| is_hex(path, 16) && is_hex(content, 16));
    let is_known = match ending {
        // `lost` was beside recordings in earlier versions.
        "barrow" | "barrow.index" | "lost" => is_key,
        "index" => is_hex(stem, 32),
        _ => name.starts_with('.') && (is_key || is_hex(stem, 32)),
    };
    is_known.then_some((stem, ending))
}

impl Entry {
    /// Returns whether nothing will ask for it again.
    fn is_useless(&self, name: &str) -> bool {
        let Some(path) = &self.recording else {
            // An index beside a recording that is gone; one of another folder names itself by a uuid.
            return name.contains('-');
        };
        let facts = Recording::open(path).and_then(|recording| recording.facts());
        // A recording that says nothing about its dump is of an earlier version, or damaged.
        let Ok(facts) = facts else { return true };
        fact(&facts, DUMP).is_none_or(is_gone)
    }

    /// Removes its files. One that fails to be removed is removed the next time.
    fn remove(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
    }
}

/// Returns whether there is surely no such file, or not each of several ones. A path with replacement characters may
/// have another spelling.
fn is_gone(dump: &str) -> bool {
    let is_missing =
        |path: &str| fs::metadata(OsStr::new(path)).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    // A path may have several lines, too.
    !dump.contains('\u{fffd}') && is_missing(dump) && dump.split('\n').any(is_missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_ours_are_known() {
        let key = "0123456789abcdef-0123456789abcdef";
        let uuid = "0123456789abcdef0123456789abcdef";
        for ours in [
            format!("{key}.barrow"),
            format!("{key}.barrow.index"),
            format!("{key}.lost"),
            format!("{uuid}.index"),
            format!(".{key}.barrow.x7Yz.part"),
            format!(".{uuid}.index.x7Yz.half"),
        ] {
            assert!(parts(&ours).is_some(), "{ours}");
        }
        for other in ["heap.barrow", "heap.barrow.index", ".heap.barrow.77.part", "index", &format!("{key}.txt")] {
            assert_eq!(parts(other), None);
        }
        assert_eq!(parts(&format!("{uuid}.barrow")), None);
    }
}
