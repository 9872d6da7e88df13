//! Format 3: compressed columns in sections.
//!
//! ```text
//!   «MoarHeapDumpv003»  filemeta
//!   per snapshot        snapmeta  col… ×6  ref… ×2  [strings  types ×2  frames ×4]  top… ×2  toc  toc
//!   at the end                                      [strings  types ×2  frames ×4]           toc  toc
//!
//!   every section       name, 8 bytes padded with NUL, then by name:
//!   filemeta, snapmeta  length u64 · JSON with a NUL at its end
//!   strings             0 u64 · zstd frame of (length u32 · bytes)*
//!   a column            element bytes u16 · 0 u64 · zstd frame of integers
//!   toc                 count u64 · (name, start u64, end u64)* · the toc's own position u64
//! ```
//!
//! Tables in brackets hold only new rows, and are missing if there are none. A process that is killed leaves no last
//! toc, so sections are found by walking them. The length of a zstd frame is not stored: zstd finds it from the
//! frame's blocks.
//!
//! Columns are decompressed a batch at a time, side by side; only the references are kept.

mod column;
mod meta;
mod section;

use super::collectables::{Collectable, Collectables, RunLengths};
use super::header::HEADER_BYTES;
use super::reading::{CheckedSnapshot, NextSnapshot, ReadContext, Snapshots};
use super::references::{Limits, ReferenceRows, References};
use crate::error::{Damage, Stop};
use crate::intake::cursor::Cursor;
use barrow_writer::Writer;
use column::{Batch, Column, ColumnReader, check_density, read_all, read_strings};
use meta::{FileMeta, SnapshotMeta};
use section::{Content, Section};

/// Number of tables of contents after the last snapshot of a whole dump: its own two and the final two.
const FINAL_CONTENTS: u32 = 4;

/// Returns whether these bytes begin a section.
pub(super) fn begins_section(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(section::is_name)
}

/// The snapshots of a dump. The metadata of the dump becomes facts of the recording.
pub(crate) fn snapshots<'a>(dump: &'a [u8], writer: &'a Writer, reading: &ReadContext<'_>) -> ColumnSnapshots<'a> {
    let cursor = Cursor::new(dump, HEADER_BYTES);
    reading.progress.advance(cursor.offset());
    let (group, file) = (Group::default(), FileMeta::default());
    ColumnSnapshots { dump, writer, cursor, group, file, contents_since_snapshot: 0, number: 0, end: None }
}

/// The snapshots of a dump, found section by section.
pub(crate) struct ColumnSnapshots<'a> {
    dump: &'a [u8],
    writer: &'a Writer,
    cursor: Cursor<'a>,
    /// The sections since the last snapshot.
    group: Group<'a>,
    file: FileMeta,
    contents_since_snapshot: u32,
    /// The number of the next snapshot.
    number: u64,
    /// The reason why there are no more sections, if so.
    end: Option<Result<(), Stop>>,
}

type CheckedColumns<'a> = CheckedSnapshot<CollectableColumns<'a>, ReferenceRows>;

impl<'a> Snapshots<'a> for ColumnSnapshots<'a> {
    type Collectables = CollectableColumns<'a>;
    type References = ReferenceRows;

    fn next(&mut self, reading: &mut ReadContext<'a>) -> NextSnapshot<Self::Collectables, Self::References> {
        loop {
            if let Some(end) = self.end.take() {
                return end.map(|()| None);
            }
            reading.check_cancelled()?;
            let start = self.cursor.offset();
            let checked = match self.section() {
                Ok(Some(section)) => self.add(section, reading)?,
                Ok(None) => {
                    self.end = Some(Ok(()));
                    None
                }
                Err(damage) => self.finish_cut(damage, reading)?,
            };
            reading.progress.advance(self.cursor.offset() - start);
            if checked.is_some() {
                return Ok(checked);
            }
        }
    }
}

