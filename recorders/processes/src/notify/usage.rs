//! What a process used until it makes a call, and when it began.

use barrow_writer::Usage;

use crate::accounts;
use crate::files::{self, Stat};
use crate::system::{self, Pid};

/// A process that ran for less and is smaller is not asked for its peak, which takes 18 µs: what is resident at its last call is
/// taken for that.
const SMALL_NS: u64 = 2_000_000;
const SMALL_PAGES: u64 = 2048;
/// The same for readers of the recording.
pub(crate) const SMALL_PEAKS: &str =
    "of processes that used less than 2 ms, below 2048 pages: resident at the last call";

/// When a process began: after the tick that the system names, and before it had used what it used.
pub(super) fn began_ns(process: Pid, stat: &Stat, now_ns: i64) -> i64 {
    let busy_ns = system::processor_ns(process).unwrap_or(0).saturating_add(files::waiting_ns(process).unwrap_or(0));
    let busy_ns = i64::try_from(busy_ns).unwrap_or(0);
    let tick_ends = u64::checked_add(stat.began_ticks, 1).and_then(|tick| tick.checked_mul(accounts::NS_PER_TICK));
    let since_tick = system::since_boot_ns().zip(tick_ends).map_or(0, |(now, tick)| now.saturating_sub(tick));
    now_ns.saturating_sub(busy_ns.max(i64::try_from(since_tick).unwrap_or(0)))
}

/// What a copy of another process used until it executes something: what is cheap to ask for. The rest counts for its program.
pub(super) fn used_as_copy(process: Pid, stat: &Stat) -> Usage {
    let cpu_ns = system::processor_ns(process);
    let times = cpu_ns.map(|cpu_ns| accounts::split(cpu_ns, stat.user_ticks, stat.system_ticks));
    Usage {
        user_ns: times.map(|(user, _)| user),
        system_ns: times.map(|(_, system)| system),
        minor_faults: Some(stat.minor_faults),
        major_faults: Some(stat.major_faults),
        ..Usage::default()
    }
}

/// What a process used until now, without its children.
pub(super) fn used(process: Pid, stat: &Stat) -> Usage {
    let usage = used_as_copy(process, stat);
    let cpu_ns = usage.user_ns.zip(usage.system_ns).map(|(user, system)| user + system);
    let is_small = cpu_ns.is_some_and(|cpu_ns| cpu_ns < SMALL_NS) && (1..SMALL_PAGES).contains(&stat.resident_pages);
    let status = if is_small { files::Status::small(stat) } else { files::status(process) };
    let waiting_ns = files::waiting_of_all(process, stat.threads, cpu_ns);
    // These are counted for each thread, and only the first one is asked.
    let is_single = stat.threads == 1 && waiting_ns.is_some();
    let of_first = |count: Option<u64>| count.filter(|_| is_single);
    Usage {
        peak_bytes: status.peak_bytes,
        voluntary_switches: of_first(status.voluntary_switches),
        involuntary_switches: of_first(status.involuntary_switches),
        waiting_ns,
        ..usage
    }
}
