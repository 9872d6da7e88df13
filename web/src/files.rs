//! What is served: recordings and dumps, each with a number.

mod scan;
mod served;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use barrow_query::{QueryError, Recognised, recognise};
use serde_json::{Value, json};

use crate::templates::Templates;

use self::scan::Found;
pub(crate) use self::served::{Served, Unready};

/// The files of the operands, and those that were found in their folders.
pub(crate) struct Files {
    folders: Vec<PathBuf>,
    version: String,
    served: Mutex<Vec<Arc<Served>>>,
}

impl Files {
    /// The files of these operands.
    ///
    /// # Errors
    /// A file that cannot be read, and folders without any that can.
    pub(crate) fn new(operands: &[PathBuf], version: String, templates: &Templates) -> Result<Self, QueryError> {
        let (folders, named): (Vec<PathBuf>, Vec<PathBuf>) = operands.iter().cloned().partition(|path| path.is_dir());
        for path in &named {
            check(path)?;
        }
        let named = named.into_iter().map(|path| Found { name: scan::file_name(&path), path, is_named: true });
        let files = Files { folders, version, served: Mutex::default() };
        let found: Vec<Found> = named.chain(files.scan()).collect();
        files.add(found, templates);
        if files.all().is_empty() {
            let folder = files.folders.first().map(|folder| folder.display().to_string()).unwrap_or_default();
            let cause = "there is no recording in it, nor a dump that barrow reads".to_owned();
            return Err(QueryError::Unreadable { path: folder, cause });
        }
        Ok(files)
    }

    /// The file of this number.
    pub(crate) fn get(&self, number: usize) -> Option<Arc<Served>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner).get(number).cloned()
    }

    /// Looks at every file again, and for new ones. Returns what the page shows of them.
    pub(crate) fn look(&self, templates: &Templates) -> Value {
        self.add(self.scan(), templates);
        let files = self.all();
        let rows: Vec<Value> = files.iter().map(|file| file.look(templates)).collect();
        json!({ "version": self.version, "folder": !self.folders.is_empty(), "files": rows })
    }

    fn all(&self) -> Vec<Arc<Served>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn scan(&self) -> impl Iterator<Item = Found> + '_ {
        self.folders.iter().flat_map(|folder| scan::files(folder))
    }

    /// Adds files that are not there yet. A name that another file has gets a number.
    fn add(&self, found: impl IntoIterator<Item = Found>, templates: &Templates) {
        for file in found {
            let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
            if served.iter().any(|known| known.path() == file.path) {
                continue;
            }
            let mut name = file.name.clone();
            let mut copy = 2;
            while served.iter().any(|known| known.name() == name) {
                name = format!("{} ({copy})", file.name);
                copy += 1;
            }
            let number = served.len();
            served.push(Arc::new(Served::new(number, name, file.path, file.is_named, templates)));
        }
    }
}

/// Whether a file can be served.
fn check(path: &std::path::Path) -> Result<(), QueryError> {
    let unreadable = |cause: String| QueryError::Unreadable { path: path.display().to_string(), cause };
    match recognise(path).map_err(|error| unreadable(error.to_string()))? {
        Recognised::Unknown => Err(unreadable("this is no recording, and no dump that barrow reads".to_owned())),
        _ => Ok(()),
    }
}
