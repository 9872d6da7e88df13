//! The strings of a recording, decoded chunk by chunk.
//!
//! ```text
//!   opening     directories and checksums of all chunks       first and count: where each string is
//!   string 7    its chunk is decoded once and kept            in memory up to a limit, then in an unlinked file
//!   a search    chunks that are not kept go through a buffer  no memory, whatever there is to search
//! ```
//!
//! Texts compress ten thousandfold, so a small file may hold gigabytes of them. Memory holds 64 MiB and 16 bytes for each
//! byte of the file, less under a ceiling for the process; what is kept beyond that is mapped from temporary files, whose pages the system can take.
//!
//! Checksums are checked first, so accidental damage is an error when the tables are first needed. A chunk with a valid
//! checksum that cannot be decoded was made so. Its strings have a placeholder as their text, and [`Strings::check`]
//! fails from then on.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use barrow_format::codec::Decompressor;
use barrow_format::frame::Frame;
use barrow_format::rows::Chunk;
use barrow_format::{FormatError, StringId};
use rayon::prelude::*;

use crate::columns::memory::temporary_folder;
use crate::error::{AnalyzerError, Result};
use crate::file::bytes::Bytes;

/// What kept strings may take in memory: for a file, and for each of its bytes.
const KEPT_BYTES: u64 = 64 << 20;
const KEPT_BYTES_PER_BYTE: u64 = 16;
/// Strings that together are no longer than this are decoded at once.
const FEW_BYTES: u64 = 1 << 20;
/// What a string that cannot be read has as its text.
const UNREADABLE: &str = "(unreadable string)";

/// The strings of a recording.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    file: Option<Arc<Bytes>>,
    chunks: Vec<StringChunk>,
    count: u32,
    /// The length of all rows, before compression.
    raw_bytes: u64,
    /// What kept chunks take in memory.
    kept_bytes: AtomicU64,
    kept_limit: AtomicU64,
    failure: OnceLock<Failure>,
}

#[derive(Debug)]
struct StringChunk {
    first: u32,
    count: u32,
    offset: u64,
    /// What decoding it takes, at most.
    decoded_bytes: u64,
    /// `None` if it cannot be read.
    kept: OnceLock<Option<Texts>>,
}

/// Why some strings have no text.
#[derive(Debug)]
enum Failure {
    Damaged { offset: u64, source: FormatError },
    NotKept { folder: PathBuf, kind: io::ErrorKind },
}

/// The texts of a chunk: for each its end, as four bytes, then all of them one behind the other.
#[derive(Debug)]
struct Texts {
    count: usize,
    bytes: Bytes,
}

impl Texts {
    fn decode(chunk: &Chunk<'_>) -> Result<Self, FormatError> {
        // There are at most as many rows as bytes, and these are few.
        let count = usize::try_from(chunk.count).unwrap_or(usize::MAX);
        let texts_start = count * size_of::<u32>();
        let mut bytes = Vec::with_capacity(texts_start + chunk.raw_length());
        bytes.resize(texts_start, 0);
        let mut row = 0;
        chunk.for_each_text(&mut Decompressor::new(), |text| {
            bytes.extend_from_slice(text.as_bytes());
            let end = u32::try_from(bytes.len() - texts_start).unwrap_or(u32::MAX);
            bytes[row..row + size_of::<u32>()].copy_from_slice(&end.to_le_bytes());
            row += size_of::<u32>();
        })?;
        Ok(Texts { count, bytes: Bytes::Owned(bytes) })
    }

    /// The same texts in a file without a name.
    fn spilled(self, folder: &std::path::Path) -> io::Result<Self> {
        let mut file = tempfile::tempfile_in(folder)?;
        // Written, not mapped: on a full disk this is an error.
        file.write_all(&self.bytes)?;
        let bytes = Bytes::of(&file, folder).map_err(io::Error::other)?;
        Ok(Texts { count: self.count, bytes })
    }

    fn end(&self, row: usize) -> Option<usize> {
        let (ends, _) = self.bytes.as_chunks::<4>();
        ends.get(row).map(|&end| u32::from_le_bytes(end) as usize)
    }

    fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(Some(0), |before| self.end(before));
        let texts = &self.bytes[self.count * size_of::<u32>()..];
        let bytes = start.zip(self.end(row)).and_then(|(start, end)| texts.get(start..end));
        // They were checked when they were decoded.
        bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or(UNREADABLE)
    }
}

impl Strings {
    /// No strings yet, of this file.
    pub(crate) fn of(file: &Arc<Bytes>) -> Self {
        let kept_limit = KEPT_BYTES.saturating_add((file.len() as u64).saturating_mul(KEPT_BYTES_PER_BYTE));
        Strings { file: Some(Arc::clone(file)), kept_limit: kept_limit.into(), ..Strings::default() }
    }

    /// Adds the chunk at `offset`, which must continue the table. Its rows are not looked at.
    pub(crate) fn add(&mut self, chunk: &Chunk<'_>, offset: u64) -> Result<(), FormatError> {
        let (stored, found) = (chunk.first, u64::from(self.count));
        if stored != found {
            return Err(FormatError::Mismatch { what: "first row of a table chunk", stored, found });
        }
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let decoded_bytes = chunk.raw_length() as u64 + chunk.count * size_of::<u32>() as u64;
        let (first, count) = (self.count, narrow(chunk.count));
        // A directory whose last row does not fit 32 bits was refused.
        self.count = narrow(chunk.first + chunk.count);
        self.raw_bytes += chunk.raw_length() as u64;
        self.chunks.push(StringChunk { first, count, offset, decoded_bytes, kept: OnceLock::new() });
        Ok(())
    }

