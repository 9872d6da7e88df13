//! Recovers the intact parts of a file whose records do not follow each other.
//!
//! ```text
//!   a record with a wrong tag or length        the next place where a plausible record, or sub-record, begins
//!   a sub-record that extends past its record  the record is longer than it says, or the next one holds the rest:
//!                                                the bytes after it decide
//!   an unknown sub-record, padding             the next plausible sub-record of the segment, or the end of the segment
//! ```
//!
//! Nothing is invented: a sub-record is plausible only if its class is known, its fields are as long as those of the
//! class, and its stack trace is known. One found by search must be followed by another one, or by the end of the
//! segment. Skipped parts are counted, with their places.
//!
//! The time is linear: each byte is tried once as the beginning of a record, once of a sub-record, and once more if
//! the sub-record that holds it turns out to have a wrong length. Each try reads a few heads. Only classes and joined
//! sub-records take longer: those have a budget.

use std::collections::{HashMap, HashSet};

use byteorder::{BigEndian, ByteOrder};
use foldhash::fast::RandomState;

use crate::context::Context;
use crate::error::{Damage, ImportError};

use super::outline::Table;
use super::places::{RecordPlaces, Segment};
use super::records::{Bad, ClassPart, RECORD_HEAD_BYTES, SubRecord, SubRecords, id, is_heap, is_record, record, tag};

/// Number of consecutive heads that are accepted as records.
const ENOUGH_RECORDS: usize = 3;
/// Maximum number of sub-records examined to decide whether bytes are sub-records.
const MOST_PARTS: usize = 8;
/// Number of them that must be objects or classes, since roots are hard to tell from other bytes.
const ENOUGH_OBJECTS: usize = 2;
/// Number of objects that show that a dump is damaged, not cut.
const MANY_OBJECTS: usize = 4;
/// Maximum number of superclasses followed for the length of instances. Real programs have fewer.
const MOST_SUPERCLASSES: usize = 64;
/// Maximum number of bytes of a class in tries that fail: random bytes may claim a class of any length.
const CLASS_BYTES: usize = 1 << 16;
/// Bytes that tries to read classes and to join sub-records may take, for each byte of the dump.
const EFFORT: u64 = 16;
/// The cost of one more place in the search for a sub-record, in bytes copied.
const TRY_EFFORT: u64 = 8;
/// Maximum length of all joined sub-records, which are kept in memory.
const MOST_JOINED_BYTES: usize = 256 << 20;
/// Maximum number of bytes of padding between a name and the next record.
const MOST_PADDING: usize = 4096;
/// Maximum number of notes, one for each place of the dump: as many as people read.
const MOST_NOTES: u64 = 10;

/// The intact parts of a file.
pub(super) struct Recovered {
    pub(super) places: RecordPlaces<Piece>,
    /// Sub-records that the dump holds in parts, joined.
    pub(super) joined: Vec<Vec<u8>>,
    pub(super) damage: Option<Damage>,
    pub(super) notes: Vec<String>,
}

/// Consecutive sub-records without damage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    place: PieceBytes,
    heap: u32,
}

#[derive(Debug, Clone, Copy)]
enum PieceBytes {
    Between(usize, usize),
    /// The number of a joined sub-record.
    Joined(usize),
}

impl Piece {
    /// Its bytes.
    pub(super) fn segment<'a>(&self, dump: &'a [u8], joined: &'a [Vec<u8>]) -> Segment<'a> {
        let bytes = match self.place {
            PieceBytes::Between(start, end) => &dump[start..end],
            PieceBytes::Joined(number) => &joined[number][..],
        };
        Segment { bytes, heap: self.heap }
    }
}

/// Finds all intact parts from `start` on.
pub(super) fn recover<const ID: usize>(
    dump: &[u8],
    start: usize,
    context: &Context<'_>,
) -> Result<Recovered, ImportError> {
    let mut recovery = Recovery::<ID> {
        dump,
        context,
        places: RecordPlaces::new(),
        joined: Vec::new(),
        joined_bytes: 0,
        known: KnownIds::default(),
        has_heap: false,
        effort: EFFORT * dump.len() as u64,
        skipped: SkippedParts::default(),
        cut: None,
        notes: Vec::new(),
        note_count: 0,
    };
    recovery.records(start)?;
    Ok(recovery.end())
}

