//! Finding what each string of a recording is used as.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use barrow_analyzer::raw::Frames;
use barrow_analyzer::{Recording, SnapshotId};
use barrow_format::block::{Block, BlockColumns, Decoder};
use barrow_format::codec::Decompressor;
use barrow_format::commit::Commit;
use barrow_format::frame::SectionType;
use barrow_format::rows::{
    Chunk, Encoding, Field, KeyValue, Kind, MeasurementRow, ProcessRow, Root, Row, Shape, Site, Strength, Thread, Type,
    WordRow,
};
use barrow_format::{FieldId, StringId};
use barrow_progress::Progress;

use super::vocabulary::{Vocabulary, Words};
use super::{Class, StringRow, columns_strings, commit_strings};
use crate::error::{Result, RewriteError, check, in_section};

/// For each string of a recording the classes it belongs to.
pub(crate) struct Uses {
    /// By string: the bits of its classes.
    classes: Vec<AtomicU32>,
    /// By encoding of fields: how many values there are, and the bytes of their codes. At last those of unknown fields.
    pub(crate) values: [Values; 9],
}

/// Values of fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Values {
    pub(crate) count: u64,
    /// Before compression.
    pub(crate) bytes: u64,
}

/// The rows of a chunk of a table, and the number of the first.
pub(crate) fn rows_of<R: Row>(recording: &Recording, offset: u64) -> Result<(u64, Vec<R>)> {
    let at = in_section(R::SECTION.name().unwrap_or(R::NAME), offset);
    let frame = Frames::of(recording).frame(R::SECTION, None, offset)?;
    let chunk = frame.directory().and_then(|directory| Chunk::parse(directory, frame.body()?)).map_err(&at)?;
    let mut rows = Vec::new();
    let push = |row| {
        rows.push(row);
        Ok(())
    };
    chunk.for_each(&mut Decompressor::new(), push).map_err(&at)?;
    Ok((chunk.first, rows))
}

impl Uses {
    /// Looks at all tables and at all objects of a recording, in parallel.
    ///
    /// # Errors
    /// Something cannot be read, or names a string that is not there; `Cancelled`.
    pub(crate) fn of(recording: &Recording, words: &Words, fields: &Fields, progress: &dyn Progress) -> Result<Self> {
        let known = Vocabulary { tables: recording.tables()?, words };
        let count = known.tables.string_count();
        let mut uses = Uses { classes: (0..count).map(|_| AtomicU32::new(0)).collect(), values: Default::default() };
        for &(section, offset) in Frames::of(recording).tables() {
            uses.table(recording, known, section, offset)?;
        }
        let ids: Vec<SnapshotId> = recording.snapshot_ids().collect();
        for &id in &ids {
            let mut commit = Frames::of(recording).commit(id)?.clone();
            commit_strings(&mut commit, known, &mut |&mut text, class| uses.mark(text, class))?;
            commit.roots.iter().try_for_each(|&offset| uses.rows::<Root>(recording, known, offset))?;
            commit.threads.iter().try_for_each(|&offset| uses.rows::<Thread>(recording, known, offset))?;
            uses.blocks(recording, known, id, fields, progress)?;
        }
        Ok(uses)
    }

    fn mark(&self, text: StringId, class: Class) -> Result<()> {
        let Some(classes) = self.classes.get(text.index()) else {
            return Err(RewriteError::NoString { string: text.0, known: self.classes.len() });
        };
        // Nothing else is read by the state of a bit.
        classes.fetch_or(class.bit(), Ordering::Relaxed);
        Ok(())
    }

    /// The bits of the classes that a string belongs to; 0 if nothing names it.
    pub(crate) fn classes(&self, text: StringId) -> u32 {
        self.classes.get(text.index()).map_or(0, |classes| classes.load(Ordering::Relaxed))
    }

    fn rows<R: StringRow>(&self, recording: &Recording, known: Vocabulary<'_>, offset: u64) -> Result<()> {
        let mut mark = |text: &mut StringId, class| self.mark(*text, class);
        rows_of::<R>(recording, offset)?.1.iter_mut().try_for_each(|row| row.strings(known, &mut mark))
    }

