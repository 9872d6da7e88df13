//! Resources that a process used without its children.
//!
//! The system counts a process together with the children that it waited for, in microseconds. The usage of the children
//! is known from their ends and is subtracted. If the result is implausible, the counters of `/proc` replace it. The
//! sum of user and system time is that of the process's own clock, in nanoseconds.

use barrow_writer::{ProcessId, Usage};

use crate::files;
use crate::system::{self, Pid, Resources};

/// Rounding error per child that the sum of both times may have before the split is rejected.
const TOLERANCE_NS: u64 = 2_000;
/// Additional tolerance, since the clock advances between two queries.
const SLACK_NS: u64 = 200_000;
/// The unit of times in `/proc/PID/stat`.
pub(crate) const NS_PER_TICK: u64 = 10_000_000;

/// A process that another one started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Child {
    pub(crate) pid: Pid,
    pub(crate) id: Option<ProcessId>,
    /// Ticks since the machine booted when the recorder first saw it, soon after it began.
    pub(crate) began_ticks: u64,
}

impl Child {
    /// Returns true if it exists, perhaps as a zombie. A process with its number that began later is another one.
    fn exists(&self) -> bool {
        system::exists(self.pid) && files::stat(self.pid).is_none_or(|stat| stat.began_ticks <= self.began_ticks)
    }
}

/// The known usage of a process and its children.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// Sum over the children that it waited for.
    waited: Resources,
    waited_count: u64,
    /// Children that ended and that it has not waited for yet.
    ended: Vec<(Child, Resources)>,
    /// The largest peak of an earlier image.
    highest_before: u64,
    /// It may have waited for processes that are not recorded.
    has_unknown_children: bool,
}

impl Account {
    /// Records that a child ended.
    pub(crate) fn child_ended(&mut self, child: Child, used: Resources) {
        self.ended.push((child, used));
    }

    /// Records that the process waited for a child that ended: its number was given to another process.
    pub(crate) fn was_waited_for(&mut self, pid: Pid) {
        for (_, used) in self.ended.extract_if(.., |(child, _)| child.pid == pid) {
            add(&mut self.waited, used);
            self.waited_count += 1;
        }
    }

    /// Determines which children the process waited for. Returns those that still exist.
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

    /// Returns whether the process never waited for the children that are gone, since it ignores their ends: the system counts
    /// nothing of such children. Forgets what they used then.
    pub(crate) fn ignored_ends(&mut self, stat: &files::Stat) -> bool {
        let faults = self.waited.minor_faults + self.waited.major_faults;
        let ignored = stat.ignores_ends && stat.faults_of_children < faults;
        if ignored {
            (self.waited, self.waited_count) = (Resources::default(), 0);
        }
        ignored
    }

    /// Records that a child is no longer followed.
    pub(crate) fn child_is_left_alone(&mut self) {
        self.has_unknown_children = true;
    }

    /// Usage from the start of the process to the end of an image, with the peak of that image. Another image begins.
    pub(crate) fn image_ends(&mut self, pid: Pid, all: Resources) -> Usage {
        let used = self.used(pid, all);
        self.highest_before = self.highest_before.max(all.peak_bytes);
        used
    }

    /// Usage of the process until now, without its children; `all` includes them. The system reports one peak for the present
    /// image, earlier images and children: that of the present image is known if it is larger than the others.
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

    /// Subtracts the known children from `all`. Fails with the process's own clock if that contradicts the result.
    fn own(&self, pid: Pid, all: Resources) -> Result<Resources, Option<u64>> {
        let clock = system::processor_ns(pid);
        let own = less(all, self.waited).ok_or(clock)?;
        let counted = own.user_ns + own.system_ns;
        let tolerance = SLACK_NS + TOLERANCE_NS * self.waited_count;
        if clock.is_some_and(|clock| clock.abs_diff(counted) > tolerance.max(clock / 100)) {
            return Err(clock);
        }
        let (user_ns, system_ns) = split(clock.unwrap_or(counted), own.user_ns, own.system_ns);
        Ok(Resources { user_ns, system_ns, ..own })
    }
}

/// User and system time of a process without its children. `clock` is their sum. The system finds a process in one of both
/// at each tick, and `getrusage` divides the sum in proportion, as here: sums over many processes are right, those of a process
/// that lived for few ticks are not.
pub(crate) fn times(pid: Pid, clock: Option<u64>) -> Option<(u64, u64)> {
    let (user, system) = system::counted_ns(pid)?;
    Some(split(clock.unwrap_or(user + system), user, system))
}

/// Usage of a process alone, from its counters.
fn from_counters(pid: Pid, clock: Option<u64>) -> Usage {
    let stat = files::stat(pid);
    let times = times(pid, clock);
    Usage {
        user_ns: times.map(|(user, _)| user),
        system_ns: times.map(|(_, system)| system),
        minor_faults: stat.as_ref().map(|stat| stat.minor_faults),
        major_faults: stat.as_ref().map(|stat| stat.major_faults),
        ..Usage::default()
    }
}

/// Divides a time in proportion to two others.
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
    Some(Resources {
        user_ns: less_time(all.user_ns, children.user_ns)?,
        system_ns: less_time(all.system_ns, children.system_ns)?,
        minor_faults: all.minor_faults.checked_sub(children.minor_faults)?,
        major_faults: all.major_faults.checked_sub(children.major_faults)?,
        voluntary_switches: all.voluntary_switches.checked_sub(children.voluntary_switches)?,
        involuntary_switches: all.involuntary_switches.checked_sub(children.involuntary_switches)?,
        read_bytes: all.read_bytes.checked_sub(children.read_bytes)?,
        written_bytes: all.written_bytes.checked_sub(children.written_bytes)?,
        peak_bytes: all.peak_bytes,
    })
}

/// Subtracts the times of children, each of which was rounded on its own.
fn less_time(all: u64, children: u64) -> Option<u64> {
    (children <= all + SLACK_NS).then(|| all.saturating_sub(children))
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