/// Facts that distinguish sub-records from other bytes.
#[derive(Debug, Default)]
struct KnownIds {
    loaded: HashSet<u64, RandomState>,
    /// For each dumped class, its superclass and the length of the fields that it declares.
    classes: Table<u64, (u64, usize)>,
    /// Length of instances, if known.
    instances: HashMap<u64, usize, RandomState>,
    traces: HashSet<u32, RandomState>,
    /// The bits that are set in the address of any class or object.
    address_bits: u64,
    highest_address: u64,
}

impl KnownIds {
    fn saw(&mut self, address: u64) {
        self.address_bits |= address;
        self.highest_address = self.highest_address.max(address);
    }

    fn has_class(&self, class: u64) -> bool {
        self.classes.contains_key(&class) || self.loaded.contains(&class)
    }

    /// Returns whether an object can live at this address. Roots may refer to objects that come later.
    fn is_address(&self, address: u64) -> bool {
        self.is_aligned(address) && address <= self.highest_address
    }

    fn is_aligned(&self, address: u64) -> bool {
        address != 0 && address.trailing_zeros() >= self.address_bits.trailing_zeros()
    }

    /// Length of the fields of an instance; `None` if a class is missing.
    fn instance_bytes(&mut self, class: u64) -> Option<usize> {
        if let Some(&bytes) = self.instances.get(&class) {
            return Some(bytes);
        }
        let (mut bytes, mut next) = (0, class);
        for _ in 0..MOST_SUPERCLASSES {
            let &(superclass, own) = self.classes.get(&next)?;
            bytes += own;
            next = superclass;
            if next == 0 {
                self.instances.insert(class, bytes);
                return Some(bytes);
            }
        }
        None
    }

    fn learn<const ID: usize>(&mut self, class: &ClassPart<'_>) {
        let bytes = class.fields::<ID>().map(|(_, kind)| usize::from(kind.bytes(ID as u8))).sum();
        self.classes.entry(class.address).or_insert((class.superclass, bytes));
    }

    /// Returns whether a sub-record is consistent with the known facts.
    fn is_plausible(&mut self, part: &SubRecord<'_>) -> bool {
        match *part {
            SubRecord::Instance { address, trace, class, fields } => {
                address != 0
                    && self.is_trace(trace)
                    && self.has_class(class)
                    && self.instance_bytes(class).is_none_or(|bytes| bytes == fields.len())
            }
            SubRecord::ObjectArray { address, trace, class, .. } => {
                address != 0 && self.is_trace(trace) && self.has_class(class)
            }
            SubRecord::PrimitiveArray { address, trace, .. } => address != 0 && self.is_trace(trace),
            SubRecord::Class(class) => {
                self.loaded.contains(&class.address) && (class.superclass == 0 || self.has_class(class.superclass))
            }
            SubRecord::Root(root) => self.is_address(root.object),
            SubRecord::Other => true,
        }
    }

    /// Returns whether a stack trace is known. Without traces, HotSpot writes 1, which it defines; other runtimes write
    /// 0.
    fn is_trace(&self, trace: u32) -> bool {
        trace <= 1 || self.traces.contains(&trace)
    }
}

/// The parts left out.
#[derive(Debug, Default)]
struct SkippedParts {
    count: u64,
    bytes: u64,
    /// The offset of the first part, and its defect.
    first: Option<(u64, String)>,
}

/// The head of a record.
#[derive(Debug, Clone, Copy)]
struct Head {
    tag: u8,
    body: usize,
    /// The end that its length gives: after the end of the dump if that is cut.
    end: usize,
    /// It has no length, and extends to its last sub-record.
    is_open: bool,
}

/// A plausible place to continue.
#[derive(Debug, Clone, Copy)]
enum ResumePoint {
    Record(usize),
    Part(usize),
}

