//! Screens an HPROF dump while it is unpacked.

use byteorder::{BigEndian, ByteOrder};

use super::records::{Header, RECORD_HEAD_BYTES, begins_object, is_heap, is_record};
use crate::intake::screen::Screen;

/// Follows the records of an HPROF dump by their lengths.
pub(crate) struct RecordHeads {
    /// Number of bytes before the head of the next record.
    skip: u64,
    /// The part of a head that has arrived.
    head: Vec<u8>,
    /// A segment without a length has begun: it is the rest of the dump, or empty.
    is_open: bool,
    /// A segment that is not empty has begun. Its length may be wrong, so all bytes after it may belong to
    /// the dump.
    has_heap: bool,
}

impl RecordHeads {
    /// A screen whose first record comes after `header` bytes.
    fn after(header: usize) -> Self {
        RecordHeads {
            skip: header as u64,
            head: Vec::with_capacity(RECORD_HEAD_BYTES),
            is_open: false,
            has_heap: false,
        }
    }

    /// The screen of a dump; `None` if its header is damaged.
    pub(crate) fn boxed(first_bytes: &[u8]) -> Option<Box<dyn Screen>> {
        let header = Header::parse(first_bytes).ok()?;
        Some(Box::new(RecordHeads::after(header.length)))
    }

    /// Screens nothing of the rest.
    fn skip_all(&mut self) {
        self.skip = u64::MAX;
        self.head.clear();
    }

    /// Handles the whole head of a record.
    fn end_head(&mut self) {
        self.skip = BigEndian::read_u32(&self.head[5..RECORD_HEAD_BYTES]).into();
        self.is_open = self.skip == 0 && is_heap(self.head[0]);
        self.has_heap |= self.skip > 0 && is_heap(self.head[0]);
        self.head.clear();
    }
}

impl Screen for RecordHeads {
    fn admits(&mut self, mut bytes: &[u8]) -> bool {
        loop {
            if let (true, Some(&first)) = (self.is_open, bytes.first()) {
                self.is_open = false;
                self.skip = if begins_object(first) { u64::MAX } else { 0 };
            }
            let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
            self.skip -= skipped as u64;
            let missing = RECORD_HEAD_BYTES - self.head.len();
            let (taken, rest) = bytes[skipped..].split_at(missing.min(bytes.len() - skipped));
            self.head.extend_from_slice(taken);
            bytes = rest;
            match self.head.first() {
                Some(&tag) if !is_record(tag) && self.has_heap => self.skip_all(),
                // Only 0 is no tag of any record, known or not.
                Some(0) => return false,
                _ if self.head.len() < RECORD_HEAD_BYTES => return true,
                _ => self.end_head(),
            }
        }
    }
}
