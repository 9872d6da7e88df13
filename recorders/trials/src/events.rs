//! Counters of the processor, where the kernel permits: instructions, cycles, misses of branches and of caches.

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::os::fd::FromRawFd;

use crate::system::Pid;

/// An event that the processor can count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// The name of the metric.
    pub(crate) name: &'static str,
    kind: u32,
    number: u64,
}

const HARDWARE: u32 = 0;

/// All events, by their numbers in the kernel's interface.
pub(crate) const EVENTS: [Event; 4] = [
    Event { name: "instructions", kind: HARDWARE, number: 1 },
    Event { name: "cycles", kind: HARDWARE, number: 0 },
    Event { name: "branch_misses", kind: HARDWARE, number: 5 },
    Event { name: "cache_misses", kind: HARDWARE, number: 3 },
];

/// The first version of `struct perf_event_attr`.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    number: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint_type: u32,
    address: u64,
}

/// Bits of `flags`.
const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
/// Both times, to see whether it was counted all the time.
const READ_TIMES: u64 = 3;
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// A counter of one process and those that it starts, from the program that it executes next.
pub(crate) struct Counter {
    pub(crate) event: Event,
    file: File,
}

impl Counter {
    /// Counts an event of a process; in user code alone, because the kernel permits that to all users.
    pub(crate) fn of(event: Event, process: Pid) -> io::Result<Self> {
        let attributes = Attributes {
            kind: event.kind,
            size: mem::size_of::<Attributes>() as u32,
            number: event.number,
            sample_period: 0,
            sample_type: 0,
            read_format: READ_TIMES,
            flags: DISABLED | INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | ENABLE_ON_EXEC,
            wakeup: 0,
            breakpoint_type: 0,
            address: 0,
        };
        // SAFETY: the structure is whole and has its size; the descriptor is new and owned by nothing else.
        unsafe {
            let (any_processor, no_group): (i32, i32) = (-1, -1);
            let file = libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                process,
                any_processor,
                no_group,
                CLOSE_ON_EXEC,
            );
            if file < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Counter { event, file: File::from_raw_fd(file as i32) })
        }
    }

    /// The count; `None` if the event shared its counter with others, so that the number would be an estimate.
    pub(crate) fn read(mut self) -> Option<u64> {
        let mut bytes = [0; 24];
        self.file.read_exact(&mut bytes).ok()?;
        let [value, enabled, running] =
            [0, 8, 16].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default()));
        (enabled == running && running > 0).then_some(value)
    }
}

/// The events that can be counted here, and why others cannot.
pub(crate) fn available() -> (Vec<Event>, Option<String>) {
    let mut cause = None;
    let mut found = Vec::new();
    for event in EVENTS {
        match Counter::of(event, 0) {
            Ok(_) => found.push(event),
            Err(error) => cause = Some(error),
        }
    }
    let why = cause.map(|error| {
        let names: Vec<&str> = EVENTS.iter().filter(|event| !found.contains(event)).map(|event| event.name).collect();
        let reason = match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => {
                "the kernel does not permit it (see kernel.perf_event_paranoid)".to_owned()
            }
            Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => "this machine has no such counter".to_owned(),
            _ => error.to_string(),
        };
        format!("{} not counted: {reason}", names.join(", "))
    });
    (found, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_of_the_kernel_counts_or_is_refused() {
        // Page faults are counted without hardware; what is counted begins with a program, so nothing is here.
        let faults = Event { name: "page_faults", kind: 1, number: 2 };
        match Counter::of(faults, 0) {
            Ok(counter) => assert_eq!(counter.read(), None),
            Err(error) => assert!(error.raw_os_error().is_some(), "{error}"),
        }
        let (found, why) = available();
        assert_eq!(found.len() == EVENTS.len(), why.is_none());
    }
}
