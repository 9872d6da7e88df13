//! Ruby's `ObjectSpace.dump_all`, as Ruby 2.7 to 3.4 write it.
//!
//! ```text
//!   {"type":"ROOT", "root":"vm", "references":["0x7f10", …]}                      groups of roots
//!   {"address":"0x9048", "type":"SHAPE", "id":0, …}                               from 3.2 on
//!   {"address":"0x7f10", "type":"STRING", "class":"0x7f38", "value":"…", …}       everything in a slot
//! ```
//!
//! Each object is a line, in the order of the heap's pages; references are addresses, without names.
//! `docs/imports.md` lists the use of each field.
//!
//! In reading order: `line` (the fields), `classes` and `shapes` (objects refer to them by address or number, so they
//! must be known before), `groups` (several dumps in one file), `types`, `sites`, `values`, `announcer` (announces
//! the objects of one thread's lines), `counting` (only counts objects by type).

mod announcer;
mod classes;
mod counting;
mod groups;
mod line;
mod shapes;
mod sites;
mod types;
mod values;

use crate::context::{Context, Outcome, Vocabulary};
use crate::error::{ImportError, Stop};
use crate::format::{Holds, Importer};
use crate::heaps::json_lines::{
    Addresses, LineStarts, Lines, beginning, first_field, first_rows, import_each, unexpected,
};
use announcer::{Announced, Announcer, SharedTables};
use barrow_writer::{StrengthClass, StrengthId, StringId, Word};
use classes::{ClassLine, Classes};
use groups::Groups;
use line::{Line, LineBuffers};
use shapes::Shapes;
use sites::Sites;

/// The dumps of Ruby's `ObjectSpace.dump_all`.
pub(crate) const IMPORTER: Importer = Importer {
    key: "ruby",
    name: "Ruby heap dump (ObjectSpace.dump_all)",
    heading: "Ruby",
    sample: "ruby-3.1.jsonl.zst",
    recognises,
    rejects: None,
    screen: LineStarts::boxed,
    import,
    read: None,
    totals: Some(counting::totals),
    snapshots: None,
    announces_on_all_threads: false,
    taken_ns: None,
    holds: Holds::Snapshots,
    options: &[],
};

/// Returns whether the first line is an object with an address, or roots, as Ruby writes them.
fn recognises(first_bytes: &[u8]) -> bool {
    match first_field(first_bytes) {
        Some((b"address", value)) => value.starts_with(b"0x"),
        Some((b"type", value)) => value == b"ROOT",
        _ => false,
    }
}

/// A slot that holds no object; written by `dump_all(full: true)`.
const FREE_SLOT: &[u8] = b"NONE";

/// Imports a dump: one snapshot, or one for each of several dumps in the file.
fn import(dump: &[u8], context: &Context<'_>) -> Result<Outcome, ImportError> {
    let mut outcome = Outcome::default();
    let mut lines = Lines::new(dump);
    context.writer.own_fact(Word::of_settings("runtime"), "Ruby")?;
    let starts = match lines.read(context, check_line, |lines| import_one(lines, context, &mut outcome)) {
        Ok(starts) if starts.is_empty() => {
            outcome.end = lines.lost().map_or(Ok(()), |lost| Err(outcome.cut(lost)));
            return Ok(outcome);
        }
        Ok(starts) => starts,
        Err(stop) => {
            outcome.end = Err(stop.in_snapshot(0));
            return Ok(outcome);
        }
    };
    import_each(&lines, &starts, "the objects of its last heap dump", &mut outcome, |part, outcome| {
        part.read(context, check_line, |part| import_part(part, context, outcome)).map(Ok)
    });
    Ok(outcome)
}

/// Checks that a line is an object or a group of roots. Ruby up to 3.1 writes names that are not ASCII as invalid
/// JSON.
fn check_line(reading: &mut LineBuffers, text: &[u8], offset: u64) -> Result<(), Stop> {
    let line = Line::read(text, offset, reading)?;
    if line.address.is_none() && line.root.is_none() { Err(unexpected(text, offset)) } else { Ok(()) }
}

/// Imports the lines of one dump. If there are several, imports nothing and returns their offsets.
fn import_one(lines: &Lines<'_>, context: &Context<'_>, outcome: &mut Outcome) -> Result<Vec<usize>, Stop> {
    let survey = Survey::of(lines, context)?;
    if survey.starts.len() > 1 {
        return Ok(survey.starts);
    }
    announce_all(lines, survey, context, outcome).map(|()| Vec::new())
}

fn import_part(lines: &Lines<'_>, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Stop> {
    announce_all(lines, Survey::of(lines, context)?, context, outcome)
}

