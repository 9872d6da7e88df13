//! The first pass over a dump: what is where, and which object lives at which address.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use barrow_writer::Shortened;
use byteorder::{BigEndian, ByteOrder};
use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::context::Context;
use crate::error::{Damage, ImportError};

use super::addresses::{Addresses, Collector, has_place};
use super::layout::{Evidence, ObjectLayout};
use super::records::{ClassPart, FieldType, Header, Part, Parts, Root, id, record, tag};

/// A table by identifiers or serials.
pub(super) type Table<K, V> = HashMap<K, V, RandomState>;

/// Objects in a chunk, and about how many bytes of the dump.
const CHUNK_OBJECTS: u32 = 1 << 14;
const CHUNK_BYTES: usize = 1 << 30;
/// One place is remembered for this many objects of a chunk.
const STEP: u32 = 32;
/// Bytes of the dump that a thread goes over at once.
const JOB_BYTES: usize = 16 << 20;
/// Places of the dump that are looked at for the object layout, and how much of each.
const SAMPLES: usize = 16;
const SAMPLE_BYTES: usize = 1 << 20;

/// Names in class files have at most this many bytes, so that no JVM has longer ones.
const MAX_NAME_BYTES: usize = u16::MAX as usize;

/// What the first pass is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Numbers of all objects.
    Numbers,
    /// Numbers of classes, and counts by class.
    Totals,
}

/// Consecutive sub-records.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of its first object.
    pub(super) first_number: u32,
    /// Its objects, without classes.
    pub(super) objects: u32,
    /// Where every [`STEP`]th of them begins, from the start of the chunk on.
    places: Vec<u32>,
}

impl Chunk {
    fn new(start: usize) -> Self {
        Chunk { start, end: start, first_number: 0, objects: 0, places: Vec::new() }
    }
}

/// A frame of a stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct StackFrame {
    pub(super) method: u64,
    pub(super) source: u64,
    pub(super) class_serial: u32,
    /// Positive, or why there is none.
    pub(super) line: i32,
}

/// The records before the heap: names, classes by serial, stacks.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    strings: Table<u64, &'a [u8]>,
    /// Names that are too long, shortened once: a damaged dump may name any number of classes so.
    long: Table<u64, String>,
    shortened: Shortened,
    /// The name of each class, by its address.
    classes: Table<u64, u64>,
    class_serials: Table<u32, u64>,
    frames: Table<u64, StackFrame>,
    /// For each stack trace the identifiers of its frames.
    traces: Table<u32, &'a [u8]>,
}

/// Objects and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) objects: u64,
    pub(super) bytes: u64,
}

impl Count {
    pub(super) fn add(&mut self, other: Count) {
        self.objects += other.objects;
        self.bytes += other.bytes;
    }
}

/// Counts by class.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// The bytes are those of their fields in the dump.
    pub(super) instances: Table<u64, Count>,
    pub(super) object_arrays: Table<u64, Count>,
    pub(super) primitive_arrays: Vec<(FieldType, Count)>,
}

/// What a dump holds and where.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    pub(super) dump: &'a [u8],
    pub(super) names: Names<'a>,
    pub(super) layout: ObjectLayout,
    /// Whether anything told the layout.
    pub(super) is_layout_found: bool,
    pub(super) classes: Vec<ClassPart<'a>>,
    pub(super) roots: Vec<Root>,
    pub(super) chunks: Vec<Chunk>,
    pub(super) addresses: Addresses,
    pub(super) counts: Counts,
    /// Where the dump stops making sense, if not at its end.
    pub(super) damage: Option<Damage>,
}

/// What a job finds.
struct JobOutline<'a> {
    chunks: Vec<Chunk>,
    classes: Vec<ClassPart<'a>>,
    roots: Vec<Root>,
    collector: Collector,
    /// Objects whose address has no place: the address, the chunk here and the place in it.
    odd: Vec<(u64, usize, u32)>,
    counts: Counts,
    damage: Option<Damage>,
}

