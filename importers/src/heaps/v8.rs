//! V8 heap snapshots, written by Node.js, Deno and Chrome, and by Julia.
//!
//! ```text
//!   {"snapshot": meta …, "nodes": [ node node … ], "edges": [ edge edge … ], …, "strings": [ … ]}
//!                                    │ type · name · id · self size · edge count …   ▲
//!                                    └────▶ its edges: type · name or index · to node
//! ```
//!
//! The text is mapped and read more than once, because the first node needs strings, which come last:
//!
//! 1. [`Layout`]: locates the parts. Commas and quotes are counted on all threads, so that any number or string can
//!    be located.
//! 2. The nodes are checked and divided into units, and the strings are entered into the recording: threads decode
//!    them, and take turns to number them in their order.
//! 3. [`Announcer`]: nodes and their edges are announced, unit by unit, on all threads.
//!
//! The graph is not held in memory. An import needs 4 bytes for each string, 4 for each node if the dump has
//! locations, a bit for each node if the dump tells which nodes are attached to a document, and the memory of the
//! writer; 8 bytes for each string among the nodes, and temporarily 40 for each concatenated one: at most 64 MiB,
//! otherwise their texts are unknown. A node becomes an object of the same number; its id becomes the serial.

mod announce;
mod classes;
mod concatenated;
mod counting;
mod detached;
mod ephemerons;
mod layout;
mod locations;
mod meta;
mod names;
mod nodes;
mod numbers;
mod parallel;
mod quotes;
mod recognition;
mod reference;
mod samples;
mod strings;
mod structure;
mod traces;
mod types;

use std::num::NonZero;

use crate::context::{Context, Outcome};
use crate::error::{Damage, ImportError, Stop};
use crate::format::{Holds, Importer};
use crate::intake::screen::Text;
use crate::options::ImportOptions;
use announce::{Announcer, DumpTables};
use concatenated::Concatenated;
use detached::Detached;
use ephemerons::WeakMapNodes;
use layout::Layout;
use locations::Locations;
use names::{Names, WellKnown};
use nodes::{Units, divide};
use numbers::Numbers;
use samples::Samples;
use structure::StructureNames;
use traces::Traces;
use types::Types;

/// V8's heap snapshots: Node.js, Deno, Chrome; Julia writes the same.
pub(crate) const IMPORTER: Importer = Importer {
    key: "v8",
    name: "V8 heap snapshot",
    heading: "V8",
    sample: "v8/node20-cards-1.heapsnapshot.zst",
    recognises: recognition::recognises,
    rejects: Some(recognition::rejects),
    screen: |_| Some(Box::new(Text)),
    import,
    read: None,
    totals: Some(|dump, context| counting::totals(dump, context).map(Some)),
    snapshots: None,
    announces_on_all_threads: false,
    taken_ns: None,
    holds: Holds::Snapshots,
    options: &[],
};

/// Imports a snapshot.
fn import(dump: &[u8], context: &Context<'_>) -> Result<Outcome, ImportError> {
    let mut outcome = Outcome::default();
    outcome.end = import_snapshot(dump, context, &mut outcome);
    Ok(outcome)
}

