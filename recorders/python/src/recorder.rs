//! The recording of this process: what goes on from snapshot to snapshot.

use std::path::{Path, PathBuf};
use std::time::Instant;

use barrow_writer::{
    MAX_TEXT_BYTES, Options, Result, Snapshot, SnapshotInfo, StrengthClass, StrengthId, ThreadDescription, Totals,
    Word, Writer, WriterError,
};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::{ffi, intern};

use crate::classes::{Known, Types};
use crate::interpreter::CollectorOff;
use crate::object::Stopped;
use crate::sites::{self, Declared, Mode, allocated};
use crate::snapshot::{Recipe, announce};
use crate::stacks::threads;

/// Limits at which a recording ends by itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limits {
    pub(crate) snapshots: Option<u32>,
    pub(crate) bytes: Option<u64>,
}

/// Settings of a recording.
#[derive(Debug, Clone)]
pub(crate) struct Wishes {
    pub(crate) path: PathBuf,
    /// The recording of the first process, before and after the place where a child puts its number.
    pub(crate) first: (String, String),
    /// The interpreter whose objects are recorded.
    pub(crate) interpreter: i64,
    pub(crate) limits: Limits,
    /// Which allocation sites are recorded, if any.
    pub(crate) sites: Option<Mode>,
    /// The most bytes of a text; `None` if nothing is recorded of what objects hold besides references.
    pub(crate) longest_text: Option<usize>,
    /// The process that it is for.
    pub(crate) process: u32,
    /// The time at which the recording of that process began.
    pub(crate) began: Instant,
    /// Whether its file was made.
    pub(crate) is_begun: bool,
}

/// A recording that has begun, or will with the first snapshot: that of a child, which may end without one.
pub(crate) enum Recording {
    Begun(Box<Recorder>),
    Waiting(Wishes),
}

impl Recording {
    pub(crate) fn wishes(&self) -> &Wishes {
        match self {
            Recording::Begun(recorder) => &recorder.wishes,
            Recording::Waiting(wishes) => wishes,
        }
    }
}

/// Facts about the interpreter that a recording needs. Finding them runs Python code, so it happens before a thread
/// takes its turn.
pub(crate) struct Found {
    known: Known,
    version: String,
    arguments: Vec<String>,
}

impl Found {
    pub(crate) fn find(py: Python<'_>, sites: Option<Mode>) -> PyResult<Self> {
        if sites.is_some() {
            sites::prepare(py)?;
        }
        let sys = py.import(intern!(py, "sys"))?;
        let version = sys.getattr("version")?.extract()?;
        let arguments = sys.getattr("argv").and_then(|argv| argv.extract()).unwrap_or_default();
        Ok(Found { known: Known::find(py)?, version, arguments })
    }
}

/// A recording that has begun, and what its next snapshot needs.
pub(crate) struct Recorder {
    writer: Writer,
    types: Types,
    known: Known,
    weak: StrengthId,
    wishes: Wishes,
    /// The sites that the recording has.
    declared: Declared,
    snapshots: u32,
}

/// A snapshot that was taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) totals: Totals,
    /// The pause of the program.
    pub(crate) pause_ns: u64,
    /// Whether a limit was reached, so that this was the last snapshot.
    pub(crate) is_last: bool,
}

impl Recorder {
    /// Begins a recording in a new file.
    pub(crate) fn begin(py: Python<'_>, wishes: Wishes, found: Found) -> PyResult<Self> {
        let recorder = Self::create(&wishes, found)
            .map_err(|error| PyOSError::new_err(format!("{}: {error}", wishes.path.display())))?;
        if let Some(mode) = wishes.sites {
            sites::begin(py, mode)?;
        }
        Ok(recorder)
    }

    /// Creates the file and declares types.
    fn create(wishes: &Wishes, found: Found) -> Result<Self> {
        let Found { known, version, arguments } = found;
        let writer = Writer::create(&wishes.path, Options::default())?;
        writer.own_fact(Word::of_settings("producer"), concat!("barrow for Python ", env!("CARGO_PKG_VERSION")))?;
        writer.own_fact(
            Word::of_settings("runtime"),
            &format!("CPython {}", version.split_whitespace().next().unwrap_or_default()),
        )?;
        writer.own_fact(Word::of_settings("pid"), &wishes.process.to_string())?;
        writer.own_fact(Word::of_settings("parent pid"), &std::os::unix::process::parent_id().to_string())?;
        writer.own_fact(Word::new("argv"), &arguments.join(" "))?;
        match wishes.longest_text {
            None => writer.own_fact(Word::of_settings("contents"), "none")?,
            Some(bytes) if bytes < MAX_TEXT_BYTES => {
                writer.own_fact(Word::of_settings("contents"), &format!("texts of at most {bytes} bytes"))?;
            }
            Some(_) => {}
        }
        Ok(Recorder {
            types: Types::declare(&writer, wishes.longest_text)?,
            weak: writer.strength(writer.marked(Word::of_kind("weak"))?, StrengthClass::Weak)?,
            writer,
            known,
            wishes: Wishes { is_begun: true, ..wishes.clone() },
            declared: Declared::default(),
            snapshots: 0,
        })
    }

