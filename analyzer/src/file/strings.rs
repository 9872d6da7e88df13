//! The strings of a recording, decoded chunk by chunk.
//!
//! ```text
//!   opening     reads the directory of the last chunk         counts the strings
//!   string 7    a binary search finds its chunk               reads nine directories of five hundred
//!               the chunk is decoded once and kept            in memory up to a limit, then in an unlinked file
//!   a search    decodes chunks that are not kept to a buffer  their texts do not stay in memory
//! ```
//!
//! Texts can compress to a ten-thousandth, so a small file may hold gigabytes of them. Up to 64 MiB, and 16 bytes for
//! each byte of the file, are kept in memory; less under a memory limit. Beyond that, texts are kept in mapped
//! temporary files, whose pages the system can reclaim.
//!
//! Chunks lie all over the file, and most questions use few of them. A chunk is therefore checked when it is used. If its
//! checksum is wrong, if it cannot be decoded or if it does not continue the table, its strings get a placeholder as their
//! text, and [`Strings::check`] fails from then on.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use barrow_format::codec::Decompressor;
use barrow_format::frame::{Frame, SectionType};
use barrow_format::rows::Chunk;
use barrow_format::{FormatError, StringId};
use foldhash::HashMap;
use parking_lot::Mutex;
use rayon::prelude::*;

use crate::columns::memory::temporary_folder;
use crate::error::{AnalyzerError, Result};
use crate::file::bytes::Bytes;

/// Memory for kept strings: a fixed part, and a part for each byte of the file, because texts can compress to a
/// ten-thousandth.
const KEPT_BYTES: u64 = 64 << 20;
const KEPT_BYTES_PER_BYTE: u64 = 16;
/// All directories of at most this many chunks are read at once, and strings that together are at most this long are decoded,
/// too. That takes milliseconds, and nothing is gained by waiting for a question. Both numbers are judgements.
const FEW_CHUNKS: usize = 16;
const FEW_BYTES: u64 = 1 << 20;
/// The text of a string that cannot be read.
const UNREADABLE: &str = "(unreadable string)";

/// Maximum number of chunks of all names whose strings are remembered: 32 bytes each, and a bit for each string of
/// chunks that were looked at. This is a judgement.
const REMEMBERED_CHUNKS: usize = 1 << 17;

/// The strings of a recording.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    file: Option<Arc<Bytes>>,
    chunks: Vec<StringChunk>,
    count: u32,
    /// The first string of each chunk, from the first question on that uses many of them: a faster search.
    firsts: OnceLock<Vec<u32>>,
    /// Memory used by kept chunks.
    kept_bytes: AtomicU64,
    kept_limit: AtomicU64,
    failure: OnceLock<Failure>,
    /// Which strings are one of the names that were asked for.
    names: Mutex<HashMap<String, Arc<ChunkAnswers>>>,
}

#[derive(Debug)]
struct StringChunk {
    offset: u64,
    /// What its directory says.
    rows: OnceLock<Result<Rows, FormatError>>,
    /// `None` if the chunk cannot be read.
    kept: OnceLock<Option<Texts>>,
}

/// The strings in a chunk.
#[derive(Debug, Clone, Copy)]
struct Rows {
    first: u32,
    count: u32,
    /// The length of the rows, uncompressed.
    raw_bytes: u64,
}

impl Rows {
    /// The number of the string after the last one. A directory whose last row exceeds 32 bits is refused.
    fn end(self) -> u32 {
        self.first.saturating_add(self.count)
    }

    /// Upper bound of the memory for decoding them.
    fn decoded_bytes(self) -> u64 {
        self.raw_bytes + u64::from(self.count) * size_of::<u32>() as u64
    }
}

/// The reason why some strings cannot be read.
#[derive(Debug)]
enum Failure {
    Damaged { offset: u64, source: FormatError },
    NotKept { folder: PathBuf, kind: io::ErrorKind },
}

