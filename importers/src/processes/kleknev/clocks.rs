//! The differences of the clocks of hosts, as far as the order of a log determines them.
//!
//! ```text
//!   record           host  time   true time is between
//!   make begins      a     1000
//!   gcc begins       b     4600   1000 and 1001: the clock of b is 3599 to 3600 s ahead
//!   gcc begins       a     1001
//! ```
//!
//! Wrappers append records under a lock, so the log has the true order, whatever the clocks say. Whenever records of
//! two hosts follow each other, that bounds the difference of their clocks.

/// A difference that proves nothing, in nanoseconds: a wrapper reads the time before it waits for the lock.
const UNCERTAIN_NS: i128 = 1_000_000_000;

/// The bounds of the number of nanoseconds to add to a host's times, for them to fit those of the first host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) least_ns: Option<i128>,
    pub(super) most_ns: Option<i128>,
}

/// The state of a host.
#[derive(Debug, Clone, Copy)]
struct Host {
    bounds: Bounds,
    /// The time of its last record since the last one of the first host.
    last_ns: Option<i128>,
}

/// The clocks of the hosts of a log, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    hosts: Vec<Host>,
    /// The time of the last record of the first host.
    first_ns: Option<i128>,
    /// Hosts with records since then.
    since: Vec<u32>,
}

impl Clocks {
    /// Notes a record that a host wrote at this time of its clock. Hosts are numbered in the order of their first
    /// records.
    pub(super) fn take(&mut self, host: u32, time_ns: i128) {
        if host == 0 {
            for host in self.since.drain(..) {
                let host = &mut self.hosts[host as usize - 1];
                let most_ns = host.last_ns.take().map(|last_ns| time_ns - last_ns);
                host.bounds.most_ns = host.bounds.most_ns.into_iter().chain(most_ns).min();
            }
            self.first_ns = Some(time_ns);
            return;
        }
        if self.hosts.len() < host as usize {
            let none = Host { bounds: Bounds { least_ns: None, most_ns: None }, last_ns: None };
            self.hosts.resize(host as usize, none);
        }
        let known = &mut self.hosts[host as usize - 1];
        let least_ns = self.first_ns.map(|first_ns| first_ns - time_ns);
        known.bounds.least_ns = known.bounds.least_ns.max(least_ns);
        if known.last_ns.replace(time_ns).is_none() {
            self.since.push(host);
        }
    }

    /// The hosts whose clocks contradict that of the first one.
    pub(super) fn contradictions(&self) -> impl Iterator<Item = (u32, Bounds)> + '_ {
        let hosts = (1..).zip(&self.hosts).map(|(number, host)| (number, host.bounds));
        hosts.filter(|(_, bounds)| {
            bounds.least_ns.is_some_and(|least_ns| least_ns > UNCERTAIN_NS)
                || bounds.most_ns.is_some_and(|most_ns| most_ns < -UNCERTAIN_NS)
        })
    }
}

impl Bounds {
    /// An estimate of the nanoseconds to add to the host's times; `None` if no number fits all of the log.
    pub(super) fn estimate_ns(self) -> Option<i128> {
        match (self.least_ns, self.most_ns) {
            (Some(least_ns), Some(most_ns)) if least_ns > most_ns + UNCERTAIN_NS => None,
            (Some(least_ns), Some(most_ns)) => Some((least_ns + most_ns) / 2),
            (least_ns, most_ns) => least_ns.or(most_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i128 = 1_000_000_000;

    fn bounds(records: &[(u32, i128)]) -> Vec<(u32, Option<i128>)> {
        let mut clocks = Clocks::default();
        records.iter().for_each(|&(host, seconds)| clocks.take(host, seconds * SECOND));
        let seconds = |bounds: Bounds| bounds.estimate_ns().map(|ns| ns / SECOND);
        clocks.contradictions().map(|(host, bounds)| (host, seconds(bounds))).collect()
    }

    #[test]
    fn records_between_those_of_another_host_bound_the_difference() {
        // Between 1000 and 1001, so -3600 to -3599; between 1003 and 1005, so -3599 to -3597.
        let log = [(0, 1000), (1, 4600), (0, 1001), (0, 1003), (1, 4602), (0, 1005)];
        assert_eq!(bounds(&log), [(1, Some(-3599))]);
        // Behind, and nothing follows.
        assert_eq!(bounds(&[(0, 1000), (1, 10), (2, 1000)]), [(1, Some(990))]);
        // A second proves nothing, and one host has one clock.
        assert_eq!(bounds(&[(0, 10), (1, 9), (0, 10), (1, 11), (0, 10)]), []);
        assert_eq!(bounds(&[(0, 10), (0, 5), (0, 100)]), []);
        // A clock that is set in between.
        assert_eq!(bounds(&[(0, 10), (1, 10), (0, 11), (1, 5000), (0, 12)]), [(1, None)]);
    }
}