struct Recovery<'a, 'c, const ID: usize> {
    dump: &'a [u8],
    context: &'c Context<'c>,
    places: RecordPlaces<Piece>,
    joined: Vec<Vec<u8>>,
    joined_bytes: usize,
    known: KnownIds,
    /// A record of the heap was read.
    has_heap: bool,
    effort: u64,
    skipped: SkippedParts,
    /// Set if the dump ends inside a record or sub-record.
    cut: Option<Damage>,
    notes: Vec<String>,
    note_count: u64,
}

impl<'a, const ID: usize> Recovery<'a, '_, ID> {
    /// Reads all records from `at` on.
    fn records(&mut self, mut at: usize) -> Result<(), ImportError> {
        while at < self.dump.len() {
            self.context.check_cancelled()?;
            let before = at;
            at = match self.head(at) {
                Some(head) if is_heap(head.tag) => {
                    let heap = self.places.begin(head.tag);
                    self.has_heap = true;
                    let end = self.parts(&head, heap);
                    self.places.end(head.tag);
                    end
                }
                Some(head)
                    if head.end <= self.dump.len() && (head.tag != tag::STRING || self.may_end_record(head.end)) =>
                {
                    self.learn(&head);
                    self.places.other(head.tag, at, head.end);
                    head.end
                }
                // Its length is wrong, or the dump is cut.
                Some(head) => self.go_on(at, (head.end > self.dump.len()).then_some("a record")),
                None => self.between_records(at),
            };
            self.context.progress.advance((at - before) as u64);
        }
        Ok(())
    }

    /// The place to continue at if no known record begins at `at`.
    fn between_records(&mut self, at: usize) -> usize {
        if self.has_heap && self.are_parts(at, self.dump.len()) {
            let heap = self.places.begin(tag::HEAP_DUMP_SEGMENT);
            self.note(|| format!("sub-records of the heap that no record holds, from byte {at} on"));
            return self.parts(&Head { tag: tag::HEAP_DUMP_SEGMENT, body: at, end: at, is_open: true }, heap);
        }
        let rest = &self.dump[at..];
        let has_known_tag = is_record(rest[0]);
        if rest.len() < RECORD_HEAD_BYTES && has_known_tag {
            self.cut = Some(Damage::Ends { length: self.dump.len() as u64, inside: "the beginning of a record" });
            return self.dump.len();
        }
        if let Some(end) = self.end_of_unknown(at) {
            let (unknown, bytes) = (rest[0], end - at);
            self.note(|| format!("a record of unknown kind at byte {at}, skipped: tag {unknown:#04x}, {bytes} bytes"));
            return end;
        }
        self.go_on(at, None)
    }

    /// The end of a record of unknown kind, if a known one follows.
    fn end_of_unknown(&mut self, at: usize) -> Option<usize> {
        let head = self.dump.get(at..at + RECORD_HEAD_BYTES)?;
        let is_unknown = head[0] != 0 && !is_record(head[0]);
        let end = at + RECORD_HEAD_BYTES + BigEndian::read_u32(&head[5..]) as usize;
        (is_unknown && end <= self.dump.len() && self.are_records(end, ENOUGH_RECORDS)).then_some(end)
    }

    /// Returns whether a name can end at `at`: another record, perhaps after padding, or sub-records follow. Otherwise
    /// its length is wrong, so that the text would be cut or extended.
    fn may_end_record(&mut self, at: usize) -> bool {
        let zeros = self.dump[at..].iter().take(MOST_PADDING).take_while(|&&byte| byte == 0).count();
        self.head(at).is_some()
            || self.dump.len() - at < RECORD_HEAD_BYTES
            || self.end_of_unknown(at).is_some()
            || zeros > 0 && self.are_records(at + zeros, 2)
            || self.has_heap && self.are_parts(at, self.dump.len())
    }

    /// Skips to the next plausible record or sub-record. If there is none and the dump may be cut, `cut` is the part
    /// that is cut.
    fn go_on(&mut self, at: usize, cut: Option<&'static str>) -> usize {
        match self.search(at + 1, self.dump.len(), self.dump.len()) {
            Some(ResumePoint::Record(next) | ResumePoint::Part(next)) => {
                self.skip(at, next, &|| format!("no record begins with {:#04x} there", self.dump[at]));
                next
            }
            None => {
                match cut {
                    Some(inside) => self.cut = Some(Damage::Ends { length: self.dump.len() as u64, inside }),
                    None => self
                        .skip(at, self.dump.len(), &|| format!("no record begins with {:#04x} there", self.dump[at])),
                }
                self.dump.len()
            }
        }
    }

    /// Reads the sub-records of a record. Returns the offset of the next record.
    fn parts(&mut self, head: &Head, heap: u32) -> usize {
        let &Head { mut body, mut end, mut is_open, .. } = head;
        let (mut start, mut at, mut last) = (body, body, None);
        loop {
            if at >= self.dump.len() || is_open && at > body && self.ends_open(at) {
                break;
            }
            if !is_open && at == end {
                if self.are_records(at, 2) || !self.go_on_after_end(at) {
                    break;
                }
                is_open = true;
            }
            let found = SubRecords::<ID>::first(&self.dump[at..]);
            if let Ok((part, length)) = found
                && self.accepts(&part, at + length, end)
            {
                let next = at + length;
                let is_past = !is_open && next > end;
                if is_past && self.are_records(end, ENOUGH_RECORDS) {
                    // The record has the right length; this sub-record continues in the next record, if at all.
                } else {
                    if is_past {
                        is_open = true;
                    }
                    self.learn_part(&part);
                    last = Some(at);
                    at = next;
                    continue;
                }
            }
            // A record may be shorter or longer than its length says.
            if !is_open && at < end && self.ends_open(at) {
                break;
            }
            if !is_open && let Some((next, next_end)) = self.join(at, end, heap, start) {
                (start, at, body, end, last) = (next, next, next, next_end, None);
                continue;
            }
            let limit = if !is_open && self.are_records(end, ENOUGH_RECORDS) { end } else { self.dump.len() };
            let seems_cut = (end > self.dump.len() || head.is_open) && matches!(found, Err(Bad::Short));
            let from = last.take().filter(|_| !seems_cut).unwrap_or(at) + 1;
            let next = self.search(from, limit, limit);
            if seems_cut && !next.is_some_and(|next| self.goes_on(next)) {
                self.cut = Some(Damage::Ends { length: self.dump.len() as u64, inside: "a sub-record" });
                self.piece(start, at, heap);
                return self.dump.len();
            }
            let reason = || match found {
                Err(Bad::Tag) => format!("no sub-record begins with {:#04x} there", self.dump[at]),
                _ => "the sub-record that begins there fits neither its class nor what follows".to_owned(),
            };
            // If something begins inside the sub-record read last, that one has a wrong length.
            let bad = match next {
                Some(ResumePoint::Part(next) | ResumePoint::Record(next)) if next < at => from - 1,
                _ => at,
            };
            self.piece(start, bad, heap);
            match next {
                Some(ResumePoint::Part(next)) => {
                    self.skip(bad, next, &reason);
                    (start, at) = (next, next);
                }
                Some(ResumePoint::Record(next)) => {
                    self.skip(bad, next, &reason);
                    return next;
                }
                None => {
                    self.skip(bad, limit, &reason);
                    return limit;
                }
            }
        }
        self.piece(start, at, heap);
        if at != end && !head.is_open {
            self.note_length(head, body, at, end);
        }
        at
    }

    /// Notes that a record has another length than it says.
    fn note_length(&mut self, head: &Head, body: usize, at: usize, end: usize) {
        let (record, said, real) = (head.body - RECORD_HEAD_BYTES, end - body, at - body);
        if body == head.body && at > end && (at - end).is_multiple_of(1 << 32) {
            self.note(|| format!("the record at byte {record} has {real} bytes; it says {said}, which is modulo 2^32"));
        } else if end <= self.dump.len() || at < self.dump.len() {
            self.note(|| {
                format!("the record at byte {record} says {said} bytes, but its sub-records end after {real}")
            });
        } else if self.cut.is_none() {
            self.cut = Some(Damage::Ends { length: self.dump.len() as u64, inside: "a record" });
        }
    }

    /// Joins a sub-record that begins at `at` and continues in the segment whose record begins at `end`. Returns the
    /// offset of the next sub-record, and the end of the segment that holds it.
    fn join(&mut self, at: usize, end: usize, heap: u32, start: usize) -> Option<(usize, usize)> {
        if at >= end || end >= self.dump.len() {
            return None;
        }
        let mut next = self.whole_segment(end)?;
        let room = MOST_JOINED_BYTES.saturating_sub(self.joined_bytes);
        if end - at > room {
            return None;
        }
        let mut bytes = self.dump[at..end].to_vec();
        let mut from = next.body;
        let length = loop {
            match SubRecords::<ID>::first(&bytes) {
                Ok((part, length)) if length > end - at => {
                    let end_of_part = from - (bytes.len() - length);
                    // The search below begins at the start of the last segment.
                    if end_of_part < next.body || !self.known.is_plausible(&part) {
                        return None;
                    }
                    self.learn_part(&part);
                    from = end_of_part;
                    break length;
                }
                Err(Bad::Short) => {
                    if from == next.end {
                        next = self.whole_segment(next.end)?;
                        from = next.body;
                    }
                    let more = bytes.len().max(256).min(next.end - from);
                    self.effort = self.effort.checked_sub(more as u64 + 1)?;
                    if bytes.len() + more > room {
                        return None;
                    }
                    bytes.extend_from_slice(&self.dump[from..from + more]);
                    from += more;
                }
                _ => return None,
            }
        };
        if !self.may_fill(from, next.end) {
            return None;
        }
        self.piece(start, at, heap);
        bytes.truncate(length);
        bytes.shrink_to_fit();
        self.joined_bytes += length;
        self.places.segments.push(Piece { place: PieceBytes::Joined(self.joined.len()), heap });
        self.joined.push(bytes);
        self.note(|| {
            format!("the sub-record at byte {at} goes on in the next segment; its {length} bytes were put together")
        });
        Some((from, next.end))
    }

    /// The head of the segment at `at`, if it has a length and is not cut.
    fn whole_segment(&self, at: usize) -> Option<Head> {
        let head = self.head(at)?;
        (head.tag == tag::HEAP_DUMP_SEGMENT && !head.is_open && head.end <= self.dump.len()).then_some(head)
    }

    /// Returns whether the bytes between two places of a segment can be sub-records, of which the last may continue
    /// after it.
    fn may_fill(&mut self, mut at: usize, end: usize) -> bool {
        for _ in 0..ENOUGH_OBJECTS {
            match SubRecords::<ID>::first(&self.dump[at..end]) {
                Ok((part, length)) if self.accepts(&part, at + length, end) => at += length,
                Ok(_) => return false,
                Err(bad) => return bad == Bad::Short,
            }
        }
        true
    }

    /// Returns whether the sub-records of a record continue at `at`, where they should end.
    fn go_on_after_end(&mut self, at: usize) -> bool {
        let Ok((part, length)) = SubRecords::<ID>::first(&self.dump[at..]) else { return false };
        let next = at + length;
        self.are_parts(at, self.dump.len())
            || self.known.is_plausible(&part) && (self.are_records(next, 2) || self.are_parts(next, self.dump.len()))
    }

    /// Returns whether a sub-record of a record that ends at `end` is real, and ends at `next`.
    fn accepts(&mut self, part: &SubRecord<'_>, next: usize, end: usize) -> bool {
        // Roots have few known properties, and may come before all objects.
        matches!(part, SubRecord::Root(_)) || self.known.is_plausible(part) || next == end || self.are_parts(next, end)
    }

    fn learn_part(&mut self, part: &SubRecord<'_>) {
        if let SubRecord::Class(class) = part {
            self.known.learn::<ID>(class);
            self.known.saw(class.address);
        } else if let Some(address) = part.object() {
            self.known.saw(address);
        }
    }

    fn learn(&mut self, head: &Head) {
        let body = &self.dump[head.body..head.end];
        match head.tag {
            tag::LOAD_CLASS => {
                let class = body.get(4..4 + ID).map(id::<ID>);
                self.known.loaded.extend(class);
                class.into_iter().for_each(|class| self.known.saw(class));
            }
            tag::STACK_TRACE => {
                self.known.traces.extend(body.get(..4).map(BigEndian::read_u32));
            }
            _ => {}
        }
    }

    /// The next place in `from..limit` where something plausible begins. Sub-records may end a segment at `end`.
    fn search(&mut self, from: usize, limit: usize, end: usize) -> Option<ResumePoint> {
        let limit = limit.min(self.dump.len());
        (from..limit).find_map(|at| {
            if self.are_records(at, ENOUGH_RECORDS) {
                let inside = self.part_inside(at, limit, end);
                Some(inside.map_or(ResumePoint::Record(at), ResumePoint::Part))
            } else if self.has_heap && self.are_parts(at, end) {
                Some(ResumePoint::Part(at))
            } else {
                None
            }
        })
    }

    /// The offset of sub-records inside bytes that look like a record of another kind. Objects of one size hold
    /// numbers that look like heads of names at equal distances; names, frames and traces hold no objects.
    fn part_inside(&mut self, at: usize, limit: usize, end: usize) -> Option<usize> {
        let head = self.head(at).filter(|head| self.has_heap && !is_heap(head.tag))?;
        for at in at..head.end.min(limit) {
            self.effort = self.effort.checked_sub(TRY_EFFORT)?;
            if self.are_parts(at, end) {
                return Some(at);
            }
        }
        None
    }

    /// Returns whether a dump that seems to be cut continues at a place found. This needs more evidence than after
    /// certain damage: a few bytes before the end can look like an object, and a comma followed by zeros like the last
    /// record.
    fn goes_on(&mut self, found: ResumePoint) -> bool {
        let body = match found {
            ResumePoint::Part(at) => Some(at),
            ResumePoint::Record(at) => self.head(at).filter(|head| is_heap(head.tag)).map(|head| head.body),
        };
        let Some(mut at) = body else { return false };
        let mut objects = 0;
        while objects < MANY_OBJECTS {
            let Ok((part, length)) = SubRecords::<ID>::first(self.dump.get(at..).unwrap_or_default()) else {
                return false;
            };
            if !self.known.is_plausible(&part) {
                return false;
            }
            if let Some(address) = part.object() {
                if !self.known.is_aligned(address) {
                    return false;
                }
                objects += 1;
            }
            at += length;
        }
        true
    }

    /// The record at `at`, if its tag allows its length. The length of a heap record, or of the last record, is not
    /// known before it is read.
    fn head(&self, at: usize) -> Option<Head> {
        // Called for each skipped byte: only records need an error message.
        self.dump.get(at).filter(|&&tag| is_record(tag))?;
        let found = record(self.dump, at).ok()??;
        let (length, body) = (found.length as usize, found.body);
        let is_open = is_heap(found.tag) && length > 0 && BigEndian::read_u32(&self.dump[at + 5..]) == 0;
        let is_possible = match found.tag {
            tag::STRING => length >= ID,
            tag::LOAD_CLASS => length == 8 + 2 * ID,
            tag::UNLOAD_CLASS => length == 4,
            tag::STACK_FRAME => length == 4 * ID + 8,
            tag::STACK_TRACE => {
                let frames = body.get(8..12).map(BigEndian::read_u32);
                frames.is_none_or(|frames| length == 12 + frames as usize * ID)
            }
            tag::HEAP_DUMP_END => length == 0,
            _ => true,
        };
        is_possible.then_some(Head {
            tag: found.tag,
            body: found.body_offset,
            end: found.body_offset + length,
            is_open,
        })
    }

    /// Returns whether records begin at `at`: `count` of them, or fewer if the dump ends.
    fn are_records(&mut self, mut at: usize, count: usize) -> bool {
        for _ in 0..count {
            if at == self.dump.len() {
                return true;
            }
            let Some(head) = self.head(at) else { return false };
            // The bytes after the head of a heap record are better evidence than its length, which may be wrong.
            if is_heap(head.tag) && self.are_parts(head.body, head.end) {
                return true;
            }
            if head.end > self.dump.len() || head.is_open {
                return false;
            }
            // A segment may begin with the rest of a sub-record, a whole dump does not.
            if head.tag == tag::HEAP_DUMP && SubRecords::<ID>::first(&self.dump[head.body..head.end]).is_err() {
                return false;
            }
            at = head.end;
            // Padding may follow the end.
            if head.tag == tag::HEAP_DUMP_END && self.dump[at..].iter().take(MOST_PADDING).all(|&byte| byte == 0) {
                return true;
            }
        }
        true
    }

    /// Returns whether other records follow at `at`, after the sub-records of a record without a known end. Some tags
    /// of records are also those of roots.
    fn ends_open(&mut self, at: usize) -> bool {
        let is_record_only = matches!(self.dump[at], 0x0a..=0x0e | tag::HEAP_DUMP_SEGMENT | tag::HEAP_DUMP_END);
        if is_record_only { self.are_records(at, 2) } else { self.are_records(at, ENOUGH_RECORDS) }
    }

    /// Returns whether sub-records begin at `at`. Their segment may end at `end`.
    fn are_parts(&mut self, mut at: usize, end: usize) -> bool {
        let (mut objects, mut are_roots_known) = (0, true);
        for count in 0..MOST_PARTS {
            if at == end || at == self.dump.len() {
                return objects > 0 || count > 1 && are_roots_known;
            }
            let Some(&first) = self.dump.get(at) else { return false };
            if objects > 0 && matches!(first, tag::HEAP_DUMP_SEGMENT | tag::HEAP_DUMP_END | tag::HEAP_DUMP) {
                return self.head(at).is_some();
            }
            if first == 0x20 && !self.may_be_class(at) {
                return false;
            }
            let Ok((part, length)) = SubRecords::<ID>::first(&self.dump[at..]) else { return false };
            match part {
                SubRecord::Root(root) if self.known.is_aligned(root.object) => {
                    are_roots_known &= self.known.is_address(root.object);
                }
                _ if self.known.is_plausible(&part) => {}
                _ => return false,
            }
            objects += usize::from(part.object().is_some() || matches!(part, SubRecord::Class(_)));
            if objects == ENOUGH_OBJECTS {
                return true;
            }
            at += length;
        }
        // Only roots, and more than chance would make of other bytes.
        true
    }

    /// Returns whether to try reading the class at `at`, which may take long.
    fn may_be_class(&mut self, at: usize) -> bool {
        let class = self.dump.get(at + 1..at + 1 + ID).map(id::<ID>);
        if !class.is_some_and(|class| self.known.loaded.contains(&class)) {
            return false;
        }
        let effort = CLASS_BYTES.min(self.dump.len() - at) as u64;
        let is_left = self.effort >= effort;
        self.effort = self.effort.saturating_sub(effort);
        is_left
    }

    /// Adds the intact sub-records between two places.
    fn piece(&mut self, start: usize, end: usize, heap: u32) {
        if start < end {
            self.places.segments.push(Piece { place: PieceBytes::Between(start, end), heap });
        }
    }

    /// Leaves out the bytes between two places. Zeros are padding.
    fn skip(&mut self, start: usize, end: usize, reason: &dyn Fn() -> String) {
        let bytes = (end - start) as u64;
        if self.dump[start..end].iter().all(|&byte| byte == 0) {
            self.note(|| format!("{bytes} bytes of 0 at byte {start}, skipped"));
            return;
        }
        self.skipped.count += 1;
        self.skipped.bytes += bytes;
        self.skipped.first.get_or_insert_with(|| (start as u64, reason()));
        self.note(|| format!("{bytes} bytes at byte {start} were left out"));
    }

    fn note(&mut self, note: impl FnOnce() -> String) {
        self.note_count += 1;
        if self.note_count <= MOST_NOTES {
            self.notes.push(note());
        }
    }

    fn end(mut self) -> Recovered {
        if let Some(more) = self.note_count.checked_sub(MOST_NOTES).filter(|&more| more > 0) {
            self.notes.push(format!("{more} more places where the dump contradicts itself"));
        }
        let SkippedParts { count, bytes, first } = self.skipped;
        let left_out = first.map(|(offset, reason)| Damage::LeftOut { what: "part", count, bytes, offset, reason });
        let ends = self.cut.or_else(|| self.places.missing(self.dump.len()));
        let damage = match (left_out, ends) {
            (Some(left_out), Some(ends)) => Some(left_out.and_ends(ends)),
            (left_out, ends) => left_out.or(ends),
        };
        Recovered { places: self.places, joined: self.joined, damage, notes: self.notes }
    }
}