/// The texts of a chunk: first the end of each as four bytes, then all texts concatenated.
#[derive(Debug)]
struct Texts {
    count: usize,
    bytes: Bytes,
}

impl Texts {
    fn decode(chunk: &Chunk<'_>) -> Result<Self, FormatError> {
        // There are at most as many rows as bytes, and the bytes fit in memory.
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

    /// Moves the texts to a temporary file without a name.
    fn spilled(self, folder: &std::path::Path) -> io::Result<Self> {
        let mut file = tempfile::tempfile_in(folder)?;
        // The texts are written, not mapped, so that a full disk is an error.
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
        // The texts were checked when they were decoded.
        bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or(UNREADABLE)
    }
}

impl Strings {
    /// The strings in the chunks at these offsets.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`] for the last chunk, and, if there are few, for any chunk.
    pub(crate) fn load(file: &Arc<Bytes>, offsets: impl Iterator<Item = u64>) -> Result<Self> {
        let kept_limit = KEPT_BYTES.saturating_add((file.len() as u64).saturating_mul(KEPT_BYTES_PER_BYTE));
        let chunk = |offset| StringChunk { offset, rows: OnceLock::new(), kept: OnceLock::new() };
        let chunks = offsets.map(chunk).collect();
        let file = Some(Arc::clone(file));
        let mut strings = Strings { file, chunks, kept_limit: kept_limit.into(), ..Strings::default() };
        let Some(last) = strings.chunks.last() else { return Ok(strings) };
        let last_rows = strings.rows(last).clone().map_err(|error| damaged((last.offset, error)))?;
        strings.count = last_rows.end();
        if strings.chunks.len() <= FEW_CHUNKS {
            let all = strings.all_rows().map_err(damaged)?;
            if all.iter().map(|rows| rows.raw_bytes).sum::<u64>() <= FEW_BYTES {
                for chunk in &strings.chunks {
                    let _ = strings.kept(chunk);
                }
                strings.check()?;
            }
        }
        Ok(strings)
    }

    /// What the directory of a chunk says.
    fn rows<'s>(&'s self, chunk: &'s StringChunk) -> &'s Result<Rows, FormatError> {
        chunk.rows.get_or_init(|| {
            let stored = self.stored(chunk)?;
            let [first, count] = [stored.first, stored.count].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
            Ok(Rows { first, count, raw_bytes: stored.raw_length() as u64 })
        })
    }

    /// What all directories say, or the first chunk that does not continue the table.
    fn all_rows(&self) -> Result<Vec<Rows>, (u64, FormatError)> {
        let mut found = 0;
        let rows = self.chunks.iter().map(|chunk| {
            let rows = self.rows(chunk).clone().map_err(|error| (chunk.offset, error))?;
            if rows.first != found {
                let (stored, found) = (rows.first.into(), found.into());
                return Err((
                    chunk.offset,
                    FormatError::Mismatch { what: "first row of a table chunk", stored, found },
                ));
            }
            found = rows.end();
            Ok(rows)
        });
        rows.collect()
    }