impl<'a> Outline<'a> {
    /// Reads the whole dump, on all threads of the current pool.
    pub(super) fn read<const ID: usize>(
        dump: &'a [u8],
        header: &Header<'_>,
        purpose: Purpose,
        context: &Context<'_>,
    ) -> Result<Self, ImportError> {
        context.progress.begin("looking through", dump.len() as u64, "bytes");
        let (names, segments, mut damage) = Names::read::<ID>(dump, header.length, context);
        let (found_layout, is_layout_found) = find_layout::<ID>(dump, &segments);
        let given_layout = context.options.of_formats.get::<ObjectLayout>();
        let layout = given_layout.copied().unwrap_or(found_layout);
        let jobs = group(&segments);
        let phase = match purpose {
            Purpose::Totals => "counting",
            Purpose::Numbers => "finding objects",
        };
        context.progress.begin(phase, dump.len() as u64, "bytes");
        let found = jobs.par_iter().map(|job| {
            context.check_cancelled()?;
            let found = JobOutline::read::<ID>(dump, job, purpose, &layout);
            context.progress.advance(job.iter().map(|&(start, end)| (end - start) as u64).sum());
            Ok(found)
        });
        let found: Vec<JobOutline<'a>> = found.collect::<Result<_, ImportError>>()?;
        let mut outline = Outline {
            dump,
            names,
            layout,
            is_layout_found: is_layout_found || given_layout.is_some(),
            classes: Vec::new(),
            roots: Vec::new(),
            chunks: Vec::new(),
            addresses: Addresses::new(Vec::new(), 0, Table::default()),
            counts: Counts::default(),
            damage: None,
        };
        let mut collectors = Vec::with_capacity(found.len());
        let mut odd = Vec::new();
        for found in found {
            odd.extend(found.odd.iter().map(|&(address, chunk, at)| (address, outline.chunks.len() + chunk, at)));
            outline.chunks.extend(found.chunks);
            outline.classes.extend(found.classes);
            outline.roots.extend(found.roots);
            outline.counts.add(found.counts);
            collectors.push(found.collector);
            if found.damage.is_some() {
                // After the damage, offsets cannot be trusted.
                damage = found.damage;
                break;
            }
        }
        outline.damage = damage;
        outline.add_undumped_classes();
        outline.number::<ID>(collectors, &odd)?;
        Ok(outline)
    }

    /// Classes that are loaded and not linked are not dumped, but others refer to them.
    fn add_undumped_classes(&mut self) {
        let dumped: HashSet<u64, RandomState> = self.classes.iter().map(|class| class.address).collect();
        let mut others: Vec<u64> =
            self.names.classes.keys().copied().filter(|address| !dumped.contains(address)).collect();
        others.sort_unstable();
        self.classes.extend(others.into_iter().map(ClassPart::undumped));
    }

    /// Numbers classes, then everything else, in the order of the dump.
    fn number<const ID: usize>(
        &mut self,
        collectors: Vec<Collector>,
        odd: &[(u64, usize, u32)],
    ) -> Result<(), ImportError> {
        let objects = self.classes.len() as u64 + self.chunks.iter().map(|chunk| u64::from(chunk.objects)).sum::<u64>();
        if objects >= u64::from(u32::MAX) {
            return Err(ImportError::TooManyObjects { objects });
        }
        let mut next = self.classes.len() as u32;
        for chunk in &mut self.chunks {
            chunk.first_number = next;
            next += chunk.objects;
        }
        let mut others = Table::default();
        for &(address, chunk, at) in odd {
            others.insert(address, self.chunks[chunk].first_number + at);
        }
        for (number, class) in (0..).zip(&self.classes) {
            others.insert(class.address, number);
        }
        let first_number = self.classes.len() as u32 + odd.len() as u32;
        // With odd addresses in between numbers do not follow ranks.
        let collectors = if odd.is_empty() { collectors } else { Collector::unordered(collectors) };
        self.addresses = Addresses::new(collectors, first_number, others);
        if !self.addresses.is_ordered() {
            let (dump, addresses) = (self.dump, &self.addresses);
            self.chunks.par_iter().for_each(|chunk| {
                let mut number = chunk.first_number;
                for_each_object::<ID>(dump, chunk, |address, _| {
                    addresses.set(address, number);
                    number += 1;
                });
            });
        }
        Ok(())
    }

    /// How many objects there are, classes included.
    pub(super) fn objects(&self) -> u32 {
        self.chunks.last().map_or(self.classes.len() as u32, |chunk| chunk.first_number + chunk.objects)
    }

    /// What the dump says of the object with this number; `None` for a class. Goes past up to 31 other objects.
    pub(super) fn object<const ID: usize>(&self, number: u32) -> Option<Part<'a>> {
        let chunk = self.chunks.partition_point(|chunk| chunk.first_number <= number).checked_sub(1)?;
        let chunk = &self.chunks[chunk];
        let at = number - chunk.first_number;
        let place = *chunk.places.get((at / STEP) as usize)?;
        let mut parts = Parts::<ID>::new(self.dump, chunk.start + place as usize, chunk.end);
        let mut before = at % STEP;
        // The chunk was read before: there is no damage in it.
        while let Ok(Some(part)) = parts.next() {
            match part {
                Part::Instance { .. } | Part::ObjectArray { .. } | Part::PrimitiveArray { .. } if before == 0 => {
                    return Some(part);
                }
                Part::Instance { .. } | Part::ObjectArray { .. } | Part::PrimitiveArray { .. } => before -= 1,
                _ => {}
            }
        }
        None
    }
}

