//! The recording that is being written: begun, told to take snapshots, ended.

use std::ffi::c_void;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::complaint::tell;
use crate::options::Options;
use crate::sites::Sites;
use crate::snapshot::Recorded;
use crate::state;
use crate::system;
use crate::threads::Quiet;
use crate::{RecordError, Taken};

/// The open recording. No allocation ever waits for this lock.
static OPEN: Mutex<Option<Open>> = Mutex::new(None);
/// Told when a recording ends.
static ENDED: Condvar = Condvar::new();

struct Open {
    recorded: Recorded,
    options: Options,
    /// Locked as long as the recording is written, so that another process with the same path takes another.
    _lock: File,
    /// Which of this process's recordings it is.
    number: u64,
}

/// A recording that is being written. Dropping it takes a last snapshot, `end`, and ends the recording.
#[derive(Debug)]
#[must_use = "the recording ends when it is dropped"]
pub struct Recording {
    number: u64,
    is_ended: bool,
}

impl Recording {
    /// Takes the last snapshot and ends the recording.
    ///
    /// # Errors
    /// The file cannot be written; snapshots before are not affected.
    pub fn finish(mut self) -> Result<(), RecordError> {
        self.is_ended = true;
        end_of("end", Some(self.number))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // `finish` returns what went wrong.
        if !self.is_ended
            && let Err(error) = end_of("end", Some(self.number))
            && !matches!(error, RecordError::Forked)
        {
            tell(&error.to_string());
        }
    }
}

/// Begins a recording.
pub(crate) fn begin(path: &Path, options: &Options) -> Result<Recording, RecordError> {
    static BEGUN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    if !state::is_own_process() {
        return Err(RecordError::Forked);
    }
    let _quiet = Quiet::new();
    let mut open = lock();
    if open.is_some() {
        return Err(RecordError::AlreadyRecording);
    }
    Sites::get().ok_or(RecordError::NoMemory)?;
    let (path, file) = own_file(path)?;
    let recorded = Recorded::begin(&path, options)?;
    let number = BEGUN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    *open = Some(Open { recorded, options: options.clone(), _lock: file, number });
    state::turn_on(options);
    drop(open);
    if options.interval.is_some() && !system::in_a_thread(take_in_intervals) {
        tell("no thread could be started: no snapshots at intervals");
    }
    Ok(Recording { number, is_ended: false })
}

/// The file at a path, or at `path.PID` while another process records there.
fn own_file(path: &Path) -> Result<(PathBuf, File), RecordError> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    let file = options.open(path).map_err(RecordError::Io)?;
    if file.try_lock().is_ok() {
        return Ok((path.to_owned(), file));
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let path = PathBuf::from(name);
    let file = options.open(&path).map_err(RecordError::Io)?;
    Ok((path, file))
}

/// Takes a snapshot, if something is being recorded.
pub(crate) fn snapshot(label: &str) -> Result<Option<Taken>, RecordError> {
    if state::known() != Some(true) {
        return Ok(None);
    }
    let _quiet = Quiet::new();
    let mut open = lock();
    let Some(open) = open.as_mut() else { return Ok(None) };
    open.recorded.take(label, &open.options).map(Some)
}

/// Takes a last snapshot and ends the recording that is open.
pub(crate) fn end(label: &str) -> Result<(), RecordError> {
    end_of(label, None)
}

/// Ends the recording with this number, if it is still open.
fn end_of(label: &str, number: Option<u64>) -> Result<(), RecordError> {
    if !state::is_own_process() {
        return Err(RecordError::Forked);
    }
    let _quiet = Quiet::new();
    let mut open = lock();
    let Some(mut ended) = open.take_if(|open| number.is_none_or(|number| open.number == number)) else {
        return Ok(());
    };
    let taken = ended.recorded.take(label, &ended.options);
    state::turn_off();
    ENDED.notify_all();
    let finished = ended.recorded.finish();
    taken.and(finished)
}

/// The thread of a recording with an interval. All it allocates is the recorder's.
extern "C" fn take_in_intervals(_: *mut c_void) -> *mut c_void {
    let _quiet = Quiet::new();
    let began = Instant::now();
    let mut open = lock();
    let number = open.as_ref().map(|open| open.number);
    let mut count = 1u32;
    // Until another recording is open, or none.
    while let Some(current) = open.as_mut().filter(|open| Some(open.number) == number) {
        let Some(interval) = current.options.interval else { break };
        let left = interval.saturating_mul(count).saturating_sub(began.elapsed());
        if !left.is_zero() {
            open = ENDED.wait_timeout(open, left).unwrap_or_else(PoisonError::into_inner).0;
            continue;
        }
        count += 1;
        if let Err(error) = current.recorded.take(&format!("{:.1} s", began.elapsed().as_secs_f64()), &current.options)
        {
            tell(&error.to_string());
            break;
        }
    }
    std::ptr::null_mut()
}

fn lock() -> MutexGuard<'static, Option<Open>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}
