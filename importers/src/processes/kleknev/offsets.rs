//! Offsets that the user gives for the clocks of hosts.

use std::collections::BTreeMap;

/// Nanoseconds to add to the times of hosts: an option of logs of Kleknev and barrow-sh.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClockOffsets(pub BTreeMap<String, i64>);

impl ClockOffsets {
    /// The offset of a host; 0 if none is given.
    pub(crate) fn of(&self, host: Option<&str>) -> i64 {
        host.and_then(|host| self.0.get(host)).copied().unwrap_or(0)
    }
}

/// An offset in the syntax of `--clock`: `-3599s`, `0.25s`.
pub(super) fn seconds(ns: i128) -> String {
    let ms = ns.unsigned_abs() / 1_000_000;
    let sign = if ns < 0 && ms > 0 { "-" } else { "" };
    match ms % 1000 {
        0 => format!("{sign}{}s", ms / 1000),
        part => format!("{sign}{}.{part:03}s", ms / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_written_as_they_are_read() {
        assert_eq!([-3_599_000_000_000, 250_000_000, -1, 0].map(seconds), ["-3599s", "0.250s", "0s", "0s"]);
    }
}
