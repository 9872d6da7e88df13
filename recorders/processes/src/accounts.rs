//! What a process used without its children.
//!
//! The system counts a process together with the children that it waited for, in microseconds. What the children
//! used is known from their ends, so it is taken off again. Where that cannot be right, the counters of `/proc` are used
//! (10 ms). The sum of both times is that of the process's own clock, in nanoseconds.

use barrow_writer::{ProcessId, Usage};

use crate::files;
use crate::system::{self, Pid, Resources};

/// Both times may differ by this much, by rounding, before the split is doubted, for each child.
const TOLERANCE_NS: u64 = 2_000;
/// And by this much in any case: the clock goes on a little between two questions.
const SLACK_NS: u64 = 200_000;
/// The unit of times in `/proc/PID/stat`.
pub(crate) const NS_PER_TICK: u64 = 10_000_000;

/// A process that another one started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Child {
    pub(crate) pid: Pid,
    pub(crate) id: Option<ProcessId>,
    /// Ticks since the machine started, when it was heard of: soon after its beginning.
    pub(crate) began_ticks: u64,
}

impl Child {
    /// Whether it is there, even if it ended and nobody waited for it. A process of its number that began later is another one.
    fn exists(&self) -> bool {
        system::exists(self.pid) && files::stat(self.pid).is_none_or(|stat| stat.began_ticks <= self.began_ticks)
    }
}

/// What is known of the uses of a process.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// Sums of the children that it waited for.
    waited: Resources,
    waited_count: u64,
    /// Children that ended, for which it did not wait yet.
    ended: Vec<(Child, Resources)>,
    /// The largest peak that a former image had.
    highest_before: u64,
    /// It may have waited for processes that nothing is known of.
    has_unknown_children: bool,
}

impl Account {
    /// A child ended.
    pub(crate) fn child_ended(&mut self, child: Child, used: Resources) {
        self.ended.push((child, used));
    }

    /// The process waited for a child that ended: another process has its number.
    pub(crate) fn was_waited_for(&mut self, pid: Pid) {
        for (_, used) in self.ended.extract_if(.., |(child, _)| child.pid == pid) {
            add(&mut self.waited, used);
            self.waited_count += 1;
        }
    }

    /// Finds out which children the process waited for. Returns those that are still there.
    pub(crate) fn settle(&mut self) -> Vec<Option<ProcessId>> {
        let ended = std::mem::take(&mut self.ended);
        for (child, used) in ended {
            if child.exists() {
                self.ended.push((child, used));
            } else {
                add(&mut self.waited, used);
                self.waited_count += 1;
            }
        }
        self.ended.iter().map(|(child, _)| child.id).collect()
    }

    /// A child is not followed from now on.
    pub(crate) fn child_is_left_alone(&mut self) {
        self.has_unknown_children = true;
    }

    /// What the image that ends used, as another one begins, with what came before; and its peak.
    pub(crate) fn image_ends(&mut self, pid: Pid, all: Resources) -> Usage {
        let used = self.used(pid, all);
        self.highest_before = self.highest_before.max(all.peak_bytes);
        used
    }

    /// What the process used until now, without children. `all` is what the system counts with them. The peak of the present
    /// image is one of those that the system counts together: it is known if it is larger than those of former images and
    /// of children.
    pub(crate) fn used(&self, pid: Pid, all: Resources) -> Usage {
        let own = match self.own(pid, all) {
            Ok(own) => own,
            Err(clock) => return from_counters(pid, clock),
        };
        let before = self.highest_before.max(self.waited.peak_bytes);
        let is_largest = all.peak_bytes > before && !self.has_unknown_children;
        Usage {
            user_ns: Some(own.user_ns),
            system_ns: Some(own.system_ns),
            peak_bytes: is_largest.then_some(all.peak_bytes),
            minor_faults: Some(own.minor_faults),
            major_faults: Some(own.major_faults),
            read_bytes: Some(own.read_bytes),
            written_bytes: Some(own.written_bytes),
            voluntary_switches: Some(own.voluntary_switches),
            involuntary_switches: Some(own.involuntary_switches),
            waiting_ns: None,
        }
    }

