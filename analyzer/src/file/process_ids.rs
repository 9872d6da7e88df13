//! Checks the ids in rows of a process tree: strings and processes must exist.

use barrow_format::rows::ProcessRow;
use barrow_format::{FormatError, ProcessId, StringId};

use crate::file::tables::below;

/// Checks the ids of rows in the order of the table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IdChecker {
    /// Rows of the string table.
    pub(crate) strings: u32,
    /// Processes that began so far.
    pub(crate) processes: u32,
}

impl IdChecker {
    /// Fails unless all strings and processes in the row exist, and a new process has the next number.
    pub(crate) fn check(&mut self, row: &ProcessRow) -> Result<(), FormatError> {
        match row {
            ProcessRow::Begin { process, parent, host, program, .. } => {
                if process.0 != self.processes {
                    let (stored, found) = (process.0.into(), self.processes.into());
                    return Err(FormatError::Mismatch { what: "number of a process", stored, found });
                }
                parent.map_or(Ok(()), |parent| self.process(parent))?;
                host.iter().copied().chain(program.strings()).try_for_each(|text| self.string(text))?;
                self.processes = self.processes.saturating_add(1);
                Ok(())
            }
            ProcessRow::Image { process, program, .. } => {
                self.process(*process)?;
                program.strings().try_for_each(|text| self.string(text))
            }
            ProcessRow::End { process, .. } | ProcessRow::Heap { process, .. } => self.process(*process),
            ProcessRow::Attributes { process, attributes } => {
                self.process(*process)?;
                attributes.iter().flat_map(|&(key, value)| [key, value]).try_for_each(|text| self.string(text))
            }
            ProcessRow::Memory { bytes, .. } => bytes.iter().try_for_each(|&(process, _)| self.process(process)),
            ProcessRow::Unknown => Ok(()),
        }
    }

    fn process(&self, process: ProcessId) -> Result<(), FormatError> {
        below("process", process.0, self.processes)
    }

    fn string(&self, text: StringId) -> Result<(), FormatError> {
        below("string of a process", text.0, self.strings)
    }
}
