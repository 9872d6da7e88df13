//! Number of processes with each process number so far: the system reuses numbers.

use std::collections::HashMap;

use barrow_analyzer::StringId;

/// Numbers whose counts are stored together. Systems give nearby numbers to processes that begin one after the other.
const PAGE: u64 = 16;

/// Counts processes by host and number, in 4 bytes per number.
#[derive(Debug, Default, Clone)]
pub(super) struct Serials {
    pages: HashMap<(Option<StringId>, u64), [u32; PAGE as usize]>,
}

impl Serials {
    /// The serial of a process that begins.
    pub(super) fn next(&mut self, host: Option<StringId>, pid: u64) -> u32 {
        let page = self.pages.entry((host, pid / PAGE)).or_default();
        let next = &mut page[(pid % PAGE) as usize];
        let serial = *next;
        *next = next.saturating_add(1);
        serial
    }
}