impl<'a> ColumnSnapshots<'a> {
    /// The next section; `None` at the end of a whole dump.
    fn section(&mut self) -> Result<Option<Section<'a>>, Damage> {
        if !self.cursor.rest().is_empty() {
            return Section::read(&mut self.cursor).map(Some);
        }
        if self.contents_since_snapshot >= FINAL_CONTENTS {
            return Ok(None);
        }
        Err(Damage::Unfinished { length: self.dump.len() as u64, missing: "its final table of contents" })
    }

    /// Adds a section to those of its snapshot, or ends the snapshot before it.
    fn add(&mut self, section: Section<'a>, reading: &mut ReadContext<'a>) -> Result<Option<CheckedColumns<'a>>, Stop> {
        match section {
            Section::FileMeta { json, offset } => {
                self.file = FileMeta::parse(json, offset)?;
                self.file.announce(self.writer)?;
            }
            Section::SnapshotMeta { json, offset } => {
                let checked = self.finish(reading)?;
                match SnapshotMeta::parse(json, offset) {
                    Ok(meta) => self.group.meta = Some(meta),
                    Err(damage) => self.end = Some(Err(damage.into())),
                }
                self.contents_since_snapshot = 0;
                return Ok(checked);
            }
            Section::Column(name, column) => self.group.add(name, column)?,
            Section::Contents => {
                self.contents_since_snapshot += 1;
                return self.finish(reading);
            }
        }
        Ok(None)
    }

    /// Reads the tables of the sections so far, and the snapshot if there is one. No sections remain.
    fn finish(&mut self, reading: &mut ReadContext<'a>) -> Result<Option<CheckedColumns<'a>>, Stop> {
        let group = std::mem::take(&mut self.group);
        let number = self.number;
        group.read_tables(reading).map_err(|damage| Stop::from(damage).in_snapshot(number))?;
        let Some(meta) = &group.meta else { return Ok(None) };
        let checked = group.check(number, meta, &self.file, reading).map_err(|stop| stop.in_snapshot(number))?;
        self.number += 1;
        Ok(Some(checked))
    }

    /// The cut may be after the columns and tables of the last snapshot, which is then whole.
    fn finish_cut(
        &mut self,
        damage: Damage,
        reading: &mut ReadContext<'a>,
    ) -> Result<Option<CheckedColumns<'a>>, Stop> {
        let (number, in_snapshot) = (self.number, self.group.meta.is_some());
        let checked = match self.group.is_whole().then(|| self.finish(reading)) {
            Some(Ok(checked)) => checked,
            // The cut itself explains best what is missing.
            Some(Err(Stop::Damage(..))) | None => None,
            Some(Err(stop)) => return Err(stop),
        };
        let stop = Stop::from(damage);
        self.end = Some(Err(if in_snapshot && checked.is_none() { stop.in_snapshot(number) } else { stop }));
        Ok(checked)
    }
}

/// The sections between two tables of contents.
#[derive(Default)]
struct Group<'a> {
    meta: Option<SnapshotMeta>,
    columns: [Option<Column<'a>>; Content::COUNT],
}

impl<'a> Group<'a> {
    /// Adds a column or a table.
    fn add(&mut self, name: Content, column: Column<'a>) -> Result<(), Damage> {
        let place = &mut self.columns[name as usize];
        if place.is_some() {
            return Err(Damage::Unexpected {
                found: format!("{} again", name.meaning()),
                offset: column.offset,
                expected: "each section once per snapshot",
            });
        }
        *place = Some(column);
        Ok(())
    }

    /// Returns whether all columns of a snapshot are there.
    fn is_whole(&self) -> bool {
        self.meta.is_some() && Content::OF_SNAPSHOT.iter().all(|&name| self.columns[name as usize].is_some())
    }

