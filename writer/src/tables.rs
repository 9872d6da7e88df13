//! The tables that all snapshots share: rows are numbered when declared, and wait here until a
//! chunk of them is written.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};

use barrow_format::codec::{Compression, Compressor};
use barrow_format::commit::TableCounts;
use barrow_format::frame::NO_SNAPSHOT;
use barrow_format::rows::{
    Encoding, Field, KeyValue, Kind, MAX_CHUNK_BYTES, MeasurementRow, ProcessRow, Row, Site, Strength, StrengthClass,
    Text, Type, WordPlace, WordRow, WordValues, encode_raw_chunk, table_memory_bytes, table_memory_limit,
    table_memory_name,
};
use barrow_format::{FieldId, KindId, ProcessId, SiteId, StrengthId, StringId, TypeId};

use crate::error::{Result, WriterError};
use crate::interned::Interned;
use crate::shortened::{MAX_TEXT_BYTES, Shortened};
use crate::sink::Sink;
use crate::word::Word;

/// Rows wait until their chunk is this long, or until the next commit.
const CHUNK_BYTES: usize = 256 << 10;

/// The rows of one table that are not in the file yet.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Rows in the file.
    first: u64,
    /// Chunks that are full and wait to be written, each with the number of its rows.
    closed: VecDeque<(u64, Vec<u8>)>,
    /// Rows in closed chunks.
    closed_count: u64,
    /// Rows after those.
    count: u64,
    raw: Vec<u8>,
    /// The length of the rows in the file and in closed chunks, before compression.
    raw_bytes_before: u64,
}

impl Pending {
    pub(crate) const fn new() -> Self {
        Pending { first: 0, closed: VecDeque::new(), closed_count: 0, count: 0, raw: Vec::new(), raw_bytes_before: 0 }
    }

    /// Numbers a row and queues it.
    pub(crate) fn push<R: Row>(&mut self, row: &R) -> Result<u32> {
        let number = self.rows();
        let id = u32::try_from(number).ok().filter(|&id| id < u32::MAX).ok_or(WriterError::OutOfRange {
            what: R::NAME,
            value: number,
            limit: u64::from(u32::MAX) - 1,
        })?;
        if self.raw.len() >= CHUNK_BYTES {
            // The rows of one call may take several chunks.
            self.raw_bytes_before += self.raw.len() as u64;
            self.closed.push_back((self.count, std::mem::take(&mut self.raw)));
            self.closed_count += self.count;
            self.count = 0;
        }
        let before = self.raw.len();
        row.append(&mut self.raw);
        let length = self.raw.len();
        if length > MAX_CHUNK_BYTES {
            // A chunk that is too long could never be written: the rows before this one still can.
            self.raw.truncate(before);
            let (value, limit) = (length as u64, MAX_CHUNK_BYTES as u64);
            return Err(WriterError::OutOfRange { what: "length of the rows that wait to be written", value, limit });
        }
        if let Err(error) = check_memory::<R>(self.raw_bytes_before + length as u64, number + 1) {
            self.raw.truncate(before);
            return Err(error);
        }
        self.count += 1;
        Ok(id)
    }

    /// Rows in the file and waiting.
    fn rows(&self) -> u64 {
        self.first + self.closed_count + self.count
    }

    pub(crate) fn is_full(&self) -> bool {
        !self.closed.is_empty() || self.raw.len() >= CHUNK_BYTES
    }

    /// Writes the waiting rows, nearly always as one chunk, and returns the offsets of the chunks. If that fails, the
    /// rows keep waiting.
    pub(crate) fn flush<R: Row>(
        &mut self,
        snapshot: u32,
        sink: &mut Sink,
        compressor: &mut Compressor,
    ) -> Result<Vec<u64>> {
        let mut write = |first, count, raw: &[u8]| -> Result<u64> {
            let (directory, body) = encode_raw_chunk::<R>(first, count, raw, compressor)?;
            sink.append_section(R::SECTION, snapshot, count, &directory, &body)
        };
        let mut offsets = Vec::new();
        while let Some((count, raw)) = self.closed.front() {
            offsets.push(write(self.first, *count, raw)?);
            self.first += count;
            self.closed_count -= count;
            self.closed.pop_front();
        }
        if self.count > 0 {
            offsets.push(write(self.first, self.count, &self.raw)?);
            self.first += self.count;
            self.count = 0;
            self.raw_bytes_before += self.raw.len() as u64;
            self.raw.clear();
        }
        Ok(offsets)
    }
}

