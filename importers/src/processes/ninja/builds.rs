//! Assigns commands to builds.
//!
//! Times begin with 0 in each build, and ninja appends commands as they end. So if a command ends before the one on
//! the line before, or makes an output again, another build begins. But when a log has grown long, ninja rewrites it,
//! in no order, with only the newest line of each output. Then most "builds" would begin late, or their commands
//! would have begun at very different times of day, which shows that they are not builds. Siso, the builder of
//! Chromium, writes one build in no order: its times of day fit one build.

use std::collections::{HashMap, HashSet};

use super::entry::Entry;

/// The commands of a real build begin within this part of its time.
const FIRST_PART: u64 = 4;

/// Maximum difference between the times of day of one build that follow from its commands: the time of an output is
/// that at which its command began or ended, or in between.
const SAME_BUILD_NS: u128 = 2_000_000_000;
const LIKELY_SAME_BUILD_NS: u128 = 10_000_000_000;

/// A command that succeeded.
#[derive(Debug)]
pub(super) struct Command<'d> {
    /// The line of its first output.
    pub(super) entry: Entry<'d>,
    pub(super) other_outputs: Vec<&'d [u8]>,
    pub(super) build: usize,
}

/// A build: the times at which its first command began and its last one ended.
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
    /// The outputs of the current build.
    outputs: HashSet<&'d [u8]>,
}

/// The order in time of several builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// There is one build.
    Single,
    /// Each build follows the one before.
    InTurn,
    /// Ninja rewrote the log: builds cannot be distinguished.
    Mixed,
}

impl<'d> Builds<'d> {
    /// Adds the next line.
    pub(super) fn add(&mut self, entry: Entry<'d>) {
        let build = match self.builds.last_mut() {
            Some(build) if entry.end_ms >= build.end_ms && !self.outputs.contains(entry.output) => {
                build.end_ms = entry.end_ms;
                build.first_start_ms = build.first_start_ms.min(entry.start_ms);
                self.builds.len() - 1
            }
            _ => {
                self.outputs.clear();
                self.builds.push(Build { first_start_ms: entry.start_ms, end_ms: entry.end_ms });
                self.builds.len() - 1
            }
        };
        self.outputs.insert(entry.output);
        let key = (build, entry.start_ms, entry.end_ms, entry.hash);
        if let Some(&at) = self.known.get(&key) {
            self.commands[at].other_outputs.push(entry.output);
        } else {
            self.known.insert(key, self.commands.len());
            self.commands.push(Command { entry, other_outputs: Vec::new(), build });
        }
    }

    /// Number of builds.
    pub(super) fn count(&self) -> usize {
        self.builds.len()
    }

    /// Decides on the builds, after the last line.
    pub(super) fn finish(&mut self) -> Order {
        // These take half of the memory, and no line follows.
        (self.known, self.outputs) = (HashMap::new(), HashSet::new());
        if self.builds.len() < 2 {
            return if self.is_mixed() { self.merge(Order::Mixed) } else { Order::Single };
        }
        if self.is_one() {
            return self.merge(Order::Single);
        }
        let begins_late = self.builds.iter().any(|build| build.first_start_ms > build.end_ms / FIRST_PART);
        if begins_late || self.is_torn() || self.is_mixed() {
            return self.merge(Order::Mixed);
        }
        Order::InTurn
    }

    /// Assigns all commands to one build: lines with the same times and hash belong to one command.
    fn merge(&mut self, order: Order) -> Order {
        let mut known: HashMap<(u64, u64, &[u8]), usize> = HashMap::new();
        let mut merged: Vec<Command<'d>> = Vec::new();
        for mut command in std::mem::take(&mut self.commands) {
            let Entry { start_ms, end_ms, hash, output, .. } = command.entry;
            command.build = 0;
            match known.get(&(start_ms, end_ms, hash)) {
                Some(&at) => {
                    merged[at].other_outputs.push(output);
                    merged[at].other_outputs.append(&mut command.other_outputs);
                }
                None => {
                    known.insert((start_ms, end_ms, hash), merged.len());
                    merged.push(command);
                }
            }
        }
        self.commands = merged;
        order
    }

