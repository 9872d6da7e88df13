//! Threads of a snapshot, with their state and their counters.

use super::{Row, pairs, put_pairs};
use crate::error::Result;
use crate::fields::{Fields, put_optional, put_varint};
use crate::frame::SectionType;
use crate::ids::StringId;

/// A thread of the recorded program. Its counters start with the thread, as the runtime counts them, and never fall.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thread {
    /// The runtime's number for it: rows of two snapshots with the same number are the same thread, as
    /// long as no counter fell. A number that occurs twice in a snapshot identifies no thread across snapshots.
    pub id: u64,
    /// Its name.
    pub name: Option<StringId>,
    /// Its state in the runtime's words: running, waiting.
    pub state: Option<StringId>,
    /// Memory it allocated, in bytes. Below 2^64 - 1, like the other counters.
    pub allocated_bytes: Option<u64>,
    /// Number of objects it allocated.
    pub allocated_objects: Option<u64>,
    /// The processor time it used, in nanoseconds.
    pub cpu_time_ns: Option<u64>,
    /// The label of its roots: those with this label, and those whose label continues it with `: ` and more, such as a
    /// frame.
    pub root_label: Option<StringId>,
    /// Other facts that the runtime knows: keys and values.
    pub attributes: Vec<(StringId, StringId)>,
}

impl Row for Thread {
    const SECTION: SectionType = SectionType::THREADS;
    const NAME: &'static str = "thread";

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.id);
        put_optional(out, self.name.map(|name| name.0.into()));
        put_optional(out, self.state.map(|state| state.0.into()));
        put_optional(out, self.allocated_bytes);
        put_optional(out, self.allocated_objects);
        put_optional(out, self.cpu_time_ns);
        put_optional(out, self.root_label.map(|label| label.0.into()));
        put_pairs(out, &self.attributes);
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        Ok(Thread {
            id: fields.varint()?,
            name: fields.optional_u32()?.map(StringId),
            state: fields.optional_u32()?.map(StringId),
            allocated_bytes: fields.optional()?,
            allocated_objects: fields.optional()?,
            cpu_time_ns: fields.optional()?,
            root_label: fields.optional_u32()?.map(StringId),
            attributes: pairs(fields)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Compression, Compressor, Decompressor};
    use crate::rows::{Chunk, encode_chunk, encode_raw_chunk};

    fn read(directory: &[u8], body: &[u8]) -> Result<Vec<Thread>> {
        let mut threads = Vec::new();
        Chunk::parse(directory, body)?.for_each(&mut Decompressor::new(), |thread| {
            threads.push(thread);
            Ok(())
        })?;
        Ok(threads)
    }

    #[test]
    fn threads_are_read_back() {
        let largest = Thread {
            id: u64::MAX,
            name: Some(StringId(u32::MAX)),
            state: Some(StringId(0)),
            allocated_bytes: Some(u64::MAX - 1),
            allocated_objects: Some(0),
            cpu_time_ns: Some(u64::MAX - 1),
            root_label: Some(StringId(7)),
            attributes: vec![(StringId(3), StringId(4)), (StringId(3), StringId(5))],
        };
        let threads = [Thread::default(), largest, Thread { id: 7, cpu_time_ns: Some(0), ..Thread::default() }];
        for compression in [Compression::None, Compression::Lz4, Compression::Zstd(1)] {
            let mut compressor = Compressor::new(compression).unwrap();
            for count in 0..=threads.len() {
                let (directory, body) = encode_chunk(5, &threads[..count], &mut compressor).unwrap();
                assert_eq!(read(&directory, &body).unwrap(), threads[..count]);
            }
        }
    }

    #[test]
    fn the_bytes_of_a_row() {
        let row = Thread {
            id: 300,
            name: Some(StringId(4)),
            allocated_bytes: Some(0),
            cpu_time_ns: Some(9),
            attributes: vec![(StringId(1), StringId(2))],
            ..Thread::default()
        };
        let mut bytes = Vec::new();
        row.put(&mut bytes);
        let expected = [
            0xac, 0x02, // id 300
            5,    // name: string 4
            0,    // no state
            1,    // allocated bytes: 0
            0,    // allocated objects: unknown
            10,   // processor time: 9 ns
            0,    // no root label
            1, 1, 2, // one attribute: string 1 is string 2
        ];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn what_is_no_thread_is_refused() {
        let mut compressor = Compressor::new(Compression::None).unwrap();
        for (raw, words) in [
            (&[1, 0, 0, 0, 0, 0, 0][..], "varint"),
            (&[1, 0, 0, 0, 0, 0, 0, 1, 1], "varint"),
            (&[1, 0, 0, 0, 0, 0, 0, 9], "thread is 9"),
            (&[1, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0], "thread is"),
            (&[1, 0, 0, 0, 0, 0, 0, 0, 0], "thread: 9 is stored, 8 was found"),
        ] {
            let (directory, body) = encode_raw_chunk::<Thread>(0, 1, raw, &mut compressor).unwrap();
            let error = read(&directory, &body).unwrap_err().to_string();
            assert!(error.contains(words), "{raw:?}: {error}");
        }
    }
}
