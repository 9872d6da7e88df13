//! The served files: recordings and dumps, each with a number.

mod place;
mod scan;
mod served;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use barrow_query::{QueryError, Recognised, recognise};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::error::Refusal;
use crate::question::ParsedRequest;
use crate::templates::Templates;

use self::place::ServedPath;
use self::scan::{FoundFile, FoundFiles};
pub(crate) use self::served::{Served, Unready};

/// The files of the operands, and those found in their folders.
pub(crate) struct Files {
    folders: Vec<PathBuf>,
    version: String,
    served: Mutex<Vec<Arc<Served>>>,
    /// The time of the next search of the folders. Locked while files are added.
    next_scan: Mutex<Instant>,
}

/// Minimum time between two searches of folders: people see a new file soon.
const SCAN_EVERY: Duration = Duration::from_secs(1);
/// The time between two searches, as a multiple of the duration of one: searching takes a twentieth of a processor at
/// most.
const SCAN_PAUSE: u32 = 20;

impl Files {
    /// The files of these operands.
    ///
    /// # Errors
    /// A file that cannot be read, or folders without readable files.
    pub(crate) fn new(operands: &[PathBuf], version: String, templates: &Templates) -> Result<Self, QueryError> {
        let (folders, named): (Vec<PathBuf>, Vec<PathBuf>) = operands.iter().cloned().partition(|path| path.is_dir());
        for path in &named {
            check(path)?;
        }
        let named = named
            .into_iter()
            .map(|path| FoundFile { name: scan::file_name(&path), place: ServedPath { path, within: None } });
        let served = Mutex::default();
        let files = Files { folders, version, served, next_scan: Mutex::new(Instant::now()) };
        files.add(named, templates);
        for file in files.all() {
            file.check()?;
        }
        files.scan(templates);
        if files.all().is_empty() {
            let folder = files.folders.first().map(|folder| folder.display().to_string()).unwrap_or_default();
            let cause = "there is no recording in it, nor a dump that barrow reads".to_owned();
            return Err(QueryError::Unreadable { path: folder, cause });
        }
        Ok(files)
    }

    /// The file of this number.
    pub(crate) fn get(&self, number: usize) -> Option<Arc<Served>> {
        self.served.lock().get(number).cloned()
    }

    /// The file of this name.
    pub(crate) fn named(&self, name: &str) -> Option<Arc<Served>> {
        self.served.lock().iter().find(|file| file.name() == name).cloned()
    }

    /// A parsed request about one of these files.
    ///
    /// # Errors
    /// Those of [`ParsedRequest::of_query`].
    pub(crate) fn request(&self, query: &str) -> Result<ParsedRequest, Refusal> {
        let name_of = |file| self.get(file).map(|file| file.name().to_owned());
        ParsedRequest::of_query(query, name_of, |name| self.named(name).is_some())
    }

    /// The names of all files but one.
    pub(crate) fn names_beside(&self, file: &Served) -> Vec<String> {
        self.all().iter().filter(|other| other.number != file.number).map(|other| other.name().to_owned()).collect()
    }

    /// Checks every file again, and searches for new ones. Returns the list for the page.
    pub(crate) fn look(&self, templates: &Templates) -> Value {
        self.scan(templates);
        let files = self.all();
        let rows: Vec<Value> = files.iter().map(|file| file.look(templates)).collect();
        json!({ "version": self.version, "folder": !self.folders.is_empty(), "files": rows })
    }

    fn all(&self) -> Vec<Arc<Served>> {
        self.served.lock().clone()
    }

    /// Adds new files in the folders, unless they were searched just now.
    fn scan(&self, templates: &Templates) {
        // A request that does not get the lock leaves the search to the one that has it.
        let Some(mut next) = self.next_scan.try_lock() else { return };
        let begun = Instant::now();
        if begun < *next {
            return;
        }
        let found: Vec<FoundFiles> = self.folders.iter().map(|folder| scan::files(folder)).collect();
        let are_all = found.iter().all(|found| found.are_all);
        self.add(found.into_iter().flat_map(|found| found.files), templates);
        // A series without some of its dumps would show other steps.
        if are_all {
            self.add_series(templates);
        }
        *next = Instant::now() + SCAN_EVERY.max(begun.elapsed() * SCAN_PAUSE);
    }

    /// Adds files that are not in the list. A name that another file has gets a number.
    fn add(&self, found: impl Iterator<Item = FoundFile>, templates: &Templates) {
        let known = self.all();
        let known: HashSet<&Path> = known.iter().filter_map(|file| file.path()).collect();
        for file in found.filter(|file| !known.contains(file.place.path.as_path())) {
            let served = self.all();
            // A folder can be named twice.
            if served.iter().any(|known| known.path() == Some(&file.place.path)) {
                continue;
            }
            let name = free_name(&file.name, &served);
            // Opened without the lock, which every question needs.
            let new = Served::new(served.len(), name, file.place, templates);
            self.served.lock().push(Arc::new(new));
        }
    }

    /// Adds series of dumps, and dumps to the series that are there.
    fn add_series(&self, templates: &Templates) {
        let all = self.all();
        let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (one, (file, pattern)) in all.iter().filter_map(|one| Some((one, one.as_one_of_series()?))) {
            let folder = file.path.parent().unwrap_or(Path::new(""));
            groups.entry((folder, pattern.name.as_str(), pattern.format.as_str())).or_default().push((one, file));
        }
        for ((folder, pattern, _), dumps) in groups.into_iter().filter(|(_, dumps)| dumps.len() > 1) {
            let paths: Vec<ServedPath> = dumps.iter().map(|(_, file)| (*file).clone()).collect();
            let is_of = |series: &Mutex<Vec<ServedPath>>| {
                let known = series.lock();
                known.iter().any(|known| paths.iter().any(|new| new.path == known.path))
            };
            if let Some(known) = all.iter().filter_map(|one| one.dumps()).find(|series| is_of(series)) {
                *known.lock() = paths;
                continue;
            }
            let served = self.all();
            let first = dumps[0].0;
            let below = first.name().strip_suffix(&*scan::file_name(&folder.join(first.name()))).unwrap_or_default();
            let name = free_name(&format!("{below}{pattern}"), &served);
            let new = Served::series(served.len(), name, paths, first, templates);
            self.served.lock().push(Arc::new(new));
        }
    }
}

/// A name that no served file has: with a number, if one has it.
fn free_name(wanted: &str, served: &[Arc<Served>]) -> String {
    let mut name = wanted.to_owned();
    let mut copy = 2;
    while served.iter().any(|known| known.name() == name) {
        name = format!("{wanted} ({copy})");
        copy += 1;
    }
    name
}

/// Checks that a file can be served.
fn check(path: &Path) -> Result<(), QueryError> {
    let unreadable = |cause: String| QueryError::Unreadable { path: path.display().to_string(), cause };
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if !metadata.is_file() {
        return Err(unreadable("this is neither a file nor a folder".to_owned()));
    }
    match recognise(path).map_err(|error| unreadable(error.to_string()))? {
        Recognised::Unknown => Err(unreadable("this is no recording, and no dump that barrow reads".to_owned())),
        _ => Ok(()),
    }
}