/// Fails if readers would refuse a table of these rows.
fn check_memory<R: Row>(raw_bytes: u64, rows: u64) -> Result<()> {
    let value = table_memory_bytes(R::SECTION, raw_bytes, rows);
    match table_memory_limit(R::SECTION) {
        Some(limit) if value > limit => {
            Err(WriterError::OutOfRange { what: table_memory_name(R::SECTION), value, limit })
        }
        _ => Ok(()),
    }
}

/// The number of rows of each table: read by every announcing thread, so without a lock.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) strings: AtomicU32,
    pub(crate) kinds: AtomicU32,
    pub(crate) strengths: AtomicU32,
    pub(crate) types: AtomicU32,
    pub(crate) shapes: AtomicU32,
    pub(crate) fields: AtomicU32,
    /// Rows of the site table, whose numbers begin with 1.
    pub(crate) sites: AtomicU32,
    /// Processes that began, which are fewer than the rows of their table.
    pub(crate) processes: AtomicU32,
    /// Metrics, variants and runs, each fewer than the rows of their table.
    pub(crate) metrics: AtomicU32,
    pub(crate) variants: AtomicU32,
    pub(crate) runs: AtomicU32,
}

impl Counts {
    /// Fails unless `id` was returned before.
    pub(crate) fn check(what: &'static str, id: u32, known: &AtomicU32) -> Result<()> {
        // Relaxed: a thread that has an id got it after the count was raised, through the table's lock.
        let known = known.load(Ordering::Relaxed);
        if id < known { Ok(()) } else { Err(WriterError::Undeclared { what, id, known }) }
    }

    pub(crate) fn snapshot(&self) -> TableCounts {
        TableCounts {
            strings: self.strings.load(Ordering::Acquire),
            kinds: self.kinds.load(Ordering::Acquire),
            strengths: self.strengths.load(Ordering::Acquire),
            types: self.types.load(Ordering::Acquire),
            shapes: self.shapes.load(Ordering::Acquire),
        }
    }
}

/// All tables except the shapes, which the encoders look up themselves.
pub(crate) struct Tables {
    interned: Interned,
    shortened: Shortened,
    strings: Pending,
    kinds: Pending,
    strengths: Pending,
    types: Pending,
    facts: Pending,
    fields: Pending,
    encodings: Vec<Encoding>,
    sites: Pending,
    processes: Pending,
    measurements: Pending,
    words: Pending,
    /// The words of the caller that are marked.
    marked: HashSet<Word>,
    compressor: Compressor,
}

impl Tables {
    /// Empty tables, except for the strength that every table begins with.
    pub(crate) fn new(compression: Compression, counts: &Counts) -> Result<Self> {
        let mut tables = Tables {
            interned: Interned::default(),
            shortened: Shortened::default(),
            strings: Pending::new(),
            kinds: Pending::new(),
            strengths: Pending::new(),
            types: Pending::new(),
            facts: Pending::new(),
            fields: Pending::new(),
            encodings: Vec::new(),
            sites: Pending::new(),
            processes: Pending::new(),
            measurements: Pending::new(),
            words: Pending::new(),
            marked: HashSet::new(),
            compressor: Compressor::new(compression)?,
        };
        let name = tables.string("strong", counts)?;
        tables.strength(&Strength { name, class: StrengthClass::Strong }, counts)?;
        Ok(tables)
    }

    pub(crate) fn string(&mut self, text: &str, counts: &Counts) -> Result<StringId> {
        let mut cut = Shortened::default();
        let text = &*cut.shorten(text, MAX_TEXT_BYTES);
        if let Some(id) = self.interned.get(text) {
            return Ok(id);
        }
        let id = StringId(declare(&mut self.strings, &Text(text.to_owned()), &counts.strings)?);
        self.interned.insert(text, id);
        self.shortened.add(cut);
        Ok(id)
    }

    /// The count of shortened texts.
    pub(crate) fn shortened(&self) -> Shortened {
        self.shortened
    }

    pub(crate) fn kind(&mut self, kind: &Kind, counts: &Counts) -> Result<KindId> {
        declare(&mut self.kinds, kind, &counts.kinds).map(KindId)
    }

    pub(crate) fn strength(&mut self, strength: &Strength, counts: &Counts) -> Result<StrengthId> {
        declare(&mut self.strengths, strength, &counts.strengths).map(StrengthId)
    }

