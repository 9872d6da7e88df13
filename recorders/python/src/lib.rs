//! Records the heap of a running CPython program: the native half of the package `barrow`.
//!
//! ```text
//!   barrow.snapshot() ─▶ recorder ─▶ snapshot: discover, number, announce ─▶ barrow-writer ─▶ file
//!                                    (the program is paused)                 (its own threads)
//! ```
//!
//! Reading order: `turn`, `recorder`, `snapshot` with `heap_map`, `references`, `classes`,
//! `values` and `stacks`; below them `object` (the
//! one place that reads the interpreter's objects), `interpreter` and `layout`. `sites` records allocation sites in the meantime.

#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(not(unix))]
compile_error!("the recorder for Python is for Unix systems: it looks up symbols of the interpreter with dlsym");

mod attributes;
mod classes;
mod heap_map;
mod interpreter;
mod layout;
mod object;
mod recorder;
mod references;
mod sites;
mod snapshot;
mod stacks;
mod texts;
mod turn;
mod values;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use barrow_writer::Totals;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::recorder::{Found, Limits, Named, Recorder, Recording, Wishes, explain};
use crate::turn::Reentered;

/// The native half of the package `barrow`.
#[pymodule(name = "_barrow")]
mod native {
    #[pymodule_export]
    use super::{begin, finish, is_recording, take_snapshot};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::interpreter::meet(module.py())
    }
}

/// Begins a recording in a new file, of at most `limits` snapshots and bytes; with `waits`, that is made with the first
/// snapshot. `first` is what children call theirs after.
#[pyfunction]
#[pyo3(signature = (path, first, limits=(None, None), sites=None, longest_text=None, waits=false))]
fn begin(
    py: Python<'_>,
    path: PathBuf,
    first: (String, String),
    limits: (Option<u32>, Option<u64>),
    sites: Option<&str>,
    longest_text: Option<usize>,
    waits: bool,
) -> PyResult<()> {
    let sites = sites.map(str::parse).transpose().map_err(PyValueError::new_err)?;
    let interpreter = turn::interpreter_id(py);
    let found = Found::find(py, sites)?;
    let mut held = turn::take(py).map_err(|Reentered| PyRuntimeError::new_err("a recording is being begun already"))?;
    let others = held.recording.as_ref().map(Recording::wishes).filter(|wishes| wishes.interpreter != interpreter);
    if let Some(wishes) = others {
        let path = wishes.path.display();
        return Err(PyRuntimeError::new_err(format!("another interpreter of this process records into {path}")));
    }
    if let Some(Recording::Begun(recorder)) = &held.recording {
        return Err(PyRuntimeError::new_err(format!("{} is being recorded already", recorder.path().display())));
    }
    let limits = Limits { snapshots: limits.0, bytes: limits.1 };
    let process = std::process::id();
    let wishes = Wishes {
        path,
        first,
        interpreter,
        limits,
        sites,
        longest_text,
        process,
        began: Instant::now(),
        is_begun: !waits,
    };
    held.recording = Some(if waits {
        if let Some(mode) = sites {
            sites::begin(py, mode)?;
        }
        Recording::Waiting(wishes)
    } else {
        Recording::Begun(Box::new(Recorder::begin(py, wishes, found)?))
    });
    Ok(())
}

/// Figures of a snapshot: objects, references, bytes; and the pause of the program, in seconds.
type Figures = (u64, u64, u64, f64);

/// Takes a snapshot. Returns its figures, if it was recorded; and why recording ended, if it did so wrongly.
#[pyfunction]
#[pyo3(name = "snapshot", signature = (label=None, threads=Vec::new()))]
fn take_snapshot(
    py: Python<'_>,
    label: Option<String>,
    threads: Vec<Named>,
) -> PyResult<(Option<Figures>, Option<String>)> {
    let Some(wishes) = turn::own_wishes(py) else { return Ok((None, None)) };
    // Only the first snapshot of a child needs it.
    let found = if wishes.is_begun { None } else { Some(Found::find(py, wishes.sites)?) };
    let Ok(mut held) = turn::take(py) else { return Ok((None, Some(Reentered::TEXT.to_owned()))) };
    // The recording may have ended meanwhile, and another interpreter may have begun one.
    let Some(recording) = held.recording.take_if(|recording| recording.wishes().interpreter == wishes.interpreter)
    else {
        return Ok((None, None));
    };
    let mut recorder = match (recording, found) {
        (Recording::Begun(recorder), _) => recorder,
        (Recording::Waiting(wishes), Some(found)) => match Recorder::begin(py, wishes, found) {
            Ok(recorder) => Box::new(recorder),
            Err(error) => return Ok((None, Some(format!("{}; nothing is recorded", error.value(py))))),
        },
        (waiting @ Recording::Waiting(_), None) => {
            held.recording = Some(waiting);
            return Ok((None, Some("a snapshot was skipped: another recording was begun meanwhile".to_owned())));
        }
    };
    match recorder.snapshot(py, label, &threads)? {
        Ok(taken) => {
            let Totals { objects, references, heap_bytes, .. } = taken.totals;
            let figures = (objects, references, heap_bytes, Duration::from_nanos(taken.pause_ns).as_secs_f64());
            if taken.is_last {
                return Ok((Some(figures), end(py, *recorder)));
            }
            held.recording = Some(Recording::Begun(recorder));
            Ok((Some(figures), None))
        }
        Err(error) => Ok((None, Some(explain(recorder.path(), &error)))),
    }
}

/// Ends the recording, if it is of this interpreter. Returns why that failed, if it did.
#[pyfunction]
fn finish(py: Python<'_>) -> Option<String> {
    if !turn::is_on(py) {
        return None;
    }
    let failure = match turn::take(py) {
        Err(Reentered) => {
            return Some("the recording goes on: it was to end while this thread takes a snapshot".to_owned());
        }
        Ok(mut held) => {
            match held.recording.take_if(|recording| recording.wishes().interpreter == turn::interpreter_id(py)) {
                None => None,
                Some(Recording::Begun(recorder)) => end(py, *recorder),
                Some(Recording::Waiting(_)) => {
                    sites::end(py);
                    None
                }
            }
        }
    };
    turn::drain(py);
    failure
}

fn end(py: Python<'_>, recorder: Recorder) -> Option<String> {
    sites::end(py);
    let path = recorder.path().to_owned();
    py.detach(|| recorder.finish()).err().map(|error| explain(&path, &error))
}

/// Whether objects of this interpreter are recorded.
#[pyfunction]
fn is_recording(py: Python<'_>) -> bool {
    turn::is_on(py)
}
