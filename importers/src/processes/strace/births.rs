//! The parents of children that act before the line that names their parent.

use std::collections::{HashMap, HashSet, VecDeque};

use super::call::{Call, may_bear, returned_task};
use super::line::{Line, LineEvent, LineReader};
use crate::context::Context;
use crate::error::ImportError;
use crate::processes::process_logs::{Lines, LogProgress};

/// The origin of a process or thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Birth {
    /// The process or thread that requested it; `None` while the log has no numbers.
    pub(super) by: Option<u64>,
    pub(super) is_thread: bool,
}

/// The numbers in a log that begins without numbers, each once.
#[derive(Default)]
struct ProcessNumbers {
    begins_without: bool,
    known: HashSet<u64>,
    in_order: Vec<u64>,
}

impl ProcessNumbers {
    fn take(&mut self, task: Option<u64>) {
        match task {
            None => self.begins_without |= self.in_order.is_empty(),
            Some(task) if self.begins_without && self.known.insert(task) => self.in_order.push(task),
            Some(_) => {}
        }
    }
}

/// All births of a log, in its order for each number, since the system reuses numbers.
#[derive(Debug, Default)]
pub(super) struct Births {
    by_task: HashMap<u64, VecDeque<Birth>>,
    /// The number of the process whose lines have none at first.
    pub(super) first: Option<u64>,
}

impl Births {
    /// Reads only the births of a log.
    pub(super) fn find(log: &[u8], context: &Context<'_>) -> Result<Births, ImportError> {
        let mut reading = LogProgress::new(context)?;
        context.progress.begin("finding children", log.len() as u64, "bytes");
        let mut births = Births::default();
        let mut unfinished = HashMap::new();
        let (mut numbered, mut reader) = (ProcessNumbers::default(), LineReader::default());
        for line in Lines::new(log).filter(|line| !line.is_cut) {
            reading.reached(line.offset)?;
            let Some((line, _)) = reader.read(line.text) else { continue };
            numbered.take(line.task);
            if may_bear(&line.what) {
                births.take(&line, &mut unfinished);
            }
        }
        reading.ended(log.len())?;
        births.first = numbered.in_order.into_iter().find(|task| !births.by_task.contains_key(task));
        Ok(births)
    }

    fn take(&mut self, line: &Line<'_>, unfinished: &mut HashMap<Option<u64>, bool>) {
        match line.what {
            LineEvent::Call { name, arguments, result } => self.add(line.task, begins_thread(name, arguments), result),
            LineEvent::Unfinished { name, arguments } => {
                unfinished.insert(line.task, begins_thread(name, arguments));
            }
            LineEvent::Resumed { name, result, .. } => {
                // The line that began it may precede the first number.
                let mut begun = unfinished.remove(&line.task);
                if begun.is_none() && !name.is_empty() {
                    begun = unfinished.remove(&None);
                }
                if let Some(is_thread) = begun {
                    self.add(line.task, is_thread, result);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, by: Option<u64>, is_thread: bool, result: &[u8]) {
        if let Some(task) = returned_task(result) {
            self.by_task.entry(task).or_default().push_back(Birth { by, is_thread });
        }
    }

    /// The next birth of this number.
    pub(super) fn next(&mut self, task: u64) -> Option<Birth> {
        let births = self.by_task.get_mut(&task)?;
        let birth = births.pop_front();
        if births.is_empty() {
            self.by_task.remove(&task);
        }
        birth
    }
}

fn begins_thread(name: &[u8], arguments: &[u8]) -> bool {
    matches!(Call::of(name, arguments), Some(Call::Birth { is_thread: true }))
}
