//! Logs of Kleknev, the wrapper around a shell, and of `barrow-sh`, which writes an extended form.
//!
//! ```text
//!   <kleknevMagicNumber />
//!   <e> pid, wallTime, hostName, parentPid, workingDir, argv </e>         a wrapper begins
//!   <e> pid, wallTime, hostName, exitStatus, resourceUsage </e>           it ends
//! ```
//!
//! Records are in the order in which wrappers wrote them. A process is the program of a wrapper, with all children
//! that it waited for. `docs/imports.md` lists the use of each element.
//!
//! In reading order: `records` (the places of records), `elements` (the elements of one), `escapes`, `record` (its
//! fields), `usage` (resources used, children included or not), `running` (wrappers that have not ended), `clocks`
//! (the differences of the hosts' clocks), `offsets` (those given by the user), `announcer`.

mod announcer;
mod clocks;
mod elements;
mod escapes;
mod offsets;
mod record;
mod records;
mod running;
mod usage;

use crate::context::{Context, Outcome};
use crate::error::ImportError;
use crate::format::{Holds, Importer};
use crate::intake::screen::Text;
use announcer::Announcer;
use record::Record;
use records::{LogPart, Records};

pub use offsets::ClockOffsets;

/// The beginning of a log, up to the space before the end of the tag.
const MAGIC: &[u8] = b"<kleknevMagicNumber";

/// Kleknev's logs.
pub(crate) const IMPORTER: Importer = Importer {
    key: "kleknev",
    name: "process log of Kleknev or barrow-sh",
    heading: "Kleknev and barrow-sh",
    sample: "kleknev.log",
    recognises: |first_bytes| first_bytes.trim_ascii_start().starts_with(MAGIC),
    rejects: None,
    screen: |_| Some(Box::new(Text)),
    import,
    read: None,
    totals: None,
    snapshots: None,
    announces_on_all_threads: true,
    taken_ns: Some(taken_ns),
    holds: Holds::Processes,
    options: &[],
};

/// The time at which the first record was written, in nanoseconds since 1970. If the record is longer than the first
/// bytes, these still hold the fields before its arguments.
fn taken_ns(first_bytes: &[u8]) -> Option<u64> {
    let body = &first_bytes[memchr::memmem::find(first_bytes, b"<e>")?..];
    elements::Elements::new(&body[b"<e>".len()..]).find_map(|element| record::wall_ns(&element.ok()?))
}

/// The host of the first record.
pub(crate) fn first_host(first_bytes: &[u8]) -> Option<String> {
    let body = &first_bytes[memchr::memmem::find(first_bytes, b"<e>")?..];
    elements::Elements::new(&body[b"<e>".len()..]).find_map(|element| record::host(&element.ok()?))
}

fn import(dump: &[u8], context: &Context<'_>) -> Result<Outcome, ImportError> {
    let mut announcer = Announcer::new(context)?;
    let read = announce_all(dump, &mut announcer);
    announcer.finish(dump.len(), read)
}

fn announce_all(dump: &[u8], announcer: &mut Announcer<'_, '_>) -> Result<(), crate::error::Stop> {
    for part in Records::new(dump) {
        match part {
            LogPart::Record { offset, body } => match Record::parse(body) {
                Ok(record) => announcer.announce(offset, body.len(), &record)?,
                Err(reason) => announcer.left_out.add(offset, body.len(), || reason),
            },
            LogPart::Torn { offset, bytes } if offset + bytes.len() == dump.len() && bytes.starts_with(b"<") => {
                announcer.left_out.ends_inside(dump.len(), "a record");
            }
            LogPart::Torn { offset, bytes } => {
                announcer.left_out.add(offset, bytes.len(), || crate::processes::process_logs::readable(bytes));
            }
        }
        announcer.reached(part.end())?;
    }
    Ok(())
}
