//! Processes of a tree: announced as they begin, execute other programs and end.
//!
//! Rows wait until enough of them are there, until [`Writer::flush`], or until the next commit. They need no snapshot.

use barrow_format::ProcessId;
use barrow_format::rows::{ProcessRow, Program, Usage};

use crate::error::{Result, WriterError};
use crate::tables::{Counts, Tables};
use crate::writer::Writer;

/// Describes a process that begins. Times are in nanoseconds since the recording began.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessDescription<'a> {
    /// Time of the start.
    pub time_ns: i64,
    /// The number that the system gave it.
    pub pid: u64,
    /// The process that started it.
    pub parent: Option<ProcessId>,
    /// The machine it runs on, if there are several.
    pub host: Option<&'a str>,
    /// The program it executes from the start. Empty for a forked process: [`Writer::process_image`] announces later
    /// programs.
    pub program: ProgramDescription<'a>,
}

/// Describes a program as executed by a process.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProgramDescription<'a> {
    /// Path of the program.
    pub executable: Option<&'a str>,
    /// The working directory when it starts.
    pub directory: Option<&'a str>,
    /// The arguments, beginning with the name of the program.
    pub arguments: &'a [&'a str],
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessEnd {
    /// Its exit status, unless a signal ended it.
    pub exit_status: Option<u64>,
    /// The signal that ended it.
    pub signal: Option<u64>,
    /// Its use since its start. The peak is that of its last image.
    pub used: Usage,
}

impl Writer {
    /// Announces that a process began. Returns the number by which later rows refer to it.
    ///
    /// # Errors
    /// [`WriterError::Undeclared`] for an unknown parent, [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn begin_process(&self, begun: &ProcessDescription<'_>) -> Result<ProcessId> {
        if let Some(parent) = begun.parent {
            self.check_process(parent)?;
        }
        self.shared.declare(|tables, counts| {
            let host = begun.host.map(|host| tables.string(host, counts)).transpose()?;
            let program = program(&begun.program, tables, counts)?;
            let ProcessDescription { time_ns, pid, parent, .. } = *begun;
            tables.begin_process(counts, |process| ProcessRow::Begin { process, time_ns, pid, parent, host, program })
        })
    }

    /// Announces that a process executes another program. `used` is the use of the process since its start; the peak is
    /// that of the image that ends.
    ///
    /// # Errors
    /// [`WriterError::Undeclared`] for an unknown process, [`WriterError::OutOfRange`], [`WriterError::Io`].
    pub fn process_image(
        &self,
        process: ProcessId,
        time_ns: i64,
        executed: &ProgramDescription<'_>,
        used: Usage,
    ) -> Result<()> {
        self.check_process(process)?;
        self.shared.declare(|tables, counts| {
            let program = program(executed, tables, counts)?;
            tables.process(&ProcessRow::Image { process, time_ns, program, used })
        })
    }

    /// Announces that a process ended.
    ///
    /// # Errors
    /// As for [`Writer::process_image`].
    pub fn end_process(&self, process: ProcessId, time_ns: i64, end: &ProcessEnd) -> Result<()> {
        self.check_process(process)?;
        let ProcessEnd { exit_status, signal, used } = *end;
        let row = ProcessRow::End { process, time_ns, exit_status, signal, used };
        self.shared.declare(|tables, _| tables.process(&row))
    }

    /// Announces that a process wrote a recording of its heap, with that recording's unique identifier.
    ///
    /// # Errors
    /// As for [`Writer::process_image`].
    pub fn process_heap(&self, process: ProcessId, uuid: [u8; 16]) -> Result<()> {
        self.check_process(process)?;
        self.shared.declare(|tables, _| tables.process(&ProcessRow::Heap { process, uuid }))
    }

    /// Records other facts about a process: keys and values.
    ///
    /// # Errors
    /// As for [`Writer::process_image`].
    pub fn process_attributes(&self, process: ProcessId, attributes: &[(&str, &str)]) -> Result<()> {
        self.check_process(process)?;
        self.shared.declare(|tables, counts| {
            let attributes = crate::measurements::pairs(tables, counts, attributes)?;
            tables.process(&ProcessRow::Attributes { process, attributes })
        })
    }

    /// Records the memory of processes at a time, in bytes; shared pages are divided among the processes that share
    /// them.
    ///
    /// # Errors
    /// As for [`Writer::process_image`].
    pub fn process_memory(&self, time_ns: i64, bytes: &[(ProcessId, u64)]) -> Result<()> {
        bytes.iter().try_for_each(|&(process, _)| self.check_process(process))?;
        let row = ProcessRow::Memory { time_ns, bytes: bytes.to_vec() };
        self.shared.declare(|tables, _| tables.process(&row))
    }

    /// Writes all waiting rows, so that they are in the file if this program is killed. Each call takes about a hundred
    /// bytes in the file.
    ///
    /// # Errors
    /// [`WriterError::Io`], [`WriterError::Broken`].
    pub fn flush(&self) -> Result<()> {
        self.shared.flush_tables()
    }

    fn check_process(&self, process: ProcessId) -> Result<()> {
        Counts::check("process", process.0, &self.shared.counts.processes)
    }
}

fn program(described: &ProgramDescription<'_>, tables: &mut Tables, counts: &Counts) -> Result<Program> {
    let mut text = |text: &str| tables.string(text, counts);
    Ok(Program {
        executable: described.executable.map(&mut text).transpose()?,
        directory: described.directory.map(&mut text).transpose()?,
        arguments: described.arguments.iter().map(|argument| text(argument)).collect::<Result<_, WriterError>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    #[test]
    fn processes_that_did_not_begin_are_refused() {
        let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).unwrap();
        let unknown = ProcessId(1);
        let first = writer.begin_process(&ProcessDescription::default()).unwrap();
        assert_eq!(first, ProcessId(0));
        let refused = [
            writer
                .begin_process(&ProcessDescription { parent: Some(unknown), ..ProcessDescription::default() })
                .map(drop),
            writer.process_image(unknown, 0, &ProgramDescription::default(), Usage::default()),
            writer.end_process(unknown, 0, &ProcessEnd::default()),
            writer.process_heap(unknown, [0; 16]),
            writer.process_attributes(unknown, &[]),
            writer.process_memory(0, &[(first, 1), (unknown, 1)]),
        ];
        for refused in refused {
            assert_eq!(refused.unwrap_err().to_string(), "process 1 was never declared (1 were)");
        }
        writer.finish().unwrap();
    }
}