    /// What is left of `all` without the children that are known, if the process's own clock agrees; otherwise that clock.
    fn own(&self, pid: Pid, all: Resources) -> Result<Resources, Option<u64>> {
        let clock = system::processor_ns(pid);
        let own = less(all, self.waited).ok_or(clock)?;
        let counted = own.user_ns + own.system_ns;
        let tolerance = SLACK_NS + TOLERANCE_NS * self.waited_count;
        let agrees = |clock: u64| clock.abs_diff(counted) <= tolerance.max(clock / 100);
        if !clock.is_none_or(agrees) {
            return Err(clock);
        }
        let (user_ns, system_ns) = split(clock.unwrap_or(counted), own.user_ns, own.system_ns);
        Ok(Resources { user_ns, system_ns, ..own })
    }
}

/// What the system counts of a process alone, in ticks.
fn from_counters(pid: Pid, clock: Option<u64>) -> Usage {
    let stat = files::stat(pid);
    let ticks = stat.as_ref().map(|stat| (stat.user_ticks * NS_PER_TICK, stat.system_ticks * NS_PER_TICK));
    let times = ticks.map(|(user, system)| split(clock.unwrap_or(user + system), user, system));
    Usage {
        user_ns: times.map(|(user, _)| user),
        system_ns: times.map(|(_, system)| system),
        minor_faults: stat.as_ref().map(|stat| stat.minor_faults),
        major_faults: stat.as_ref().map(|stat| stat.major_faults),
        ..Usage::default()
    }
}

/// Divides a time in the proportion of two others.
pub(crate) fn split(total: u64, user: u64, system: u64) -> (u64, u64) {
    let sum = u128::from(user) + u128::from(system);
    if sum == 0 {
        return (total, 0);
    }
    let user = u64::try_from(u128::from(total) * u128::from(user) / sum).unwrap_or(total);
    (user, total - user)
}

fn add(sum: &mut Resources, used: Resources) {
    sum.user_ns += used.user_ns;
    sum.system_ns += used.system_ns;
    sum.minor_faults += used.minor_faults;
    sum.major_faults += used.major_faults;
    sum.voluntary_switches += used.voluntary_switches;
    sum.involuntary_switches += used.involuntary_switches;
    sum.read_bytes += used.read_bytes;
    sum.written_bytes += used.written_bytes;
    sum.peak_bytes = sum.peak_bytes.max(used.peak_bytes);
}

fn less(all: Resources, children: Resources) -> Option<Resources> {
    // Times of children are rounded down one by one.
    let time = |all: u64, children: u64| (children <= all + SLACK_NS).then(|| all.saturating_sub(children));
    Some(Resources {
        user_ns: time(all.user_ns, children.user_ns)?,
        system_ns: time(all.system_ns, children.system_ns)?,
        minor_faults: all.minor_faults.checked_sub(children.minor_faults)?,
        major_faults: all.major_faults.checked_sub(children.major_faults)?,
        voluntary_switches: all.voluntary_switches.checked_sub(children.voluntary_switches)?,
        involuntary_switches: all.involuntary_switches.checked_sub(children.involuntary_switches)?,
        read_bytes: all.read_bytes.checked_sub(children.read_bytes)?,
        written_bytes: all.written_bytes.checked_sub(children.written_bytes)?,
        peak_bytes: all.peak_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_divided_in_proportion() {
        assert_eq!(split(100, 3, 1), (75, 25));
        assert_eq!(split(100, 0, 0), (100, 0));
        assert_eq!(split(u64::MAX, u64::MAX, u64::MAX), (u64::MAX / 2, u64::MAX / 2 + 1));
    }

    #[test]
    fn the_peak_of_an_image_is_known_if_it_is_the_largest() {
        // There is no such process (numbers are at most 2^22), so that no clock disagrees.
        const NONE: Pid = 5_000_000;
        let peak = |account: &mut Account, peak_bytes| {
            account.image_ends(NONE, Resources { peak_bytes, ..Resources::default() }).peak_bytes
        };
        let mut account = Account::default();
        assert_eq!(peak(&mut account, 10), Some(10));
        assert_eq!(peak(&mut account, 10), None);
        assert_eq!(peak(&mut account, 11), Some(11));
        account.child_is_left_alone();
        assert_eq!(peak(&mut account, 12), None);
    }

    #[test]
    fn children_are_taken_off() {
        let all = Resources { user_ns: 10, minor_faults: 7, ..Resources::default() };
        let children = Resources { user_ns: 4, minor_faults: 5, ..Resources::default() };
        let own = less(all, children).unwrap();
        assert_eq!((own.user_ns, own.minor_faults), (6, 2));
        assert_eq!(less(children, Resources { minor_faults: 6, ..all }), None);
    }
}
