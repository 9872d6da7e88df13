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
//! Tables in brackets hold only what is new, and are missing if nothing is. A process that is killed
//! leaves no last toc; everything can be found without one by walking the sections, which is what
//! happens here. The length of a zstd frame is not stored: zstd finds it from the frame's blocks.
//!
//! Columns are decompressed a batch at a time, side by side; only the references are kept.

mod column;
mod meta;
mod section;

use super::header::HEADER_BYTES;
use super::{Collectable, Collectables, Columns, References, Session};
use crate::cursor::Cursor;
use crate::error::{Damage, Stop};
use column::{Batch, Column, check_density, read_all, read_strings};
use meta::{FileMeta, SnapshotMeta};
use section::{Content, Section};

/// How many tables of contents follow the last snapshot of a whole dump: its own two and the final two.
const FINAL_CONTENTS: u32 = 4;

/// Whether these bytes begin as a section does.
pub(super) fn begins_section(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(section::is_name)
}

/// Imports a dump, snapshot by snapshot.
pub(crate) fn import(dump: &[u8], session: &mut Session<'_>) -> Result<(), Stop> {
    let mut group = Group::default();
    let mut file = FileMeta::default();
    let mut contents_since_snapshot = 0;
    let mut cursor = Cursor::new(dump, HEADER_BYTES);
    session.progress.advance(cursor.offset());
    let stop = loop {
        session.check_cancelled()?;
        if cursor.rest().is_empty() {
            break if contents_since_snapshot >= FINAL_CONTENTS {
                None
            } else {
                let length = dump.len() as u64;
                Some(Damage::Unfinished { length, missing: "its final table of contents" })
            };
        }
        let start = cursor.offset();
        let section = match Section::read(&mut cursor) {
            Ok(section) => section,
            Err(damage) => break Some(damage),
        };
        match section {
            Section::FileMeta { json, offset } => {
                file = FileMeta::parse(json, offset)?;
                file.announce(session)?;
            }
            Section::SnapshotMeta { json, offset } => {
                group.finish(&file, session)?;
                group.meta = Some(SnapshotMeta::parse(json, offset)?);
                contents_since_snapshot = 0;
            }
            Section::Column(name, column) => group.add(name, column)?,
            Section::Contents => {
                group.finish(&file, session)?;
                contents_since_snapshot += 1;
            }
        }
        session.progress.advance(cursor.offset() - start);
    };
    let Some(damage) = stop else { return Ok(()) };
    // The cut may be after the columns and tables of the last snapshot, which is then whole.
    let number = session.imported();
    let in_snapshot = group.meta.is_some();
    let whole = group.is_whole() && finish_cut(&mut group, &file, session)?;
    let stop = Stop::from(damage);
    Err(if in_snapshot && !whole { stop.in_snapshot(number) } else { stop })
}

