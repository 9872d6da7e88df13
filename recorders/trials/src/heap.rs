//! The allocations of the processes of a run, or the reason for which they are unknown.

use std::collections::HashMap;

/// Processes of a run that are counted.
pub(crate) const SLOTS: usize = 4095;

/// The allocations of a run, if they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heap {
    /// Counting was not requested.
    NotAsked,
    /// All allocations were counted.
    Counted(Counted),
    /// At most a part was counted, so no figure is given.
    Unknown(Unknown),
}

/// The allocations of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counted {
    /// Peak of live bytes, of the process with the largest peak.
    pub(crate) peak_bytes: u64,
    /// Bytes of all processes.
    pub(crate) allocated_bytes: u64,
    /// Blocks of all processes.
    pub(crate) blocks: u64,
    /// Bytes that the program itself had when it ended.
    pub(crate) live_bytes: u64,
}

/// The reason for which allocations are unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unknown {
    /// A clause about the program: `it has an allocator of its own`.
    pub(crate) why: String,
    /// The heap of the program itself is not the one that the knob moves.
    pub(crate) is_unmoved: bool,
}

/// A process as recorded by the shim.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) process: u64,
    pub(crate) allocated: u64,
    pub(crate) blocks: u64,
    pub(crate) live: u64,
    pub(crate) peak: u64,
    pub(crate) verdict: u64,
    /// It executes another program, which has a slot of its own if it loads the shim.
    pub(crate) executes: bool,
}

/// The verdicts of `shim/verdict.rs`.
const COUNTED: u64 = 1;
const FIRST: u64 = 2;
const SEVERAL: u64 = 3;
const PAST_THE_FAMILY: u64 = 4;
const OTHER_LIBC: u64 = 5;
const GO: u64 = 6;
/// The values that `shim/slots.rs` writes in place of a verdict.
const EXPECTS: u64 = 7;
const VOID: u64 = 8;

impl Heap {
    /// The allocations of all processes of a run whose first process is `process`. `is_left`: another one still runs.
    /// `allocator` is the file with the allocator of the first uncounted process, empty for the program itself.
    pub(crate) fn of(slots: &[Slot], process: u64, is_left: bool, allocator: &str) -> Self {
        if slots.is_empty() {
            return Heap::unknown("it does not load the library that counts");
        }
        // The program itself, or the program that it became, decides before those that it starts.
        let mut uncounted = slots.iter().filter(|slot| ![COUNTED, EXPECTS, VOID].contains(&slot.verdict));
        if let Some(slot) = uncounted.clone().find(|slot| slot.process == process).or_else(|| uncounted.next()) {
            let is_own = slot.process == process;
            let program = if is_own { "it" } else { "a program that it starts" };
            let why = format!("{program} {}", reason(slot.verdict, allocator));
            return Heap::Unknown(Unknown { why, is_unmoved: is_own && slot.verdict == FIRST });
        }
        if is_left {
            return Heap::unknown("a process that it started still runs");
        }
        if let Some(process_lost) = lost(slots) {
            let is_own = process_lost == process;
            let verb = if is_own { "becomes" } else { "starts" };
            let why = format!("it {verb} a program that has not loaded the library that counts");
            return Heap::Unknown(Unknown { why, is_unmoved: is_own });
        }
        let mut counted = Counted::default();
        for slot in slots.iter().filter(|slot| slot.verdict == COUNTED) {
            // The program may have written into its counters: sums stay sums.
            counted.peak_bytes = counted.peak_bytes.max(slot.peak);
            counted.allocated_bytes = counted.allocated_bytes.saturating_add(slot.allocated);
            counted.blocks = counted.blocks.saturating_add(slot.blocks);
            if slot.process == process {
                counted.live_bytes = slot.live;
            }
        }
        Heap::Counted(counted)
    }

    /// A run of more processes than there are slots.
    pub(crate) fn of_too_many() -> Self {
        Heap::unknown(&format!("it starts more than {SLOTS} processes"))
    }

    fn unknown(why: &str) -> Self {
        Heap::Unknown(Unknown { why: why.to_owned(), is_unmoved: false })
    }
}

/// The process that executed a program that took no slot, if there is one. Its file may be linked statically, it may have gained
/// rights, or have lost the variables of barrow.
fn lost(slots: &[Slot]) -> Option<u64> {
    // The last slot of each process that has slots of programs.
    let mut last: HashMap<u64, usize> = HashMap::new();
    for (at, slot) in slots.iter().enumerate().filter(|(_, slot)| ![EXPECTS, VOID].contains(&slot.verdict)) {
        last.insert(slot.process, at);
    }
    let lost = slots.iter().enumerate().find(|(at, slot)| match slot.verdict {
        VOID => false,
        // The process that starts a program writes this before or after the program takes its slot.
        EXPECTS => !last.contains_key(&slot.process),
        _ => slot.executes && last.get(&slot.process) == Some(at),
    });
    lost.map(|(_, slot)| slot.process)
}

