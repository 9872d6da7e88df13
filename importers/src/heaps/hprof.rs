//! HPROF: the heap dumps of JVMs (HotSpot, GraalVM) and of Android.
//!
//! ```text
//!   records      names · classes by serial · stack frames and traces · heap dump segments
//!   segments     roots · classes with fields · instances · arrays        values as they are in memory
//!
//!   first pass   locations of classes and objects, addresses ──▶ numbers               all threads
//!   second pass  fields and elements that refer to something ──▶ writer                all threads
//! ```
//!
//! Two passes are necessary. The class of an instance determines which of its bytes are references, and it may follow
//! later in the dump; references are addresses. The first pass reads only the head of each object. The second reads
//! the characters of a string from its array, wherever that is.

mod addresses;
mod announce;
mod arrays;
mod class_names;
mod classes;
mod constant_pools;
mod conventions;
mod heaps;
mod interfaces;
mod layout;
mod outline;
mod places;
mod recognition;
mod records;
mod recovery;
mod roots;
mod screen;
mod stacks;
mod texts;
mod values;

pub use layout::ObjectLayout;

use barrow_writer::{SnapshotInfo, Word};

use crate::context::{Context, Outcome};
use crate::counted::Counted;
use crate::error::{ImportError, Kept, Loss, Stop};
use crate::format::{FormatOption, Holds, Importer};

use announce::Announcer;
use classes::Classes;
use heaps::{Heaps, JoinedSubRecords};
use outline::{Outline, Purpose};
use records::Header;
use roots::Roots;
use screen::RecordHeads;

/// The JVM's heap dumps, and Android's.
pub(crate) const IMPORTER: Importer = Importer {
    key: "hprof",
    name: "JVM heap dump (HPROF)",
    heading: "JVM (HPROF)",
    sample: "jvm/17.hprof.zst",
    recognises: recognition::recognises,
    rejects: Some(recognition::rejects),
    screen: RecordHeads::boxed,
    import,
    read: None,
    totals: Some(totals),
    snapshots: None,
    announces_on_all_threads: true,
    taken_ns: Some(taken_ns),
    holds: Holds::Snapshots,
    options: &[OBJECT_LAYOUT],
};

/// The layout of objects. By default it is derived from the dump.
const OBJECT_LAYOUT: FormatOption = FormatOption {
    name: "object-layout",
    value: "REFERENCE,HEADER,ARRAY_BASE,ALIGNMENT",
    help: "How the JVM of an HPROF dump laid out objects, in bytes.",
    example: "4,12,16,8",
    set: |text, options| {
        options.set(text.parse::<ObjectLayout>()?);
        Ok(())
    },
};

/// Imports a dump.
fn import(dump: &[u8], context: &Context<'_>) -> Result<Outcome, ImportError> {
    let header = match Header::parse(dump) {
        Ok(header) => header,
        Err(damage) => return Ok(Outcome { end: Err(damage.into()), ..Outcome::default() }),
    };
    context.pool()?.install(|| match header.id_bytes {
        4 => import_with::<4>(dump, &header, context),
        _ => import_with::<8>(dump, &header, context),
    })
}

/// The time at which a dump with these first bytes was taken, in nanoseconds since 1970, if the header has one.
fn taken_ns(first_bytes: &[u8]) -> Option<u64> {
    let taken_ms = Header::parse(first_bytes).ok()?.time_ms;
    if taken_ms == 0 { None } else { taken_ms.checked_mul(1_000_000) }
}

/// Counts the objects of each type and their bytes without importing them, and declares the types. Returns `None` for
/// files of several heap dumps, and if objects are dumped twice or contradict their class: an import must distinguish
/// those.
fn totals(dump: &[u8], context: &Context<'_>) -> Result<Option<Counted>, ImportError> {
    let header = Header::parse(dump).map_err(|damage| ImportError::NoWholeSnapshot { damage })?;
    context.pool()?.install(|| match header.id_bytes {
        4 => totals_with::<4>(dump, &header, context),
        _ => totals_with::<8>(dump, &header, context),
    })
}

fn totals_with<const ID: usize>(
    dump: &[u8],
    header: &Header<'_>,
    context: &Context<'_>,
) -> Result<Option<Counted>, ImportError> {
    let joined = JoinedSubRecords::default();
    let mut heaps = Heaps::read::<ID>(dump, header, Purpose::Totals, &joined, context)?;
    let outline = heaps.next::<ID>()?;
    if heaps.has_more() || outline.as_ref().is_some_and(|outline| outline.repeated > 0) {
        return Ok(None);
    }
    let mut notes = std::mem::take(&mut heaps.notes);
    let totals = match &outline {
        Some(outline) => {
            notes.extend(assumed_layout(outline));
            let has_values = context.options.contents.has_values();
            let classes = Classes::<ID>::new(outline, header, context.vocabulary, has_values)?;
            if !classes.are_as_long_as_counted() {
                return Ok(None);
            }
            classes.totals()?
        }
        None => Vec::new(),
    };
    match heaps.damage {
        Some(damage) if totals.is_empty() => Err(ImportError::NoWholeSnapshot { damage }),
        None if totals.is_empty() => Err(ImportError::NoSnapshot { length: dump.len() as u64 }),
        damage => {
            Ok(Some(Counted { totals, notes, lost: damage.map(|damage| Loss::partial(damage, Kept::Snapshots(1))) }))
        }
    }
}

