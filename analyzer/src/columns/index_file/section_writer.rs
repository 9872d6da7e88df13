//! Writes a section at the end of an index file.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use rayon::prelude::*;

use super::piece::{Encoder, Form};
use super::section::{ALIGNMENT, Entry, PIECE_ENTRY_BYTES, Section};
use super::{ColumnId, ColumnValues};
use crate::error::{AnalyzerError, Result};
use crate::progress::{Progress, check};

/// Bytes of values that are encoded at once, by all threads: many pieces for each, and little memory beside the
/// columns. This is a judgement.
const BATCH_BYTES: usize = 8 << 20;

thread_local! {
    /// The encoder of this thread, while it is not in use.
    static ENCODER: Cell<Option<Encoder>> = const { Cell::new(None) };
}

/// A section that is being written. Readers ignore it until [`SectionWriter::finish`] writes its head.
pub(super) struct SectionWriter<'w> {
    out: BufWriter<&'w File>,
    /// Path of the file, for errors.
    path: &'w Path,
    progress: &'w dyn Progress,
    section: Section,
    /// Bytes of the section written so far, with its front.
    written: u64,
}

/// The pieces of a column that are written so far.
struct Pieces {
    list: Vec<u8>,
    stored: u64,
}

impl<'w> SectionWriter<'w> {
    /// Begins a section of `columns` columns at the offset given by `section`.
    pub(super) fn new(
        file: &'w File,
        section: Section,
        columns: usize,
        path: &'w Path,
        progress: &'w dyn Progress,
    ) -> Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let front = vec![0; Section::front_bytes(columns)];
        out.seek(SeekFrom::Start(section.start)).map_err(AnalyzerError::io(path, "write"))?;
        out.write_all(&front).map_err(AnalyzerError::io(path, "write"))?;
        Ok(SectionWriter { out, path, progress, section, written: front.len() as u64 })
    }

    /// Writes a column.
    pub(super) fn column(&mut self, id: ColumnId, values: ColumnValues<'_>) -> Result<()> {
        self.align()?;
        let mut pieces = Pieces { list: Vec::new(), stored: 0 };
        let mut entry = Entry {
            column: id.number,
            form: id.form,
            width: id.width,
            values: values.length() / id.width as u64,
            offset: self.written,
            stored: 0,
            checksum: 0,
        };
        match values {
            ColumnValues::InMemory(values) => self.pieces_of(&entry, values, &mut pieces)?,
            ColumnValues::Streamed(_, make) => {
                let mut waiting = Vec::new();
                let mut length = 0;
                make(&mut |values| {
                    length += values.len() as u64;
                    waiting.extend_from_slice(values);
                    let whole = waiting.len() - waiting.len() % BATCH_BYTES;
                    self.pieces_of(&entry, &waiting[..whole], &mut pieces)?;
                    waiting.drain(..whole);
                    Ok(())
                })?;
                self.pieces_of(&entry, &waiting, &mut pieces)?;
                assert_eq!(length, entry.values * entry.width as u64, "a column is as long as it was announced");
            }
        }
        self.write(&pieces.list)?;
        (entry.stored, entry.checksum) = (pieces.stored, crc32c::crc32c(&pieces.list));
        self.section.entries.push(entry);
        Ok(())
    }

    /// Writes the pieces of some values: whole ones, or the last of the column.
    fn pieces_of(&mut self, entry: &Entry, values: &[u8], pieces: &mut Pieces) -> Result<()> {
        let piece_bytes = entry.piece_values() * entry.width;
        for batch in values.chunks(BATCH_BYTES) {
            check(self.progress)?;
            if entry.form == Form::Plain {
                batch.chunks(piece_bytes).try_for_each(|piece| self.piece(piece, pieces))?;
            } else {
                let pieces_in = batch.par_chunks(piece_bytes);
                let encoded: Vec<Vec<u8>> = pieces_in
                    .map(|piece| with_encoder(|encoder| encoder.encode(entry.form, entry.width, piece)))
                    .collect();
                encoded.iter().try_for_each(|piece| self.piece(piece, pieces))?;
            }
            self.progress.advance(batch.len() as u64);
        }
        Ok(())
    }

    fn piece(&mut self, piece: &[u8], pieces: &mut Pieces) -> Result<()> {
        pieces.stored += piece.len() as u64;
        let mut entry = [0; PIECE_ENTRY_BYTES];
        entry[..8].copy_from_slice(&pieces.stored.to_le_bytes());
        entry[8..].copy_from_slice(&crc32c::crc32c(piece).to_le_bytes());
        pieces.list.extend_from_slice(&entry);
        self.write(piece)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes).map_err(AnalyzerError::io(self.path, "write"))
    }

    fn align(&mut self) -> Result<()> {
        let zeros = self.written.next_multiple_of(ALIGNMENT) - self.written;
        self.write(&[0; ALIGNMENT as usize][..zeros as usize])
    }

    /// The length that the section will have, in bytes.
    pub(super) fn length(&self) -> u64 {
        self.written.next_multiple_of(ALIGNMENT)
    }

    /// Writes the head, which makes the section visible to readers.
    pub(super) fn finish(mut self) -> Result<Section> {
        self.align()?;
        self.section.length = self.written;
        self.write_front().map_err(AnalyzerError::io(self.path, "write"))?;
        Ok(self.section)
    }

    fn write_front(&mut self) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(self.section.start))?;
        self.out.write_all(&self.section.front())?;
        self.out.flush()
    }

    /// Abandons the section without writing buffered bytes.
    pub(super) fn discard(self) {
        let _ = self.out.into_parts();
    }
}

fn with_encoder<T>(work: impl FnOnce(&mut Encoder) -> T) -> T {
    let mut encoder = ENCODER.take().unwrap_or_else(Encoder::new);
    let result = work(&mut encoder);
    ENCODER.set(Some(encoder));
    result
}