    /// The rows of all chunks. `None`, and [`Strings::check`] fails, if they are not a whole table.
    fn whole(&self) -> Option<Vec<Rows>> {
        match self.all_rows() {
            Ok(rows) => {
                self.firsts.get_or_init(|| rows.iter().map(|rows| rows.first).collect());
                Some(rows)
            }
            Err((offset, source)) => {
                self.fail(Failure::Damaged { offset, source });
                None
            }
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Fails if a string used so far could not be read.
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

    /// Decodes every chunk that is not kept, without keeping it. Returns the errors.
    pub(crate) fn problems(&self) -> Vec<AnalyzerError> {
        let problems = self.chunks.par_iter().filter_map(|chunk| match chunk.kept.get() {
            Some(Some(_)) => None,
            _ => Some((chunk.offset, self.for_each(chunk, |_| {}).err()?)),
        });
        let mut problems: Vec<(u64, FormatError)> = problems.collect();
        if let Err(order) = self.all_rows()
            && problems.iter().all(|(offset, _)| *offset != order.0)
        {
            problems.push(order);
        }
        problems.into_iter().map(damaged).collect()
    }

    /// The text of a string; a placeholder if it cannot be read, see [`Strings::check`].
    pub(crate) fn get(&self, id: StringId) -> &str {
        assert!(id.0 < self.count, "string {id} of {}", self.count);
        let Some((chunk, row)) = self.place(id) else { return UNREADABLE };
        self.kept(&self.chunks[chunk]).map_or(UNREADABLE, |texts| texts.get(row))
    }

    /// Calls `answer` for every string, in parallel on the current pool. Returns the results in order; the default for
    /// strings that cannot be read.
    pub(crate) fn map<T: Clone + Default + Send>(&self, answer: impl Fn(&str) -> T + Sync) -> Vec<T> {
        let Some(rows) = self.whole() else { return vec![T::default(); self.count as usize] };
        let of_chunks = self.chunks.par_iter().zip(rows).map(|(chunk, rows)| self.of_chunk(chunk, rows, &answer));
        of_chunks.collect::<Vec<Vec<T>>>().concat()
    }

    /// Tells of each string whether it is this name. Questions about many objects ask for the same names many times.
    pub(crate) fn named(&self, name: &str) -> StringAnswers<'_> {
        let mut names = self.names.lock();
        let chunks = names.get(name).map(Arc::clone).unwrap_or_else(|| {
            if (names.len() + 1).saturating_mul(self.chunks.len()) > REMEMBERED_CHUNKS {
                names.clear();
            }
            let chunks = Arc::new(self.unanswered());
            names.insert(name.to_owned(), Arc::clone(&chunks));
            chunks
        });
        let wanted = name.to_owned();
        StringAnswers { strings: self, answer: Box::new(move |text| text == wanted), chunks }
    }

    fn unanswered(&self) -> ChunkAnswers {
        // The answers are for many strings.
        self.whole();
        self.chunks.iter().map(|_| OnceLock::new()).collect()
    }

    /// The chunk of a string, and its row there. `None`, and [`Strings::check`] fails, if it cannot be found.
    fn place(&self, id: StringId) -> Option<(usize, usize)> {
        let after = match self.firsts.get() {
            Some(firsts) => firsts.partition_point(|&first| first <= id.0),
            None => self.chunks.partition_point(|chunk| self.rows(chunk).as_ref().is_ok_and(|rows| rows.first <= id.0)),
        };
        let chunk = after.checked_sub(1)?;
        let rows = self.rows(&self.chunks[chunk]).as_ref().ok().filter(|rows| id.0 < rows.end());
        if rows.is_none() {
            self.whole();
        }
        rows.map(|rows| (chunk, (id.0 - rows.first) as usize))
    }

    /// Calls `answer` for the strings of a chunk. The chunk is kept if there is memory for it.
    fn of_chunk<T: Clone + Default>(&self, chunk: &StringChunk, rows: Rows, answer: impl Fn(&str) -> T) -> Vec<T> {
        let count = rows.count as usize;
        if self.has_room(rows.decoded_bytes()) || chunk.kept.get().is_some() {
            let kept = self.kept(chunk);
            return (0..count).map(|row| kept.map(|texts| answer(texts.get(row))).unwrap_or_default()).collect();
        }
        let mut answers = Vec::with_capacity(count);
        if let Err(source) = self.for_each(chunk, |text| answers.push(answer(text))) {
            self.fail(Failure::Damaged { offset: chunk.offset, source });
            return vec![T::default(); count];
        }
        answers
    }

    fn kept<'s>(&'s self, chunk: &'s StringChunk) -> Option<&'s Texts> {
        chunk.kept.get_or_init(|| self.keep(chunk)).as_ref()
    }

    fn keep(&self, chunk: &StringChunk) -> Option<Texts> {
        let texts = match self.decode(chunk) {
            Ok(texts) => texts,
            Err(source) => {
                self.fail(Failure::Damaged { offset: chunk.offset, source });
                return None;
            }
        };
        let bytes = texts.bytes.len() as u64;
        if self.has_room(bytes) {
            self.kept_bytes.fetch_add(bytes, Ordering::Relaxed);
            return Some(texts);
        }
        let folder = temporary_folder();
        match texts.spilled(&folder) {
            Ok(texts) => Some(texts),
            Err(error) => {
                self.fail(Failure::NotKept { folder, kind: error.kind() });
                None
            }
        }
    }

    fn has_room(&self, bytes: u64) -> bool {
        // Relaxed: if two threads exceed the limit by one chunk each, that is harmless.
        self.kept_bytes.load(Ordering::Relaxed) + bytes <= self.kept_limit.load(Ordering::Relaxed)
    }

    /// From now on keeps at most `bytes` of strings in memory. Chunks kept before stay.
    pub(crate) fn bound_kept(&self, bytes: u64) {
        self.kept_limit.fetch_min(bytes, Ordering::Relaxed);
    }

    fn decode(&self, chunk: &StringChunk) -> Result<Texts, FormatError> {
        Texts::decode(&self.checked(chunk)?)
    }

    fn for_each(&self, chunk: &StringChunk, visit: impl FnMut(&str)) -> Result<(), FormatError> {
        self.checked(chunk)?.for_each_text(&mut Decompressor::new(), visit)
    }

    /// A chunk, with the checksum of its directory only.
    fn stored(&self, chunk: &StringChunk) -> Result<Chunk<'_>, FormatError> {
        let frame = self.frame(chunk)?;
        Chunk::parse(frame.directory()?, frame.unchecked_body())
    }

