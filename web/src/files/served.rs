//! A served file: its state, and whether it is still the one that was opened.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

use barrow_analyzer::{Growing, Look, Recording};
use barrow_query::{OpenFile, QueryError, Recognised, Watcher, recognise};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::place::ServedPath;
use crate::reporter::Reporter;
use crate::templates::Templates;

/// A recording without an end that has not changed for this long is probably no longer being written.
const STILL: Duration = Duration::from_secs(30);

/// Interval at which a page that waits for an import checks whether it has ended.
const NAP: Duration = Duration::from_millis(20);

/// The reason why a file is not imported,
const NO_DUMP: &str = "this is no dump that could be imported now";
/// and the reason why its import is discarded.
const OTHER_FILE: &str = "it was opened again while it was imported";

/// A served file.
pub(crate) struct Served {
    pub(crate) number: usize,
    name: String,
    place: ServedPath,
    state: Mutex<State>,
}

/// The state of a file.
struct State {
    kind: Kind,
    /// The open file that questions read.
    file: Option<OpenFile>,
    /// The length and the modification time of a dump when it was opened.
    stamp: Option<(u64, SystemTime)>,
    is_importing: bool,
    /// Another file has replaced the one that was opened.
    is_replaced: bool,
    is_growing: bool,
    problem: Option<String>,
    /// Counts the openings.
    revision: u64,
}

enum Kind {
    Recording(Box<Growing>),
    Dump(String),
    Unknown,
}

/// The reason why a file cannot be asked now.
#[derive(Debug)]
pub(crate) enum Unready {
    /// It is a dump that has to be imported first.
    NotImported(String),
    /// It was replaced after it was opened.
    Replaced(String),
    /// It cannot be read.
    Unreadable(String),
}

impl Served {
    pub(super) fn new(number: usize, name: String, place: ServedPath, templates: &Templates) -> Self {
        let state = State::open(&place, templates);
        Served { number, name, place, state: Mutex::new(state) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self) -> &Path {
        &self.place.path
    }

    /// Refuses a file that cannot be opened.
    pub(super) fn check(&self) -> Result<(), QueryError> {
        let path = self.path().display().to_string();
        self.state.lock().problem.clone().map_or(Ok(()), |cause| Err(QueryError::Unreadable { path, cause }))
    }

    /// The file to ask, and its revision.
    ///
    /// A file that was truncated or replaced is not asked: mapped parts of it may be gone.
    pub(crate) fn open(&self, templates: &Templates) -> Result<(OpenFile, u64), Unready> {
        let mut state = self.state.lock();
        state.look(self.number, &self.place, templates);
        let name = &self.name;
        if state.is_replaced {
            return Err(Unready::Replaced(format!("{name} is not the file any more that was opened: open it again")));
        }
        if let Some(file) = &state.file {
            return Ok((file.clone(), state.revision));
        }
        match (&state.problem, &state.kind) {
            (Some(problem), _) => Err(Unready::Unreadable(problem.clone())),
            (None, Kind::Dump(_)) => Err(Unready::NotImported(format!("{name} is a dump: import it first"))),
            (None, _) => {
                let why = "holds no whole snapshot yet; processes can be asked about when their recording has ended";
                Err(Unready::Unreadable(format!("{name} {why}")))
            }
        }
    }

    /// Checks the file again. Returns its state for the page.
    pub(super) fn look(&self, templates: &Templates) -> Value {
        let mut state = self.state.lock();
        state.look(self.number, &self.place, templates);
        self.shown(&state)
    }

    /// Closes the file and opens the present one.
    pub(crate) fn reopen(&self, templates: &Templates) -> Value {
        let mut state = self.state.lock();
        let revision = state.revision + 1;
        *state = State { revision, ..State::open(&self.place, templates) };
        templates.forget(self.number);
        self.shown(&state)
    }

    /// Imports a dump, unless that was done already. Questions about other files continue meanwhile.
    pub(crate) fn import(&self, templates: &Templates, reporter: &Reporter) -> Result<Value, QueryError> {
        let (stamp, revision) = loop {
            let mut state = self.state.lock();
            state.look(self.number, &self.place, templates);
            if state.is_importing {
                // Another page has asked for it.
                drop(state);
                if reporter.is_stopped() {
                    return Err(QueryError::Stopped);
                }
                std::thread::sleep(NAP);
            } else if state.file.is_some() {
                return Ok(self.shown(&state));
            } else if state.is_replaced || !matches!(state.kind, Kind::Dump(_)) {
                return Err(QueryError::Unreadable { path: self.name.clone(), cause: NO_DUMP.to_owned() });
            } else {
                state.is_importing = true;
                break (stamp_of(self.path()), state.revision);
            }
        };
        let mut session = templates.bare();
        session.watch_with(std::sync::Arc::new(reporter.clone()));
        let opened = session.open(&self.path().display().to_string());
        let mut state = self.state.lock();
        if state.revision != revision {
            return Err(QueryError::Unreadable { path: self.name.clone(), cause: OTHER_FILE.to_owned() });
        }
        state.is_importing = false;
        match opened {
            Ok(()) => {
                (state.file, state.stamp, state.problem) = (session.file().cloned(), stamp, None);
                state.revision += 1;
                Ok(self.shown(&state))
            }
            Err(error) => {
                if !error.is_stopped() {
                    state.problem = Some(error.to_string());
                }
                Err(error)
            }
        }
    }

    fn shown(&self, state: &State) -> Value {
        let recording = state.file.as_ref().map(|file| &file.recording);
        let (format, what) = match &state.kind {
            Kind::Recording(_) => ("recording", "ready"),
            Kind::Dump(format) if state.file.is_some() => (format.as_str(), "ready"),
            Kind::Dump(format) => (format.as_str(), if state.is_importing { "importing" } else { "dump" }),
            Kind::Unknown => ("unknown", "unreadable"),
        };
        json!({
            "id": self.number,
            "name": self.name,
            "state": if state.problem.is_some() { "unreadable" } else { what },
            "format": format,
            "bytes": std::fs::metadata(self.path()).map(|file| file.len()).ok(),
            "snapshots": recording.map(|recording| recording.snapshot_ids().count()),
            "processes": recording.map(|recording| recording.has_processes()),
            "trials": recording.map(|recording| recording.has_measurements()),
            "uuid": recording.map(|recording| hex(recording.uuid())),
            "growing": state.is_growing,
            "replaced": state.is_replaced,
            "lost": state.file.as_ref().and_then(|file| file.damage.clone()),
            "problem": state.problem,
            "revision": state.revision.to_string(),
            "named": self.place.within.is_none(),
        })
    }
}

impl State {
    /// Opens files that can be opened at once: recordings, and dumps that were imported before.
    fn open(place: &ServedPath, templates: &Templates) -> Self {
        let mut state = State {
            kind: Kind::Unknown,
            file: None,
            stamp: None,
            is_importing: false,
            is_replaced: false,
            is_growing: false,
            problem: None,
            revision: 0,
        };
        if let Some(problem) = place.problem() {
            state.problem = Some(problem.to_owned());
            return state;
        }
        let path = &*place.path;
        let name = path.display().to_string();
        let mut session = templates.bare();
        match recognise(path) {
            Ok(Recognised::Recording) => state.open_recording(path, templates),
            Ok(Recognised::Dump(format)) => {
                state.kind = Kind::Dump(format);
                state.stamp = stamp_of(path);
                if !session.is_new_dump(&name) && session.open(&name).is_ok() {
                    state.file = session.file().cloned();
                }
            }
            Ok(Recognised::Unknown) => {
                state.problem = Some("this is no recording, and no dump that barrow reads".into())
            }
            Err(error) => state.problem = Some(error.to_string()),
        }
        state
    }