fn announce_all(lines: &Lines<'_>, survey: Survey, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Stop> {
    let addresses = Addresses::new(&survey.addresses);
    let first_rows = first_rows(&survey.addresses);
    if first_rows.last().is_none_or(|&count| count == 0) {
        return Ok(());
    }
    // Eight bytes per object that are not needed any more.
    drop(survey.addresses);
    let shape_lines = survey.shapes.iter().map(|&offset| (lines.line_at(offset), offset));
    let known = SharedTables {
        vocabulary: context.vocabulary,
        contents: context.options.contents,
        words: &ReferenceNames::new(context.vocabulary)?,
        addresses: &addresses,
        classes: &Classes::new(survey.classes),
        shapes: &Shapes::new(shape_lines, &addresses, context.vocabulary)?,
        sites: &Sites::new(context.vocabulary),
    };
    let snapshot = context.writer.begin_snapshot(context.info.clone())?;
    let announced = lines.in_parallel(
        "importing",
        context,
        || Ok(Announcer::new(known, snapshot.shard())),
        |announcer, chunk| {
            announcer.begin(first_rows.get(chunk).copied().unwrap_or(0));
            lines.for_each_line(chunk, |text, offset| announcer.announce(text, offset))?;
            Ok(announcer.announced)
        },
        Announcer::finish,
    )?;
    let mut sum = Announced::default();
    announced.iter().try_for_each(|one| sum.add(one))?;
    outcome.snapshots.push(snapshot.commit()?);
    outcome.notes.extend(sum.notes(addresses.repeated));
    Ok(())
}

/// The results of the first pass.
#[derive(Debug, Default)]
struct Survey {
    /// The addresses of the objects, in their order, by chunk.
    addresses: Vec<Vec<u64>>,
    classes: Vec<ClassLine>,
    /// Offsets of the lines of shapes.
    shapes: Vec<u64>,
    /// Offset of each dump, if there are several.
    starts: Vec<usize>,
}

impl Survey {
    fn of(lines: &Lines<'_>, context: &Context<'_>) -> Result<Survey, Stop> {
        let chunks = lines.in_parallel("finding objects", context, || Ok(()), |(), chunk| survey(lines, chunk), Ok)?;
        let mut all = Survey::default();
        let mut groups = Groups::default();
        for found in chunks {
            all.addresses.push(found.addresses);
            all.classes.extend(found.classes);
            all.shapes.extend(found.shapes);
            groups.append(found.groups);
        }
        all.starts = groups.starts();
        Ok(all)
    }
}

/// The results of the first pass for one chunk.
#[derive(Debug, Default)]
struct ChunkSurvey {
    addresses: Vec<u64>,
    classes: Vec<ClassLine>,
    shapes: Vec<u64>,
    groups: Groups,
}

/// Finds the objects of one chunk, the classes, and the lines of shapes. Lines of classes are read immediately: they
/// are spread over the dump, and a second visit to each would map most of it.
fn survey(lines: &Lines<'_>, chunk: usize) -> Result<ChunkSurvey, Stop> {
    let mut found = ChunkSurvey::default();
    let mut reading = LineBuffers::default();
    lines.for_each_line(chunk, |text, offset| {
        let (address, kind) = match beginning(text) {
            Some((address, kind)) => (Some(address), kind),
            None => {
                let line = Line::read(text, offset, &mut reading)?;
                // Other lines are refused later.
                if line.address.is_none() && line.root.is_some() {
                    found.groups.add(false, offset);
                }
                (line.address, line.kind)
            }
        };
        if address.is_some() {
            found.groups.add(true, offset);
        }
        let Some(address) = address.filter(|_| kind != FREE_SLOT) else { return Ok::<_, Stop>(()) };
        found.addresses.push(address);
        match kind {
            b"CLASS" | b"MODULE" | b"ICLASS" => {
                let line = Line::read(text, offset, &mut reading)?;
                found.classes.extend(ClassLine::of(&line, &reading.references));
            }
            b"SHAPE" => found.shapes.push(offset),
            _ => {}
        }
        Ok(())
    })?;
    // Frees the unused capacity, up to half of the memory.
    found.addresses.shrink_to_fit();
    Ok(found)
}

/// The names of references in fields of their own.
struct ReferenceNames {
    class: StringId,
    superclass: StringId,
    default: StringId,
    shape: StringId,
    parent: StringId,
    weak: StrengthId,
}

impl ReferenceNames {
    fn new(vocabulary: &Vocabulary<'_>) -> Result<Self, ImportError> {
        Ok(ReferenceNames {
            class: vocabulary.word("class")?,
            superclass: vocabulary.word("superclass")?,
            default: vocabulary.word("default")?,
            shape: vocabulary.word("shape")?,
            parent: vocabulary.word("parent")?,
            weak: vocabulary.strength("weak", StrengthClass::Weak)?,
        })
    }
}