fn import_with<const ID: usize>(
    dump: &[u8],
    header: &Header<'_>,
    context: &Context<'_>,
) -> Result<Outcome, ImportError> {
    let joined = JoinedSubRecords::default();
    let mut heaps = Heaps::read::<ID>(dump, header, Purpose::Numbers, &joined, context)?;
    let mut outcome = Outcome { notes: std::mem::take(&mut heaps.notes), ..Outcome::default() };
    for number in 1.. {
        let Some(mut outline) = heaps.next::<ID>()? else { break };
        let is_one = number == 1 && !heaps.has_more();
        let before = outcome.notes.len();
        if outline.objects() > 0 {
            // Roots may be missing from a damaged dump.
            let boot_classes = if heaps.damage.is_none() { roots::add_boot_classes(&mut outline) } else { 0 };
            if boot_classes > 0 {
                outcome.notes.push(format!(
                    "the dump names no sticky classes; classes of the boot loader are taken as roots: {boot_classes}"
                ));
            }
            match announce_all::<ID>(&outline, header, boot_classes > 0, context, &mut outcome) {
                Ok(()) => {}
                Err(Stop::Import(error)) => return Err(error),
                stop => {
                    outcome.end = stop;
                    return Ok(outcome);
                }
            }
        }
        if !is_one {
            for note in &mut outcome.notes[before..] {
                *note = format!("heap dump {number}: {note}");
            }
        }
        heaps.done(outline);
    }
    context.vocabulary.count_shortened(heaps.shortened());
    if let Some(damage) = heaps.damage {
        outcome.end = Err(outcome.cut(damage));
    }
    Ok(outcome)
}

/// Note on the assumed object layout, if the dump does not determine it.
fn assumed_layout(outline: &Outline<'_>) -> Option<String> {
    let layout = &outline.layout;
    (!outline.is_layout_found)
        .then(|| format!("nothing in the dump tells the object layout; shallow sizes assume {layout}"))
}

fn announce_all<const ID: usize>(
    outline: &Outline<'_>,
    header: &Header<'_>,
    lacks_roots: bool,
    context: &Context<'_>,
    outcome: &mut Outcome,
) -> Result<(), Stop> {
    let classes = Classes::<ID>::new(outline, header, context.vocabulary, context.options.contents.has_values())?;
    let pools = if lacks_roots { constant_pools::find(outline, &classes, context)? } else { Vec::new() };
    if !pools.is_empty() {
        let count = pools.len();
        outcome
            .notes
            .push(format!("arrays that nothing refers to and that look like constant pools, taken as roots: {count}"));
    }
    let roots = Roots::<ID>::new(outline, &classes, &pools);
    let layout = outline.layout.to_string();
    let mut key_values = Vec::new();
    for (key, value) in [
        ("hprof version", header.version.to_owned()),
        ("identifier bytes", ID.to_string()),
        ("object layout", layout),
        ("taken, ms since 1970", header.time_ms.to_string()),
    ] {
        key_values.push((context.vocabulary.marked(Word::of_settings(key))?.to_owned(), value));
    }
    context.vocabulary.word(Word::of_names(roots::THREAD_OF).before_names())?;
    key_values.extend(roots.stacks());
    let info = SnapshotInfo { key_values, ..context.info.clone() };
    let snapshot = context.writer.begin_snapshot(info)?;
    let missing_roots = roots.announce(&snapshot, context)?;
    roots.announce_threads(&snapshot)?;
    let left_out = Announcer::<ID>::new(outline, &classes, &roots, context)?.announce(&snapshot)?;
    outcome.snapshots.push(snapshot.commit()?);
    if outline.repeated > 0 {
        let repeated = outline.repeated;
        outcome.notes.push(format!("objects at the address of another one before, left out: {repeated}"));
    }
    outcome.notes.extend(assumed_layout(outline));
    if left_out.references > 0 {
        let references = left_out.references;
        outcome.notes.push(format!("references that lead to nothing in the dump, left out: {references}"));
    }
    if left_out.odd_instances > 0 {
        let instances = left_out.odd_instances;
        outcome.notes.push(format!(
            "objects whose class is not in the dump, or has fields of another length: {instances}; what else they refer to is \
             left out, and their sizes are assumed"
        ));
    }
    if left_out.texts > 0 {
        outcome.notes.push(format!("strings whose characters are not in the dump, or too many: {}", left_out.texts));
    }
    if let Some(longest) = context.options.contents.longest_text()
        && left_out.shortened_texts > 0
    {
        let texts = left_out.shortened_texts;
        outcome
            .notes
            .push(format!("texts that take more than {longest} bytes, of which the beginning is kept: {texts}"));
    }
    if missing_roots > 0 {
        outcome.notes.push(format!("roots that lead to nothing in the dump, left out: {missing_roots}"));
    }
    Ok(())
}
