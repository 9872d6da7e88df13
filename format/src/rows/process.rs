//! Processes: the events of a tree of processes, as rows that are appended when something happens.
//!
//! ```text
//!   BEGIN 0 (make)   BEGIN 1 (forked by 0)   IMAGE 1 (sh)   IMAGE 1 (gcc)   MEMORY 0: 4 MiB, 1: 60 MiB   END 1   END 0
//! ```
//!
//! A process is a number, from 0 in the order of BEGIN rows, since the system reuses its own numbers. It runs one
//! program *image* after the other. Counters count from the start of the process, so the use of an image is the
//! difference of two rows. A process without an END row was still running when the recording ended.

use super::Row;
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_optional, put_varint};
use crate::frame::SectionType;
use crate::ids::{ProcessId, StringId};
use crate::varint::{unzigzag, zigzag};

/// The kinds of rows.
mod kind {
    pub(super) const BEGIN: u64 = 0;
    pub(super) const IMAGE: u64 = 1;
    pub(super) const END: u64 = 2;
    pub(super) const HEAP: u64 = 3;
    pub(super) const ATTRIBUTES: u64 = 4;
    pub(super) const MEMORY: u64 = 5;
}

/// An event of a process. Times are in nanoseconds since the recording began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessRow {
    /// A process began.
    Begin {
        /// The process: the number of processes that began before it.
        process: ProcessId,
        /// Time of the start.
        time_ns: i64,
        /// The number that the system gave it.
        pid: u64,
        /// The process that started it.
        parent: Option<ProcessId>,
        /// The machine it runs on.
        host: Option<StringId>,
        /// The program it executes from the start; empty for a forked process.
        program: Program,
    },
    /// It executes another program.
    Image {
        /// The process.
        process: ProcessId,
        /// Time of the exec.
        time_ns: i64,
        /// The program.
        program: Program,
        /// The use of the process until then. The peak is that of the image that ends here.
        used: Usage,
    },
    /// It ended.
    End {
        /// The process.
        process: ProcessId,
        /// Time of the end.
        time_ns: i64,
        /// Its exit status, unless a signal ended it.
        exit_status: Option<u64>,
        /// The signal that ended it.
        signal: Option<u64>,
        /// Its use since its start. The peak is that of its last image.
        used: Usage,
    },
    /// It wrote a recording of its heap.
    Heap {
        /// The process.
        process: ProcessId,
        /// The unique identifier of that recording.
        uuid: [u8; 16],
    },
    /// Other facts about it.
    Attributes {
        /// The process.
        process: ProcessId,
        /// Keys and values.
        attributes: Vec<(StringId, StringId)>,
    },
    /// The memory of processes at a time.
    Memory {
        /// Time of the measurement.
        time_ns: i64,
        /// Each measured process with its memory in bytes; shared pages are divided among the processes that share
        /// them.
        bytes: Vec<(ProcessId, u64)>,
    },
    /// A row of a kind that this version does not know.
    Unknown,
}

/// A program as executed by a process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// Path of the program.
    pub executable: Option<StringId>,
    /// The working directory when it started.
    pub directory: Option<StringId>,
    /// The arguments, beginning with the name of the program.
    pub arguments: Vec<StringId>,
}

/// Resource use of a process, as counted by the system, without its children. Each value is below 2^64 - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Processor time in its own code, in nanoseconds.
    pub user_ns: Option<u64>,
    /// Processor time in the system, in nanoseconds.
    pub system_ns: Option<u64>,
    /// Peak resident memory, in bytes.
    pub peak_bytes: Option<u64>,
    /// Page faults that read nothing.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for a device.
    pub major_faults: Option<u64>,
    /// Bytes read from devices.
    pub read_bytes: Option<u64>,
    /// Bytes written to devices.
    pub written_bytes: Option<u64>,
    /// Number of voluntary context switches.
    pub voluntary_switches: Option<u64>,
    /// Number of involuntary context switches.
    pub involuntary_switches: Option<u64>,
    /// Time that its threads could have run but had no processor, in nanoseconds. Unknown in rows that older versions
    /// wrote.
    pub waiting_ns: Option<u64>,
}

