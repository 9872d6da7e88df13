//! CPython heaps, as our script `recorders/python/dump_heap.py` writes them.
//!
//! ```text
//!   {"barrow":"python-heap", "version":1, "python":"3.11.2", …}                      first
//!   {"type":"ROOT", "root":"modules", "references":["0x7f90"], "labels":["sys"]}      groups of roots
//!   {"address":"0x7f10", "type":"object", "class":"0x7f40", "size":64, …}            objects, as they were found
//!   {"barrow":"end", "objects":1}                                                    last
//! ```
//!
//! In reading order: `line` (the fields), `types`, `announcer` (announces the objects of one thread's lines),
//! `counting` (only counts objects by type).

mod announcer;
mod attributes;
mod counting;
mod line;
mod types;

use crate::context::{Context, Outcome, Vocabulary};
use crate::error::{Damage, ImportError, Stop};
use crate::format::{Holds, Importer};
use crate::heaps::json_lines::FastMap;
use crate::heaps::json_lines::{Addresses, LineStarts, Lines, Text, beginning, first_field, first_rows, import_each};
use announcer::{Announced, Announcer, SharedTables};
use barrow_writer::{KindId, StrengthClass, StrengthId, StringId, TypeId, Word};
use line::{Line, References};
use parking_lot::Mutex;

