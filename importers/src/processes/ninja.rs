//! Ninja's `.ninja_log`, versions 5 to 7.
//!
//! ```text
//!   # ninja log v6
//!   0 <tab> 29 <tab> 1795429206630124186 <tab> hand.o <tab> 179ccd21a11a38fc
//!   start   end      mtime                     output       hash of the command      milliseconds since the build began
//! ```
//!
//! Ninja appends a line for each output when its command has succeeded. `docs/imports.md` lists the use of each
//! field.
//!
//! In reading order: `entry` (a line), `builds` (assigns lines to builds), `announcer`.

mod announcer;
mod builds;
mod entry;

use crate::context::{Context, Outcome};
use crate::error::ImportError;
use crate::format::{Holds, Importer};
use crate::intake::screen::Text;
use crate::processes::process_logs::{Lines, LogProgress, UnreadableParts, readable};
use builds::Builds;
use entry::Entry;

/// The beginning of a log, without the version.
const MAGIC: &[u8] = b"# ninja log v";

/// Logs of ninja.
pub(crate) const IMPORTER: Importer = Importer {
    key: "ninja",
    name: "log of ninja (.ninja_log)",
    heading: "ninja",
    sample: "ninja.ninja_log",
    recognises,
    rejects: Some(rejects),
    screen: |_| Some(Box::new(Text)),
    import,
    read: None,
    totals: None,
    snapshots: None,
    announces_on_all_threads: true,
    taken_ns: None,
    holds: Holds::Processes,
    options: &[],
};

/// The version in the first line.
fn version(first_bytes: &[u8]) -> Option<&[u8]> {
    let rest = first_bytes.strip_prefix(MAGIC)?;
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    Some(&rest[..digits])
}

fn recognises(first_bytes: &[u8]) -> bool {
    version(first_bytes).is_some_and(|version| matches!(version, b"5" | b"6" | b"7"))
}

fn rejects(first_bytes: &[u8]) -> Option<ImportError> {
    version(first_bytes).map(|_| ImportError::OtherKind {
        found: "a log of ninja of another version than 5, 6 and 7",
        instead: "build once with a ninja from 2012 or later",
    })
}

fn import(dump: &[u8], context: &Context<'_>) -> Result<Outcome, ImportError> {
    let (mut reading, mut left_out) = (LogProgress::new(context)?, UnreadableParts::new("line"));
    let mut builds = Builds::default();
    for line in Lines::new(dump).skip(1) {
        if line.is_cut {
            left_out.ends_inside(dump.len(), "a line");
        } else if let Some(entry) = Entry::parse(line.text) {
            builds.add(entry);
        } else if !line.text.is_empty() && !line.text.starts_with(b"#") {
            left_out.add(line.offset, line.text.len(), || readable(line.text));
        }
        reading.reached(line.offset)?;
    }
    let announced = announcer::announce(builds, context);
    reading.ended(dump.len())?;
    let (processes, notes) = match announced {
        Ok(announced) => announced,
        Err(stop) => return Ok(Outcome { end: Err(stop), ..Outcome::default() }),
    };
    Ok(Outcome { processes, notes, end: left_out.end(), ..Outcome::default() })
}