impl Row for ProcessRow {
    const SECTION: SectionType = SectionType::PROCESSES;
    const NAME: &'static str = "process";
    const HAS_LENGTH: bool = true;

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            ProcessRow::Begin { process, time_ns, pid, parent, host, program } => {
                put_varint(out, kind::BEGIN);
                put_varint(out, process.0.into());
                put_optional(out, host.map(|host| host.0.into()));
                put_varint(out, *pid);
                put_optional(out, parent.map(|parent| parent.0.into()));
                put_varint(out, zigzag(*time_ns));
                program.put(out);
            }
            ProcessRow::Image { process, time_ns, program, used } => {
                put_varint(out, kind::IMAGE);
                put_varint(out, process.0.into());
                put_varint(out, zigzag(*time_ns));
                program.put(out);
                used.put(out);
            }
            ProcessRow::End { process, time_ns, exit_status, signal, used } => {
                put_varint(out, kind::END);
                put_varint(out, process.0.into());
                put_varint(out, zigzag(*time_ns));
                put_optional(out, *exit_status);
                put_optional(out, *signal);
                used.put(out);
            }
            ProcessRow::Heap { process, uuid } => {
                put_varint(out, kind::HEAP);
                put_varint(out, process.0.into());
                out.extend_from_slice(uuid);
            }
            ProcessRow::Attributes { process, attributes } => {
                put_varint(out, kind::ATTRIBUTES);
                put_varint(out, process.0.into());
                super::put_pairs(out, attributes);
            }
            ProcessRow::Memory { time_ns, bytes } => {
                put_varint(out, kind::MEMORY);
                put_varint(out, zigzag(*time_ns));
                put_varint(out, bytes.len() as u64);
                for &(process, bytes) in bytes {
                    put_varint(out, process.0.into());
                    put_varint(out, bytes);
                }
            }
            // An unknown row: its number counts.
            ProcessRow::Unknown => put_varint(out, u64::MAX),
        }
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        Ok(match fields.varint()? {
            kind::BEGIN => {
                let process = ProcessId(fields.varint_u32()?);
                let host = fields.optional_u32()?.map(StringId);
                let pid = fields.varint()?;
                let parent = fields.optional_u32()?.map(ProcessId);
                let time_ns = unzigzag(fields.varint()?);
                ProcessRow::Begin { process, time_ns, pid, parent, host, program: Program::read(fields)? }
            }
            kind::IMAGE => {
                let (process, time_ns) = (ProcessId(fields.varint_u32()?), unzigzag(fields.varint()?));
                let program = Program::read(fields)?;
                ProcessRow::Image { process, time_ns, program, used: Usage::read(fields)? }
            }
            kind::END => {
                let (process, time_ns) = (ProcessId(fields.varint_u32()?), unzigzag(fields.varint()?));
                let (exit_status, signal) = (fields.optional()?, fields.optional()?);
                ProcessRow::End { process, time_ns, exit_status, signal, used: Usage::read(fields)? }
            }
            kind::HEAP => {
                let process = ProcessId(fields.varint_u32()?);
                let wrong = |_| FormatError::Mismatch { what: Self::NAME, stored: 16, found: 0 };
                ProcessRow::Heap { process, uuid: fields.bytes(16)?.try_into().map_err(wrong)? }
            }
            kind::ATTRIBUTES => {
                let process = ProcessId(fields.varint_u32()?);
                ProcessRow::Attributes { process, attributes: super::pairs(fields)? }
            }
            kind::MEMORY => {
                let time_ns = unzigzag(fields.varint()?);
                let count = fields.count()?;
                let sample = |_| Ok((ProcessId(fields.varint_u32()?), fields.varint()?));
                ProcessRow::Memory { time_ns, bytes: (0..count).map(sample).collect::<Result<_>>()? }
            }
            _ => {
                fields.bytes(fields.rest().len() as u64)?;
                ProcessRow::Unknown
            }
        })
    }
}

