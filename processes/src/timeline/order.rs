//! Rows in the order of their times.
//!
//! A recorder writes a row when it knows all of it: that a program is executed when the process goes on, how a process
//! ended when the system has taken it apart. Such a row stands up to half a second behind others with later times.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

use barrow_analyzer::{ProcessId, ProcessRow, StringId};

use super::time_of;

/// Nanoseconds for which a row is held, by the times in the file: a recorder looks at processes every 0.4 s or more often.
const HORIZON_NS: i64 = 1_000_000_000;

/// Maximum number of held rows: a few megabytes. The bundled build of XZ Utils has 750 events a second on two cores, so 64
/// would have 24,000.
const MOST_HELD: usize = 1 << 16;

/// Hosts whose clocks are compared: a row waits for those of all others that have processes, which may be hours behind.
const MOST_HOSTS: usize = 64;

/// Sorts rows by time. A row is never before the beginning of its process, nor a process before the one that started it,
/// whatever their clocks say; rows of equal times keep their order.
#[derive(Clone, Default)]
pub(super) struct TimeOrder {
    held: BinaryHeap<Reverse<Held>>,
    /// Number of rows taken in.
    rows: u64,
    /// The latest time taken in.
    latest_ns: Option<i64>,
    /// When each running process began, and its host.
    begun: HashMap<ProcessId, (i64, Option<StringId>)>,
    hosts: HashMap<Option<StringId>, Clock>,
}

/// The clock of a host.
#[derive(Clone, Default)]
struct Clock {
    latest_ns: Option<i64>,
    /// Number of processes that run.
    running: u64,
}

#[derive(Clone)]
struct Held {
    time_ns: i64,
    /// Number of the row in the file.
    number: u64,
    row: ProcessRow,
}

impl TimeOrder {
    /// Takes in the next row of the file.
    pub(super) fn push(&mut self, row: ProcessRow) {
        let of_process = |process: &ProcessId| self.begun.get(process).map(|&(began_ns, _)| began_ns);
        let own_ns = time_of(&row);
        let least_ns = match &row {
            ProcessRow::Begin { parent, .. } => parent.as_ref().and_then(of_process),
            ProcessRow::Image { process, .. }
            | ProcessRow::End { process, .. }
            | ProcessRow::Heap { process, .. }
            | ProcessRow::Attributes { process, .. } => of_process(process),
            ProcessRow::Memory { .. } | ProcessRow::Unknown => None,
        };
        let time_ns = own_ns.max(least_ns).or(self.latest_ns).unwrap_or_default();
        self.note(&row, time_ns, own_ns);
        self.latest_ns = self.latest_ns.max(own_ns);
        self.held.push(Reverse(Held { time_ns, number: self.rows, row }));
        self.rows += 1;
    }

    /// Notes which processes run, and what the clock of a host says.
    fn note(&mut self, row: &ProcessRow, time_ns: i64, own_ns: Option<i64>) {
        let host = match row {
            ProcessRow::Begin { process, host, .. } => {
                self.begun.insert(*process, (time_ns, *host));
                self.hosts.entry(*host).or_default().running += 1;
                *host
            }
            ProcessRow::Image { process, .. } | ProcessRow::End { process, .. } => {
                let Some(&(_, host)) = self.begun.get(process) else { return };
                host
            }
            _ => return,
        };
        let clock = self.hosts.entry(host).or_default();
        clock.latest_ns = clock.latest_ns.max(own_ns);
        if let ProcessRow::End { process, .. } = row {
            clock.running = clock.running.saturating_sub(1);
            self.begun.remove(process);
        }
    }

    /// The latest time of the host that is behind all others, of those that have processes.
    fn settled_ns(&self) -> Option<i64> {
        if self.hosts.len() < 2 || self.hosts.len() > MOST_HOSTS {
            return self.latest_ns;
        }
        let with_processes = self.hosts.values().filter(|clock| clock.running > 0);
        with_processes.filter_map(|clock| clock.latest_ns).min().or(self.latest_ns)
    }