    fn open_recording(&mut self, path: &Path, templates: &Templates) {
        let mut growing = Growing::new(path);
        let first = growing.look();
        self.kind = Kind::Recording(Box::new(growing));
        let mut session = templates.bare();
        match first {
            Ok(Look::Grown { finished: false, recording, .. }) if !is_still(path) => {
                self.is_growing = true;
                session.open_recording(&path.display().to_string(), recording);
            }
            Ok(Look::Nothing | Look::Same) if !is_still(path) => self.is_growing = true,
            Err(error) => self.problem = Some(error.to_string()),
            // The usual way of opening reports the losses.
            _ => match session.open(&path.display().to_string()) {
                Ok(()) => {}
                Err(error) => self.problem = Some(problem(error)),
            },
        }
        self.file = session.file().cloned();
    }

    /// Checks whether the file has grown, or was replaced.
    fn look(&mut self, number: usize, place: &ServedPath, templates: &Templates) {
        if self.is_replaced {
            return;
        }
        if place.problem().is_some() {
            // Not reported for a file that could not be opened.
            self.is_replaced = self.problem.is_none();
            return self.forget_if_replaced(number, templates);
        }
        let path = &*place.path;
        let look = match &mut self.kind {
            Kind::Recording(growing) => growing.look(),
            Kind::Dump(_) => {
                self.is_replaced = self.file.is_some() && stamp_of(path).is_some_and(|now| Some(now) != self.stamp);
                return self.forget_if_replaced(number, templates);
            }
            Kind::Unknown => return,
        };
        match look {
            Ok(Look::Grown { replaced: true, .. }) | Err(_) if self.file.is_some() => self.is_replaced = true,
            Ok(Look::Grown { recording, finished, .. }) => {
                self.take(path, recording, finished, templates);
                templates.forget(number);
            }
            Err(error) => self.problem = Some(error.to_string()),
            // A file that was removed stays mapped.
            Ok(Look::Nothing) => self.is_replaced = path.exists() && self.file.is_some(),
            Ok(Look::Same) => {
                if self.is_growing && is_still(path) {
                    self.is_growing = false;
                }
            }
        }
        self.forget_if_replaced(number, templates);
    }

    fn take(&mut self, path: &Path, recording: std::sync::Arc<Recording>, finished: bool, templates: &Templates) {
        let mut session = templates.bare();
        session.open_recording(&path.display().to_string(), recording);
        self.file = session.file().cloned();
        (self.is_growing, self.problem) = (!finished, None);
        self.revision += 1;
    }

    /// Unmaps a file that was replaced.
    fn forget_if_replaced(&mut self, number: usize, templates: &Templates) {
        if self.is_replaced {
            (self.file, self.is_growing) = (None, false);
            templates.forget(number);
        }
    }
}

/// The form used in questions.
fn hex(uuid: [u8; 16]) -> String {
    uuid.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The reason why a file cannot be read, without its path.
fn problem(error: QueryError) -> String {
    match error {
        QueryError::Unreadable { cause, .. } => cause,
        error => error.to_string(),
    }
}

fn stamp_of(path: &Path) -> Option<(u64, SystemTime)> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.len(), file.modified().ok()?))
}

/// Returns whether a file has not changed for a while.
fn is_still(path: &Path) -> bool {
    let changed = std::fs::metadata(path).and_then(|file: Metadata| file.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|since| since > STILL))
}
