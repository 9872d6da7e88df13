//! The first pass over a heap dump: finds its parts, and the address of each object.

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
use super::records::{ClassPart, FieldType, Root, SubRecord, SubRecords, id, record, tag};

/// A map with identifiers or serials as keys.
pub(super) type Table<K, V> = HashMap<K, V, RandomState>;

/// Maximum number of objects in a chunk, and roughly its maximum length in bytes of the dump.
const CHUNK_OBJECTS: u32 = 1 << 14;
const CHUNK_BYTES: usize = 1 << 30;
/// The place of one in this number of objects of a chunk is remembered.
const STEP: u32 = 16;
/// Bytes of the dump per job of a thread.
const JOB_BYTES: usize = 16 << 20;
/// Number of places of the dump examined for the object layout, and bytes of each.
const SAMPLES: usize = 16;
const SAMPLE_BYTES: usize = 1 << 20;

/// Maximum length of names in class files, and thus in a JVM.
const MAX_NAME_BYTES: usize = u16::MAX as usize;

/// The purpose of the first pass.
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
    /// Number of its objects, without classes and without those left out.
    pub(super) objects: u32,
    /// Offset of every [`STEP`]th of them in the chunk.
    places: Vec<u32>,
    /// Offsets of the objects left out, since an earlier one has the same address.
    repeated: Vec<u32>,
    /// Offsets of its strings, if their class was known.
    strings: Vec<u32>,
}

impl<'a> Chunk<'a> {
    fn new() -> Self {
        let (places, repeated, strings) = (Vec::new(), Vec::new(), Vec::new());
        Chunk { bytes: &[], first_number: 0, objects: 0, places, repeated, strings }
    }

    /// Adds an object that begins at this place, less than [`CHUNK_BYTES`] after the start.
    fn push(&mut self, place: usize) {
        if self.objects.is_multiple_of(STEP) {
            self.places.push(place as u32);
        }
        self.objects += 1;
    }

    /// The strings that were found in it.
    pub(super) fn strings<const ID: usize>(&self) -> impl Iterator<Item = SubRecord<'a>> {
        let strings = self.strings.iter().filter(|place| self.repeated.binary_search(place).is_err());
        // The chunk was read before, so it has no damage.
        strings.filter_map(|&place| SubRecords::<ID>::new(&self.bytes[place as usize..]).next().ok()?)
    }

    /// The object after `before` others from a place on, if objects of the chunk are left out.
    #[cold]
    fn unrepeated<const ID: usize>(&self, place: usize, mut before: u32) -> Option<SubRecord<'a>> {
        let mut parts = SubRecords::<ID>::new(&self.bytes[place..]);
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

    /// Visits its objects with their addresses and offsets, including those left out.
    fn for_each_of_all<const ID: usize>(&self, mut visit: impl FnMut(u64, SubRecord<'a>, usize)) {
        let mut parts = SubRecords::<ID>::new(self.bytes);
        loop {
            let place = parts.offset();
            // The chunk was read before, so it has no damage.
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
    /// Positive; otherwise a code for the reason why there is none.
    pub(super) line: i32,
}

/// The records before the heap: names, classes by serial, stacks.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    strings: Table<u64, &'a [u8]>,
    /// Names that are too long, shortened once: in a damaged dump any number of classes may have such a name.
    long: Table<u64, String>,
    shortened: Shortened,
    /// The name of each class, by its address.
    classes: Table<u64, u64>,
    class_serials: Table<u32, u64>,
    /// Classes that were in an earlier dump of the file, or were unloaded: a dump without them is complete.
    gone: HashSet<u64, RandomState>,
    frames: Table<u64, StackFrame>,
    /// The identifiers of the frames of each stack trace.
    traces: Table<u32, &'a [u8]>,
}

/// Number of objects and their bytes.
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

/// The contents of a heap dump, and their places.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    /// The whole file.
    pub(super) dump: &'a [u8],
    pub(super) names: Names<'a>,
    pub(super) layout: ObjectLayout,
    /// The layout was derived from the dump or given.
    pub(super) is_layout_found: bool,
    pub(super) classes: Vec<ClassPart<'a>>,
    /// Number of dumped classes, which come first.
    pub(super) dumped_classes: usize,
    pub(super) roots: Vec<Root>,
    pub(super) chunks: Vec<Chunk<'a>>,
    pub(super) addresses: Addresses,
    pub(super) counts: Counts,
    /// The class whose instances are the strings of the chunks, if it was known when they were read.
    pub(super) string_class: Option<u64>,
    /// Number of objects and classes with the address of another one. They are left out, unless objects are only
    /// counted.
    pub(super) repeated: u64,
}

