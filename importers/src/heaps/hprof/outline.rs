//! The first pass over a heap dump: what is where, and which object lives at which address.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use barrow_writer::Shortened;
use byteorder::{BigEndian, ByteOrder};
use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::error::ImportError;

use super::addresses::{Addresses, Collector, has_place};
use super::class_names;
use super::layout::{Evidence, ObjectLayout};
use super::places::{Records, Segment};
use super::records::{ClassPart, FieldType, Part, Parts, Root, id, record, tag};

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
pub(super) struct Chunk<'a> {
    pub(super) bytes: &'a [u8],
    /// The number of its first object.
    pub(super) first_number: u32,
    /// Its objects, without classes and without those that are left out.
    pub(super) objects: u32,
    /// Where every [`STEP`]th of them begins, from the start of the chunk on.
    places: Vec<u32>,
    /// Where the objects begin that are left out, since another one before has the same address.
    repeated: Vec<u32>,
}

impl<'a> Chunk<'a> {
    fn new() -> Self {
        Chunk { bytes: &[], first_number: 0, objects: 0, places: Vec::new(), repeated: Vec::new() }
    }

    /// Another object begins at this place, less than [`CHUNK_BYTES`] after the start.
    fn push(&mut self, place: usize) {
        if self.objects.is_multiple_of(STEP) {
            self.places.push(place as u32);
        }
        self.objects += 1;
    }

    /// The object that comes `before` others after a place, if some of the chunk are left out.
    #[cold]
    fn unrepeated<const ID: usize>(&self, place: usize, mut before: u32) -> Option<Part<'a>> {
        let mut parts = Parts::<ID>::new(&self.bytes[place..]);
        loop {
            let at = (place + parts.offset()) as u32;
            let part = parts.next().ok()??;
            if part.object().is_some() && self.repeated.binary_search(&at).is_err() {
                if before == 0 {
                    return Some(part);
                }
                before -= 1;
            }
        }
    }

    /// Hands over its objects with their addresses and where they begin, also those that are left out.
    fn for_each_of_all<const ID: usize>(&self, mut visit: impl FnMut(u64, Part<'a>, usize)) {
        let mut parts = Parts::<ID>::new(self.bytes);
        loop {
            let place = parts.offset();
            // The chunk was read before: there is no damage in it.
            let Ok(Some(part)) = parts.next() else { return };
            if let Some(address) = part.object() {
                visit(address, part, place);
            }
        }
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
    /// The classes that an earlier dump of the file holds, or that were unloaded: a dump without them leaves out nothing.
    gone: HashSet<u64, RandomState>,
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

/// What a heap dump holds and where.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    /// The whole file.
    pub(super) dump: &'a [u8],
    pub(super) names: Names<'a>,
    pub(super) layout: ObjectLayout,
    /// Whether anything told the layout.
    pub(super) is_layout_found: bool,
    pub(super) classes: Vec<ClassPart<'a>>,
    /// How many of them are dumped: the first ones.
    pub(super) dumped_classes: usize,
    pub(super) roots: Vec<Root>,
    pub(super) chunks: Vec<Chunk<'a>>,
    pub(super) addresses: Addresses,
    pub(super) counts: Counts,
    /// How many objects and classes have the address of another one. Unless they are only counted, they are left out.
    pub(super) repeated: u64,
}

/// What a job finds.
pub(super) struct JobOutline<'a> {
    chunks: Vec<Chunk<'a>>,
    pub(super) classes: Vec<ClassPart<'a>>,
    roots: Vec<Root>,
    collector: Collector,
    /// Objects whose address has no place: the address, the chunk here and the place in it.
    odd: Vec<(u64, usize, u32)>,
    counts: Counts,
    /// Whether all segments are whole.
    pub(super) is_whole: bool,
}