impl Program {
    fn put(&self, out: &mut Vec<u8>) {
        put_optional(out, self.executable.map(|executable| executable.0.into()));
        put_optional(out, self.directory.map(|directory| directory.0.into()));
        put_varint(out, self.arguments.len() as u64);
        self.arguments.iter().for_each(|argument| put_varint(out, argument.0.into()));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self> {
        let (executable, directory) = (fields.optional_u32()?.map(StringId), fields.optional_u32()?.map(StringId));
        let count = fields.count()?;
        let arguments = (0..count).map(|_| fields.varint_u32().map(StringId)).collect::<Result<_>>()?;
        Ok(Program { executable, directory, arguments })
    }

    /// All strings it refers to.
    pub fn strings(&self) -> impl Iterator<Item = StringId> + '_ {
        self.executable.into_iter().chain(self.directory).chain(self.arguments.iter().copied())
    }

    /// Returns whether all of it is unknown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.strings().next().is_none()
    }
}

impl Usage {
    fn put(&self, out: &mut Vec<u8>) {
        let Usage { user_ns, system_ns, peak_bytes, minor_faults, major_faults, .. } = *self;
        let Usage { read_bytes, written_bytes, voluntary_switches, involuntary_switches, waiting_ns, .. } = *self;
        for value in [
            user_ns,
            system_ns,
            peak_bytes,
            minor_faults,
            major_faults,
            read_bytes,
            written_bytes,
            voluntary_switches,
            involuntary_switches,
        ] {
            put_optional(out, value);
        }
        // The last field of its rows: rows of older versions end before it, and so do rows without it.
        if waiting_ns.is_some() {
            put_optional(out, waiting_ns);
        }
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self> {
        Ok(Usage {
            user_ns: fields.optional()?,
            system_ns: fields.optional()?,
            peak_bytes: fields.optional()?,
            minor_faults: fields.optional()?,
            major_faults: fields.optional()?,
            read_bytes: fields.optional()?,
            written_bytes: fields.optional()?,
            voluntary_switches: fields.optional()?,
            involuntary_switches: fields.optional()?,
            waiting_ns: if fields.rest().is_empty() { None } else { fields.optional()? },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Compression, Compressor, Decompressor};
    use crate::rows::{Chunk, encode_chunk};

    fn read(directory: &[u8], body: &[u8]) -> Result<Vec<ProcessRow>> {
        let mut rows = Vec::new();
        Chunk::parse(directory, body)?.for_each(&mut Decompressor::new(), |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    fn rows() -> Vec<ProcessRow> {
        let text = |id| Some(StringId(id));
        let program = Program { executable: text(0), directory: text(u32::MAX), arguments: vec![StringId(7); 3] };
        let used = Usage {
            user_ns: Some(0),
            system_ns: Some(u64::MAX - 1),
            peak_bytes: Some(1),
            minor_faults: Some(2),
            major_faults: Some(3),
            read_bytes: Some(4),
            written_bytes: Some(5),
            voluntary_switches: Some(6),
            involuntary_switches: None,
            waiting_ns: Some(7),
        };
        let (process, time_ns) = (ProcessId(0), i64::MIN);
        let forked = ProcessRow::Begin {
            process: ProcessId(1),
            time_ns: i64::MAX,
            pid: u64::MAX,
            parent: Some(ProcessId(0)),
            host: text(3),
            program: Program::default(),
        };
        vec![
            ProcessRow::Begin { process, time_ns: 0, pid: 1, parent: None, host: None, program: program.clone() },
            forked,
            ProcessRow::Image { process, time_ns, program, used },
            ProcessRow::Memory { time_ns: -1, bytes: vec![(process, u64::MAX), (ProcessId(1), 0)] },
            ProcessRow::Memory { time_ns: 3, bytes: Vec::new() },
            ProcessRow::Heap { process, uuid: [9; 16] },
            ProcessRow::Attributes { process, attributes: vec![(StringId(1), StringId(2))] },
            ProcessRow::End { process, time_ns: 9, exit_status: Some(0), signal: None, used: Usage::default() },
            ProcessRow::End { process: ProcessId(1), time_ns: 9, exit_status: None, signal: Some(9), used },
            ProcessRow::Unknown,
        ]
    }

    #[test]
    fn processes_are_read_back() {
        let rows = rows();
        for compression in [Compression::None, Compression::Zstd(1)] {
            let mut compressor = Compressor::new(compression).unwrap();
            for count in 0..=rows.len() {
                let (directory, body) = encode_chunk(5, &rows[..count], &mut compressor).unwrap();
                assert_eq!(read(&directory, &body).unwrap(), rows[..count]);
            }
        }
    }

    #[test]
    fn the_bytes_of_rows() {
        let process = ProcessId(2);
        let program = Program { executable: None, directory: None, arguments: vec![StringId(4)] };
        let used = Usage { user_ns: Some(6), ..Usage::default() };
        let rows = [
            ProcessRow::Begin {
                process: ProcessId(9),
                time_ns: -1,
                pid: 300,
                parent: Some(process),
                host: None,
                program: Program::default(),
            },
            ProcessRow::Image { process, time_ns: 1, program, used },
            ProcessRow::End { process, time_ns: 1, exit_status: Some(0), signal: None, used },
            ProcessRow::Memory { time_ns: 0, bytes: vec![(process, 5)] },
            ProcessRow::End {
                process,
                time_ns: 1,
                exit_status: None,
                signal: Some(9),
                used: Usage { waiting_ns: Some(9), ..used },
            },
        ];
        let mut compressor = Compressor::new(Compression::None).unwrap();
        let (_, body) = encode_chunk(0, &rows, &mut compressor).unwrap();
        let expected = [
            10, // bytes of the row
            0, 9, 0, 0xac, 0x02, 3, 1, // begin, process 9, no host, pid 300, parent 2, time -1
            0, 0, 0, // nothing is executed yet
            16, 1, 2, 2, // image, process 2, time 1
            0, 0, 1, 4, // no executable, no directory, one argument: string 4
            7, 0, 0, 0, 0, 0, 0, 0, 0, // 6 ns of user time, nothing else is known
            14, 2, 2, 2, // end, process 2, time 1
            1, 0, // exit status 0, no signal
            7, 0, 0, 0, 0, 0, 0, 0, 0, // what it used
            5, 5, 0, 1, 2, 5, // memory, time 0, of one process: process 2 has 5 bytes
            15, 2, 2, 2, // end, process 2, time 1
            0, 10, // no exit status, signal 9
            7, 0, 0, 0, 0, 0, 0, 0, 0, 10, // what it used; it waited for 9 ns
        ];
        assert_eq!(body, expected);
    }

    #[test]
    fn rows_of_kinds_to_come_count() {
        let mut body = vec![3, 99, 1, 2];
        let mut directory = Vec::new();
        let end = ProcessRow::End {
            process: ProcessId(0),
            time_ns: 0,
            exit_status: None,
            signal: None,
            used: Usage { waiting_ns: Some(8), ..Usage::default() },
        };
        let mut row = Vec::new();
        end.put(&mut row);
        // With a field at its end that this version does not know.
        put_varint(&mut body, row.len() as u64 + 1);
        body.extend(row);
        body.push(0xff);
        for value in [0, body.len() as u64, 0, 2, 1] {
            put_varint(&mut directory, value);
        }
        assert_eq!(read(&directory, &body).unwrap(), [ProcessRow::Unknown, end]);
    }

    #[test]
    fn what_is_no_process_is_refused() {
        for body in [&[1, 2][..], &[3, 4, 0, 9], &[3, 5, 0, 9], &[2, 3, 0], &[5, 1, 0, 0, 0, 0, 200]] {
            let mut directory = Vec::new();
            for value in [0, body.len() as u64, 0, 1, 1] {
                put_varint(&mut directory, value);
            }
            assert!(read(&directory, body).is_err(), "{body:?}");
        }
    }
}