/// The contents of the segments of a job.
pub(super) struct JobOutline<'a> {
    chunks: Vec<Chunk<'a>>,
    pub(super) classes: Vec<ClassPart<'a>>,
    roots: Vec<Root>,
    collector: Collector,
    /// Objects whose address has no place: the address, the number of the chunk in this job, and the object's index
    /// in it.
    odd: Vec<(u64, usize, u32)>,
    counts: Counts,
    /// All segments are whole.
    pub(super) is_whole: bool,
}

impl<'a> Outline<'a> {
    /// Combines the results of the jobs, in their order.
    pub(super) fn new<const ID: usize>(
        dump: &'a [u8],
        names: Names<'a>,
        (layout, is_layout_found): (ObjectLayout, bool),
        purpose: Purpose,
        string_class: Option<u64>,
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
            string_class,
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

    /// Drops repeated classes. Adds classes that are loaded but not linked: they are not dumped, but other objects
    /// refer to them.
    fn complete_classes(&mut self) {
        let mut dumped: HashSet<u64, RandomState> = self.classes.iter().map(|class| class.address).collect();
        let repeated = self.classes.len() - dumped.len();
        if repeated > 0 {
            self.repeated += repeated as u64;
            dumped.clear();
            self.classes.retain(|class| dumped.insert(class.address));
        }
        self.dumped_classes = self.classes.len();
        let mut others: Vec<u64> = self.names.classes.keys().copied().collect();
        others.retain(|address| !dumped.contains(address) && !self.names.gone.contains(address));
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
        // If odd addresses come between, numbers do not follow ranks.
        let collectors = if odd.is_empty() { collectors } else { Collector::unordered(collectors) };
        let others = self.number_others(odd);
        let distinct_count = others.len() as u64;
        self.addresses = match purpose {
            Purpose::Numbers => Addresses::new(collectors, first_number, others),
            Purpose::Totals => Addresses::without_numbers(collectors, others),
        };
        let repeated_classes =
            self.classes.iter().filter(|class| self.addresses.rank(class.address).is_some()).count() as u64;
        let repeated = placed_count - self.addresses.placed_count()
            + (u64::from(first_number) - distinct_count)
            + repeated_classes;
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

    /// Numbers the chunks. Returns the numbers of classes, and of objects whose address has no place; of several with
    /// one address, the first counts. If objects are only counted, there are no chunks, and objects have no numbers.
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

    /// Keeps only the first object with each address; classes come before all objects.
    fn leave_out_repeated<const ID: usize>(&mut self) {
        let mut seen = AddressSet::new(&self.addresses, self.classes.iter().map(|class| class.address));
        let mut odd = Vec::new();
        for (number, chunk) in self.chunks.iter_mut().enumerate() {
            let strings = std::mem::take(&mut chunk.strings);
            let mut kept = Chunk { bytes: chunk.bytes, strings, ..Chunk::new() };
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

    /// Number of objects, classes included.
    pub(super) fn objects(&self) -> u32 {
        self.chunks.last().map_or(self.classes.len() as u32, |chunk| chunk.first_number + chunk.objects)
    }

    /// Reads the object with this number; `None` for a class. Skips up to 15 other objects.
    pub(super) fn object<const ID: usize>(&self, number: u32) -> Option<SubRecord<'a>> {
        let chunk = self.chunks.partition_point(|chunk| chunk.first_number <= number).checked_sub(1)?;
        let chunk = &self.chunks[chunk];
        let at = number - chunk.first_number;
        let place = *chunk.places.get((at / STEP) as usize)? as usize;
        if !chunk.repeated.is_empty() {
            return chunk.unrepeated::<ID>(place, at % STEP);
        }
        let mut parts = SubRecords::<ID>::new(&chunk.bytes[place..]);
        let mut before = at % STEP;
        // The chunk was read before, so it has no damage.
        while let Ok(Some(part)) = parts.next() {
            match part {
                SubRecord::Instance { .. } | SubRecord::ObjectArray { .. } | SubRecord::PrimitiveArray { .. }
                    if before == 0 =>
                {
                    return Some(part);
                }
                SubRecord::Instance { .. } | SubRecord::ObjectArray { .. } | SubRecord::PrimitiveArray { .. } => {
                    before -= 1
                }
                _ => {}
            }
        }
        None
    }
}

/// Visits the objects of a chunk, with their addresses.
pub(super) fn for_each_object<'a, const ID: usize>(chunk: &Chunk<'a>, mut visit: impl FnMut(u64, SubRecord<'a>)) {
    let mut repeated = chunk.repeated.iter().map(|&place| place as usize);
    let mut next_repeated = repeated.next();
    let mut parts = SubRecords::<ID>::new(chunk.bytes);
    loop {
        let place = parts.offset();
        // The chunk was read before, so it has no damage.
        let Ok(Some(part)) = parts.next() else { return };
        match part {
            SubRecord::Instance { address, .. }
            | SubRecord::ObjectArray { address, .. }
            | SubRecord::PrimitiveArray { address, .. } => {
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

/// A set of addresses.
struct AddressSet<'s> {
    addresses: &'s Addresses,
    placed: Vec<bool>,
    others: HashSet<u64, RandomState>,
}

impl<'s> AddressSet<'s> {
    /// The set of the addresses of `classes`.
    fn new(addresses: &'s Addresses, classes: impl Iterator<Item = u64>) -> Self {
        let placed = vec![false; addresses.placed_count() as usize];
        let mut seen = AddressSet { addresses, placed, others: HashSet::default() };
        for class in classes {
            seen.insert(class);
        }
        seen
    }

    /// Adds an address. Returns whether it is new.
    fn insert(&mut self, address: u64) -> bool {
        match self.addresses.rank(address) {
            Some(rank) => !std::mem::replace(&mut self.placed[rank as usize], true),
            None => self.others.insert(address),
        }
    }
}

impl<'a> JobOutline<'a> {
    pub(super) fn read<const ID: usize>(
        segments: &[Segment<'a>],
        purpose: Purpose,
        layout: &ObjectLayout,
        string_class: Option<u64>,
    ) -> Self {
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
            found.read_segment::<ID>(segment.bytes, purpose, layout, string_class);
        }
        found
    }

    fn read_segment<const ID: usize>(
        &mut self,
        bytes: &'a [u8],
        purpose: Purpose,
        layout: &ObjectLayout,
        string_class: Option<u64>,
    ) {
        let mut parts = SubRecords::<ID>::new(bytes);
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
                SubRecord::Instance { address, .. }
                | SubRecord::ObjectArray { address, .. }
                | SubRecord::PrimitiveArray { address, .. } => address,
                SubRecord::Class(class) => {
                    self.classes.push(class);
                    continue;
                }
                SubRecord::Root(root) => {
                    self.roots.push(root);
                    continue;
                }
                SubRecord::Other => continue,
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
            if matches!(part, SubRecord::Instance { class, .. } if Some(class) == string_class) {
                chunk.strings.push((offset - start) as u32);
            }
        }
        self.end_chunk(&mut chunk, &bytes[start..parts.offset()]);
    }

    /// Adds a chunk, unless it is empty, and begins the next one.
    fn end_chunk(&mut self, chunk: &mut Chunk<'a>, bytes: &'a [u8]) {
        let full = std::mem::replace(chunk, Chunk::new());
        if full.objects > 0 {
            self.chunks.push(Chunk { bytes, ..full });
        }
    }
}

impl Counts {
    #[inline]
    fn push<const ID: usize>(&mut self, part: &SubRecord<'_>, layout: &ObjectLayout) {
        match *part {
            SubRecord::Instance { class, fields, .. } => {
                let count = Count { objects: 1, bytes: fields.len() as u64 };
                self.instances.entry(class).or_default().add(count);
            }
            SubRecord::ObjectArray { class, elements, .. } => {
                let bytes = layout.array_bytes(FieldType::Reference, (elements.len() / ID) as u64);
                self.object_arrays.entry(class).or_default().add(Count { objects: 1, bytes });
            }
            SubRecord::PrimitiveArray { element, count, .. } => {
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

/// Derives the object layout from some places of the dump.
pub(super) fn find_layout<const ID: usize>(segments: &[Segment<'_>]) -> (ObjectLayout, bool) {
    let mut evidence = Evidence::default();
    let step = segments.len().div_ceil(SAMPLES).max(1);
    // The last segments first: the first ones hold classes.
    for segment in segments.iter().rev().step_by(step) {
        evidence.look::<ID>(&segment.bytes[..segment.bytes.len().min(SAMPLE_BYTES)]);
    }
    evidence.decide(ID as u8)
}

/// Divides segments into jobs: consecutive segments of one heap dump.
pub(super) fn group<'s, 'a>(segments: &'s [Segment<'a>]) -> Vec<&'s [Segment<'a>]> {
    let mut jobs = Vec::new();
    let mut rest = segments;
    while let Some(first) = rest.first() {
        let (mut bytes, mut count) = (0, 0);
        for segment in rest.iter().take_while(|segment| segment.heap == first.heap) {
            if bytes >= JOB_BYTES {
                break;
            }
            (bytes, count) = (bytes + segment.bytes.len(), count + 1);
        }
        let (job, others) = rest.split_at(count);
        jobs.push(job);
        rest = others;
    }
    jobs
}

impl<'a> Names<'a> {
    /// Adds the contents of these records. Later definitions replace earlier ones.
    pub(super) fn read<const ID: usize>(&mut self, dump: &'a [u8], records: &Records) {
        let mut offset = records.start;
        while offset < records.end
            && let Ok(Some(record)) = record(dump, offset)
        {
            let _ = self.add::<ID>(record.tag, record.body);
            offset = record.body_offset + record.body.len();
        }
    }

    /// Notes that these classes were dumped: those missing from a later dump are gone.
    pub(super) fn were_dumped(&mut self, classes: &[ClassPart<'_>]) {
        self.gone.extend(classes.iter().map(|class| class.address));
    }

    /// Adds a record. One that is too short for its tag is ignored.
    #[inline(always)]
    pub(super) fn add<const ID: usize>(&mut self, record_tag: u8, body: &'a [u8]) -> Option<()> {
        match record_tag {
            tag::STRING => {
                let (id, text) = (id_at::<ID>(body, 0)?, &body[ID..]);
                self.strings.insert(id, text);
                if text.len() > MAX_NAME_BYTES {
                    let text = String::from_utf8_lossy(text);
                    self.long.insert(id, self.shortened.shorten(&text, MAX_NAME_BYTES).into_owned());
                }
            }
            tag::LOAD_CLASS => {
                let class = id_at::<ID>(body, 4)?;
                self.class_serials.insert(u32_at(body, 0)?, class);
                self.classes.insert(class, id_at::<ID>(body, 8 + ID)?);
                self.gone.remove(&class);
            }
            tag::UNLOAD_CLASS => {
                let class = *self.class_serials.get(&u32_at(body, 0)?)?;
                self.gone.insert(class);
            }
            tag::STACK_FRAME => {
                let (class_serial, line) = (u32_at(body, 4 * ID)?, u32_at(body, 4 * ID + 4)? as i32);
                let (method, source) = (id_at::<ID>(body, ID)?, id_at::<ID>(body, 3 * ID)?);
                self.frames.insert(id_at::<ID>(body, 0)?, StackFrame { method, source, class_serial, line });
            }
            tag::STACK_TRACE => {
                self.traces.insert(u32_at(body, 0)?, body.get(12..)?);
            }
            _ => {}
        }
        Some(())
    }

    /// The text with this identifier; invalid UTF-8 in it is replaced.
    pub(super) fn text(&self, id: u64) -> Option<Cow<'_, str>> {
        let bytes = *self.strings.get(&id)?;
        if bytes.len() > MAX_NAME_BYTES {
            return self.long.get(&id).map(|text| Cow::Borrowed(&**text));
        }
        Some(String::from_utf8_lossy(bytes))
    }

    /// Names that were shortened.
    pub(super) fn shortened(&self) -> Shortened {
        self.shortened
    }

    /// The name of a class in the spelling of the language: `java.lang.String`, `int[]`.
    pub(super) fn class_name(&self, class: u64) -> Option<Cow<'_, str>> {
        self.text(*self.classes.get(&class)?).map(class_names::readable)
    }

    /// The class of this name, in the spelling of class files.
    pub(super) fn class_named(&self, name: &str) -> Option<u64> {
        let is = |name_id: &u64| self.strings.get(name_id).is_some_and(|&text| text == name.as_bytes());
        self.classes.iter().find_map(|(&class, name_id)| is(name_id).then_some(class))
    }

    /// The class with this serial.
    pub(super) fn class_of_serial(&self, serial: u32) -> Option<u64> {
        self.class_serials.get(&serial).copied()
    }

    /// The frames of a stack trace with their identifiers, innermost first.
    pub(super) fn frames<const ID: usize>(&self, trace: u32) -> impl Iterator<Item = (u64, &StackFrame)> {
        let ids = self.traces.get(&trace).copied().unwrap_or_default();
        ids.chunks_exact(ID).map(id::<ID>).filter_map(|frame| Some((frame, self.frames.get(&frame)?)))
    }

    /// The serials of all stack traces.
    pub(super) fn traces(&self) -> impl Iterator<Item = u32> {
        self.traces.keys().copied()
    }
}

#[inline]
fn id_at<const ID: usize>(body: &[u8], at: usize) -> Option<u64> {
    body.get(at..at + ID).map(id::<ID>)
}

#[inline]
fn u32_at(body: &[u8], at: usize) -> Option<u32> {
    body.get(at..at + 4).map(BigEndian::read_u32)
}
