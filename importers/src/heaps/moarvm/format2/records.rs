//! The records of references in the dump, with an index of their places.
//!
//! ```text
//!   records   ┊·····┊···┊·····┊···········┊···┊·····┊···┊···┊·····┊ …     4, 6, 10 or 18 bytes each
//!             ▲                           ▲                   ▲
//!   places    0                           4                   8 …         of every fourth: 16 bits from its base
//!   bases     0                                                           of every 2048th: 64 bits
//! ```
//!
//! A walk over all records checks them and notes the places, half a byte for each reference.

use crate::error::{Damage, Stop};
use crate::heaps::moarvm::collectables::Collectable;
use crate::heaps::moarvm::reading::{RECORDS_PER_QUESTION, ReadContext};
use crate::heaps::moarvm::references::{Limits, References, label};
use barrow_writer::{Label, StringId};
use byteorder::{ByteOrder, LittleEndian};

/// Maximum length of a reference: letter, kind and two u64.
pub(super) const MAX_REFERENCE_BYTES: usize = 18;
/// Minimum length of a reference: letter, kind and two u8.
pub(super) const MIN_REFERENCE_BYTES: u64 = 4;

/// One in this number of references has a place.
const REFERENCES_PER_PLACE: usize = 4;
/// One in this number of references has a base; as many of the longest take less than 64 KiB.
const REFERENCES_PER_BASE: usize = 2048;

/// By letter: the bytes of a reference's description, and of its target; 0 for bytes that are not a letter.
const WIDTHS: [u8; 256] = {
    let mut widths = [0; 256];
    widths[b'0' as usize] = 1;
    widths[b'1' as usize] = 2;
    widths[b'3' as usize] = 4;
    widths[b'6' as usize] = 8;
    widths
};

/// A mask of the bits of an integer, by its width in bytes.
const MASKS: [u64; 9] = [0, 0xff, 0xffff, 0, 0xffff_ffff, 0, 0, 0, u64::MAX];

/// A record of `refs`.
struct Record {
    kind: u8,
    value: u64,
    target: u64,
    /// The offset of the next one.
    next: usize,
}

/// Reads the record at `offset`.
#[inline]
fn record(dump: &[u8], offset: usize) -> Result<Record, Damage> {
    let rest = dump.get(offset..).unwrap_or_default();
    let mut copy = [0; MAX_REFERENCE_BYTES];
    // The longest record is read for any letter, which avoids a branch.
    let bytes = rest.first_chunk().unwrap_or_else(|| {
        copy[..rest.len()].copy_from_slice(rest);
        &copy
    });
    let width = usize::from(WIDTHS[usize::from(bytes[0])]);
    let length = 2 + 2 * width;
    if width == 0 || length > rest.len() {
        return Err(no_reference(dump, offset));
    }
    let mask = MASKS[width];
    let value = LittleEndian::read_u64(&bytes[2..10]) & mask;
    let target = LittleEndian::read_u64(&bytes[2 + width..10 + width]) & mask;
    Ok(Record { kind: bytes[1], value, target, next: offset + length })
}

/// The offset of the record after the one at `offset`, possibly after the end of the dump.
#[inline]
fn skip(dump: &[u8], offset: usize) -> Result<usize, Damage> {
    let width = dump.get(offset).map_or(0, |&letter| usize::from(WIDTHS[usize::from(letter)]));
    if width == 0 { Err(no_reference(dump, offset)) } else { Ok(offset + 2 + 2 * width) }
}

/// The reason why there is no reference at `offset`.
#[cold]
fn no_reference(dump: &[u8], offset: usize) -> Damage {
    match dump.get(offset) {
        Some(&letter) if WIDTHS[usize::from(letter)] == 0 => Damage::Unexpected {
            found: format!("'{}'", letter.escape_ascii()),
            offset: offset as u64,
            expected: "a reference's width letter 0, 1, 3 or 6",
        },
        _ => Damage::Ends { length: dump.len() as u64, inside: "the references" },
    }
}

/// Steps over `count` references by their letters, and returns the end.
pub(super) fn end_of_records(dump: &[u8], start: usize, count: u64, reading: &ReadContext<'_>) -> Result<usize, Stop> {
    let mut offset = start;
    let mut left = count;
    while left > 0 {
        reading.check_cancelled()?;
        let batch = left.min(RECORDS_PER_QUESTION);
        for _ in 0..batch {
            offset = skip(dump, offset)?;
        }
        left -= batch;
    }
    if offset > dump.len() {
        return Err(Damage::Ends { length: dump.len() as u64, inside: "the references" }.into());
    }
    Ok(offset)
}

/// The records of a snapshot's references, checked.
pub(crate) struct ReferenceRecords<'a> {
    dump: &'a [u8],
    count: u64,
    bases: Vec<usize>,
    places: Vec<u16>,
}