    pub(crate) fn declare_type(&mut self, row: &Type, counts: &Counts) -> Result<TypeId> {
        declare(&mut self.types, row, &counts.types).map(TypeId)
    }

    pub(crate) fn field(&mut self, field: &Field, counts: &Counts) -> Result<FieldId> {
        let id = declare(&mut self.fields, &Some(*field), &counts.fields)?;
        self.encodings.push(field.encoding);
        Ok(FieldId(id))
    }

    /// The encodings of all fields.
    pub(crate) fn encodings(&self) -> &[Encoding] {
        &self.encodings
    }

    pub(crate) fn fact(&mut self, fact: &KeyValue) -> Result<()> {
        self.facts.push(fact).map(drop)
    }

    pub(crate) fn site(&mut self, site: &Site, counts: &Counts) -> Result<SiteId> {
        // A row's number is below the largest, so that one more fits.
        declare(&mut self.sites, site, &counts.sites).map(|row| SiteId(row + 1))
    }

    /// Numbers a process.
    pub(crate) fn begin_process(
        &mut self,
        counts: &Counts,
        row: impl FnOnce(ProcessId) -> ProcessRow,
    ) -> Result<ProcessId> {
        // Relaxed: only the owner of the tables' lock changes it. Rows are fewer than 2^32, so processes are.
        let process = ProcessId(counts.processes.load(Ordering::Relaxed));
        self.processes.push(&row(process))?;
        counts.processes.store(process.0 + 1, Ordering::Release);
        Ok(process)
    }

    pub(crate) fn process(&mut self, row: &ProcessRow) -> Result<()> {
        self.processes.push(row).map(drop)
    }

    pub(crate) fn measurement(&mut self, row: &MeasurementRow) -> Result<()> {
        self.measurements.push(row).map(drop)
    }

    /// Numbers a word as [`Tables::string`] does, and marks it the first time.
    pub(crate) fn word(&mut self, word: Word, counts: &Counts) -> Result<StringId> {
        let text = self.string(word.text(), counts)?;
        if !self.marked.contains(&word) {
            self.mark(WordRow { text, place: word.place(), values: word.values() })?;
            self.marked.insert(word);
        }
        Ok(text)
    }

    pub(crate) fn copy_word(
        &mut self,
        text: &str,
        place: WordPlace,
        values: WordValues,
        counts: &Counts,
    ) -> Result<()> {
        let text = self.string(text, counts)?;
        self.mark(WordRow { text, place, values })
    }

    fn mark(&mut self, word: WordRow) -> Result<()> {
        self.words.push(&Some(word)).map(drop)
    }

    /// Returns whether enough rows wait to be written, so that they never take much memory.
    pub(crate) fn is_full(&self) -> bool {
        let logs = [&self.processes, &self.measurements, &self.words];
        let tables = [&self.strings, &self.types, &self.facts, &self.fields, &self.sites];
        tables.into_iter().chain(logs).any(Pending::is_full)
    }

    /// Writes all waiting rows.
    pub(crate) fn flush(&mut self, sink: &mut Sink) -> Result<()> {
        let compressor = &mut self.compressor;
        self.strings.flush::<Text>(NO_SNAPSHOT, sink, compressor)?;
        self.kinds.flush::<Kind>(NO_SNAPSHOT, sink, compressor)?;
        self.strengths.flush::<Strength>(NO_SNAPSHOT, sink, compressor)?;
        self.types.flush::<Type>(NO_SNAPSHOT, sink, compressor)?;
        self.facts.flush::<KeyValue>(NO_SNAPSHOT, sink, compressor)?;
        self.fields.flush::<Option<Field>>(NO_SNAPSHOT, sink, compressor)?;
        self.sites.flush::<Site>(NO_SNAPSHOT, sink, compressor)?;
        self.processes.flush::<ProcessRow>(NO_SNAPSHOT, sink, compressor)?;
        self.measurements.flush::<MeasurementRow>(NO_SNAPSHOT, sink, compressor)?;
        self.words.flush::<Option<WordRow>>(NO_SNAPSHOT, sink, compressor)?;
        Ok(())
    }

    /// The compressor for chunks of other tables.
    pub(crate) fn compressor(&mut self) -> &mut Compressor {
        &mut self.compressor
    }
}

/// Numbers a row and publishes its number.
pub(crate) fn declare<R: Row>(pending: &mut Pending, row: &R, count: &AtomicU32) -> Result<u32> {
    let id = pending.push(row)?;
    count.store(id + 1, Ordering::Release);
    Ok(id)
}