    fn read_tables(&self, reading: &mut ReadContext<'_>) -> Result<(), Damage> {
        if let Some(strings) = &self.columns[Content::Strings as usize] {
            read_strings(strings, &mut reading.tables)?;
        }
        for [layout, name] in self.read_table([Content::TypeLayout, Content::TypeName])? {
            reading.tables.push_type([layout, name]);
        }
        let frame = [Content::FrameName, Content::FrameCuid, Content::FrameLine, Content::FrameFile];
        for row in self.read_table(frame)? {
            reading.tables.push_frame(row);
        }
        Ok(())
    }

    /// Reads a table of `N` columns as rows; empty if the dump has no new rows.
    fn read_table<const N: usize>(&self, names: [Content; N]) -> Result<Vec<[u32; N]>, Damage> {
        if names.iter().all(|&name| self.columns[name as usize].is_none()) {
            return Ok(Vec::new());
        }
        let mut rows = Vec::new();
        for (position, name) in names.into_iter().enumerate() {
            let column = self.column(name)?;
            let values = read_all(column)?;
            if position == 0 {
                rows = vec![[0; N]; values.len()];
            } else if values.len() != rows.len() {
                return Err(column.mismatch(rows.len() as u64, values.len() as u64));
            }
            for (row, value) in rows.iter_mut().zip(values) {
                row[position] = column.u32(value)?;
            }
        }
        Ok(rows)
    }

    fn column(&self, name: Content) -> Result<&Column<'a>, Damage> {
        self.columns[name as usize].as_ref().ok_or(Damage::Unexpected {
            found: format!("no {}", name.meaning()),
            offset: self.meta.as_ref().map_or(0, |meta| meta.offset),
            expected: "all columns",
        })
    }

    fn check(
        &self,
        number: u64,
        meta: &SnapshotMeta,
        file: &FileMeta,
        reading: &ReadContext<'_>,
    ) -> Result<CheckedColumns<'a>, Stop> {
        let mut collectables = CollectableColumns { columns: [*self.column(Content::Kind)?; 6], count: 0 };
        for (place, name) in collectables.columns.iter_mut().zip(CollectableColumns::CONTENTS) {
            *place = *self.column(name)?;
        }
        collectables.count = collectables.count()?;
        let references = self.references(collectables.count, reading)?;
        let reference_count = references.len();
        let mut checked = CheckedSnapshot::new(number, collectables, references, reading)?;
        checked.info = meta.info(file);
        checked.notes.extend(meta.compare(number, &checked.census.counts(), reference_count));
        Ok(checked)
    }

    /// Reads the references.
    fn references(&self, collectable_count: u64, reading: &ReadContext<'_>) -> Result<ReferenceRows, Stop> {
        let description_column = self.column(Content::Description)?;
        let target_column = self.column(Content::Target)?;
        let string_count = reading.tables.strings().len() as u64;
        let limits = Limits::new(collectable_count, string_count, target_column.offset)?;
        let mut references = ReferenceRows::new(0, limits, target_column.offset)?;
        let (mut descriptions, mut targets) = (description_column.reader()?, target_column.reader()?);
        let (mut description_batch, mut target_batch) = (Batch::new(), Batch::new());
        let compressed = description_column.frame.len() + target_column.frame.len();
        loop {
            reading.check_cancelled()?;
            descriptions.read(&mut description_batch)?;
            targets.read(&mut target_batch)?;
            if description_batch.len() != target_batch.len() {
                let done = references.len();
                let (expected, found) = (done + description_batch.len() as u64, done + target_batch.len() as u64);
                return Err(target_column.mismatch(expected, found).into());
            }
            if target_batch.is_empty() {
                return Ok(references);
            }
            for (&description, &target) in description_batch.iter().zip(&target_batch) {
                references.push((description & 3) as u8, description >> 2, target, target_column.offset)?;
            }
            check_density(target_column, references.len(), compressed)?;
        }
    }
}

/// The six columns of a snapshot's collectables.
pub(crate) struct CollectableColumns<'a> {
    /// In the order of [`CollectableColumns::CONTENTS`].
    columns: [Column<'a>; 6],
    count: u64,
}

