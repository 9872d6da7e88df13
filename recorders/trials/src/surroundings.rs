//! Facts about a trial as a whole, and features that the system and its programs lack.

use barrow_writer::{Better, Word};

use crate::error::TrialError;
use crate::layout::{Knobs, Layout, LayoutKind};
use crate::ledger::Ledger;
use crate::observer::Observer;
use crate::plan::{Plan, Stop};
use crate::program::Program;
use crate::system;

/// The knobs that the system does not have, of those that are wanted.
pub(crate) fn missing_knobs(layout: Layout, observer: &dyn Observer) -> Knobs {
    let mut missing = Knobs::NONE;
    if layout.kind == LayoutKind::AsIs {
        return missing;
    }
    if !system::can_fix_addresses() {
        observer.note("the system forbids to switch address space randomisation off (personality): it stays as it is");
        missing = missing.and(Knobs::ASLR);
    }
    let wants_pages = layout.kind == LayoutKind::Random && layout.knobs.has(Knobs::THP);
    let pages = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if !wants_pages {
        return missing;
    }
    if !pages.contains("[always]") && !pages.contains("[madvise]") {
        observer.note("this system has no transparent huge pages: the knob thp is left out");
        missing = missing.and(Knobs::THP);
    } else if !system::can_disable_huge_pages() {
        observer.note("the system forbids to switch huge pages off (prctl): the knob thp is left out");
        missing = missing.and(Knobs::THP);
    }
    missing
}

/// A sentence that names what is missing for a program without the shim.
pub(crate) fn without_shim(plan: &Plan, name: &str, program: &Program, reason: &str) -> String {
    let mut lacks = Vec::new();
    if program.has_own_addresses && plan.layout.kind != LayoutKind::AsIs {
        lacks.push("the system randomises its addresses in every run");
    }
    if plan.count_heap {
        lacks.push("its allocations are not counted");
    }
    if plan.layout.kind == LayoutKind::Random {
        lacks.push("the knobs stack and heap do nothing");
    }
    let lacks = if lacks.is_empty() { "no shim is loaded".to_owned() } else { lacks.join(", ") };
    format!("`{name}` {reason}: {lacks}")
}

/// The text of a file without blanks around it.
fn trimmed(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// Writes the facts about the recording as a whole.
pub(crate) fn facts(plan: &Plan, ledger: &Ledger) -> Result<(), TrialError> {
    let memory = trimmed("/proc/meminfo").and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?.to_owned();
        let kib = line.split_whitespace().nth(1)?.parse::<u64>().ok()?;
        Some((kib * 1024).to_string())
    });
    let lines: Vec<String> = plan.variants.iter().map(|variant| variant.command.text()).collect();
    let stop = match plan.stop {
        Stop::Runs(runs) => format!("{runs} runs of each program"),
        Stop::Until { precision, at_least, at_most, .. } => {
            format!("known to {} %, {at_least} to {at_most} runs", precision * 100.0)
        }
    };
    let facts = [
        (Word::of_settings("recorded by"), Some("barrow trial".to_owned())),
        (Word::new("command"), Some(lines.join("; "))),
        (Word::of_settings("layout"), Some(plan.layout.text())),
        (Word::of_settings("seed"), Some(plan.seed.to_string())),
        (Word::of_settings("stop"), Some(stop)),
        (Word::of_names("host"), trimmed("/proc/sys/kernel/hostname")),
        (Word::of_settings("kernel"), trimmed("/proc/sys/kernel/osrelease")),
        (Word::of_settings("cores"), std::thread::available_parallelism().map(|cores| cores.to_string()).ok()),
        (Word::of_settings("memory"), memory),
    ];
    for (key, value) in facts {
        if let Some(value) = value {
            ledger.fact(key, &value)?;
        }
    }
    let values: Vec<&str> =
        plan.values.iter().filter(|value| value.better == Better::Unknown).map(|value| value.name.as_str()).collect();
    if values.is_empty() { Ok(()) } else { ledger.fact(Word::of_names("values without direction"), &values.join(", ")) }
}
