//! Usage of a process until its call, and the time when it began.

use barrow_writer::Usage;

use crate::accounts;
use crate::files::{self, Schedule, Stat};
use crate::system::{self, Pid};

/// Below both limits the peak of a process is not read, which takes 18 µs: its resident memory at its last call stands in.
const SMALL_NS: u64 = 2_000_000;
const SMALL_PAGES: u64 = 2048;
/// The same limits, as a fact in the recording.
pub(crate) const SMALL_PEAKS: &str =
    "of processes that used less than 2 ms, below 2048 pages: resident at the last call";

/// Time when a process began: at most the end of its start tick, and early enough for the processor and waiting time it has.
pub(super) fn began_ns(process: Pid, stat: &Stat, now_ns: i64) -> i64 {
    let busy_ns = system::processor_ns(process).unwrap_or(0).saturating_add(files::waiting_ns(process).unwrap_or(0));
    let busy_ns = i64::try_from(busy_ns).unwrap_or(0);
    let tick_ends = u64::checked_add(stat.began_ticks, 1).and_then(|tick| tick.checked_mul(accounts::NS_PER_TICK));
    let since_tick = system::since_boot_ns().zip(tick_ends).map_or(0, |(now, tick)| now.saturating_sub(tick));
    now_ns.saturating_sub(busy_ns.max(i64::try_from(since_tick).unwrap_or(0)))
}

/// Usage of a fork until it executes a program: the values that are cheap to read. The others count for its program.
pub(super) fn used_as_copy(process: Pid, stat: &Stat) -> Usage {
    let cpu_ns = system::processor_ns(process);
    let times = cpu_ns.and_then(|cpu_ns| accounts::times(process, Some(cpu_ns)));
    Usage {
        user_ns: times.map(|(user, _)| user),
        system_ns: times.map(|(_, system)| system),
        minor_faults: Some(stat.minor_faults),
        major_faults: Some(stat.major_faults),
        ..Usage::default()
    }
}

/// Usage of a process until now, without its children. `schedule` is the open one of its first thread, if any.
pub(super) fn used(process: Pid, stat: &Stat, schedule: Option<Schedule>) -> Usage {
    let usage = used_as_copy(process, stat);
    let cpu_ns = usage.user_ns.zip(usage.system_ns).map(|(user, system)| user + system);
    let is_small = cpu_ns.is_some_and(|cpu_ns| cpu_ns < SMALL_NS) && (1..SMALL_PAGES).contains(&stat.resident_pages);
    let status = if is_small { files::Status::small(stat) } else { files::status(process) };
    let waiting_ns = files::waiting_of_all(process, stat.threads, cpu_ns, schedule);
    // The system counts switches per thread, and `status` has those of the first one.
    let is_single = stat.threads == 1 && waiting_ns.is_some();
    Usage {
        peak_bytes: status.peak_bytes,
        voluntary_switches: status.voluntary_switches.filter(|_| is_single),
        involuntary_switches: status.involuntary_switches.filter(|_| is_single),
        waiting_ns,
        ..usage
    }
}