impl CollectableColumns<'_> {
    /// In the order of [`collectable`]'s fields.
    const CONTENTS: [Content; 6] = [
        Content::Kind,
        Content::TypeIndex,
        Content::Size,
        Content::Unmanaged,
        Content::FirstReference,
        Content::ReferenceCount,
    ];

    /// Number of collectables, according to the first column alone.
    fn count(&self) -> Result<u64, Damage> {
        let compressed = self.columns.iter().map(|column| column.frame.len()).sum::<usize>();
        let kinds = &self.columns[0];
        let mut reader = kinds.reader()?;
        let mut batch = Batch::new();
        let mut count = 0;
        loop {
            reader.read(&mut batch)?;
            if batch.is_empty() {
                return Ok(count);
            }
            count += batch.len() as u64;
            check_density(kinds, count, compressed)?;
        }
    }
}

impl Collectables for CollectableColumns<'_> {
    type Run = Vec<Collectable>;

    /// Sections are reported as they are found.
    fn unreported_bytes(&self) -> u64 {
        0
    }

    fn runs(&self) -> Result<impl Iterator<Item = Result<Self::Run, Stop>> + Send, Stop> {
        let mut readers = Vec::with_capacity(self.columns.len());
        for column in self.columns {
            readers.push(column.reader()?);
        }
        let batches = self.columns.map(|_| Batch::new());
        let lengths = RunLengths::of(self.count as usize);
        let mut rows = CollectableRows { columns: self.columns, readers, batches, lengths, next_row: 0, done: 0 };
        Ok(std::iter::from_fn(move || rows.run().transpose()))
    }
}

/// The columns, decompressed side by side.
struct CollectableRows<'a> {
    columns: [Column<'a>; 6],
    readers: Vec<ColumnReader<'a>>,
    batches: [Batch; 6],
    lengths: RunLengths,
    /// The first row of the batches that has not been in a run.
    next_row: usize,
    /// Rows that were decompressed.
    done: u64,
}

impl CollectableRows<'_> {
    /// The next run; `None` at the end.
    fn run(&mut self) -> Result<Option<Vec<Collectable>>, Stop> {
        let Some(length) = self.lengths.next() else {
            // The other columns must end, too.
            self.rest()?;
            return Ok(None);
        };
        let mut run = Vec::with_capacity(length);
        while run.len() < length && self.rest()? {
            let rows = self.next_row..self.batches[0].len().min(self.next_row + length - run.len());
            self.next_row = rows.end;
            let offset = self.columns[0].offset;
            run.extend(rows.map(|row| collectable(offset, self.batches.each_ref().map(|batch| batch[row]))));
        }
        Ok(Some(run))
    }

    /// Returns whether there are rows that have not been in a run.
    fn rest(&mut self) -> Result<bool, Stop> {
        if self.next_row < self.batches[0].len() {
            return Ok(true);
        }
        self.next_row = 0;
        self.read()
    }

    /// Decompresses the next batch of each column; false at the end.
    fn read(&mut self) -> Result<bool, Stop> {
        for (reader, batch) in self.readers.iter_mut().zip(&mut self.batches) {
            reader.read(batch)?;
        }
        let length = self.batches[0].len();
        if let Some(odd) = self.batches.iter().position(|batch| batch.len() != length) {
            let found = self.done + self.batches[odd].len() as u64;
            return Err(self.columns[odd].mismatch(self.done + length as u64, found).into());
        }
        self.done += length as u64;
        Ok(length > 0)
    }
}

/// One row of the six columns.
#[inline]
fn collectable(offset: u64, row: [u64; 6]) -> Collectable {
    let [kind, type_index, size, unmanaged, first_reference, reference_count] = row;
    Collectable { offset, kind, type_index, size, unmanaged, first_reference, reference_count }
}
