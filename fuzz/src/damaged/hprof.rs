//! JVM heap dumps that are made and then damaged: whatever is recovered was there.

use std::collections::{HashMap, HashSet};

use barrow_analyzer::{Silent, walk};

use super::choices::Choices;
use super::recorded;

/// A dump that is whole, and what it holds.
struct Made {
    bytes: Vec<u8>,
    id_bytes: usize,
    /// The type of each object by its address. Both heap dumps have the same.
    types: HashMap<u64, String>,
    /// Where records begin; the last place is the end.
    records: Vec<usize>,
    /// Where sub-records begin and end.
    parts: Vec<(usize, usize)>,
    /// Bytes that say neither what an object is nor where: the others stay as they are.
    changeable: Vec<usize>,
    /// Where the lengths of records and of sub-records are, of four bytes.
    lengths: Vec<usize>,
}

/// Each class with the number of its fields.
const CLASSES: [(&str, usize); 3] = [("Node", 1), ("Pair", 2), ("Empty", 0)];
const FIRST_CLASS: u64 = 0x100;
const FIRST_OBJECT: u64 = 0x1000;

impl Made {
    fn new(choices: &mut Choices<'_>) -> Self {
        let id_bytes = if choices.byte().is_multiple_of(2) { 4 } else { 8 };
        let mut made = Made {
            bytes: b"JAVA PROFILE 1.0.2\0".to_vec(),
            id_bytes,
            types: HashMap::new(),
            records: Vec::new(),
            parts: Vec::new(),
            changeable: Vec::new(),
            lengths: Vec::new(),
        };
        made.bytes.extend((id_bytes as u32).to_be_bytes());
        made.bytes.extend([0; 8]);
        for (number, (name, _)) in (1..).zip(CLASSES.into_iter().chain([("next", 0)])) {
            let body = [made.id(number), name.as_bytes().to_vec()].concat();
            made.record(0x01, &body);
        }
        for number in 1..=CLASSES.len() as u64 {
            let class = made.id(FIRST_CLASS + 8 * (number - 1));
            let body = [&(number as u32).to_be_bytes()[..], &class, &[0; 4], &made.id(number)].concat();
            made.record(0x02, &body);
        }
        let heaps = 1 + choices.up_to(4) / 4;
        let objects = 1 + choices.up_to(20);
        let kinds: Vec<u8> = (0..objects).map(|_| choices.byte()).collect();
        for _ in 0..heaps {
            made.heap(&kinds, choices);
        }
        made.records.push(made.bytes.len());
        made
    }

    fn id(&self, id: u64) -> Vec<u8> {
        id.to_be_bytes()[8 - self.id_bytes..].to_vec()
    }

    fn record(&mut self, tag: u8, body: &[u8]) {
        self.begin_record(tag, body.len());
        self.bytes.extend(body);
    }

    fn begin_record(&mut self, tag: u8, length: usize) {
        let at = self.bytes.len();
        self.records.push(at);
        self.changeable.extend(at..at + 9);
        self.lengths.push(at + 5);
        self.bytes.push(tag);
        self.bytes.extend([0; 4]);
        self.bytes.extend((length as u32).to_be_bytes());
    }

    /// Writes a heap dump in one or more segments.
    fn heap(&mut self, kinds: &[u8], choices: &mut Choices<'_>) {
        let mut start = None;
        let in_segment = 1 + choices.up_to(12);
        for number in 0..CLASSES.len() + kinds.len() + 1 {
            if number % in_segment == 0 {
                self.end_segment(start.take());
            }
            start.get_or_insert_with(|| {
                self.begin_record(0x1c, 0);
                self.bytes.len()
            });
            let at = self.bytes.len();
            match number.checked_sub(CLASSES.len()) {
                None => self.class(number),
                Some(object) if object < kinds.len() => {
                    self.object(FIRST_OBJECT + 64 * object as u64, kinds[object], choices);
                }
                Some(_) => {
                    let root = [vec![0x05], self.id(FIRST_CLASS)].concat();
                    self.bytes.extend(root);
                }
            }
            self.parts.push((at, self.bytes.len()));
        }
        self.end_segment(start);
        self.record(0x2c, &[]);
    }

    fn end_segment(&mut self, start: Option<usize>) {
        if let Some(start) = start {
            let length = (self.bytes.len() - start) as u32;
            self.bytes[start - 4..start].copy_from_slice(&length.to_be_bytes());
        }
    }

    fn class(&mut self, number: usize) {
        let address = FIRST_CLASS + 8 * number as u64;
        self.types.insert(address, "java.lang.Class".to_owned());
        let mut class = [vec![0x20], self.id(address), vec![0; 4 + 6 * self.id_bytes + 4 + 2 + 2]].concat();
        class.extend((CLASSES[number].1 as u16).to_be_bytes());
        for _ in 0..CLASSES[number].1 {
            class.extend([self.id(1 + CLASSES.len() as u64), vec![2]].concat());
        }
        self.bytes.extend(class);
    }

