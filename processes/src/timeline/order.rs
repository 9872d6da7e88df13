//! Rows in the order of their times.
//!
//! A recorder writes a row when it knows all of it: that a program is executed when the process goes on, how a process
//! ended when the system has taken it apart. Such a row stands up to half a second behind others with later times.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

use barrow_analyzer::{ProcessId, ProcessRow};

use super::time_of;

/// Nanoseconds for which a row is held, by the times in the file: a recorder looks at processes every 0.4 s or more often.
const HORIZON_NS: i64 = 1_000_000_000;

/// Maximum number of held rows: a few megabytes. The bundled build of XZ Utils has 750 events a second on two cores, so 64
/// would have 24,000.
const MOST_HELD: usize = 1 << 16;

/// Sorts rows by time. A row is never before the beginning of its process, nor a process before the one that started it,
/// whatever their clocks say; rows of equal times keep their order.
#[derive(Clone, Default)]
pub(super) struct TimeOrder {
    held: BinaryHeap<Reverse<Held>>,
    /// Number of rows taken in.
    rows: u64,
    /// The latest time taken in.
    latest_ns: Option<i64>,
    /// When each running process began.
    begun: HashMap<ProcessId, i64>,
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
        let of_process = |process: &ProcessId| self.begun.get(process).copied();
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
        match &row {
            ProcessRow::Begin { process, .. } => drop(self.begun.insert(*process, time_ns)),
            ProcessRow::End { process, .. } => drop(self.begun.remove(process)),
            _ => {}
        }
        self.latest_ns = self.latest_ns.max(own_ns);
        self.held.push(Reverse(Held { time_ns, number: self.rows, row }));
        self.rows += 1;
    }

    /// The next row that is held for long enough.
    pub(super) fn pop_settled(&mut self) -> Option<ProcessRow> {
        let Reverse(first) = self.held.peek()?;
        let is_settled = self.latest_ns.is_some_and(|latest_ns| latest_ns.saturating_sub(first.time_ns) > HORIZON_NS);
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
