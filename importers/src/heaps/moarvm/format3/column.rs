//! A compressed column, decompressed a batch at a time.

use crate::error::Damage;
use crate::heaps::moarvm::tables::Tables;
use byteorder::{ByteOrder, LittleEndian};
use std::io::Read;

/// Number of values decompressed at once.
const BATCH_VALUES: usize = 4096;

/// Maximum number of values in a compressed byte. Real columns have under 200; zstd allows 32 Ki, so
/// without a limit a small damaged dump could fill the memory.
const MAX_VALUES_PER_BYTE: u64 = 1024;
/// The number of values that any small dump may hold.
const FREE_VALUES: u64 = 1 << 16;

/// Values of a batch.
pub(super) type Batch = Vec<u64>;

/// A column in the dump.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column<'a> {
    /// Its name in errors.
    pub(super) what: &'static str,
    /// The offset of its section.
    pub(super) offset: u64,
    /// 1, 2, 4 or 8.
    pub(super) element_bytes: usize,
    /// One zstd frame.
    pub(super) frame: &'a [u8],
}

impl<'a> Column<'a> {
    /// Begins to decompress it.
    pub(super) fn reader(&self) -> Result<ColumnReader<'a>, Damage> {
        let decoder = zstd::stream::read::Decoder::with_buffer(self.frame).map_err(|error| self.broken(&error))?;
        Ok(ColumnReader { column: *self, decoder, bytes: vec![0; BATCH_VALUES * self.element_bytes] })
    }

    /// A value that must fit 32 bits.
    pub(super) fn u32(&self, value: u64) -> Result<u32, Damage> {
        u32::try_from(value).map_err(|_| Damage::OutOfRange {
            what: self.what,
            offset: self.offset,
            value,
            limit: u32::MAX.into(),
        })
    }

    /// The damage if the number of its values differs from other columns.
    pub(super) fn mismatch(&self, expected: u64, found: u64) -> Damage {
        Damage::Mismatch { what: self.what, offset: self.offset, expected, found }
    }

    fn broken(&self, error: &std::io::Error) -> Damage {
        Damage::Decompress { what: self.what, offset: self.offset, message: error.to_string() }
    }
}

/// A column that is being decompressed.
pub(super) struct ColumnReader<'a> {
    column: Column<'a>,
    decoder: zstd::stream::read::Decoder<'static, &'a [u8]>,
    bytes: Vec<u8>,
}

impl ColumnReader<'_> {
    /// Replaces `batch` by the next values; it is empty at the end.
    pub(super) fn read(&mut self, batch: &mut Batch) -> Result<(), Damage> {
        batch.clear();
        let filled = self.fill()?;
        let bytes = &self.bytes[..filled];
        let width = self.column.element_bytes;
        if filled % width != 0 {
            let expected = filled.next_multiple_of(width) as u64;
            return Err(self.column.mismatch(expected, filled as u64));
        }
        match width {
            1 => batch.extend(bytes.iter().map(|&byte| u64::from(byte))),
            2 => batch.extend(bytes.chunks_exact(2).map(|value| u64::from(LittleEndian::read_u16(value)))),
            4 => batch.extend(bytes.chunks_exact(4).map(|value| u64::from(LittleEndian::read_u32(value)))),
            _ => batch.extend(bytes.chunks_exact(8).map(LittleEndian::read_u64)),
        }
        Ok(())
    }

    /// Decompresses until the buffer is full or the column ends.
    fn fill(&mut self) -> Result<usize, Damage> {
        let mut filled = 0;
        while filled < self.bytes.len() {
            match self.decoder.read(&mut self.bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) => return Err(self.column.broken(&error)),
            }
        }
        Ok(filled)
    }
}

/// Refuses a column that holds more than it plausibly can: see [`MAX_VALUES_PER_BYTE`].
pub(super) fn check_density(column: &Column<'_>, value_count: u64, compressed_bytes: usize) -> Result<(), Damage> {
    let limit = FREE_VALUES.saturating_add((compressed_bytes as u64).saturating_mul(MAX_VALUES_PER_BYTE));
    if value_count <= limit {
        return Ok(());
    }
    Err(Damage::OutOfRange { what: column.what, offset: column.offset, value: value_count, limit })
}

/// All values of a column of a table.
pub(super) fn read_all(column: &Column<'_>) -> Result<Vec<u64>, Damage> {
    let mut reader = column.reader()?;
    let (mut values, mut batch) = (Vec::new(), Batch::new());
    loop {
        reader.read(&mut batch)?;
        if batch.is_empty() {
            return Ok(values);
        }
        values.extend_from_slice(&batch);
        check_density(column, values.len() as u64, column.frame.len())?;
    }
}

/// Reads the section `strings` into the tables.
pub(super) fn read_strings(column: &Column<'_>, tables: &mut Tables<'_>) -> Result<(), Damage> {
    let mut reader = column.reader()?;
    // Lengths and texts as read; complete ones are removed.
    let mut pending = Vec::new();
    let mut total = 0;
    loop {
        let filled = reader.fill()?;
        total += filled as u64;
        check_density(column, total, column.frame.len())?;
        pending.extend_from_slice(&reader.bytes[..filled]);
        let done = split_strings(&pending, tables);
        pending.drain(..done);
        if filled == 0 {
            break;
        }
    }
    if pending.is_empty() { Ok(()) } else { Err(column.mismatch(0, pending.len() as u64)) }
}

/// Adds the complete strings at the start of `bytes`. Returns their length.
fn split_strings(bytes: &[u8], tables: &mut Tables<'_>) -> usize {
    let mut done = 0;
    while let Some((length, rest)) = bytes.get(done..).and_then(|rest| rest.split_first_chunk::<4>()) {
        let length = u32::from_le_bytes(*length) as usize;
        let Some(text) = rest.get(..length) else { break };
        tables.push_owned_string(text);
        done += 4 + length;
    }
    done
}
