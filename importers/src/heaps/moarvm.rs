//! MoarVM heap dumps: the parts shared by the three formats.
//!
//! ```text
//!   tables, for the whole dump          one snapshot
//!   strings  «P6opaque» «Document» …    collectables  kind · type or frame · size · unmanaged · first, count
//!   types    (REPR name, type name)                        │                                      │
//!   frames   (name, cuid, line, file)                      │   ┌──────────────────────────────────┘
//!                                       references         └──▶│ label · target │ label · target │ …
//! ```
//!
//! A collectable (MoarVM's word for anything on its heap, and for its groups of roots) becomes an
//! object with the collectable's number as id. Its references are adjacent in the dump, but not in
//! the order of collectables. One pass checks a snapshot ([`Snapshots`]) and locates its references. Another one
//! announces it ([`Announcer`]). All threads share the collectables of a snapshot in [runs](collectables), while one
//! of them checks the next snapshot.
//!
//! All kinds of roots but one keep their targets alive. The exception are the inter-generational roots, the remembered
//! set: old objects that refer to young ones. A minor collection starts from them, since it ignores other old objects; a
//! full one does not, and frees those that nothing else refers to. So their references are weak here.
//!
//! MoarVM has one type table for objects, type objects and STables alike; in a recording every type
//! belongs to one kind. So a pair (kind, type) is one type there, declared when it is first used.

mod announcer;
mod census;
mod collectables;
mod counting;
mod header;
mod kinds;
mod reading;
mod references;
mod tables;

mod format1;
mod format2;
mod format3;

use crate::context::{Context, Outcome};
use crate::error::{ImportError, Stop};
use crate::format::{Holds, Importer};
use crate::intake::screen::{Anything, Screen, Text};
use announcer::{Announcer, announce_all};
use barrow_writer::Word;
use counting::count;
use reading::{ReadContext, Snapshots};

/// MoarVM's text format.
pub(crate) const IMPORTER_1: Importer = Importer {
    key: "moarvm-1",
    name: "MoarVM heap dump, format 1",
    sample: "moarvm-1-tiny.mvmheap",
    recognises: header::is_text,
    screen: |_| Some(Box::new(Text)),
    import: |dump, context| import(context, |reading| format1::snapshots(dump, reading)),
    snapshots: Some(|dump, context| count(dump, context, |reading| format1::snapshots(dump, reading))),
    ..IMPORTER_2
};

/// MoarVM's format of plain records.
pub(crate) const IMPORTER_2: Importer = Importer {
    key: "moarvm-2",
    name: "MoarVM heap dump, format 2",
    heading: "MoarVM",
    sample: "moarvm-2-nqp.mvmheap.zst",
    recognises: |first_bytes| header::version(first_bytes) == Some(b"002"),
    rejects: Some(header::reject_version),
    screen: |first_bytes| screen(first_bytes, format2::begins_chunk),
    import: |dump, context| import(context, |reading| format2::snapshots(dump, reading)),
    read: None,
    totals: None,
    snapshots: Some(|dump, context| count(dump, context, |reading| format2::snapshots(dump, reading))),
    announces_on_all_threads: true,
    taken_ns: None,
    holds: Holds::Snapshots,
    options: &[],
};

/// MoarVM's format of compressed columns.
pub(crate) const IMPORTER_3: Importer = Importer {
    key: "moarvm-3",
    name: "MoarVM heap dump, format 3",
    sample: "moarvm-3-cut.mvmheap",
    recognises: |first_bytes| header::version(first_bytes) == Some(b"003"),
    screen: |first_bytes| screen(first_bytes, format3::begins_section),
    import: |dump, context| import(context, |reading| Ok(format3::snapshots(dump, context.writer, reading))),
    snapshots: Some(|dump, context| {
        count(dump, context, |reading| Ok(format3::snapshots(dump, context.writer, reading)))
    }),
    ..IMPORTER_2
};

/// Imports the snapshots that `find` finds, on all threads.
fn import<'a, S: Snapshots<'a>>(
    context: &Context<'a>,
    find: impl FnOnce(&mut ReadContext<'a>) -> Result<S, Stop> + Send,
) -> Result<Outcome, ImportError> {
    context.writer.own_fact(Word::of_settings("runtime"), "MoarVM")?;
    let mut announcer = Announcer::new(context)?;
    let mut reading = ReadContext::new(context);
    let end = context.pool()?.install(|| {
        let mut snapshots = find(&mut reading)?;
        announce_all(&mut snapshots, &mut reading, &mut announcer)
    });
    let Announcer { mut notes, snapshots, .. } = announcer;
    notes.extend(reading.tables.notes());
    Ok(Outcome { snapshots, notes, end, ..Outcome::default() })
}

/// The screen of a binary dump: the first part follows the header, and the rest is compressed or plain bytes.
fn screen(first_bytes: &[u8], begins_part: fn(&[u8]) -> bool) -> Option<Box<dyn Screen>> {
    let part = first_bytes.get(header::HEADER_BYTES..).unwrap_or_default();
    if begins_part(part) { Some(Box::new(Anything)) } else { None }
}