    /// Returns whether all commands belong to one build by their times of day, and none made an output again.
    fn is_one(&self) -> bool {
        let mut outputs = HashSet::new();
        let all = self
            .commands
            .iter()
            .flat_map(|command| std::iter::once(command.entry.output).chain(command.other_outputs.iter().copied()));
        let times = self.commands.iter().filter_map(|command| BuildStart::of(&command.entry)).collect::<Vec<_>>();
        times.len() == self.commands.len()
            && all.into_iter().all(|output| outputs.insert(output))
            && BuildStart::nearest(&times, 0.0..=1.0) <= SAME_BUILD_NS
    }

    /// Returns whether outputs of one command are apart: ninja writes them together, and all of them again in another
    /// build.
    fn is_torn(&self) -> bool {
        let mut first: HashMap<(u64, u64, &[u8]), &Command<'_>> = HashMap::new();
        self.commands.iter().any(|command| {
            let Entry { start_ms, end_ms, hash, output, .. } = command.entry;
            let first = *first.entry((start_ms, end_ms, hash)).or_insert(command);
            first.entry.output != output && !first.other_outputs.contains(&output)
        })
    }

    /// Returns whether the commands of a build began at very different times of day. Rules that keep the time of an
    /// output do not show that, so half of the commands of a build may have any time.
    fn is_mixed(&self) -> bool {
        let mut of_builds: HashMap<usize, Vec<Option<BuildStart>>> = HashMap::new();
        for command in &self.commands {
            of_builds.entry(command.build).or_default().push(BuildStart::of(&command.entry));
        }
        of_builds.values().any(|times| {
            let known: Vec<BuildStart> = times.iter().flatten().copied().collect();
            // If some times are missing, nothing is known of all.
            known.len() == times.len()
                && known.len() > 2
                && BuildStart::nearest(&known, 0.25..=0.75) > LIKELY_SAME_BUILD_NS
        })
    }

    /// The beginning of each build, in milliseconds, if one follows the other.
    pub(super) fn starts_ms(&self) -> Vec<u64> {
        let mut starts = Vec::with_capacity(self.builds.len());
        let mut at = 0_u64;
        for build in &self.builds {
            starts.push(at);
            at = at.saturating_add(build.end_ms);
        }
        starts
    }
}

/// The time at which a build began according to one output, in nanoseconds: if the output's time is that at which its
/// command began, or at which it ended.
#[derive(Debug, Clone, Copy)]
struct BuildStart {
    by_start: i128,
    by_end: i128,
}

impl BuildStart {
    /// Ninja counts nanoseconds; before 1.9 seconds, and on Windows units of 100 ns.
    fn of(entry: &Entry<'_>) -> Option<Self> {
        let mtime: i128 = str::from_utf8(entry.mtime).ok()?.parse().ok().filter(|&mtime| mtime > 0)?;
        let mtime_ns = if mtime < 1_000_000_000_000 {
            mtime * 1_000_000_000
        } else if mtime < 100_000_000_000_000_000 {
            mtime * 100
        } else {
            mtime
        };
        let [by_start, by_end] = [entry.start_ms, entry.end_ms].map(|ms| mtime_ns - i128::from(ms) * 1_000_000);
        Some(BuildStart { by_start, by_end })
    }

    /// The distance between the times at both ends of `part` of all, by the better interpretation.
    fn nearest(times: &[BuildStart], part: std::ops::RangeInclusive<f64>) -> u128 {
        let by_start = distance(times.iter().map(|time| time.by_start).collect(), &part);
        let by_end = distance(times.iter().map(|time| time.by_end).collect(), &part);
        by_start.min(by_end)
    }
}