    /// All chunks were added: few strings are decoded now.
    pub(crate) fn complete(&self) -> Result<()> {
        if self.raw_bytes > FEW_BYTES {
            return Ok(());
        }
        for chunk in &self.chunks {
            let _ = self.kept(chunk);
        }
        self.check()
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Fails if a string that was asked for could not be read.
    pub(crate) fn check(&self) -> Result<()> {
        match self.failure.get() {
            None => Ok(()),
            Some(Failure::Damaged { offset, source }) => {
                Err(AnalyzerError::section("STRINGS", *offset)(source.clone()))
            }
            Some(Failure::NotKept { folder, kind }) => {
                Err(AnalyzerError::io(folder, "keep strings in a temporary file in")((*kind).into()))
            }
        }
    }

    /// Decodes every chunk that is not kept, and keeps none. Returns what is wrong with which.
    pub(crate) fn problems(&self) -> Vec<AnalyzerError> {
        let decode = |chunk: &StringChunk| match chunk.kept.get() {
            Some(Some(_)) => None,
            _ => self.for_each(chunk, |_| {}).err().map(AnalyzerError::section("STRINGS", chunk.offset)),
        };
        self.chunks.par_iter().filter_map(decode).collect()
    }

    /// The text of a string; a placeholder if it cannot be read, see [`Strings::check`].
    pub(crate) fn get(&self, id: StringId) -> &str {
        assert!(id.0 < self.count, "string {id} of {}", self.count);
        let chunk = &self.chunks[self.chunk_of(id)];
        self.kept(chunk).map_or(UNREADABLE, |texts| texts.get((id.0 - chunk.first) as usize))
    }

    /// What `answer` says of every string, on all threads of the current pool.
    pub(crate) fn map(&self, answer: impl Fn(&str) -> bool + Sync) -> Vec<bool> {
        let of_chunks: Vec<Vec<bool>> = self.chunks.par_iter().map(|chunk| self.of_chunk(chunk, &answer)).collect();
        of_chunks.concat()
    }

    fn chunk_of(&self, id: StringId) -> usize {
        self.chunks.partition_point(|chunk| chunk.first <= id.0) - 1
    }

    /// What `answer` says of the strings of a chunk. It is kept if there is memory for it.
    fn of_chunk(&self, chunk: &StringChunk, answer: impl Fn(&str) -> bool) -> Vec<bool> {
        let rows = 0..chunk.count as usize;
        if self.has_room(chunk.decoded_bytes) || chunk.kept.get().is_some() {
            let kept = self.kept(chunk);
            return rows.map(|row| kept.is_some_and(|texts| answer(texts.get(row)))).collect();
        }
        let mut answers = Vec::with_capacity(rows.len());
        if let Err(source) = self.for_each(chunk, |text| answers.push(answer(text))) {
            self.fail(Failure::Damaged { offset: chunk.offset, source });
            return vec![false; rows.len()];
        }
        answers
    }

    fn kept<'s>(&'s self, chunk: &'s StringChunk) -> Option<&'s Texts> {
        chunk.kept.get_or_init(|| self.keep(chunk)).as_ref()
    }

    fn keep(&self, chunk: &StringChunk) -> Option<Texts> {
        let damaged = |source| self.fail(Failure::Damaged { offset: chunk.offset, source });
        let texts = self.decode(chunk).map_err(damaged).ok()?;
        let bytes = texts.bytes.len() as u64;
        if self.has_room(bytes) {
            self.kept_bytes.fetch_add(bytes, Ordering::Relaxed);
            return Some(texts);
        }
        let folder = temporary_folder();
        let not_kept = |error: io::Error| self.fail(Failure::NotKept { folder: folder.clone(), kind: error.kind() });
        texts.spilled(&folder).map_err(not_kept).ok()
    }

    fn has_room(&self, bytes: u64) -> bool {
        // Relaxed: two threads may both go a chunk over the limit.
        self.kept_bytes.load(Ordering::Relaxed) + bytes <= self.kept_limit.load(Ordering::Relaxed)
    }

    /// From now on at most `bytes` stay in memory, and what was kept before.
    pub(crate) fn bound_kept(&self, bytes: u64) {
        self.kept_limit.fetch_min(bytes, Ordering::Relaxed);
    }

    fn decode(&self, chunk: &StringChunk) -> Result<Texts, FormatError> {
        Texts::decode(&self.stored(chunk)?)
    }

    fn for_each(&self, chunk: &StringChunk, visit: impl FnMut(&str)) -> Result<(), FormatError> {
        self.stored(chunk)?.for_each_text(&mut Decompressor::new(), visit)
    }

    fn stored(&self, chunk: &StringChunk) -> Result<Chunk<'_>, FormatError> {
        let file = self.file.as_ref().map_or(&[][..], |file| file);
        let frame = Frame::parse(file, chunk.offset)?;
        Chunk::parse(frame.directory()?, frame.body()?)
    }

    /// The first failure is the one that is reported.
    fn fail(&self, failure: Failure) {
        let _ = self.failure.set(failure);
    }
}

/// What a predicate says of strings: found out chunk by chunk, for chunks whose strings are asked about.
pub(crate) struct StringAnswers<'s> {
    strings: &'s Strings,
    answer: Box<dyn Fn(&str) -> bool + Send + Sync + 's>,
    /// Of each chunk a bit for each string.
    chunks: Vec<OnceLock<Vec<u64>>>,
}

impl<'s> StringAnswers<'s> {
    pub(crate) fn new(strings: &'s Strings, answer: impl Fn(&str) -> bool + Send + Sync + 's) -> Self {
        let chunks = strings.chunks.iter().map(|_| OnceLock::new()).collect();
        StringAnswers { strings, answer: Box::new(answer), chunks }
    }

    /// What it says of a string.
    pub(crate) fn get(&self, id: StringId) -> bool {
        let at = self.strings.chunk_of(id);
        let chunk = &self.strings.chunks[at];
        let answers = self.chunks[at].get_or_init(|| {
            let answers = self.strings.of_chunk(chunk, &self.answer);
            let bits = |of: &[bool]| of.iter().rev().fold(0, |bits, &answer| bits << 1 | u64::from(answer));
            answers.chunks(u64::BITS as usize).map(bits).collect()
        });
        let row = id.0 - chunk.first;
        answers.get((row / u64::BITS) as usize).is_some_and(|bits| bits >> (row % u64::BITS) & 1 == 1)
    }
}