/// The dumps of our script for CPython.
pub(crate) const IMPORTER: Importer = Importer {
    key: "python",
    name: "CPython heap dump (recorders/python/dump_heap.py)",
    heading: "CPython",
    sample: "python-3.11.jsonl.zst",
    recognises: |first_bytes| first_field(first_bytes) == Some((b"barrow", NAME)),
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

/// The first field's value, which names the format.
const NAME: &[u8] = b"python-heap";
/// The supported version of the script's format.
const VERSION: u64 = 1;

/// Imports a dump: one snapshot, or one for each of several dumps in the file.
fn import(dump: &[u8], context: &Context<'_>) -> Result<Outcome, ImportError> {
    let mut outcome = Outcome::default();
    let mut lines = Lines::new(dump);
    let read = write_facts(&lines, context)
        .and_then(|()| lines.read(context, check_line, |lines| import_one(lines, context, &mut outcome)));
    match read {
        Ok(Dumps::One(end)) => outcome.end = lines.lost().map_or(end, Err).map_err(|lost| outcome.cut(lost)),
        Ok(Dumps::Several(starts)) => {
            import_each(&lines, &starts, "the objects of its last heap dump", &mut outcome, |part, outcome| {
                part.read(context, check_line, |part| import_part(part, context, outcome))
            });
        }
        Err(stop) => outcome.end = Err(stop.in_snapshot(0)),
    }
    Ok(outcome)
}

/// The dumps of a file.
enum Dumps {
    /// One dump. The result is an error if it lacks its end.
    One(Result<(), Damage>),
    /// Several, with their offsets. Nothing was imported.
    Several(Vec<usize>),
}

/// Returns whether a line is JSON.
fn check_line((): &mut (), text: &[u8], offset: u64) -> Result<(), Stop> {
    Ok(Line::read(text, offset, &mut References::default()).map(drop)?)
}

/// Imports the lines, unless they are those of several dumps.
fn import_one(lines: &Lines<'_>, context: &Context<'_>, outcome: &mut Outcome) -> Result<Dumps, Stop> {
    let survey = Survey::of(lines, context)?;
    if survey.headers.len() > 1 {
        return Ok(Dumps::Several(survey.headers));
    }
    announce_all(lines, survey, context, outcome).map(Dumps::One)
}

fn import_part(lines: &Lines<'_>, context: &Context<'_>, outcome: &mut Outcome) -> Result<Result<(), Damage>, Stop> {
    announce_all(lines, Survey::of(lines, context)?, context, outcome)
}

/// Imports the objects of one dump. The inner result is an error if the dump lacks its end.
fn announce_all(
    lines: &Lines<'_>,
    survey: Survey,
    context: &Context<'_>,
    outcome: &mut Outcome,
) -> Result<Result<(), Damage>, Stop> {
    if let Some((text, offset)) = lines.first()
        && !header(text, offset)?.is_collected
    {
        let note = "garbage was not collected before: what looks held by the interpreter may be garbage";
        outcome.notes.push(note.into());
    }
    let Survey { addresses: found, classes, end, .. } = survey;
    let addresses = Addresses::new(&found);
    let first_rows = first_rows(&found);
    let count = first_rows.last().copied().unwrap_or(0);
    let whole = check_end(end, count, lines);
    if count == 0 {
        return Ok(whole);
    }
    // Eight bytes per object that are not needed any more.
    drop(found);
    let known = SharedTables {
        vocabulary: context.vocabulary,
        contents: context.options.contents,
        words: &ReferenceNames::new(context.vocabulary)?,
        addresses: &addresses,
        classes: &Classes::new(classes),
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
    let lost = sum.lost_references;
    if lost > 0 {
        let sentence = "references lead to addresses that are not in the dump and were left out";
        outcome.notes.push(format!("{lost} {sentence}"));
    }
    Ok(whole)
}

/// Reads the first line of a dump, and checks its version.
fn header(text: &[u8], offset: u64) -> Result<Line<'_>, Stop> {
    let line = Line::read(text, offset, &mut References::default())?;
    match line.version.unwrap_or(0) {
        VERSION => Ok(line),
        found => Err(ImportError::UnknownPythonVersion { found }.into()),
    }
}

/// Reads the first line, and adds the facts of the program to the recording.
fn write_facts(lines: &Lines<'_>, context: &Context<'_>) -> Result<(), Stop> {
    let Some((text, offset)) = lines.first() else { return Ok(()) };
    let line = header(text, offset)?;
    let python = line.python.map_or_else(String::new, |text| format!(" {}", text.to_name()));
    context.writer.own_fact(Word::of_settings("runtime"), &format!("CPython{python}")).map_err(ImportError::from)?;
    if let Some(pid) = line.pid {
        context.writer.own_fact(Word::of_settings("pid"), &pid.to_string()).map_err(ImportError::from)?;
    }
    Ok(())
}

/// Checks that the last line is there, and that its count is right.
fn check_end(end: Option<DumpEnd>, count: u64, lines: &Lines<'_>) -> Result<(), Damage> {
    match end {
        None => Err(Damage::Unfinished { length: lines.length(), missing: "its last line" }),
        Some((expected, offset)) if expected != count => {
            Err(Damage::Mismatch { what: "the number of objects", offset, expected, found: count })
        }
        Some(_) => Ok(()),
    }
}

/// Number of objects according to the last line, and the line's offset.
type DumpEnd = (u64, u64);

/// The address of a type, and its description.
type NamedType = (u64, Class);

/// The name of a type, as its instances show it, the addresses of its base and further bases, and the names of attributes
/// that its instances have although the dump may not have them.
#[derive(Debug)]
struct Class {
    name: Box<str>,
    base: Option<u64>,
    further_bases: Vec<u64>,
    computed: Vec<String>,
}

/// The end of the dump that the line at `offset` gives, if it is the last one and does not begin as an object.
fn end_of(line: &Line<'_>, text: &[u8], offset: u64) -> Option<DumpEnd> {
    let is_end = line.barrow.is_some_and(|text| text.raw == b"end") && beginning(text).is_none();
    line.objects.filter(|_| is_end).map(|objects| (objects, offset))
}

/// The type that a line describes.
fn type_of(line: &Line<'_>) -> Option<NamedType> {
    let address = line.address.filter(|_| line.kind == b"type")?;
    let name = name_of_type(line).into_boxed_str();
    let computed = line.computed.iter().map(|name| name.to_name()).collect();
    Some((address, Class { name, base: line.base, further_bases: line.further_bases.clone(), computed }))
}

/// Returns whether a line is the first one of a dump.
fn is_header(line: &Line<'_>, text: &[u8]) -> bool {
    line.barrow.is_some_and(|text| text.raw == NAME) && beginning(text).is_none()
}

/// The results of the first pass.
#[derive(Debug, Default)]
struct Survey {
    /// The addresses of the objects, in their order, by chunk.
    addresses: Vec<Vec<u64>>,
    classes: Vec<NamedType>,
    /// Offsets of the dumps.
    headers: Vec<usize>,
    end: Option<DumpEnd>,
}

impl Survey {
    fn of(lines: &Lines<'_>, context: &Context<'_>) -> Result<Survey, Stop> {
        let chunks = lines.in_parallel("finding objects", context, || Ok(()), |(), chunk| survey(lines, chunk), Ok)?;
        let mut all = Survey::default();
        for found in chunks {
            all.addresses.extend(found.addresses);
            all.classes.extend(found.classes);
            all.headers.extend(found.headers);
            all.end = all.end.or(found.end);
        }
        Ok(all)
    }
}

/// Finds the addresses of one chunk's objects, its types and its end. Lines of types are read immediately: they are
/// spread over the dump, and a second visit to each would map most of it.
fn survey(lines: &Lines<'_>, chunk: usize) -> Result<Survey, Stop> {
    let mut addresses = Vec::new();
    let mut found = Survey::default();
    lines.for_each_line(chunk, |text, offset| {
        match beginning(text) {
            Some((address, kind)) if kind != b"type" => addresses.push(address),
            _ => {
                let line = Line::read(text, offset, &mut References::default())?;
                if is_header(&line, text) {
                    found.headers.push(offset as usize);
                }
                found.end = found.end.or_else(|| end_of(&line, text, offset));
                addresses.extend(line.address);
                found.classes.extend(type_of(&line));
            }
        }
        Ok::<_, Stop>(())
    })?;
    // Frees the unused capacity, up to half of the memory.
    addresses.shrink_to_fit();
    found.addresses.push(addresses);
    Ok(found)
}

/// The names and bases of types.
#[derive(Debug, Default)]
struct Classes {
    by_address: FastMap<u64, Class>,
    /// The types that were declared for instances of a kind.
    declared: Mutex<FastMap<(u64, KindId), TypeId>>,
}

impl Classes {
    /// Indexes types by address. Of several at one address, the first counts.
    fn new(types: impl IntoIterator<Item = NamedType>) -> Self {
        let mut by_address = FastMap::default();
        for (address, class) in types {
            by_address.entry(address).or_insert(class);
        }
        Classes { by_address, declared: Mutex::default() }
    }

    fn name(&self, class: u64) -> Option<&str> {
        self.by_address.get(&class).map(|class| &*class.name)
    }

    /// A class and its chain of bases, the nearest first, with their addresses.
    fn line(&self, class: u64) -> impl Iterator<Item = (u64, &Class)> {
        /// Longer chains of bases are cycles.
        const MOST_BASES: usize = 100;
        let first = self.by_address.get_key_value(&class);
        let chain = std::iter::successors(first, |(_, class)| self.by_address.get_key_value(&class.base?));
        chain.map(|(&address, class)| (address, class)).take(MOST_BASES)
    }

    /// The names of a class's further bases: the first hundred, more than programs have.
    fn further_bases<'c>(&'c self, class: &'c Class) -> impl Iterator<Item = &'c str> {
        class.further_bases.iter().take(100).filter_map(|&base| self.name(base))
    }
}

/// The module and qualified name of a type; without the module if Python omits it.
fn name_of_type(line: &Line<'_>) -> String {
    let [module, name] = [line.module, line.name].map(|text| text.map(Text::to_name).unwrap_or_default());
    if module.is_empty() || module == "builtins" { name } else { format!("{module}.{name}") }
}

/// Names and strengths shared by all dumps.
struct ReferenceNames {
    class: StringId,
    referent: StringId,
    weak: StrengthId,
}

impl ReferenceNames {
    fn new(vocabulary: &Vocabulary<'_>) -> Result<Self, ImportError> {
        Ok(ReferenceNames {
            class: vocabulary.word("class")?,
            referent: vocabulary.word("referent")?,
            weak: vocabulary.strength("weak", StrengthClass::Weak)?,
        })
    }
}