fn import_snapshot(dump: &[u8], context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Stop> {
    context.progress.begin("looking through", dump.len() as u64, "bytes");
    let layout = Layout::find(dump, context)?;
    if layout.nodes.len() == 0 {
        return Ok(layout.end?);
    }
    outcome.notes.extend(contradictions(&layout));
    outcome.notes.extend(rest(&layout));
    let wanted = WeakMapNodes::of(layout.strings.entries());
    let (names, locations, divided) = prepare(&layout, &wanted, context)?;
    outcome.notes.extend(changed_strings(&names));
    let mut end = layout.end.clone();
    let locations = locations.unwrap_or_else(|damage| {
        end = end.clone().and(Err(damage));
        Locations::default()
    });
    let (traces, traced) = Traces::declare(&layout, context)?;
    end = end.and(traced);
    let entries = wanted.into_entries();
    let detached = Detached::find(&layout, &divided.natives, context)?;
    let has_values = context.options.contents.has_values();
    let samples = if has_values { Samples::read(&layout) } else { Ok(Samples::default()) };
    let samples = samples.unwrap_or_else(|damage| {
        end = end.clone().and(Err(damage));
        Samples::default()
    });
    let Units { units, concatenated, flat, is_whole, .. } = divided;
    if !is_whole && has_values {
        outcome
            .notes
            .push("there are too many strings: it is unknown what concatenated strings and numbers are".into());
    }
    let concatenated = Concatenated::read(&layout, &names, &flat, concatenated, context)?;
    context.progress.begin("importing", dump.len() as u64, "bytes");
    let has_numbers = names.well_known(WellKnown::SmallNumber).is_some();
    let types = Types::new(context, &layout, (locations, traces, detached), has_numbers)?;
    let announcer = Announcer::new(context, DumpTables { types, names: &names, entries, flat, concatenated, samples })?;
    outcome.snapshots.push(announcer.announce(&units)?);
    outcome.notes.extend(unnamed_notes(announcer.unnamed()));
    context.progress.advance((dump.len() as u64).saturating_sub(announcer.advanced()));
    end.map_err(|damage| Stop::Partial(incomplete(&layout, damage)))
}

/// The strings, units and locations, which are needed before objects are announced.
type PreparedTables = (Names, Result<Locations, Damage>, Units);

fn prepare(layout: &Layout<'_>, wanted: &WeakMapNodes, context: &Context<'_>) -> Result<PreparedTables, Stop> {
    let Layout { nodes, edges, .. } = layout;
    let locations = layout.locations.as_ref().map_or(0, Numbers::byte_count);
    let bytes = nodes.byte_count() + locations + layout.strings.range().len() as u64;
    context.progress.begin("reading nodes and strings", bytes, "bytes");
    if !context.options.contents.has_values() {
        let (units, located) = read_others(layout, wanted, context)?;
        context.progress.begin("looking for names", edges.byte_count(), "bytes");
        let kept = StructureNames::find(layout, &units.units, context)?;
        return Ok((Names::record(&layout.strings, Some(&kept), context)?, located, units));
    }
    // Strings are numbered in turns, which leaves time for the other parts.
    let Some(threads) = NonZero::new(context.options.threads.get() - 1) else {
        let (units, locations) = read_others(layout, wanted, context)?;
        return Ok((Names::record(&layout.strings, None, context)?, locations, units));
    };
    let options = ImportOptions { threads, ..context.options.clone() };
    std::thread::scope(|scope| {
        let names = scope.spawn(|| Names::record(&layout.strings, None, context));
        let others = read_others(layout, wanted, &Context { options: &options, ..context.clone() });
        let names = names.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // The nodes come first in the dump, and so do their errors.
        let (units, locations) = others?;
        Ok((names?, locations, units))
    })
}

fn read_others(
    layout: &Layout<'_>,
    wanted: &WeakMapNodes,
    context: &Context<'_>,
) -> Result<(Units, Result<Locations, Damage>), Stop> {
    let units = divide(&layout.meta, &layout.nodes, &layout.edges, wanted, context)?;
    Ok((units, Locations::read(layout, context)?))
}

/// Notes on differences between the description and the actual nodes and edges.
fn contradictions(layout: &Layout<'_>) -> Vec<String> {
    let Layout { meta, nodes, edges, .. } = layout;
    let counts = [
        ("nodes", meta.node_count, nodes.len() / meta.nodes.count as u64),
        ("edges", meta.edge_count, edges.len() / meta.edges.count as u64),
    ];
    let differing = counts.iter().filter(|(_, claimed, there)| claimed.is_some_and(|claimed| claimed != *there));
    differing
        .map(|(what, claimed, there)| {
            format!("the dump claims to have {} {what}; the {there} that are there were imported", claimed.unwrap_or(0))
        })
        .collect()
}

/// Notes on nodes and edges of types that the description does not name.
fn unnamed_notes(counts: [(&'static str, u64); 2]) -> impl Iterator<Item = String> {
    let counts = counts.into_iter().filter(|&(_, count)| count > 0);
    counts.map(|(what, count)| format!("{what} of a type that the snapshot does not name: {count}"))
}

/// Note on bytes after the end of the snapshot, which are not read.
fn rest(layout: &Layout<'_>) -> Option<String> {
    let rest = layout.rest?;
    let what = if recognition::recognises(&layout.dump[rest..]) { "another snapshot" } else { "something else" };
    let bytes = layout.dump.len() - rest;
    Some(format!("{what} follows at byte {rest} and was not read: {bytes} bytes; split the file to import it"))
}

fn changed_strings(names: &Names) -> Vec<String> {
    let mut notes = Vec::new();
    if names.replaced > 0 {
        notes.push(format!(
            "{} strings hold halves of surrogate pairs or bytes that are no text, shown as \u{fffd}",
            names.replaced
        ));
    }
    notes
}

/// Damage after nodes and edges.
fn incomplete(layout: &Layout<'_>, damage: Damage) -> Damage {
    Damage::Incomplete { damage: Box::new(damage), names: layout.strings.len() as u64 }
}
