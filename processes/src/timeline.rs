//! The timeline of a process tree: starts, executions and ends of processes in order of time, each process with the
//! column in which it is drawn.
//!
//! ```text
//!   0:00.000 <=100:0             column 0: make
//!   0:00.010 +-<=101:0           column 1: its child
//!   0:00.350 | \=340 ms
//! ```
//!
//! Rows are read once, and only running processes and the rows of a second are kept, so the memory is proportional to the
//! number of processes that run at the same time.

mod columns;
mod order;
mod serials;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use barrow_analyzer::{ProcessId, ProcessLog, ProcessRow, Program, Recording, StringId};

use crate::classes::Labeller;
use crate::error::Result;
use crate::knowledge::{MEASURED, is_at_least};
use crate::tree::duration;

use columns::Columns;
use order::TimeOrder;
use serials::Serials;

/// The attribute with the target that a process builds.
const TARGET: &str = "label";

/// Something that happened to a process.
#[derive(Debug, Clone)]
pub struct Event {
    /// Time of the event, in nanoseconds since the recording began.
    pub time_ns: i64,
    /// Kind of the event.
    pub what: Happening,
    /// The process.
    pub block: Bar,
}

/// Kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    /// It began.
    Begins,
    /// It is running at the start of the requested part of the timeline.
    Runs,
    /// It executes another program.
    Executes,
    /// It ended.
    Ends {
        /// Its exit status, unless a signal ended it.
        exit_status: Option<u64>,
        /// The signal that ended it.
        signal: Option<u64>,
        /// Its processor time in user mode, without its children.
        user_ns: Option<u64>,
        /// Its processor time in the system, without its children.
        system_ns: Option<u64>,
    },
    /// It was running when the recording ended.
    Interrupted,
}

/// A process drawn as a block: from its start to its end in one column.
#[derive(Debug, Clone)]
pub struct Bar {
    /// The number that the system gave it.
    pub pid: u64,
    /// Number of processes with the same number, on the same host, that began before it.
    pub serial: u32,
    /// The machine it runs on, if that was recorded.
    pub host: Option<StringId>,
    /// Number, serial and column of the process that started it, if that was still running.
    pub parent: Option<(u64, u32, u32)>,
    /// Start, in nanoseconds since the recording began.
    pub began_ns: i64,
    /// The column in which it is drawn. Processes that run at the same time are in different columns; a process is to
    /// the right of the one that started it.
    pub column: u32,
    /// The class of the program that it executes; `None` if the schema ignores it.
    pub class: Option<Arc<str>>,
}

impl Event {
    /// The time that the process had run, in nanoseconds.
    #[must_use]
    pub fn wall_ns(&self) -> u64 {
        duration(self.block.began_ns, self.time_ns)
    }
}

/// A running process.
#[derive(Clone)]
struct Running {
    block: Bar,
    program: Arc<Program>,
    /// The target that it builds, if stated.
    target: Option<StringId>,
    /// It used at least what is recorded of it.
    is_at_least: bool,
}

/// Reads a timeline event by event. A clone continues from the same place.
#[derive(Clone)]
pub struct Timeline {
    log: ProcessLog,
    /// Rows of the last chunk read.
    rows: std::vec::IntoIter<ProcessRow>,
    order: TimeOrder,
    running: BTreeMap<ProcessId, Running>,
    serials: Serials,
    columns: Columns,
    /// Events to hand over before the next row is read.
    ready: VecDeque<Event>,
    window: TimeRange,
    /// Whether reading has ended.
    is_closed: bool,
    /// The latest time of any row.
    last_ns: Option<i64>,
    /// Processes that ended and used at least what is recorded of them.
    at_least: u64,
}

/// The requested part of the timeline, in nanoseconds since the recording began; both ends are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeRange {
    /// Its beginning.
    pub from_ns: Option<i64>,
    /// Its end.
    pub to_ns: Option<i64>,
}

