//! Which commands are of one build.
//!
//! Times begin with 0 in each build, and ninja appends commands as they end. So where a command ends before the one on the
//! line before, another build begins. But when a log has grown long, ninja writes it anew, in no order, with only the
//! newest line of each output. Then most "builds" would begin late, which shows that they are none.

use std::collections::HashMap;

use super::entry::Entry;

/// Commands of what is really a build begin within this part of its time.
const FIRST_PART: u64 = 4;

/// A command that succeeded.
#[derive(Debug)]
pub(super) struct Command<'d> {
    /// The line of its first output.
    pub(super) entry: Entry<'d>,
    pub(super) other_outputs: Vec<&'d [u8]>,
    pub(super) build: usize,
}

/// A build: from when on commands began, and when the last one ended.
#[derive(Debug, Clone, Copy)]
struct Build {
    first_start_ms: u64,
    end_ms: u64,
}

/// The commands of a log.
#[derive(Debug, Default)]
pub(super) struct Builds<'d> {
    pub(super) commands: Vec<Command<'d>>,
    builds: Vec<Build>,
    known: HashMap<(usize, u64, u64, &'d [u8]), usize>,
}

/// What is known of the times of several builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// There is one build.
    Single,
    /// Each build follows the one before.
    InTurn,
    /// Ninja wrote the log anew: builds cannot be told apart.
    Mixed,
}

impl<'d> Builds<'d> {
    /// Adds the next line.
    pub(super) fn add(&mut self, entry: Entry<'d>) {
        let build = match self.builds.last_mut() {
            Some(build) if entry.end_ms >= build.end_ms => {
                build.end_ms = entry.end_ms;
                build.first_start_ms = build.first_start_ms.min(entry.start_ms);
                self.builds.len() - 1
            }
            _ => {
                self.builds.push(Build { first_start_ms: entry.start_ms, end_ms: entry.end_ms });
                self.builds.len() - 1
            }
        };
        let key = (build, entry.start_ms, entry.end_ms, entry.hash);
        if let Some(&at) = self.known.get(&key) {
            self.commands[at].other_outputs.push(entry.output);
        } else {
            self.known.insert(key, self.commands.len());
            self.commands.push(Command { entry, other_outputs: Vec::new(), build });
        }
    }

    /// How many builds there are.
    pub(super) fn count(&self) -> usize {
        self.builds.len()
    }

    pub(super) fn order(&self) -> Order {
        let begins_late = |build: &Build| build.first_start_ms > build.end_ms / FIRST_PART;
        match &self.builds[..] {
            [] | [_] => Order::Single,
            builds if builds.iter().any(begins_late) => Order::Mixed,
            _ => Order::InTurn,
        }
    }

    /// When each build begins, in milliseconds, if one follows the other.
    pub(super) fn starts_ms(&self) -> Vec<u64> {
        let mut at = 0_u64;
        let start = |build: &Build| {
            let start = at;
            at = at.saturating_add(build.end_ms);
            start
        };
        self.builds.iter().map(start).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builds(lines: &[(u64, u64, &'static str)]) -> Builds<'static> {
        let mut builds = Builds::default();
        for &(start_ms, end_ms, output) in lines {
            builds.add(Entry { start_ms, end_ms, mtime: b"0", output: output.as_bytes(), hash: b"1" });
        }
        builds
    }

    #[test]
    fn outputs_of_one_command_belong_together() {
        let one = builds(&[(0, 5, "a"), (0, 5, "b"), (1, 6, "c")]);
        assert_eq!((one.commands.len(), one.order()), (2, Order::Single));
        assert_eq!(one.commands[0].other_outputs, [b"b"]);
    }

    #[test]
    fn a_build_begins_where_time_begins_anew() {
        let two = builds(&[(0, 5, "a"), (5, 9, "b"), (0, 5, "a"), (5, 7, "b")]);
        assert_eq!((two.commands.len(), two.order(), two.starts_ms()), (4, Order::InTurn, vec![0, 9]));
        let mixed = builds(&[(5, 9, "b"), (0, 5, "a")]);
        assert_eq!(mixed.order(), Order::Mixed);
        assert_eq!(builds(&[]).order(), Order::Single);
    }
}