    /// The next row that is held for long enough.
    pub(super) fn pop_settled(&mut self) -> Option<ProcessRow> {
        let Reverse(first) = self.held.peek()?;
        let is_settled =
            self.settled_ns().is_some_and(|latest_ns| latest_ns.saturating_sub(first.time_ns) > HORIZON_NS);
        if is_settled || self.held.len() > MOST_HELD { self.pop() } else { None }
    }

    /// The next row: there are no more in the file.
    pub(super) fn pop(&mut self) -> Option<ProcessRow> {
        self.held.pop().map(|Reverse(held)| held.row)
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time_ns, self.number).cmp(&(other.time_ns, other.number))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Held {}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    fn begin(process: u32, parent: Option<u32>, time_ns: i64) -> ProcessRow {
        let (parent, program) = (parent.map(ProcessId), Default::default());
        ProcessRow::Begin { process: ProcessId(process), time_ns, pid: process.into(), parent, host: None, program }
    }

    fn end(process: u32, time_ns: i64) -> ProcessRow {
        let used = Default::default();
        ProcessRow::End { process: ProcessId(process), time_ns, exit_status: Some(0), signal: None, used }
    }

    fn ordered(rows: Vec<ProcessRow>) -> Vec<ProcessRow> {
        let (mut order, mut ordered) = (TimeOrder::default(), Vec::new());
        for row in rows {
            order.push(row);
            ordered.extend(std::iter::from_fn(|| order.pop_settled()));
        }
        ordered.extend(std::iter::from_fn(|| order.pop()));
        ordered
    }

    #[test]
    fn rows_that_come_late_are_where_their_times_say() {
        let mut random = Random::new(1);
        for _ in 0..100 {
            let mut written: Vec<(i64, ProcessRow)> = Vec::new();
            for process in 0..50 {
                let [began, lasts, late] = [20, 3, 1].map(|seconds| random.below(seconds * HORIZON_NS as u64) as i64);
                written.push((began, begin(process, None, began)));
                // The end stands where a row of a later time would.
                written.push((began + lasts + late, end(process, began + lasts)));
            }
            written.sort_by_key(|(place, _)| *place);
            let rows: Vec<ProcessRow> = written.into_iter().map(|(_, row)| row).collect();
            let mut expected = rows.clone();
            expected.sort_by_key(time_of);
            assert_eq!(ordered(rows), expected);
        }
    }

    /// The clock of a host is an hour ahead of that of another one.
    #[test]
    fn rows_of_hosts_are_where_their_times_say() {
        let on = |host: u32, row| match row {
            ProcessRow::Begin { process, time_ns, pid, parent, program, .. } => {
                ProcessRow::Begin { process, time_ns, pid, parent, host: Some(StringId(host)), program }
            }
            row => row,
        };
        let mut random = Random::new(2);
        for _ in 0..100 {
            let mut written: Vec<(i64, ProcessRow)> = Vec::new();
            // The first process of each host runs all the time, as the build does.
            for process in 0..20 {
                let (host, hour) = (process % 2, i64::from(process % 2) * 3600 * HORIZON_NS);
                let began = if process < 2 { 0 } else { 1 + random.below(20 * HORIZON_NS as u64) as i64 };
                let ended =
                    if process < 2 { 90 * HORIZON_NS } else { began + random.below(9 * HORIZON_NS as u64) as i64 };
                written.push((began, on(host, begin(process, None, began + hour))));
                written.push((ended, end(process, ended + hour)));
            }
            written.sort_by_key(|(place, _)| *place);
            let rows: Vec<ProcessRow> = written.into_iter().map(|(_, row)| row).collect();
            let mut expected = rows.clone();
            expected.sort_by_key(time_of);
            assert_eq!(ordered(rows), expected);
        }
    }

    #[test]
    fn no_process_is_before_the_one_that_started_it() {
        let rows = vec![begin(0, None, 10), begin(1, Some(0), 3), end(1, 4), end(0, 20)];
        assert_eq!(ordered(rows.clone()), rows);
    }

    #[test]
    fn few_rows_are_held() {
        let mut order = TimeOrder::default();
        for process in 0..MOST_HELD as u32 + 10 {
            order.push(begin(process, None, 0));
            assert!(order.pop_settled().is_none_or(|row| row == begin(process - MOST_HELD as u32, None, 0)));
            assert!(order.held.len() <= MOST_HELD);
        }
    }
}