/// Imports a snapshot whose columns are whole and whose tables may be cut; false if they are.
fn finish_cut(group: &mut Group<'_>, file: &FileMeta, session: &mut Session<'_>) -> Result<bool, Stop> {
    match group.finish(file, session) {
        Ok(()) => Ok(true),
        // The cut itself is the better explanation for what is missing.
        Err(Stop::Damage(..)) => Ok(false),
        Err(stop) => Err(stop),
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

    /// Whether all columns of a snapshot are there.
    fn is_whole(&self) -> bool {
        self.meta.is_some() && Content::OF_SNAPSHOT.iter().all(|&name| self.columns[name as usize].is_some())
    }

    /// Reads the tables, then imports the snapshot if there is one; the group is empty then.
    fn finish(&mut self, file: &FileMeta, session: &mut Session<'_>) -> Result<(), Stop> {
        let group = std::mem::take(self);
        let number = session.imported();
        group.read_tables(session).map_err(|damage| Stop::from(damage).in_snapshot(number))?;
        match &group.meta {
            Some(meta) => group.import(meta, file, session).map_err(|stop| stop.in_snapshot(number)),
            None => Ok(()),
        }
    }

    fn read_tables(&self, session: &mut Session<'_>) -> Result<(), Damage> {
        if let Some(strings) = &self.columns[Content::Strings as usize] {
            read_strings(strings, &mut session.tables)?;
        }
        for [layout, name] in self.read_table([Content::TypeLayout, Content::TypeName])? {
            session.tables.push_type([layout, name]);
        }
        let frame = [Content::FrameName, Content::FrameCuid, Content::FrameLine, Content::FrameFile];
        for row in self.read_table(frame)? {
            session.tables.push_frame(row);
        }
        Ok(())
    }

    /// Reads a table of `N` columns as rows; none if the dump has nothing new for it.
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

    fn import(&self, meta: &SnapshotMeta, file: &FileMeta, session: &mut Session<'_>) -> Result<(), Stop> {
        let collectables = CollectableColumns {
            kind: self.column(Content::Kind)?,
            size: self.column(Content::Size)?,
            type_index: self.column(Content::TypeIndex)?,
            reference_count: self.column(Content::ReferenceCount)?,
            first_reference: self.column(Content::FirstReference)?,
            unmanaged: self.column(Content::Unmanaged)?,
        };
        let collectable_count = collectables.count()?;
        let references = self.references(collectable_count, session)?;
        let number = session.imported();
        let reference_count = references.len();
        let columns = Columns { number, collectables, references };
        let counts = session.import(&columns, meta.info(file))?;
        session.notes.extend(meta.compare(number, &counts, reference_count));
        Ok(())
    }

    /// Reads the references.
    fn references(&self, collectable_count: u64, session: &Session<'_>) -> Result<References, Stop> {
        let description_column = self.column(Content::Description)?;
        let target_column = self.column(Content::Target)?;
        let string_count = session.tables.strings().len() as u64;
        let mut references = References::new(0, collectable_count, string_count, target_column.offset)?;
        let (mut descriptions, mut targets) = (description_column.reader()?, target_column.reader()?);
        let (mut description_batch, mut target_batch) = (Batch::new(), Batch::new());
        let compressed = description_column.frame.len() + target_column.frame.len();
        loop {
            session.check_cancelled()?;
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
struct CollectableColumns<'c, 'a> {
    kind: &'c Column<'a>,
    size: &'c Column<'a>,
    type_index: &'c Column<'a>,
    reference_count: &'c Column<'a>,
    first_reference: &'c Column<'a>,
    unmanaged: &'c Column<'a>,
}

impl CollectableColumns<'_, '_> {
    /// In the order of [`collectable`]'s fields.
    fn all(&self) -> [&Column<'_>; 6] {
        [self.kind, self.type_index, self.size, self.unmanaged, self.first_reference, self.reference_count]
    }

    /// How many collectables there are, from the first column alone.
    fn count(&self) -> Result<u64, Damage> {
        let compressed = self.all().iter().map(|column| column.frame.len()).sum::<usize>();
        let mut reader = self.kind.reader()?;
        let mut batch = Batch::new();
        let mut count = 0;
        loop {
            reader.read(&mut batch)?;
            if batch.is_empty() {
                return Ok(count);
            }
            count += batch.len() as u64;
            check_density(self.kind, count, compressed)?;
        }
    }
}

impl Collectables for CollectableColumns<'_, '_> {
    fn for_each(&self, mut visit: impl FnMut(&Collectable) -> Result<(), Stop>) -> Result<(), Stop> {
        let columns = self.all();
        let mut readers = Vec::with_capacity(columns.len());
        for column in columns {
            readers.push(column.reader()?);
        }
        let mut batches = columns.map(|_| Batch::new());
        let mut done = 0;
        loop {
            for (reader, batch) in readers.iter_mut().zip(&mut batches) {
                reader.read(batch)?;
            }
            let length = batches[0].len();
            if let Some(odd) = batches.iter().position(|batch| batch.len() != length) {
                let found = done + batches[odd].len() as u64;
                return Err(columns[odd].mismatch(done + length as u64, found).into());
            }
            if length == 0 {
                return Ok(());
            }
            for row in 0..length {
                visit(&collectable(self.kind.offset, batches.each_ref().map(|batch| batch[row])))?;
            }
            done += length as u64;
        }
    }
}

/// One row of the six columns.
#[inline]
fn collectable(offset: u64, row: [u64; 6]) -> Collectable {
    let [kind, type_index, size, unmanaged, first_reference, reference_count] = row;
    Collectable { offset, kind, type_index, size, unmanaged, first_reference, reference_count }
}
