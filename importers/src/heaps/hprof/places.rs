//! Where the records of a file are, and of which heap dump.

use crate::error::Damage;

use super::records::tag;

/// Sub-records that follow each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment<'a> {
    pub(super) bytes: &'a [u8],
    /// The heap dump it is of, counted from 0.
    pub(super) heap: u32,
}

/// Records that follow each other and are not of the heap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Records {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The heap dump they precede, or are in.
    pub(super) heap: u32,
}

/// Where everything is in a file.
#[derive(Debug, Default)]
pub(super) struct Places<S> {
    pub(super) segments: Vec<S>,
    pub(super) records: Vec<Records>,
    /// The heap dump that comes next, or that has begun.
    pub(super) heap: u32,
    /// Whether that one has begun with segments, and has not ended.
    is_open: bool,
}

impl<S> Places<S> {
    pub(super) fn new() -> Self {
        Places { segments: Vec::new(), records: Vec::new(), heap: 0, is_open: false }
    }

    /// A record of the heap with this tag begins; the heap dump that its segments are of.
    pub(super) fn begin(&mut self, heap_tag: u8) -> u32 {
        if heap_tag == tag::HEAP_DUMP {
            self.end_heap();
        }
        self.is_open = true;
        self.heap
    }

    /// The record has ended.
    pub(super) fn end(&mut self, heap_tag: u8) {
        if heap_tag == tag::HEAP_DUMP {
            self.end_heap();
        }
    }

    /// Another record is between these places.
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

    /// What is missing at the end, if the dump ends at `length`.
    pub(super) fn missing(&self, length: usize) -> Option<Damage> {
        let missing = "the record that ends a heap dump";
        self.is_open.then_some(Damage::Unfinished { length: length as u64, missing })
    }
}
