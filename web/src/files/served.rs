//! A served file: its state, and whether it is still the one that was opened.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use barrow_analyzer::{Growing, Look, Recording};
use barrow_query::{OpenFile, QueryError, Question, Recognised, SeriesPattern, Watcher, recognise, series_pattern};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::place::{Place, ServedPath};
use crate::reporter::Reporter;
use crate::templates::Templates;

/// A recording without an end that has not changed for this long is probably no longer being written: snapshots come
/// more often while a program is watched. This is a judgement.
const STILL: Duration = Duration::from_secs(30);

/// Interval at which a page that waits for an import checks whether it has ended: people notice no delay.
const NAP: Duration = Duration::from_millis(20);

/// The reason why a file is not imported,
const NO_DUMP: &str = "this is no dump that could be imported now";
/// and the reason why its import is discarded.
const OTHER_FILE: &str = "it was opened again while it was imported";

/// A served file, or dumps that are served as a series.
pub(crate) struct Served {
    pub(crate) number: usize,
    name: String,
    place: Place,
    /// The pattern of a dump that can be one of a series, or of a series.
    pattern: Option<SeriesPattern>,
    state: Mutex<State>,
}

/// The state of a file.
struct State {
    kind: Kind,
    /// The open file that questions read.
    file: Option<OpenFile>,
    /// The totals of a dump that is being imported, which are counted sooner.
    counted: Option<OpenFile>,
    /// The lengths and the modification times of dumps when they were opened.
    stamp: Option<Vec<(u64, SystemTime)>>,
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
    pub(super) fn new(number: usize, name: String, file: ServedPath, templates: &Templates) -> Self {
        let place = Place::File(file);
        let state = State::open(&place, &name, templates);
        let dump = place.path().filter(|_| matches!(state.kind, Kind::Dump(_)));
        let pattern = dump.and_then(|path| series_pattern(path).ok().flatten());
        Served { number, name, place, pattern, state: Mutex::new(state) }
    }

    /// Dumps of one pattern as a series.
    pub(super) fn series(
        number: usize,
        name: String,
        dumps: Vec<ServedPath>,
        of: &Served,
        templates: &Templates,
    ) -> Self {
        let place = Place::Series(Mutex::new(dumps));
        let state = State::open(&place, &name, templates);
        Served { number, name, place, pattern: of.pattern.clone(), state: Mutex::new(state) }
    }

    /// The file and its pattern, if it is a dump that can be one of a series.
    pub(super) fn as_one_of_series(&self) -> Option<(&ServedPath, &SeriesPattern)> {
        if let Place::File(file) = &self.place { Some((file, self.pattern.as_ref()?)) } else { None }
    }

    /// The dumps of a series.
    pub(super) fn dumps(&self) -> Option<&Mutex<Vec<ServedPath>>> {
        if let Place::Series(dumps) = &self.place { Some(dumps) } else { None }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What stands before the name in the absolute path of the file: it ends with `/`, or is empty if it is no text.
    fn folder(&self) -> String {
        let path = self.place.paths().first().and_then(|path| std::path::absolute(path).ok());
        let above = path.as_deref().and_then(|path| path.ancestors().nth(self.name.matches('/').count() + 1));
        let folder = above.and_then(Path::to_str);
        folder.map_or_else(String::new, |folder| format!("{}/", folder.trim_end_matches('/')))
    }

    /// The path, if this is one file.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.place.path()
    }