impl<'a> Outline<'a> {
    /// Of what the jobs found, one after the other.
    pub(super) fn new<const ID: usize>(
        dump: &'a [u8],
        names: Names<'a>,
        (layout, is_layout_found): (ObjectLayout, bool),
        purpose: Purpose,
        jobs: Vec<JobOutline<'a>>,
    ) -> Result<Self, ImportError> {
        let mut outline = Outline {
            dump,
            names,
            layout,
            is_layout_found,
            classes: Vec::new(),
            dumped_classes: 0,
            roots: Vec::new(),
            chunks: Vec::new(),
            addresses: Addresses::new(Vec::new(), 0, Table::default()),
            counts: Counts::default(),
            repeated: 0,
        };
        let mut collectors = Vec::with_capacity(jobs.len());
        let mut odd = Vec::new();
        for found in jobs {
            odd.extend(found.odd.iter().map(|&(address, chunk, at)| (address, outline.chunks.len() + chunk, at)));
            outline.chunks.extend(found.chunks);
            outline.classes.extend(found.classes);
            outline.roots.extend(found.roots);
            outline.counts.add(found.counts);
            collectors.push(found.collector);
        }
        outline.complete_classes();
        outline.number::<ID>(collectors, &odd, purpose)?;
        Ok(outline)
    }

    /// Leaves out classes that are dumped again. Adds those that are loaded and not linked: they are not dumped, but
    /// others refer to them.
    fn complete_classes(&mut self) {
        let mut dumped: HashSet<u64, RandomState> = self.classes.iter().map(|class| class.address).collect();
        let repeated = self.classes.len() - dumped.len();
        if repeated > 0 {
            self.repeated += repeated as u64;
            dumped.clear();
            self.classes.retain(|class| dumped.insert(class.address));
        }
        self.dumped_classes = self.classes.len();
        let is_missing = |address: &u64| !dumped.contains(address) && !self.names.gone.contains(address);
        let mut others: Vec<u64> = self.names.classes.keys().copied().filter(is_missing).collect();
        others.sort_unstable();
        self.classes.extend(others.into_iter().map(ClassPart::undumped));
    }

    /// Numbers classes, then everything else, in the order of the dump.
    fn number<const ID: usize>(
        &mut self,
        collectors: Vec<Collector>,
        odd: &[(u64, usize, u32)],
        purpose: Purpose,
    ) -> Result<(), ImportError> {
        let objects = match purpose {
            Purpose::Numbers => self.chunks.iter().map(|chunk| u64::from(chunk.objects)).sum::<u64>(),
            Purpose::Totals => self.counts.objects(),
        };
        let placed_count = objects - odd.len() as u64;
        let objects = self.classes.len() as u64 + objects;
        if objects >= u64::from(u32::MAX) {
            return Err(ImportError::TooManyObjects { objects });
        }
        let first_number = self.classes.len() as u32 + odd.len() as u32;
        // With odd addresses in between numbers do not follow ranks.
        let collectors = if odd.is_empty() { collectors } else { Collector::unordered(collectors) };
        let others = self.number_others(odd);
        let distinct_count = others.len() as u64;
        self.addresses = match purpose {
            Purpose::Numbers => Addresses::new(collectors, first_number, others),
            Purpose::Totals => Addresses::without_numbers(collectors, others),
        };
        let is_object = |class: &&ClassPart<'_>| self.addresses.rank(class.address).is_some();
        let repeated = placed_count - self.addresses.placed_count()
            + (u64::from(first_number) - distinct_count)
            + self.classes.iter().filter(is_object).count() as u64;
        self.repeated += repeated;
        if purpose == Purpose::Totals {
            return Ok(());
        }
        if repeated > 0 {
            self.leave_out_repeated::<ID>();
        }
        if !self.addresses.is_ordered() {
            let addresses = &self.addresses;
            self.chunks.par_iter().for_each(|chunk| {
                let mut number = chunk.first_number;
                for_each_object::<ID>(chunk, |address, _| {
                    addresses.set(address, number);
                    number += 1;
                });
            });
        }
        Ok(())
    }

