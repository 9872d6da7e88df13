//! Logs of `strace -f` with times, preferably those of `-ttt`: of all calls, or only of those that begin and end
//! processes.
//!
//! ```text
//!   24137 1795429206.866250 execve("/usr/bin/make", ["make", "-j2"], 0x7fff6bb30e98 /* 39 vars */) = 0
//!   24137 1795429206.869954 clone3({flags=CLONE_VM|CLONE_VFORK, …}, 88 <unfinished ...>
//!   24138 1795429206.871794 execve("/usr/bin/gcc", ["gcc", "a.c"], 0x5580420b1500 /* 42 vars */) = 0
//!   24137 1795429206.871865 <... clone3 resumed>) = 24138
//!   24138 1795429206.929398 +++ exited with 0 +++
//! ```
//!
//! A child may act before the line that names its parent. So the log is read twice: first for the parents, then for
//! all events. `docs/imports.md` lists the use of each line.
//!
//! In reading order: `line` (task, time and event), `call` (the relevant calls), `quoted` (texts in them), `signals`,
//! `births` (the parents), `joined` (logs of one process each), `tasks` (running processes and threads), `announcer`.

mod announcer;
mod births;
mod call;
pub(crate) mod joined;
mod line;
mod quoted;
mod tasks;

use crate::context::{Context, Outcome};
use crate::error::ImportError;
use crate::format::{Holds, Importer};
use crate::intake::first_bytes::FIRST_BYTES;
use crate::intake::screen::Text;
use crate::processes::process_logs::{Lines, LogProgress};
use announcer::Announcer;
use births::Births;
use line::{Line, MESSAGE, Time};

/// Number of lines examined to recognise a log.
const FIRST_LINES: usize = 4;

/// Logs of strace.
pub(crate) const IMPORTER: Importer = Importer {
    key: "strace",
    name: "log of strace -f -ttt",
    heading: "strace",
    sample: "make.strace",
    recognises,
    rejects: Some(rejects),
    screen: |_| Some(Box::new(Text)),
    import,
    read: None,
    totals: None,
    snapshots: None,
    announces_on_all_threads: true,
    taken_ns: Some(|first_bytes| match first_line(first_bytes)?.time {
        Time::Wall(wall_ns) => u64::try_from(wall_ns).ok(),
        Time::Day(_) | Time::Since(_) => None,
    }),
    holds: Holds::Processes,
    options: &[],
};

fn recognises(first_bytes: &[u8]) -> bool {
    first_line(first_bytes).is_some()
}

/// The first line of strace itself. Messages may precede it.
fn first_line(first_bytes: &[u8]) -> Option<Line<'_>> {
    let first_bytes = &first_bytes[..first_bytes.len().min(FIRST_BYTES)];
    let mut lines = Lines::new(first_bytes).take(FIRST_LINES).map(|line| line.text);
    Line::parse(lines.find(|line| !line.starts_with(MESSAGE))?).filter(Line::is_of_strace)
}

/// The error for a log without the times of `-ttt`.
fn rejects(first_bytes: &[u8]) -> Option<ImportError> {
    let line = Lines::new(first_bytes).next()?.text;
    let is_log =
        line::without_time(line).is_some_and(|rest| rest.starts_with(b"execve(\"") || rest.starts_with(b"+++ "));
    is_log.then_some(ImportError::OtherKind {
        found: "a log of strace that does not say when things happened",
        instead: "record it with `strace -f -ttt -o FILE COMMAND`",
    })
}

fn import(dump: &[u8], context: &Context<'_>) -> Result<Outcome, ImportError> {
    let births = Births::find(dump, context)?;
    context.progress.begin("importing", dump.len() as u64, "bytes");
    let mut reading = LogProgress::new(context)?;
    let mut announcer = Announcer::new(context, births)?;
    let mut end = Ok(());
    for line in Lines::new(dump) {
        if line.is_cut {
            announcer.left_out.ends_inside(dump.len(), "a line");
        } else if let Err(stop) = announcer.announce(&line) {
            end = Err(stop);
            break;
        }
        reading.reached(line.offset)?;
    }
    reading.ended(dump.len())?;
    announcer.finish(end)
}