fn distance(mut times: Vec<i128>, part: &std::ops::RangeInclusive<f64>) -> u128 {
    times.sort_unstable();
    let last = times.len().saturating_sub(1) as f64;
    let [first, last] = [part.start(), part.end()].map(|part| times.get((part * last).round() as usize));
    first.zip(last).map_or(0, |(first, last)| last.abs_diff(*first))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Line = (u64, u64, &'static str, &'static str, &'static str);

    /// Start, end, time, output and hash, and what becomes of them.
    fn builds(lines: &[Line]) -> (Builds<'static>, Order) {
        let mut builds = Builds::default();
        for &(start_ms, end_ms, mtime, output, hash) in lines {
            let [mtime, output, hash] = [mtime, output, hash].map(str::as_bytes);
            builds.add(Entry { start_ms, end_ms, mtime, output, hash });
        }
        let order = builds.finish();
        (builds, order)
    }

    fn untimed(lines: &[(u64, u64, &'static str)]) -> (Builds<'static>, Order) {
        builds(&lines.iter().map(|&(start, end, output)| (start, end, "0", output, "1")).collect::<Vec<_>>())
    }

    #[test]
    fn outputs_of_one_command_belong_together() {
        let (one, order) = untimed(&[(0, 5, "a"), (0, 5, "b"), (1, 6, "c")]);
        assert_eq!((one.commands.len(), order), (2, Order::Single));
        assert_eq!(one.commands[0].other_outputs, [b"b"]);
        // Written anew, in the order of a hash table.
        let (mixed, order) = untimed(&[(0, 5, "a"), (7, 9, "d"), (1, 6, "c"), (0, 5, "b")]);
        assert_eq!((mixed.commands.len(), order), (3, Order::Mixed));
        assert_eq!(mixed.commands[0].other_outputs, [b"b"]);
    }

    #[test]
    fn a_build_begins_where_time_begins_anew() {
        let (two, order) = untimed(&[(0, 5, "a"), (5, 9, "b"), (0, 5, "a"), (5, 7, "b")]);
        assert_eq!((two.commands.len(), order, two.starts_ms()), (4, Order::InTurn, vec![0, 9]));
        assert_eq!(untimed(&[(5, 9, "b"), (0, 5, "a")]).1, Order::Mixed);
        assert_eq!(untimed(&[]).1, Order::Single);
    }

    #[test]
    fn a_build_begins_where_an_output_is_made_again() {
        let (two, order) = untimed(&[(0, 5, "a"), (0, 7, "a"), (1, 9, "b")]);
        assert_eq!((two.commands.len(), order, two.starts_ms()), (3, Order::InTurn, vec![0, 5]));
    }

    /// As siso writes it: the time of an output is the end of its step.
    #[test]
    fn lines_in_no_order_are_one_build_if_their_times_of_day_fit() {
        let line = |start, end, mtime, output| (start, end, mtime, output, "1");
        let late = line(900, 1000, "1700000001000000000", "b");
        let lines = [line(105, 300, "1700000000300000000", "a"), late, line(10, 400, "1700000000400000000", "c")];
        let (one, order) = builds(&lines);
        assert_eq!((one.commands.len(), order), (3, Order::Single));
        // A build in the order of time, and another one a day later.
        let other_day = line(10, 400, "1700090000400000000", "c");
        assert_eq!(builds(&[lines[0], late, other_day]).1, Order::InTurn);
        let again = line(10, 400, "1700000000400000000", "a");
        assert_ne!(builds(&[lines[0], late, again]).1, Order::Single);
    }

    /// Ninja writes a long log anew; by chance the times ascend.
    #[test]
    fn commands_of_several_days_are_of_several_builds() {
        let days = ["1700000000000000000", "1700090000000000000", "1700180000000000000", "1700270000000000000"];
        let lines = |days: [&'static str; 4]| {
            let output = |at: usize| ["a", "b", "c", "d"][at];
            days.iter().enumerate().map(|(at, day)| (0, at as u64 + 5, *day, output(at), "1")).collect::<Vec<Line>>()
        };
        assert_eq!(builds(&lines(days)).1, Order::Mixed);
        // One rule that keeps the time of its input.
        assert_eq!(builds(&lines([days[0], days[3], days[3], days[3]])).1, Order::Single);
    }
}
