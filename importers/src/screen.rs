//! A look at a dump while it is unpacked: whether it can still become one, from what a glance tells.
//!
//! An importer reads a dump once all of it is there. A few kilobytes can unpack to gigabytes that are no dump, so the
//! bytes are screened on their way to the temporary file, and unpacking ends where they make no sense. What is
//! screened is only what costs next to nothing; the importer then finds the damage, and says what it is.

use byteorder::{BigEndian, ByteOrder};

use crate::format::{Format, MOARVM_HEADER_BYTES, recognise};
use crate::hprof::{self, RECORD_HEAD_BYTES};
use crate::moarvm;

/// The first bytes that are waited for before a dump is recognised.
pub(crate) const FIRST_BYTES: usize = 4096;

/// Screens the unpacked bytes of one dump, piece by piece.
#[derive(Debug)]
pub(crate) enum Screen {
    /// Fewer than [`FIRST_BYTES`] so far.
    Beginning(Vec<u8>),
    /// Lines of JSON objects; whether the next byte begins a line.
    JsonLines { begins_line: bool },
    /// Any other text.
    Text,
    /// Records of an HPROF dump.
    Hprof(HprofRecords),
    /// Nothing more is looked at.
    Passed,
    /// It is no dump, or damaged.
    Refused,
}

impl Screen {
    pub(crate) fn new() -> Self {
        Screen::Beginning(Vec::new())
    }

    /// Whether the dump can still be one after these `bytes`, which follow those before.
    pub(crate) fn admits(&mut self, bytes: &[u8]) -> bool {
        if let Screen::Beginning(first) = self {
            first.extend_from_slice(bytes);
            if first.len() >= FIRST_BYTES {
                let first = std::mem::take(first);
                *self = Screen::of(&first);
                return self.continues(&first);
            }
            return true;
        }
        self.continues(bytes)
    }

    fn continues(&mut self, bytes: &[u8]) -> bool {
        let admits = match self {
            Screen::Beginning(_) | Screen::Passed => true,
            Screen::Refused => false,
            // A byte of 0 is in no text, and in JSON it is always escaped.
            Screen::Text => memchr::memchr(0, bytes).is_none(),
            Screen::JsonLines { begins_line } => memchr::memchr(0, bytes).is_none() && are_lines(bytes, begins_line),
            Screen::Hprof(records) => records.admit(bytes),
        };
        if !admits {
            *self = Screen::Refused;
        }
        admits
    }

    /// What screens a dump that begins so.
    fn of(first_bytes: &[u8]) -> Self {
        match recognise(first_bytes) {
            None => Screen::Refused,
            Some(Format::Hprof) => match hprof::header_bytes(first_bytes) {
                Some(length) => Screen::Hprof(HprofRecords::after(length)),
                None => Screen::Refused,
            },
            Some(Format::MoarVm2 | Format::MoarVm3) => {
                let section = first_bytes.get(MOARVM_HEADER_BYTES..).unwrap_or_default();
                if moarvm::begins_section(section) { Screen::Passed } else { Screen::Refused }
            }
            Some(Format::MoarVm1 | Format::V8) => Screen::Text,
            Some(Format::Python | Format::Ruby) => Screen::JsonLines { begins_line: true },
        }
    }
}

/// Whether every line that begins in `bytes` begins as an object, or is blank.
fn are_lines(bytes: &[u8], begins_line: &mut bool) -> bool {
    let can_begin = |byte: u8| byte == b'{' || byte.is_ascii_whitespace();
    if let (true, Some(&first)) = (*begins_line, bytes.first())
        && !can_begin(first)
    {
        return false;
    }
    *begins_line = bytes.last() == Some(&b'\n');
    memchr::memchr_iter(b'\n', bytes).all(|newline| bytes.get(newline + 1).is_none_or(|&first| can_begin(first)))
}

/// Follows the records of an HPROF dump by their lengths.
#[derive(Debug)]
pub(crate) struct HprofRecords {
    /// How many bytes are left until the head of the next record.
    skip: u64,
    /// The beginning of a head whose end has not come yet.
    head: Vec<u8>,
    /// A segment without a length has begun: it is the rest of the dump, or empty.
    is_open: bool,
}