    /// Refuses a file that cannot be opened.
    pub(super) fn check(&self) -> Result<(), QueryError> {
        let path = self.path().map_or_else(|| self.name.clone(), |path| path.display().to_string());
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

    /// The file for a question: as [`Served::open`], or its totals if nothing else is asked while it is imported.
    pub(crate) fn open_for(&self, question: &Question, templates: &Templates) -> Result<(OpenFile, u64), Unready> {
        let opened = self.open(templates);
        let state = self.state.lock();
        match (&opened, &state.counted) {
            (Err(Unready::NotImported(_)), Some(counted)) if question.asks_for_totals() => {
                Ok((counted.clone(), state.revision))
            }
            _ => opened,
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
        *state = State { revision, ..State::open(&self.place, &self.name, templates) };
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
                break (self.place.stamp(), state.revision);
            }
        };
        let mut session = templates.bare();
        session.watch_with(Arc::new(reporter.clone()));
        let is_over = Arc::new(AtomicBool::new(false));
        let opened = std::thread::scope(|scope| {
            scope.spawn(|| self.count(templates, Counting { import: reporter.clone(), is_over: Arc::clone(&is_over) }));
            let opened = self.place.open(&self.name, &mut session);
            // Relaxed: a flag of its own.
            is_over.store(true, Ordering::Relaxed);
            opened
        });
        let mut state = self.state.lock();
        state.counted = None;
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

    /// Counts the objects of what is being imported, if that takes much less time.
    fn count(&self, templates: &Templates, watcher: Counting) {
        let mut session = templates.bare();
        session.watch_with(Arc::new(watcher));
        // The import says what is wrong.
        let counted = session.count(&self.name, &self.place.paths()).ok().flatten();
        let mut state = self.state.lock();
        if state.is_importing {
            state.counted = counted;
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
            "folder": self.folder(),
            "state": if state.problem.is_some() { "unreadable" } else { what },
            "format": format,
            "bytes": self.place.bytes(),
            "dumps": self.dumps().map(|dumps| dumps.lock().len()),
            "snapshots": recording.map(|recording| recording.snapshot_ids().count()),
            "processes": recording.map(|recording| recording.has_processes()),
            "trials": recording.map(|recording| recording.has_measurements()),
            "uuid": recording.map(|recording| hex(recording.uuid())),
            "totals": state.counted.is_some(),
            "growing": state.is_growing,
            "replaced": state.is_replaced,
            "lost": state.file.as_ref().and_then(|file| file.damage.clone()),
            "problem": state.problem,
            "revision": state.revision.to_string(),
            "named": matches!(&self.place, Place::File(file) if file.within.is_none()),
        })
    }
}

impl State {
    /// Opens files that can be opened at once: recordings, and dumps that were imported before.
    fn open(place: &Place, name: &str, templates: &Templates) -> Self {
        let mut state = State {
            kind: Kind::Unknown,
            file: None,
            counted: None,
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
        let paths = place.paths();
        let Some(path) = paths.first() else { return state };
        let mut session = templates.bare();
        match recognise(path) {
            Ok(Recognised::Recording) => state.open_recording(path, templates),
            Ok(Recognised::Dump(format)) => {
                state.kind = Kind::Dump(format);
                state.stamp = place.stamp();
                if !place.is_new(&session) && place.open(name, &mut session).is_ok() {
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
    fn look(&mut self, number: usize, place: &Place, templates: &Templates) {
        if self.is_replaced {
            return;
        }
        if place.problem().is_some() {
            // Not reported for a file that could not be opened.
            self.is_replaced = self.problem.is_none();
            return self.forget_if_replaced(number, templates);
        }
        let look = match &mut self.kind {
            Kind::Recording(growing) => growing.look(),
            Kind::Dump(_) => {
                self.is_replaced = self.file.is_some() && place.stamp().is_some_and(|now| Some(now) != self.stamp);
                return self.forget_if_replaced(number, templates);
            }
            Kind::Unknown => return,
        };
        let Some(path) = place.path() else { return };
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

    fn take(&mut self, path: &Path, recording: Arc<Recording>, finished: bool, templates: &Templates) {
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

/// Follows a count beside an import, and ends with it.
struct Counting {
    import: Reporter,
    is_over: Arc<AtomicBool>,
}

impl Watcher for Counting {
    fn is_stopped(&self) -> bool {
        self.import.is_stopped() || self.is_over.load(Ordering::Relaxed)
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

/// Returns whether a file has not changed for a while.
fn is_still(path: &Path) -> bool {
    let changed = std::fs::metadata(path).and_then(|file| file.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|since| since > STILL))
}