impl<'a> ReferenceRecords<'a> {
    /// Walks over the `count` records from `start` to `end`, and checks them.
    pub(super) fn walk(
        dump: &'a [u8],
        (start, end): (usize, usize),
        count: u64,
        limits: &Limits,
        reading: &ReadContext<'_>,
    ) -> Result<Self, Stop> {
        let mut records = ReferenceRecords { dump, count, bases: Vec::new(), places: Vec::new() };
        let mut offset = start;
        let mut left = count;
        while left > 0 {
            reading.check_cancelled()?;
            let batch = left.min(RECORDS_PER_QUESTION);
            let batch_start = offset;
            for done in (0..batch as usize).step_by(REFERENCES_PER_BASE) {
                offset = records.walk_base(offset, REFERENCES_PER_BASE.min(batch as usize - done), limits)?;
            }
            left -= batch;
            reading.progress.advance((offset - batch_start) as u64);
        }
        if offset == end {
            return Ok(records);
        }
        let (expected, found) = ((end - start) as u64, (offset - start) as u64);
        Err(Damage::Mismatch { what: "bytes of the references", offset: start as u64, expected, found }.into())
    }

    /// Walks over the records of one base.
    fn walk_base(&mut self, base: usize, count: usize, limits: &Limits) -> Result<usize, Damage> {
        self.bases.push(base);
        let mut offset = base;
        for number in 0..count {
            if number % REFERENCES_PER_PLACE == 0 {
                self.places.push((offset - base) as u16);
            }
            let record = record(self.dump, offset)?;
            limits.check(record.kind, record.value, record.target, offset as u64)?;
            offset = record.next;
        }
        Ok(offset)
    }

    /// The offset of the record of a reference.
    #[inline]
    fn offset(&self, reference: usize) -> Result<usize, Damage> {
        let base = self.bases.get(reference / REFERENCES_PER_BASE);
        let place = self.places.get(reference / REFERENCES_PER_PLACE);
        let (Some(base), Some(&place)) = (base, place) else {
            return Err(Damage::Ends { length: self.dump.len() as u64, inside: "the references" });
        };
        let mut offset = base + usize::from(place);
        for _ in 0..reference % REFERENCES_PER_PLACE {
            offset = skip(self.dump, offset)?;
        }
        Ok(offset)
    }
}

impl References for ReferenceRecords<'_> {
    fn len(&self) -> u64 {
        self.count
    }

    fn memory_bytes(&self) -> u64 {
        (self.bases.capacity() * size_of::<usize>() + self.places.capacity() * size_of::<u16>()) as u64
    }

    #[inline]
    fn place(&self, collectable: &Collectable) -> Result<usize, Damage> {
        if collectable.reference_count == 0 { Ok(0) } else { self.offset(collectable.first_reference as usize) }
    }

    #[inline]
    fn for_each_from(
        &self,
        place: usize,
        count: u64,
        names: &[StringId],
        mut visit: impl FnMut(Label, u32) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut offset = place;
        for _ in 0..count {
            let record = record(self.dump, offset)?;
            visit(label(record.kind, record.value, names), record.target as u32)?;
            offset = record.next;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_every_width_are_read() {
        let dump = [
            &b"0\x01\x07\x08"[..],                      // u8: index 7, target 8
            b"1\x01\x01\x02\x09\0",                     // u16: index 0x201, target 9
            b"3\x02\x01\0\0\0\x08\0\0\0",               // u32: string 1, target 8
            b"6\x00\0\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0", // u64: unknown, target 7
        ]
        .concat();
        let mut offset = 0;
        for (expected, length) in [((1, 7, 8), 4), ((1, 0x201, 9), 6), ((2, 1, 8), 10), ((0, 0, 7), 18)] {
            let Record { kind, value, target, next } = record(&dump, offset).expect("a whole reference");
            assert_eq!((kind, value, target), expected);
            assert_eq!(next - offset, length);
            assert_eq!(skip(&dump, offset), Ok(next));
            offset = next;
        }
    }

    #[test]
    fn a_cut_reference_and_a_wrong_letter_are_told_apart() {
        assert_eq!(
            record(b"3\x01\0\0\0\0\x01\0\0", 0).err(),
            Some(Damage::Ends { length: 9, inside: "the references" })
        );
        assert!(matches!(record(b"2\x01\0\0", 0), Err(Damage::Unexpected { offset: 0, .. })));
    }

    #[test]
    fn every_reference_is_found() {
        let count = 3 * REFERENCES_PER_BASE + 7;
        let mut dump = Vec::new();
        for number in 0..count {
            match number % 3 {
                0 => dump.extend([b'0', 1, (number % 251) as u8, 0]),
                1 => dump.extend([b"1\x01".as_slice(), &(number as u16).to_le_bytes(), &[0; 2]].concat()),
                _ => dump.extend([b"6\x01".as_slice(), &(number as u64).to_le_bytes(), &[0; 8]].concat()),
            }
        }
        let limits = Limits::new(1, 0, 0).expect("few");
        let mut records = ReferenceRecords { dump: &dump, count: count as u64, bases: Vec::new(), places: Vec::new() };
        let mut offset = 0;
        for left in (0..count).step_by(REFERENCES_PER_BASE).map(|done| count - done) {
            offset = records.walk_base(offset, left.min(REFERENCES_PER_BASE), &limits).expect("whole references");
        }
        assert_eq!(offset, dump.len());
        for number in 0..count {
            let at = records.offset(number).expect("a reference");
            let expected = if number % 3 == 0 { number % 251 } else { number };
            assert_eq!(record(&dump, at).expect("a reference").value, expected as u64, "{number}");
        }
        assert!(records.offset(count + REFERENCES_PER_PLACE).is_err());
    }
}