    fn table(&self, recording: &Recording, known: Vocabulary<'_>, section: SectionType, offset: u64) -> Result<()> {
        match section {
            SectionType::META => self.rows::<KeyValue>(recording, known, offset),
            SectionType::KINDS => self.rows::<Kind>(recording, known, offset),
            SectionType::STRENGTHS => self.rows::<Strength>(recording, known, offset),
            SectionType::TYPES => self.rows::<Type>(recording, known, offset),
            SectionType::SHAPES => self.rows::<Shape>(recording, known, offset),
            SectionType::FIELDS => self.rows::<Option<Field>>(recording, known, offset),
            SectionType::SITES => self.rows::<Site>(recording, known, offset),
            SectionType::PROCESSES => self.rows::<ProcessRow>(recording, known, offset),
            SectionType::MEASUREMENTS => self.rows::<MeasurementRow>(recording, known, offset),
            SectionType::WORDS => self.rows::<Option<WordRow>>(recording, known, offset),
            _ => Ok(()),
        }
    }

    fn blocks(
        &mut self,
        recording: &Recording,
        known: Vocabulary<'_>,
        id: SnapshotId,
        fields: &Fields,
        progress: &dyn Progress,
    ) -> Result<()> {
        let commit = Frames::of(recording).commit(id)?;
        let own: Vec<(SectionType, u64)> =
            commit.own_blocks().map(|(section, block)| (section, block.offset)).collect();
        progress.begin("reading names and values", own.len() as u64, "blocks");
        let marked = &*self;
        let counted: Vec<[Values; 9]> = own
            .par_iter()
            .map_init(Contents::default, |contents, &(section, offset)| {
                check(progress)?;
                contents.read(recording, commit, section, offset)?;
                let mut values = [Values::default(); 9];
                for (fields_of, codes) in contents.columns.values.rows() {
                    for (&field, &code) in fields_of.iter().zip(codes) {
                        let values =
                            &mut values[fields.encoding(field).map_or(8, |encoding| encoding.number() as usize)];
                        values.count += 1;
                        values.bytes += u64::from((u64::BITS - (code | 1).leading_zeros()).div_ceil(7));
                    }
                }
                let encoding = |field| fields.encoding(field);
                columns_strings(&mut contents.columns, known, encoding, &mut |text, class| marked.mark(*text, class))?;
                progress.advance(1);
                Ok(values)
            })
            .collect::<Result<_>>()?;
        for (sum, values) in counted.iter().flat_map(|counted| counted.iter().enumerate()) {
            self.values[sum].count += values.count;
            self.values[sum].bytes += values.bytes;
        }
        Ok(())
    }
}

/// The fields of a recording.
pub(crate) struct Fields(Vec<Option<Field>>);

impl Fields {
    /// Those of all chunks.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub(crate) fn of(recording: &Recording) -> Result<Self> {
        let chunks = Frames::of(recording).tables().iter().filter(|(section, _)| *section == SectionType::FIELDS);
        let mut fields = Vec::new();
        for &(_, offset) in chunks {
            fields.extend(rows_of::<Option<Field>>(recording, offset)?.1);
        }
        Ok(Fields(fields))
    }

    /// All of them; `None` for rows of other kinds.
    pub(crate) fn all(&self) -> &[Option<Field>] {
        &self.0
    }

    pub(crate) fn get(&self, field: FieldId) -> Option<&Field> {
        self.0.get(field.index())?.as_ref()
    }

    pub(crate) fn encoding(&self, field: FieldId) -> Option<Encoding> {
        self.get(field).map(|field| field.encoding)
    }
}

/// What a block says in words and numbers of the program; one per thread.
#[derive(Default)]
pub(crate) struct Contents {
    decoder: Decoder,
    pub(crate) columns: BlockColumns,
}

impl Contents {
    /// Decodes them from a BLOCK or PATCH frame of a snapshot.
    ///
    /// # Errors
    /// It cannot be decoded.
    pub(crate) fn read<'r>(
        &mut self,
        recording: &'r Recording,
        commit: &Commit,
        section: SectionType,
        offset: u64,
    ) -> Result<Block<'r>> {
        let at = in_section(section.name().unwrap_or("block"), offset);
        let frame = Frames::of(recording).frame(section, Some(SnapshotId(commit.snapshot)), offset)?;
        let block = Block::parse(&frame).map_err(&at)?;
        let forms = recording.tables()?.forms();
        let known = forms.get(..commit.tables.shapes as usize).unwrap_or(forms);
        self.decoder.decode_contents(&block, known, &mut self.columns).map_err(&at)?;
        Ok(block)
    }
}
