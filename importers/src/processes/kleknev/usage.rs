//! Resources in a wrapper's record: those of its program, and of all children that the program waited for.

use std::ops::{AddAssign, Sub};

use barrow_writer::Usage;

/// Resources used, children included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Inclusive {
    pub(super) user_ns: u64,
    pub(super) system_ns: u64,
    /// The largest of the processes; 0 if unknown.
    pub(super) peak_bytes: u64,
    pub(super) minor_faults: u64,
    pub(super) major_faults: u64,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    pub(super) voluntary_switches: u64,
    pub(super) involuntary_switches: u64,
}

impl Inclusive {
    /// The sums, in a fixed order.
    fn sums(&self) -> [u64; 8] {
        [
            self.user_ns,
            self.system_ns,
            self.minor_faults,
            self.major_faults,
            self.read_bytes,
            self.written_bytes,
            self.voluntary_switches,
            self.involuntary_switches,
        ]
    }

    /// Returns whether any of the sums is less than in `children`.
    pub(super) fn is_less_than(&self, children: &Inclusive) -> bool {
        self.sums().iter().zip(children.sums()).any(|(all, children)| *all < children)
    }
}

impl AddAssign for Inclusive {
    fn add_assign(&mut self, other: Inclusive) {
        self.user_ns = self.user_ns.saturating_add(other.user_ns);
        self.system_ns = self.system_ns.saturating_add(other.system_ns);
        self.peak_bytes = self.peak_bytes.max(other.peak_bytes);
        self.minor_faults = self.minor_faults.saturating_add(other.minor_faults);
        self.major_faults = self.major_faults.saturating_add(other.major_faults);
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(other.written_bytes);
        self.voluntary_switches = self.voluntary_switches.saturating_add(other.voluntary_switches);
        self.involuntary_switches = self.involuntary_switches.saturating_add(other.involuntary_switches);
    }
}

impl Sub for Inclusive {
    type Output = Usage;

    /// Subtracts the resources of children. If they used more, some of them were not waited for, and the difference
    /// is unknown. The peak is that of the largest process: if that may be a child, it is unknown without children.
    fn sub(self, children: Inclusive) -> Usage {
        let is_known = !self.is_less_than(&children);
        Usage {
            user_ns: difference(is_known, self.user_ns, children.user_ns),
            system_ns: difference(is_known, self.system_ns, children.system_ns),
            peak_bytes: (self.peak_bytes > children.peak_bytes).then_some(self.peak_bytes.min(u64::MAX - 1)),
            minor_faults: difference(is_known, self.minor_faults, children.minor_faults),
            major_faults: difference(is_known, self.major_faults, children.major_faults),
            read_bytes: difference(is_known, self.read_bytes, children.read_bytes),
            written_bytes: difference(is_known, self.written_bytes, children.written_bytes),
            voluntary_switches: difference(is_known, self.voluntary_switches, children.voluntary_switches),
            involuntary_switches: difference(is_known, self.involuntary_switches, children.involuntary_switches),
            waiting_ns: None,
        }
    }
}

fn difference(is_known: bool, all: u64, children: u64) -> Option<u64> {
    is_known.then(|| all.saturating_sub(children).min(u64::MAX - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_taken_away() {
        let own = Inclusive { user_ns: 10, system_ns: 3, peak_bytes: 50, minor_faults: 7, ..Inclusive::default() };
        let mut children = Inclusive { user_ns: 4, system_ns: 5, peak_bytes: 50, ..Inclusive::default() };
        let used = own - children;
        assert_eq!(
            (used.user_ns, used.system_ns, used.peak_bytes, used.minor_faults),
            (None, None, None, None),
            "a child was not waited for, so what it used may be in none of them"
        );
        assert!(own.is_less_than(&children));
        children.system_ns = 3;
        children.peak_bytes = 49;
        assert_eq!((own - children).peak_bytes, Some(50));
        assert!(!own.is_less_than(&children));
        let used = own - children;
        assert_eq!((used.user_ns, used.system_ns, used.minor_faults), (Some(6), Some(0), Some(7)));
        assert_eq!((own - Inclusive::default()).user_ns, Some(10));
    }
}