    /// Numbers the chunks; the numbers of classes, and of objects whose address has no place. Of several with one
    /// address, the first counts. Where objects are only counted, there are no chunks, and they have no numbers.
    fn number_others(&mut self, odd: &[(u64, usize, u32)]) -> Table<u64, u32> {
        let mut next = self.classes.len() as u32;
        for chunk in &mut self.chunks {
            chunk.first_number = next;
            next += chunk.objects;
        }
        let mut others: Table<u64, u32> =
            (0..).zip(&self.classes).map(|(number, class)| (class.address, number)).collect();
        for &(address, chunk, at) in odd {
            let number = self.chunks.get(chunk).map_or(u32::MAX, |chunk| chunk.first_number + at);
            others.entry(address).or_insert(number);
        }
        others
    }

    /// Of the objects with one address, keeps the first; a class comes before all objects.
    fn leave_out_repeated<const ID: usize>(&mut self) {
        let mut seen = Seen::new(&self.addresses, self.classes.iter().map(|class| class.address));
        let mut odd = Vec::new();
        for (number, chunk) in self.chunks.iter_mut().enumerate() {
            let mut kept = Chunk { bytes: chunk.bytes, ..Chunk::new() };
            chunk.for_each_of_all::<ID>(|address, _, place| {
                if !seen.insert(address) {
                    kept.repeated.push(place as u32);
                    return;
                }
                if !has_place(address) {
                    odd.push((address, number, kept.objects));
                }
                kept.push(place);
            });
            *chunk = kept;
        }
        let others = self.number_others(&odd);
        self.addresses.renumber(others);
        for (number, class) in (0..).zip(&self.classes) {
            self.addresses.set(class.address, number);
        }
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
        let place = *chunk.places.get((at / STEP) as usize)? as usize;
        if !chunk.repeated.is_empty() {
            return chunk.unrepeated::<ID>(place, at % STEP);
        }
        let mut parts = Parts::<ID>::new(&chunk.bytes[place..]);
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
pub(super) fn for_each_object<'a, const ID: usize>(chunk: &Chunk<'a>, mut visit: impl FnMut(u64, Part<'a>)) {
    let mut repeated = chunk.repeated.iter().map(|&place| place as usize);
    let mut next_repeated = repeated.next();
    let mut parts = Parts::<ID>::new(chunk.bytes);
    loop {
        let place = parts.offset();
        // The chunk was read before: there is no damage in it.
        let Ok(Some(part)) = parts.next() else { return };
        match part {
            Part::Instance { address, .. }
            | Part::ObjectArray { address, .. }
            | Part::PrimitiveArray { address, .. } => {
                if next_repeated == Some(place) {
                    next_repeated = repeated.next();
                } else {
                    visit(address, part);
                }
            }
            _ => {}
        }
    }
}

/// The addresses that were seen.
struct Seen<'s> {
    addresses: &'s Addresses,
    placed: Vec<bool>,
    others: HashSet<u64, RandomState>,
}

impl<'s> Seen<'s> {
    /// Those of `classes`.
    fn new(addresses: &'s Addresses, classes: impl Iterator<Item = u64>) -> Self {
        let placed = vec![false; addresses.placed_count() as usize];
        let mut seen = Seen { addresses, placed, others: HashSet::default() };
        for class in classes {
            seen.insert(class);
        }
        seen
    }