impl Timeline {
    /// The timeline of a recording. Processes are put into the first `columns` columns while there is room.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub fn new(recording: Arc<Recording>, window: TimeRange, columns: u32) -> Result<Self> {
        Ok(Timeline {
            log: ProcessLog::new(recording)?,
            rows: Vec::new().into_iter(),
            order: TimeOrder::default(),
            running: BTreeMap::new(),
            serials: Serials::default(),
            columns: Columns::new(columns),
            ready: VecDeque::new(),
            window,
            is_closed: false,
            last_ns: None,
            at_least: 0,
        })
    }

    /// The recording.
    #[must_use]
    pub fn recording(&self) -> &Arc<Recording> {
        self.log.recording()
    }

    /// Number of processes that run after the last event.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Number of processes whose end was an event, and which used at least what it tells.
    #[must_use]
    pub fn at_least(&self) -> u64 {
        self.at_least
    }

    /// The next event; `None` after the last one. `labeller` labels programs of the same recording.
    ///
    /// # Errors
    /// Those of the analyzer; a label of the user's rules is too long.
    pub fn next_event(&mut self, labeller: &mut Labeller<'_>) -> Result<Option<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(row) = self.next_row()? else {
                self.interrupt_all();
                return Ok(self.ready.pop_front());
            };
            if let Some(time_ns) = time_of(&row) {
                if self.window.to_ns.is_some_and(|to_ns| time_ns > to_ns) {
                    self.begin_window();
                    self.close();
                    continue;
                }
                self.last_ns = self.last_ns.max(Some(time_ns));
                if self.window.from_ns.is_none_or(|from_ns| time_ns >= from_ns) {
                    self.begin_window();
                }
            }
            if let Some(event) = self.take(row, labeller)?.filter(|_| self.window.from_ns.is_none()) {
                self.ready.push_back(event);
            }
        }
    }

    fn next_row(&mut self) -> Result<Option<ProcessRow>> {
        while !self.is_closed {
            if let Some(row) = self.order.pop_settled() {
                return Ok(Some(row));
            }
            match self.rows.next() {
                Some(row) => self.order.push(row),
                None => match self.log.next_rows()? {
                    Some(rows) => self.rows = rows.into_iter(),
                    None => return Ok(self.order.pop()),
                },
            }
        }
        Ok(None)
    }

    /// Announces the running processes: the first row of the window was read.
    fn begin_window(&mut self) {
        let Some(time_ns) = self.window.from_ns.take() else { return };
        let blocks = self.running.values().map(|running| running.block.clone());
        self.ready.extend(blocks.map(|block| Event { time_ns, what: Happening::Runs, block }));
    }

    /// Stops reading: the window has ended.
    fn close(&mut self) {
        self.rows = Vec::new().into_iter();
        self.is_closed = true;
        self.last_ns = None;
    }

    /// Interrupts all running processes: the recording has ended.
    fn interrupt_all(&mut self) {
        let Some(time_ns) = self.last_ns.take().filter(|_| self.window.from_ns.is_none()) else { return };
        let running = std::mem::take(&mut self.running).into_values();
        self.ready.extend(running.map(|running| Event { time_ns, what: Happening::Interrupted, block: running.block }));
    }

    /// The event of a row. Ids in the row were checked by the analyzer.
    fn take(&mut self, row: ProcessRow, labeller: &mut Labeller<'_>) -> Result<Option<Event>> {
        Ok(match row {
            ProcessRow::Begin { process, time_ns, pid, parent, host, program } => {
                let running = self.begin(time_ns, pid, parent, host, program, labeller)?;
                let block = running.block.clone();
                self.running.insert(process, running);
                Some(Event { time_ns, what: Happening::Begins, block })
            }
            ProcessRow::Image { process, time_ns, program, .. } => {
                let Some(running) = self.running.get_mut(&process) else { return Ok(None) };
                running.program = Arc::new(program);
                running.relabel(labeller)?;
                Some(Event { time_ns, what: Happening::Executes, block: running.block.clone() })
            }
            ProcessRow::End { process, time_ns, exit_status, signal, used } => {
                let Some(Running { block, is_at_least, .. }) = self.running.remove(&process) else { return Ok(None) };
                self.columns.free(block.column);
                self.at_least += u64::from(is_at_least && self.window.from_ns.is_none());
                let (user_ns, system_ns) = (used.user_ns, used.system_ns);
                Some(Event { time_ns, what: Happening::Ends { exit_status, signal, user_ns, system_ns }, block })
            }
            ProcessRow::Attributes { process, attributes } => {
                let Ok(tables) = self.log.recording().tables() else { return Ok(None) };
                let target = attributes.iter().rfind(|(key, _)| tables.string(*key) == TARGET);
                if let Some(running) = self.running.get_mut(&process) {
                    let mut measured = attributes.iter().filter(|(key, _)| tables.string(*key) == MEASURED);
                    running.is_at_least |= measured.any(|(_, value)| is_at_least(tables.string(*value)));
                }
                if let Some(((_, target), running)) = target.zip(self.running.get_mut(&process)) {
                    running.target = Some(*target);
                    running.relabel(labeller)?;
                }
                None
            }
            ProcessRow::Heap { .. } | ProcessRow::Memory { .. } | ProcessRow::Unknown => None,
        })
    }

    fn begin(
        &mut self,
        began_ns: i64,
        pid: u64,
        parent: Option<ProcessId>,
        host: Option<StringId>,
        program: Program,
        labeller: &mut Labeller<'_>,
    ) -> Result<Running> {
        let parent = parent.and_then(|parent| self.running.get(&parent));
        let column = self.columns.take(parent.map(|parent| parent.block.column));
        let serial = self.serials.next(host, pid);
        let named = parent.map(|Running { block, .. }| (block.pid, block.serial, block.column));
        let block = Bar { pid, serial, host, parent: named, began_ns, column, class: None };
        // A forked process executes the program of its parent.
        Ok(match parent.filter(|_| program.is_empty()) {
            Some(parent) if parent.target.is_none() => {
                let class = parent.block.class.clone();
                let program = Arc::clone(&parent.program);
                Running { block: Bar { class, ..block }, program, target: None, is_at_least: false }
            }
            copied => {
                let program = copied.map_or_else(|| Arc::new(program), |parent| Arc::clone(&parent.program));
                let mut running = Running { block, program, target: None, is_at_least: false };
                running.relabel(labeller)?;
                running
            }
        })
    }
}

impl Running {
    fn relabel(&mut self, labeller: &mut Labeller<'_>) -> Result<()> {
        self.block.class = labeller.label(&self.program, self.target)?.map(Arc::from);
        Ok(())
    }
}

/// The time in a row, if it has one.
fn time_of(row: &ProcessRow) -> Option<i64> {
    match row {
        ProcessRow::Begin { time_ns, .. }
        | ProcessRow::Image { time_ns, .. }
        | ProcessRow::End { time_ns, .. }
        | ProcessRow::Memory { time_ns, .. } => Some(*time_ns),
        ProcessRow::Heap { .. } | ProcessRow::Attributes { .. } | ProcessRow::Unknown => None,
    }
}
