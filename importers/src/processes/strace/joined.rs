//! Logs of `strace -ff`: one for each process, whose number is only in the name of the file.
//!
//! ```text
//!   build.13970   1795653905.385170 clone3(…) = 13971        13970 1795653905.385170 clone3(…) = 13971
//!   build.13971   1795653905.387550 execve(…) = 0       ──▶  13971 1795653905.387550 execve(…) = 0
//! ```

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::line::{DAY_NS, Line, Time};
use super::recognises;
use crate::error::ImportError;
use crate::processes::process_logs::Lines;

/// All lines are in memory while they are sorted.
const MOST_BYTES: u64 = 256 << 20;

/// Joins the logs of several processes into one in `folder`, if all `sources` are logs of `strace -ff`: their names
/// differ only in a number at the end, and no line has one. The file is removed when it is dropped.
///
/// # Errors
/// Those of the system; logs of more than 256 MiB in total, or with times relative to the previous line.
pub fn joined_strace(sources: &[&Path], folder: &Path) -> Result<Option<NamedTempFile>, ImportError> {
    let Some(numbers) = numbers(sources) else { return Ok(None) };
    let mut texts = Vec::with_capacity(sources.len());
    let mut bytes = 0;
    for &source in sources {
        let system = |error| ImportError::Open { path: source.to_path_buf(), source: error };
        bytes += fs::metadata(source).map_err(system)?.len();
        if bytes > MOST_BYTES {
            return Err(ImportError::OtherKind {
                found: "logs of `strace -ff` of more than 256 MiB",
                instead: "join them with `strace-log-merge` and import the result",
            });
        }
        let text = fs::read(source).map_err(system)?;
        if !recognises(&text)
            || Lines::new(&text).filter_map(|line| Line::parse(line.text)).any(|line| line.task.is_some())
        {
            return Ok(None);
        }
        texts.push(text);
    }
    let mut calls = Vec::new();
    for (text, &number) in texts.iter().zip(&numbers) {
        calls_of(text, number, &mut calls)?;
    }
    in_one_day(&mut calls);
    calls.sort_by_key(|call| call.time_ns);
    let system = |error| ImportError::Open { path: folder.to_path_buf(), source: error };
    let mut file = tempfile::Builder::new().prefix(".barrow-strace-").tempfile_in(folder).map_err(system)?;
    let mut log = Vec::new();
    for call in &calls {
        log.extend_from_slice(call.task.to_string().as_bytes());
        log.push(b' ');
        log.extend_from_slice(call.lines);
        log.push(b'\n');
    }
    file.write_all(&log).map_err(system)?;
    Ok(Some(file))
}

/// Number of other files beside `source` whose names differ only in the number at the end, as the logs of `strace
/// -ff` do.
pub fn strace_siblings(source: &Path) -> usize {
    let Some(folder) = source.parent() else { return 0 };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let source = folder.join(source.file_name().unwrap_or_default());
    let others = entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| *path != source);
    others.filter(|path| numbers(&[&source, path]).is_some()).count()
}

/// A line with a time, and those after it without one.
struct Call<'t> {
    task: u64,
    time_ns: i128,
    is_of_day: bool,
    lines: &'t [u8],
}

impl<'t> Call<'t> {
    /// The call that begins at `start` with this time, up to `end`.
    fn new(text: &'t [u8], task: u64, (time_ns, is_of_day, start): (i128, bool, usize), end: usize) -> Self {
        Call { task, time_ns, is_of_day, lines: text[start..end].trim_ascii_end() }
    }
}

/// The numbers at the ends of the names, if all have one and the names are otherwise equal.
fn numbers(sources: &[&Path]) -> Option<Vec<u64>> {
    let first = stem(sources.first()?)?;
    let numbers = sources.iter().map(|source| {
        let digits = source.extension()?.to_str().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits.parse().ok().filter(|_| stem(source).as_ref() == Some(&first))
    });
    numbers.collect()
}

/// The folder and name of a file without the extension.
fn stem(source: &Path) -> Option<(PathBuf, OsString)> {
    Some((source.parent()?.to_path_buf(), source.file_stem()?.to_owned()))
}

fn calls_of<'t>(text: &'t [u8], task: u64, calls: &mut Vec<Call<'t>>) -> Result<(), ImportError> {
    let mut current: Option<(i128, bool, usize)> = None;
    for line in Lines::new(text) {
        let Some(parsed) = Line::parse(line.text) else { continue };
        calls.extend(current.map(|current| Call::new(text, task, current, line.offset)));
        current = Some(match parsed.time {
            Time::Wall(wall_ns) => (wall_ns, false, line.offset),
            Time::Day(day_ns) => (day_ns, true, line.offset),
            Time::Since(_) => {
                return Err(ImportError::OtherKind {
                    found: "logs of `strace -ff -r`, whose times are since the line before",
                    instead: "record them with `-ttt`",
                });
            }
        });
    }
    calls.extend(current.map(|current| Call::new(text, task, current, text.len())));
    Ok(())
}

/// Moves the times after midnight behind those before it.
fn in_one_day(calls: &mut [Call<'_>]) {
    let times = calls.iter().filter(|call| call.is_of_day).map(|call| call.time_ns);
    if times.clone().max().zip(times.min()).is_some_and(|(last, first)| last - first > DAY_NS / 2) {
        for call in calls.iter_mut().filter(|call| call.is_of_day && call.time_ns < DAY_NS / 2) {
            call.time_ns += DAY_NS;
        }
    }
}