    /// Whether an address is new.
    fn insert(&mut self, address: u64) -> bool {
        match self.addresses.rank(address) {
            Some(rank) => !std::mem::replace(&mut self.placed[rank as usize], true),
            None => self.others.insert(address),
        }
    }
}

impl<'a> JobOutline<'a> {
    pub(super) fn read<const ID: usize>(segments: &[Segment<'a>], purpose: Purpose, layout: &ObjectLayout) -> Self {
        let mut found = JobOutline {
            chunks: Vec::new(),
            classes: Vec::new(),
            roots: Vec::new(),
            collector: Collector::new(),
            odd: Vec::new(),
            counts: Counts::default(),
            is_whole: true,
        };
        for segment in segments {
            found.read_segment::<ID>(segment.bytes, purpose, layout);
        }
        found
    }

    fn read_segment<const ID: usize>(&mut self, bytes: &'a [u8], purpose: Purpose, layout: &ObjectLayout) {
        let mut parts = Parts::<ID>::new(bytes);
        let (mut start, mut chunk) = (0, Chunk::new());
        loop {
            let offset = parts.offset();
            let part = match parts.next() {
                Ok(Some(part)) => part,
                Ok(None) => break,
                Err(_) => {
                    self.is_whole = false;
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
            if has_place(address) {
                self.collector.push(address);
            } else {
                self.odd.push((address, self.chunks.len(), chunk.objects));
            }
            if purpose == Purpose::Totals {
                self.counts.push::<ID>(&part, layout);
                continue;
            }
            if chunk.objects == CHUNK_OBJECTS || offset - start >= CHUNK_BYTES {
                self.end_chunk(&mut chunk, &bytes[start..offset]);
                start = offset;
            }
            chunk.push(offset - start);
        }
        self.end_chunk(&mut chunk, &bytes[start..parts.offset()]);
    }

    /// Adds a chunk, unless it is empty, and begins another one.
    fn end_chunk(&mut self, chunk: &mut Chunk<'a>, bytes: &'a [u8]) {
        let full = std::mem::replace(chunk, Chunk::new());
        if full.objects > 0 {
            self.chunks.push(Chunk { bytes, ..full });
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

    fn objects(&self) -> u64 {
        let primitive = self.primitive_arrays.iter().map(|(_, count)| count);
        self.instances.values().chain(self.object_arrays.values()).chain(primitive).map(|count| count.objects).sum()
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
pub(super) fn find_layout<const ID: usize>(segments: &[Segment<'_>]) -> (ObjectLayout, bool) {
    let mut evidence = Evidence::default();
    let step = segments.len().div_ceil(SAMPLES).max(1);
    // The last segments first: the first ones hold classes.
    for segment in segments.iter().rev().step_by(step) {
        evidence.look::<ID>(&segment.bytes[..segment.bytes.len().min(SAMPLE_BYTES)]);
    }
    evidence.decide(ID as u8)
}

/// Consecutive segments of one heap dump for one job each.
pub(super) fn group<'s, 'a>(segments: &'s [Segment<'a>]) -> Vec<&'s [Segment<'a>]> {
    let mut jobs = Vec::new();
    let mut rest = segments;
    while let Some(first) = rest.first() {
        let mut bytes = 0;
        let fits = |segment: &&Segment<'_>| {
            let fits = segment.heap == first.heap && bytes < JOB_BYTES;
            bytes += segment.bytes.len();
            fits
        };
        let count = rest.iter().take_while(fits).count();
        let (job, others) = rest.split_at(count);
        jobs.push(job);
        rest = others;
    }
    jobs
}

impl<'a> Names<'a> {
    /// Adds what these records say. What is defined again has its new meaning from now on.
    pub(super) fn read<const ID: usize>(&mut self, dump: &'a [u8], records: &Records) {
        let mut offset = records.start;
        while offset < records.end
            && let Ok(Some(record)) = record(dump, offset)
        {
            let _ = self.add::<ID>(record.tag, record.body);
            offset = record.body_offset + record.body.len();
        }
    }

    /// These classes were dumped: if a later dump does not hold them, they are gone.
    pub(super) fn were_dumped(&mut self, classes: &[ClassPart<'_>]) {
        self.gone.extend(classes.iter().map(|class| class.address));
    }

    /// A record that is too short for its tag says nothing.
    #[inline(always)]
    pub(super) fn add<const ID: usize>(&mut self, record_tag: u8, body: &'a [u8]) -> Option<()> {
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
                self.gone.remove(&id_at(4)?);
            }
            tag::UNLOAD_CLASS => {
                let class = *self.class_serials.get(&u32_at(0)?)?;
                self.gone.insert(class);
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

    /// The name of a class as the language writes it: `java.lang.String`, `int[]`.
    pub(super) fn class_name(&self, class: u64) -> Option<Cow<'_, str>> {
        self.text(*self.classes.get(&class)?).map(class_names::readable)
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
