//! Bazel's profile (`--profile`, `command.profile.gz`): Chrome's trace format.
//!
//! ```text
//!   {"otherData":{"build_id":…,"output_base":…,"date":…},"traceEvents":[
//!     {"cat":"action processing","name":"Compiling a.c","ph":"X","ts":680369,"dur":112631,"tid":416,
//!      "out":"bazel-out/…/a.o","args":{"target":"//cards:a","mnemonic":"CppCompile"}},
//!     {"cat":"general information","name":"subprocess.run","ph":"X","ts":682288,"dur":81394,"tid":416}, …
//! ```
//!
//! Times are microseconds since Bazel began the command. An action becomes a process, and Bazel's subprocesses give
//! its times. `docs/imports.md` lists the use of each field.
//!
//! In reading order: `profile` (its head, and the places of its events), `event` (an event), `actions` (the parts of
//! each action), `announcer`.

mod actions;
mod announcer;
mod event;
mod profile;

use crate::context::{Context, Outcome};
use crate::error::ImportError;
use crate::format::{Holds, Importer};
use crate::intake::screen::Text;
use crate::processes::process_logs::{LogProgress, UnreadableParts, readable};
use actions::Actions;
use event::Event;
use profile::{Head, Item, Items};

/// Bazel's profiles.
pub(crate) const IMPORTER: Importer = Importer {
    key: "bazel",
    name: "profile of Bazel",
    heading: "Bazel",
    sample: "bazel-4.2.profile.gz",
    recognises: |first_bytes| Head::parse(first_bytes).is_some(),
    rejects: None,
    screen: |_| Some(Box::new(Text)),
    import,
    read: None,
    totals: None,
    snapshots: None,
    announces_on_all_threads: true,
    taken_ns: Some(|first_bytes| Head::parse(first_bytes)?.started_ns()),
    holds: Holds::Processes,
    options: &[],
};

fn import(dump: &[u8], context: &Context<'_>) -> Result<Outcome, ImportError> {
    let (mut reading, mut left_out) = (LogProgress::new(context)?, UnreadableParts::new("event"));
    let head = Head::parse(dump);
    let mut actions = Actions::default();
    for item in Items::new(dump) {
        match item {
            Item::Event { bytes, offset } => match Event::parse(bytes) {
                Ok(event) => actions.add(event),
                Err(message) => left_out.add(offset, bytes.len(), || format!("{message}: {}", readable(bytes))),
            },
            Item::Cut { .. } => left_out.ends_inside(dump.len(), "the events"),
        }
        reading.reached(item.offset())?;
    }
    let started_ns = head.as_ref().and_then(Head::started_ns);
    let announced = announcer::announce(actions, head, started_ns, context);
    reading.ended(dump.len())?;
    Ok(match announced {
        Ok((processes, notes)) => Outcome { processes, notes, end: left_out.end(), ..Outcome::default() },
        Err(stop) => Outcome { end: Err(stop), ..Outcome::default() },
    })
}