    /// Takes a snapshot. The program is paused while objects are announced; their encoding ends without the
    /// global lock.
    pub(crate) fn snapshot(
        &mut self,
        py: Python<'_>,
        label: Option<String>,
        named: &[Named],
    ) -> PyResult<Result<Taken>> {
        // SAFETY: `py` has the global lock. Importing `sys` could run Python code of the program; this does not.
        let modules = unsafe { ffi::PyImport_GetModuleDict() } as u64;
        let pause = Instant::now();
        let info = SnapshotInfo { time_ns: Some(nanoseconds(self.wishes.began)), label, ..SnapshotInfo::default() };
        let snapshot = match self.writer.begin_snapshot(info) {
            Ok(snapshot) => snapshot,
            Err(error) => return Ok(Err(error)),
        };
        let mut recipe = Recipe {
            writer: &self.writer,
            types: &mut self.types,
            known: &self.known,
            sites: self.wishes.sites.map(|_| &mut self.declared),
            weak: self.weak,
            modules,
        };
        let off = CollectorOff::new(py)?;
        // SAFETY: `py` says that this thread has the global lock. The collector is off, and nothing that `announce`
        // calls runs code of the program; numbers that the interpreter makes for it are freed at once.
        let stopped = unsafe { Stopped::new() };
        let announced = announce(&stopped, &mut recipe, &snapshot)
            .and_then(|_| announce_threads(&stopped, &snapshot, named, self.wishes.sites.is_some()));
        if let Err(error) = announced {
            return Ok(Err(error));
        }
        drop(off);
        let pause_ns = nanoseconds(pause);
        let committed = py.detach(|| snapshot.commit());
        Ok(committed.map(|totals| {
            self.snapshots += 1;
            Taken { totals, pause_ns, is_last: self.is_at_limit() }
        }))
    }

    fn is_at_limit(&self) -> bool {
        let Wishes { path, limits, .. } = &self.wishes;
        limits.snapshots.is_some_and(|most| self.snapshots >= most)
            || limits.bytes.is_some_and(|most| std::fs::metadata(path).map_or(0, |file| file.len()) >= most)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.wishes.path
    }

    /// Ends the recording.
    pub(crate) fn finish(self) -> Result<()> {
        self.writer.finish().map(drop)
    }
}

/// A thread as `threading` knows it: its number, its name, the system's number.
pub(crate) type Named = (u64, String, Option<i32>);

/// Announces the threads, with what they allocated if that is counted.
fn announce_threads(stopped: &Stopped, snapshot: &Snapshot<'_>, named: &[Named], is_counted: bool) -> Result<()> {
    let threads = threads(stopped);
    let counts = if is_counted { allocated(stopped, &threads) } else { vec![None; threads.len()] };
    for (thread, count) in threads.iter().zip(counts) {
        let known = named.iter().find(|(id, ..)| *id == thread.id);
        snapshot.thread(&ThreadDescription {
            name: known.map(|(_, name, _)| name.as_str()),
            allocated_bytes: count.map(|count| count.bytes),
            allocated_objects: count.map(|count| count.blocks),
            cpu_time_ns: known.and_then(|&(_, _, system)| cpu_time_ns(system?)),
            root_label: Some(&format!("thread {}", thread.id)),
            ..ThreadDescription::new(thread.id)
        })?;
    }
    Ok(())
}

/// The processor time that a thread of this process used, if it is still there.
fn cpu_time_ns(system: i32) -> Option<u64> {
    // The clock of one thread's processor time, as Linux numbers it.
    let clock = (!system << 3) | 6;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes the time, or refuses a number that is no thread's.
    let is_known = unsafe { libc::clock_gettime(clock, &raw mut time) } == 0;
    let nanoseconds = u64::try_from(time.tv_sec).ok()? * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?;
    (cfg!(target_os = "linux") && is_known).then_some(nanoseconds)
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Describes a failure of the writer to the user.
pub(crate) fn explain(path: &Path, error: &WriterError) -> String {
    format!("{}: {error}; nothing more is recorded, snapshots taken before can be read", path.display())
}
