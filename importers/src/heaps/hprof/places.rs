//! Places of the records of a file, and the heap dumps that they belong to.

use crate::error::Damage;

use super::records::tag;

/// Consecutive sub-records.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment<'a> {
    pub(super) bytes: &'a [u8],
    /// The number of its heap dump, counted from 0.
    pub(super) heap: u32,
}

/// Consecutive records outside of the heap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Records {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The heap dump that they precede or are in.
    pub(super) heap: u32,
}

/// The places of segments and other records in a file.
#[derive(Debug, Default)]
pub(super) struct RecordPlaces<S> {
    pub(super) segments: Vec<S>,
    pub(super) records: Vec<Records>,
    /// The current heap dump, or the next one.
    pub(super) heap: u32,
    /// The current heap dump has begun with segments and has not ended.
    is_open: bool,
}

impl<S> RecordPlaces<S> {
    pub(super) fn new() -> Self {
        RecordPlaces { segments: Vec::new(), records: Vec::new(), heap: 0, is_open: false }
    }

    /// Begins a heap record with this tag. Returns the heap dump of its segments.
    pub(super) fn begin(&mut self, heap_tag: u8) -> u32 {
        if heap_tag == tag::HEAP_DUMP {
            self.end_heap();
        }
        self.is_open = true;
        self.heap
    }

    /// Ends a heap record with this tag.
    pub(super) fn end(&mut self, heap_tag: u8) {
        if heap_tag == tag::HEAP_DUMP {
            self.end_heap();
        }
    }

    /// Adds a record between these places that does not belong to the heap.
    pub(super) fn other(&mut self, record_tag: u8, start: usize, end: usize) {
        if record_tag == tag::HEAP_DUMP_END {
            self.end_heap();
            return;
        }
        match self.records.last_mut() {
            Some(last) if last.end == start && last.heap == self.heap => last.end = end,
            _ => self.records.push(Records { start, end, heap: self.heap }),
        }
    }

    fn end_heap(&mut self) {
        self.heap += u32::from(std::mem::take(&mut self.is_open));
    }

    /// The damage of a dump of `length` bytes that lacks its end.
    pub(super) fn missing(&self, length: usize) -> Option<Damage> {
        let missing = "the record that ends a heap dump";
        self.is_open.then_some(Damage::Unfinished { length: length as u64, missing })
    }
}