/// Why a process is not counted, after its subject.
fn reason(verdict: u64, allocator: &str) -> String {
    match (verdict, allocator) {
        (FIRST, "") => "has an allocator of its own".to_owned(),
        (FIRST, file) => format!("takes the allocator of {file} before the library that counts"),
        (SEVERAL, "") => "has only a part of malloc's functions itself".to_owned(),
        (SEVERAL, file) => format!("uses {file}, which has only a part of malloc's functions"),
        (PAST_THE_FAMILY, file) => {
            format!("also allocates through functions of {file} that are not counted, such as the operators of C++")
        }
        (OTHER_LIBC, file) => format!("uses {file} and not glibc"),
        (GO, _) => "is a program of Go, whose heap is not that of malloc".to_owned(),
        _ => "left no counts".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(process: u64, verdict: u64) -> Slot {
        Slot { process, allocated: 10, blocks: 2, live: 5, peak: 8, verdict, executes: false }
    }

    fn executing(process: u64) -> Slot {
        Slot { executes: true, ..slot(process, COUNTED) }
    }

    #[test]
    fn a_program_that_is_executed_and_writes_nothing_is_not_known() {
        let is_counted = |slots: &[Slot]| matches!(Heap::of(slots, 7, false, ""), Heap::Counted(_));
        assert!(is_counted(&[executing(7), slot(7, COUNTED)]));
        assert!(is_counted(&[slot(7, COUNTED), slot(8, EXPECTS), slot(8, COUNTED), slot(9, VOID)]));
        assert!(is_counted(&[slot(7, COUNTED), slot(8, COUNTED), slot(8, EXPECTS)]), "it wrote before who started it");
        let starts = "it starts a program that has not loaded the library that counts";
        assert_eq!(why(&[executing(7), slot(8, COUNTED)], ""), starts.replace("starts", "becomes"));
        assert_eq!(why(&[slot(7, COUNTED), slot(8, COUNTED), executing(8)], ""), starts);
        assert_eq!(why(&[slot(7, COUNTED), slot(8, EXPECTS)], ""), starts);
        let still_runs = Heap::of(&[slot(7, COUNTED), executing(8)], 7, true, "");
        assert_eq!(still_runs, Heap::unknown("a process that it started still runs"));
        // A void slot adds no figures.
        let one = Heap::of(&[slot(7, COUNTED)], 7, false, "");
        assert_eq!(Heap::of(&[slot(7, COUNTED), slot(9, VOID)], 7, false, ""), one);
    }

    fn why(slots: &[Slot], allocator: &str) -> String {
        match Heap::of(slots, 7, false, allocator) {
            Heap::Unknown(unknown) => unknown.why,
            counted => panic!("{counted:?}"),
        }
    }

    #[test]
    fn what_one_process_does_not_tell_is_not_known_of_all() {
        let counted = Counted { peak_bytes: 8, allocated_bytes: 20, blocks: 4, live_bytes: 5 };
        assert_eq!(Heap::of(&[slot(7, COUNTED), slot(8, COUNTED)], 7, false, ""), Heap::Counted(counted));
        let slots = [slot(7, COUNTED), slot(8, OTHER_LIBC)];
        assert_eq!(why(&slots, "ld-musl.so.1"), "a program that it starts uses ld-musl.so.1 and not glibc");
        assert_eq!(why(&[slot(8, GO), slot(7, FIRST)], ""), "it has an allocator of its own");
        assert_eq!(why(&[], ""), "it does not load the library that counts");
        assert_eq!(why(&[slot(7, 0)], ""), "it left no counts");
    }

    #[test]
    fn the_heap_of_an_own_allocator_is_not_moved() {
        let is_unmoved =
            |slots: &[Slot]| matches!(Heap::of(slots, 7, false, ""), Heap::Unknown(Unknown { is_unmoved: true, .. }));
        assert!(is_unmoved(&[slot(7, FIRST)]) && is_unmoved(&[slot(7, COUNTED), slot(7, FIRST)]));
        assert!(!is_unmoved(&[slot(8, FIRST)]) && !is_unmoved(&[slot(7, SEVERAL)]) && !is_unmoved(&[slot(7, COUNTED)]));
    }
}