impl HprofRecords {
    /// The first record comes after `header` bytes.
    fn after(header: usize) -> Self {
        HprofRecords { skip: header as u64, head: Vec::with_capacity(RECORD_HEAD_BYTES), is_open: false }
    }

    fn admit(&mut self, mut bytes: &[u8]) -> bool {
        loop {
            if let (true, Some(&first)) = (self.is_open, bytes.first()) {
                self.is_open = false;
                self.skip = if hprof::begins_object(first) { u64::MAX } else { 0 };
            }
            let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
            self.skip -= skipped as u64;
            let missing = RECORD_HEAD_BYTES - self.head.len();
            let (taken, rest) = bytes[skipped..].split_at(missing.min(bytes.len() - skipped));
            self.head.extend_from_slice(taken);
            bytes = rest;
            match self.head.first() {
                Some(&tag) if !hprof::is_record(tag) => return false,
                _ if self.head.len() < RECORD_HEAD_BYTES => return true,
                _ => self.end_head(),
            }
        }
    }

    /// The head of a record is whole.
    fn end_head(&mut self) {
        self.skip = BigEndian::read_u32(&self.head[5..RECORD_HEAD_BYTES]).into();
        self.is_open = self.skip == 0 && hprof::is_heap(self.head[0]);
        self.head.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `bytes` are admitted, in pieces of `piece` bytes.
    fn admitted(bytes: &[u8], piece: usize) -> usize {
        let mut screen = Screen::new();
        bytes.chunks(piece).take_while(|piece| screen.admits(piece)).map(<[u8]>::len).sum()
    }

    fn hprof(records: &[u8]) -> Vec<u8> {
        [b"JAVA PROFILE 1.0.2\0\0\0\0\x08".as_slice(), &[0; 8], records].concat()
    }

    #[test]
    fn records_are_followed_by_their_lengths() {
        let record = [&[1, 0, 0, 0, 0, 0, 0, 0x10, 0][..], &[0; 0x1000]].concat();
        let whole = hprof(&record.repeat(5));
        let damaged = [&whole[..], &[0; 1 << 20]].concat();
        for piece in [1, 7, 1000, 1 << 16] {
            assert_eq!(admitted(&whole, piece), whole.len(), "pieces of {piece}");
            let admitted = admitted(&damaged, piece);
            assert!(admitted <= whole.len() && admitted + piece > whole.len(), "pieces of {piece}: {admitted}");
        }
        // Old virtual machines write no length of a heap of more than 4 GiB.
        let heap = hprof(&[&[0x0c, 0, 0, 0, 0, 0, 0, 0, 0, 0x21][..], &[0x55; 1 << 14]].concat());
        assert_eq!(admitted(&heap, 1000), heap.len());
        let empty = hprof(&[&[0x1c, 0, 0, 0, 0, 0, 0, 0, 0][..], &[0; 1 << 14]].concat());
        assert!(admitted(&empty, 1000) <= FIRST_BYTES);
    }

    #[test]
    fn text_has_no_zeros_and_lines_begin_as_objects() {
        let line = format!("{{\"address\":\"0x10\", \"type\":\"STRING\", \"value\":\"{}\"}}\n", "x".repeat(100));
        let whole = line.repeat(100);
        for piece in [1, 33, 5000] {
            assert_eq!(admitted(whole.as_bytes(), piece), whole.len());
            for damage in ["garbage\n", "\0\0\0\0"] {
                let damaged = whole.clone() + &damage.repeat(1000);
                assert!(admitted(damaged.as_bytes(), piece) <= whole.len(), "{damage:?} in pieces of {piece}");
            }
        }
        let v8 = "{\"snapshot\":{".to_owned() + &" ".repeat(5000);
        assert_eq!(admitted(v8.as_bytes(), 100), v8.len());
        assert_eq!(admitted((v8.clone() + "\0").as_bytes(), 100), v8.len() / 100 * 100);
    }

    #[test]
    fn what_begins_as_no_dump_is_refused_at_once() {
        for begin in
            ["nothing of the kind", "MoarHeapDumpv002", "MoarHeapDumpv003", "MoarHeapDumpv009", "JAVA PROFILE "]
        {
            let bytes = [begin.as_bytes(), &[0; 1 << 16]].concat();
            assert!(admitted(&bytes, 1000) <= FIRST_BYTES, "{begin}");
        }
    }
}