    fn object(&mut self, address: u64, kind: u8, choices: &mut Choices<'_>) {
        let start = self.bytes.len();
        let class = usize::from(kind / 8) % CLASSES.len();
        let class_id = self.id(FIRST_CLASS + 8 * class as u64);
        let (count, type_name, contents) = match kind % 4 {
            0 => {
                let count = choices.up_to(40);
                (count, "byte[]".to_owned(), (0..count).map(|_| choices.byte()).collect())
            }
            1 => {
                let count = choices.up_to(5);
                let elements = (0..count).flat_map(|_| self.id(FIRST_OBJECT + 64 * choices.up_to(20) as u64));
                // The class of an array is that of its elements here, so that it has their name.
                (count, CLASSES[class].0.to_owned(), elements.collect::<Vec<u8>>())
            }
            _ => {
                let fields = CLASSES[class].1;
                let values = (0..fields).flat_map(|_| self.id(FIRST_OBJECT + 64 * choices.up_to(20) as u64));
                (fields * self.id_bytes, CLASSES[class].0.to_owned(), values.collect())
            }
        };
        self.types.insert(address, type_name);
        let head = [self.id(address), vec![0; 4]].concat();
        let count = (count as u32).to_be_bytes();
        let (tag, rest, length_at) = match kind % 4 {
            0 => (0x23, [&count[..], &[8]].concat(), 0),
            1 => (0x22, [&count[..], &class_id].concat(), 0),
            _ => (0x21, [&class_id[..], &count].concat(), self.id_bytes),
        };
        self.bytes.push(tag);
        self.bytes.extend(&head);
        let length_at = self.bytes.len() + length_at;
        self.bytes.extend(rest);
        let contents_at = self.bytes.len();
        self.bytes.extend::<Vec<u8>>(contents);
        self.lengths.push(length_at);
        self.changeable.extend((start..=start).chain(length_at..length_at + 4).chain(contents_at..self.bytes.len()));
    }

    /// Damages the dump once.
    fn damage(&mut self, choices: &mut Choices<'_>) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        match choices.byte() % 8 {
            0 => bytes.truncate(choices.below(self.bytes.len())),
            1 | 2 => {
                for _ in 0..1 + choices.up_to(3) {
                    let at = self.changeable[choices.below(self.changeable.len())];
                    bytes[at] = choices.byte();
                }
            }
            3 | 4 => {
                let at = self.lengths[choices.below(self.lengths.len())];
                let length = u32::from_be_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
                let more = choices.up_to(80) as u32;
                let length = if choices.byte().is_multiple_of(2) {
                    length.wrapping_add(more)
                } else {
                    length.wrapping_sub(more)
                };
                bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
            }
            5 | 6 => {
                let at = choices.below(self.records.len() - 1);
                let (start, end) = (self.records[at], self.records[at + 1]);
                self.drop_or_repeat(&mut bytes, start, end, choices);
            }
            _ => {
                let (start, end) = self.parts[choices.below(self.parts.len())];
                self.drop_or_repeat(&mut bytes, start, end, choices);
            }
        }
        bytes
    }

    fn drop_or_repeat(&self, bytes: &mut Vec<u8>, start: usize, end: usize, choices: &mut Choices<'_>) {
        if choices.byte().is_multiple_of(2) {
            bytes.drain(start..end);
        } else {
            bytes.splice(end..end, self.bytes[start..end].to_vec());
        }
    }
}

/// Makes a dump as the bytes say, damages it as they say, and imports it: every object that is recovered was there, with
/// its type, and each is there once.
///
/// # Panics
/// If that is not so.
pub fn damaged_hprof(input: &[u8]) {
    let choices = &mut Choices::new(input);
    let mut made = Made::new(choices);
    let damaged = made.damage(choices);
    let Some(recording) = recorded(&damaged) else { return };
    let tables = recording.tables().expect("tables");
    for snapshot in recording.snapshot_ids() {
        let mut seen = HashSet::new();
        walk(&recording, snapshot, &Silent, |object, _| {
            let address = object.address.expect("each has one");
            let name = tables.type_name(object.type_id);
            let expected = made.types.get(&address);
            // What was lost may be the name of the class, or the class. A name whose length reaches to the end of a later record
            // holds that record, and nothing else is wrong.
            let holds_record =
                |expected: &String| name.starts_with(expected.as_str()) && name.contains(char::is_control);
            let is_right =
                name.starts_with('<') || expected.is_some_and(|expected| expected == name || holds_record(expected));
            assert!(is_right, "{name} at {address:#x}, where {expected:?} was: {input:02x?}");
            assert!(seen.insert(address), "{address:#x} twice: {input:02x?}");
            Ok(())
        })
        .expect("a whole recording");
    }
}
