//! Records the heap of a running CPython program: the native half of the package `barrow`.
//!
//! ```text
//!   barrow.snapshot() ─▶ recorder ─▶ snapshot: discover, number, announce ─▶ barrow-writer ─▶ file
//!                                    (the program stands still)              (its own threads)
//! ```
//!
//! Reading order: `recorder`, `snapshot` with `heap_map`, `references`, `classes` and `stacks`; below them `object` (the
//! one place that reads the interpreter's objects), `interpreter` and `layout`. `sites` notes who allocates, in between.

#![deny(unsafe_op_in_unsafe_fn)]

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

use std::path::PathBuf;
use std::time::{Duration, Instant};

use barrow_writer::Totals;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::recorder::{Limits, Named, Recorder, Recording, Wishes, explain};

/// The native half of the package `barrow`.
#[pymodule(name = "_barrow")]
mod native {
    #[pymodule_export]
    use super::{begin, finish, forked, is_recording, prepare_fork, take_snapshot};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::interpreter::meet(module.py())
    }
}

/// Begins a recording in a new file; with `waits`, that is made with the first snapshot.
#[pyfunction]
#[pyo3(signature = (path, max_snapshots=None, max_bytes=None, sites=None, waits=false))]
fn begin(
    py: Python<'_>,
    path: PathBuf,
    max_snapshots: Option<u32>,
    max_bytes: Option<u64>,
    sites: Option<&str>,
    waits: bool,
) -> PyResult<()> {
    let sites = sites.map(str::parse).transpose().map_err(PyValueError::new_err)?;
    let mut held = recorder::take(py);
    if let Some(Recording::Begun(recorder)) = &held.0 {
        return Err(PyRuntimeError::new_err(format!("{} is being recorded already", recorder.path().display())));
    }
    let limits = Limits { snapshots: max_snapshots, bytes: max_bytes };
    let wishes = Wishes { path, limits, sites, process: std::process::id(), began: Instant::now() };
    held.0 = Some(if waits {
        if let Some(mode) = sites {
            sites::begin(py, mode)?;
        }
        Recording::Waiting(wishes)
    } else {
        Recording::Begun(Box::new(Recorder::begin(py, wishes)?))
    });
    Ok(())
}

/// What a snapshot holds: objects, references, bytes; and how long the program stood still, in seconds.
type Figures = (u64, u64, u64, f64);

/// Takes a snapshot. Returns its figures, if it was recorded; and why recording ended, if it did so wrongly. To be called
/// while the collector is off.
#[pyfunction]
#[pyo3(name = "snapshot", signature = (label=None, threads=Vec::new()))]
fn take_snapshot(
    py: Python<'_>,
    label: Option<String>,
    threads: Vec<Named>,
) -> PyResult<(Option<Figures>, Option<String>)> {
    let mut held = recorder::take(py);
    let mut recorder = match held.0.take() {
        None => return Ok((None, None)),
        Some(Recording::Begun(recorder)) => recorder,
        Some(Recording::Waiting(wishes)) => match Recorder::begin(py, wishes) {
            Ok(recorder) => Box::new(recorder),
            Err(error) => return Ok((None, Some(format!("{}; nothing is recorded", error.value(py))))),
        },
    };
    match recorder.snapshot(py, label, &threads)? {
        Ok(taken) => {
            let Totals { objects, references, heap_bytes, .. } = taken.totals;
            let figures = (objects, references, heap_bytes, Duration::from_nanos(taken.pause_ns).as_secs_f64());
            if taken.is_last {
                return Ok((Some(figures), end(py, *recorder)));
            }
            held.0 = Some(Recording::Begun(recorder));
            Ok((Some(figures), None))
        }
        Err(error) => Ok((None, Some(explain(recorder.path(), &error)))),
    }
}

/// Ends the recording. Returns why that failed, if it did.
#[pyfunction]
fn finish(py: Python<'_>) -> Option<String> {
    let mut held = recorder::take(py);
    match held.0.take()? {
        Recording::Begun(recorder) => end(py, *recorder),
        Recording::Waiting(_) => {
            sites::end(py);
            None
        }
    }
}

fn end(py: Python<'_>, recorder: Recorder) -> Option<String> {
    sites::end(py);
    let path = recorder.path().to_owned();
    py.detach(|| recorder.finish()).err().map(|error| explain(&path, &error))
}

/// Whether something is recorded.
#[pyfunction]
fn is_recording() -> bool {
    recorder::is_on()
}

/// To be called before a fork, in the thread that forks.
#[pyfunction]
fn prepare_fork(py: Python<'_>) {
    recorder::prepare_fork(py);
}

/// To be called after a fork, in parent and child. In the child, `path` is where a recording begins with the first snapshot, if
/// the parent records. Returns whether that is so.
#[pyfunction]
fn forked(path: PathBuf) -> bool {
    recorder::forked(path)
}