/// Hands over the objects of a chunk, with their addresses.
pub(super) fn for_each_object<'a, const ID: usize>(
    dump: &'a [u8],
    chunk: &Chunk,
    mut visit: impl FnMut(u64, Part<'a>),
) {
    let mut parts = Parts::<ID>::new(dump, chunk.start, chunk.end);
    // The chunk was read before: there is no damage in it.
    while let Ok(Some(part)) = parts.next() {
        match part {
            Part::Instance { address, .. }
            | Part::ObjectArray { address, .. }
            | Part::PrimitiveArray { address, .. } => visit(address, part),
            _ => {}
        }
    }
}

impl<'a> JobOutline<'a> {
    fn read<const ID: usize>(
        dump: &'a [u8],
        segments: &[(usize, usize)],
        purpose: Purpose,
        layout: &ObjectLayout,
    ) -> Self {
        let mut found = JobOutline {
            chunks: Vec::new(),
            classes: Vec::new(),
            roots: Vec::new(),
            collector: Collector::new(),
            odd: Vec::new(),
            counts: Counts::default(),
            damage: None,
        };
        for &(start, end) in segments {
            found.read_segment::<ID>(dump, start, end, purpose, layout);
            if found.damage.is_some() {
                break;
            }
        }
        found
    }

    fn read_segment<const ID: usize>(
        &mut self,
        dump: &'a [u8],
        start: usize,
        end: usize,
        purpose: Purpose,
        layout: &ObjectLayout,
    ) {
        let mut parts = Parts::<ID>::new(dump, start, end);
        let mut chunk = Chunk::new(start);
        loop {
            let offset = parts.offset();
            let part = match parts.next() {
                Ok(Some(part)) => part,
                Ok(None) => break,
                Err(damage) => {
                    self.damage = Some(damage);
                    break;
                }
            };
            let address = match part {
                Part::Instance { address, .. }
                | Part::ObjectArray { address, .. }
                | Part::PrimitiveArray { address, .. } => address,
                Part::Class(class) => {
                    self.classes.push(class);
                    continue;
                }
                Part::Root(root) => {
                    self.roots.push(root);
                    continue;
                }
                Part::Other => continue,
            };
            if purpose == Purpose::Totals {
                self.counts.push::<ID>(&part, layout);
                continue;
            }
            if chunk.objects == CHUNK_OBJECTS || offset - chunk.start >= CHUNK_BYTES {
                chunk.end = offset;
                let full = std::mem::replace(&mut chunk, Chunk::new(offset));
                if full.objects > 0 {
                    self.chunks.push(full);
                }
            }
            if has_place(address) {
                self.collector.push(address);
            } else {
                self.odd.push((address, self.chunks.len(), chunk.objects));
            }
            if chunk.objects.is_multiple_of(STEP) {
                // Less than `CHUNK_BYTES`.
                chunk.places.push((offset - chunk.start) as u32);
            }
            chunk.objects += 1;
        }
        chunk.end = parts.offset();
        if chunk.objects > 0 {
            self.chunks.push(chunk);
        }
    }
}

impl Counts {
    #[inline]
    fn push<const ID: usize>(&mut self, part: &Part<'_>, layout: &ObjectLayout) {
        match *part {
            Part::Instance { class, fields, .. } => {
                let count = Count { objects: 1, bytes: fields.len() as u64 };
                self.instances.entry(class).or_default().add(count);
            }
            Part::ObjectArray { class, elements, .. } => {
                let bytes = layout.array_bytes(FieldType::Reference, (elements.len() / ID) as u64);
                self.object_arrays.entry(class).or_default().add(Count { objects: 1, bytes });
            }
            Part::PrimitiveArray { element, count, .. } => {
                let bytes = layout.array_bytes(element, count.into());
                self.add_primitive(element, Count { objects: 1, bytes });
            }
            _ => {}
        }
    }

    fn add_primitive(&mut self, element: FieldType, count: Count) {
        match self.primitive_arrays.iter_mut().find(|(known, _)| *known == element) {
            Some((_, sum)) => sum.add(count),
            None => self.primitive_arrays.push((element, count)),
        }
    }

    fn add(&mut self, other: Counts) {
        for (class, count) in other.instances {
            self.instances.entry(class).or_default().add(count);
        }
        for (class, count) in other.object_arrays {
            self.object_arrays.entry(class).or_default().add(count);
        }
        for (element, count) in other.primitive_arrays {
            self.add_primitive(element, count);
        }
    }
}

/// Looks at some places of the dump.
fn find_layout<const ID: usize>(dump: &[u8], segments: &[(usize, usize)]) -> (ObjectLayout, bool) {
    let mut evidence = Evidence::default();
    let step = segments.len().div_ceil(SAMPLES).max(1);
    // The last segments first: the first ones hold classes.
    for &(start, end) in segments.iter().rev().step_by(step) {
        evidence.look::<ID>(dump, start, end.min(start + SAMPLE_BYTES));
    }
    evidence.decide(ID as u8)
}