    fn checked(&self, chunk: &StringChunk) -> Result<Chunk<'_>, FormatError> {
        let frame = self.frame(chunk)?;
        Chunk::parse(frame.directory()?, frame.body()?)
    }

    fn frame(&self, chunk: &StringChunk) -> Result<Frame<'_>, FormatError> {
        let frame = Frame::parse(self.file.as_ref().map_or(&[][..], |file| file), chunk.offset)?;
        frame.expect(SectionType::STRINGS)?;
        Ok(frame)
    }

    /// Only the first failure is kept and reported.
    fn fail(&self, failure: Failure) {
        let _ = self.failure.set(failure);
    }
}

/// The error of a damaged chunk.
fn damaged((offset, error): (u64, FormatError)) -> AnalyzerError {
    AnalyzerError::section("STRINGS", offset)(error)
}

/// The result of a predicate for each string. It is computed chunk by chunk, when a string of the chunk is first
/// queried.
pub(crate) struct StringAnswers<'s> {
    strings: &'s Strings,
    answer: Box<dyn Fn(&str) -> bool + Send + Sync + 's>,
    chunks: Arc<ChunkAnswers>,
}

/// For each chunk, one bit per string.
type ChunkAnswers = Vec<OnceLock<Vec<u64>>>;

impl<'s> StringAnswers<'s> {
    pub(crate) fn new(strings: &'s Strings, answer: impl Fn(&str) -> bool + Send + Sync + 's) -> Self {
        StringAnswers { strings, answer: Box::new(answer), chunks: Arc::new(strings.unanswered()) }
    }

    /// The result for a string.
    pub(crate) fn get(&self, id: StringId) -> bool {
        let Some((at, row)) = self.strings.place(id) else { return false };
        let chunk = &self.strings.chunks[at];
        let answers = self.chunks[at].get_or_init(|| {
            let Ok(rows) = self.strings.rows(chunk) else { return Vec::new() };
            let answers = self.strings.of_chunk(chunk, *rows, &self.answer);
            let words = answers.chunks(u64::BITS as usize);
            words.map(|word| word.iter().rev().fold(0, |bits, &answer| bits << 1 | u64::from(answer))).collect()
        });
        let bits = u64::BITS as usize;
        answers.get(row / bits).is_some_and(|word| word >> (row % bits) & 1 == 1)
    }
}