/// Consecutive segments for one job each.
fn group(segments: &[(usize, usize)]) -> Vec<&[(usize, usize)]> {
    let mut jobs = Vec::new();
    let mut rest = segments;
    while let Some(&(first, _)) = rest.first() {
        let count = rest.iter().take_while(|&&(start, _)| start - first < JOB_BYTES).count();
        let (job, others) = rest.split_at(count);
        jobs.push(job);
        rest = others;
    }
    jobs
}

impl<'a> Names<'a> {
    /// Reads all records but those of the heap, and finds where the heap's segments are. What is before
    /// the damage counts, also in a segment that is cut.
    fn read<const ID: usize>(
        dump: &'a [u8],
        start: usize,
        context: &Context<'_>,
    ) -> (Self, Vec<(usize, usize)>, Option<Damage>) {
        let mut names = Names::default();
        let mut segments = Vec::new();
        let mut offset = start;
        loop {
            let record = match record(dump, offset) {
                Ok(Some(record)) => record,
                Ok(None) => return (names, segments, None),
                Err(damage) => return (names, segments, Some(damage)),
            };
            // Where the system maps pages by the megabyte, a glance at each segment maps the whole dump.
            context.progress.advance((record.body_offset + record.body.len() - offset) as u64);
            offset = record.body_offset + record.body.len();
            if matches!(record.tag, tag::HEAP_DUMP | tag::HEAP_DUMP_SEGMENT) {
                segments.push((record.body_offset, offset));
            }
            if (record.body.len() as u64) < record.length {
                let damage = Damage::Ends { length: dump.len() as u64, inside: "a record" };
                return (names, segments, Some(damage));
            }
            // A record that is too short for its tag says nothing.
            let _ = names.add::<ID>(record.tag, record.body);
        }
    }

    fn add<const ID: usize>(&mut self, record_tag: u8, body: &'a [u8]) -> Option<()> {
        let id_at = |at: usize| body.get(at..at + ID).map(id::<ID>);
        let u32_at = |at: usize| body.get(at..at + 4).map(BigEndian::read_u32);
        match record_tag {
            tag::STRING => {
                let (id, text) = (id_at(0)?, &body[ID..]);
                self.strings.insert(id, text);
                if text.len() > MAX_NAME_BYTES {
                    let text = String::from_utf8_lossy(text);
                    self.long.insert(id, self.shortened.shorten(&text, MAX_NAME_BYTES).into_owned());
                }
            }
            tag::LOAD_CLASS => {
                self.class_serials.insert(u32_at(0)?, id_at(4)?);
                self.classes.insert(id_at(4)?, id_at(8 + ID)?);
            }
            tag::STACK_FRAME => {
                let (class_serial, line) = (u32_at(4 * ID)?, u32_at(4 * ID + 4)? as i32);
                let frame = StackFrame { method: id_at(ID)?, source: id_at(3 * ID)?, class_serial, line };
                self.frames.insert(id_at(0)?, frame);
            }
            tag::STACK_TRACE => {
                self.traces.insert(u32_at(0)?, body.get(12..)?);
            }
            _ => {}
        }
        Some(())
    }

    /// The text with this identifier; what is no UTF-8 in it is replaced.
    pub(super) fn text(&self, id: u64) -> Option<Cow<'_, str>> {
        let bytes = *self.strings.get(&id)?;
        if bytes.len() > MAX_NAME_BYTES {
            return self.long.get(&id).map(|text| Cow::Borrowed(&**text));
        }
        Some(String::from_utf8_lossy(bytes))
    }

    /// The names that were too long.
    pub(super) fn shortened(&self) -> Shortened {
        self.shortened
    }

    /// The name of a class as the JVM has it: `java/lang/String`, `[I`.
    pub(super) fn class_name(&self, class: u64) -> Option<Cow<'_, str>> {
        self.text(*self.classes.get(&class)?)
    }

    /// The class with this serial.
    pub(super) fn class_of_serial(&self, serial: u32) -> Option<u64> {
        self.class_serials.get(&serial).copied()
    }

    /// The frames of a stack trace with their identifiers, the innermost first.
    pub(super) fn frames<const ID: usize>(&self, trace: u32) -> impl Iterator<Item = (u64, &StackFrame)> {
        let ids = self.traces.get(&trace).copied().unwrap_or_default();
        ids.chunks_exact(ID).map(id::<ID>).filter_map(|frame| Some((frame, self.frames.get(&frame)?)))
    }

    /// The serials of the stack traces that there are.
    pub(super) fn traces(&self) -> impl Iterator<Item = u32> {
        self.traces.keys().copied()
    }
}
