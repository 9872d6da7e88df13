//! Redacting: texts, names and numbers are replaced under a key. Sizes, references, times and counts are kept.
//!
//! ```text
//!   recorded      com.acme.Order   customer "Alice Miller"   total 1290
//!   redacted      qVx.Rzem.lHnoa   aTbWexYq "x;0 RD]u7-~q"   total 8731502964438101533
//! ```
//!
//! Equal texts are replaced by equal ones of the same length, so all questions about equality, length and structure
//! have the same answers. `docs/redaction.md` says what that still reveals.
//!
//! Only the columns of blocks that refer to strings or hold values are decoded and encoded again. Parts unknown to this
//! version are left out: columns, sections, fields of rows, records of commits, and frames that no commit refers to.

mod cipher;
mod key;
mod names;
mod numbers;
mod strings;
mod texts;

use std::path::Path;

use rayon::prelude::*;

use barrow_analyzer::raw::Frames;
use barrow_analyzer::{Problem, Recording, SnapshotId, TextPattern, verify};
use barrow_format::block::Encoder;
use barrow_format::codec::{Compression, Compressor};
use barrow_format::commit::Commit;
use barrow_format::frame::{NO_SNAPSHOT, SectionType, encode_frame};
use barrow_format::rows::{
    Encoding, Field, KeyValue, Kind, MAX_CHUNK_BYTES, MeasurementRow, ProcessRow, Root, Row, Shape, Site, Strength,
    Text, Thread, Type, TypeTotals, WordRow, encode_raw_chunk,
};
use barrow_format::{FieldId, FormatError, StringId};
use barrow_progress::Progress;

pub use key::Key;
pub use strings::StringCounts;

use crate::contents::vocabulary::{
    DAMAGED_FACT, KEY_FACT, NAMES_FACT, NUMBERS_FACT, REDACTED_BY_FACT, TEXTS_FACT, Vocabulary, Words,
};
use crate::contents::{Contents, Fields, StringRow, Uses, columns_strings, commit_strings, file_parts, rows_of};
use crate::copy::{Copy, refuse_same_file, write_anew};
use crate::error::{Result, RewriteError, check};
use names::Names;
use numbers::Numbers;
use strings::{NewStrings, StringReplacements};
use texts::Texts;

/// The zstd level of re-encoded parts.
const LEVEL: i32 = 3;
/// Tables are written in chunks of about this size, in bytes.
const CHUNK_BYTES: usize = 256 << 10;
/// Number of blocks or chunks of strings in memory, per thread.
const BATCH: usize = 4;

/// Options of a redaction.
#[derive(Debug, Clone, Default)]
pub struct RedactOptions {
    /// The key that determines all replacements. `None`: a new key, which is forgotten.
    pub key: Option<Key>,
    /// Whether all names are kept.
    pub keep_names: bool,
    /// Patterns of names that are kept, each with its text.
    pub keep_matching: Vec<(String, TextPattern)>,
    /// Whether the values of fields are kept.
    pub keep_numbers: bool,
}

/// The result of a redaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// Length of the new file, in bytes.
    pub bytes: u64,
    /// Counts of strings.
    pub strings: StringCounts,
    /// Number of replaced values of fields, without texts.
    pub values: u64,
    /// Number of kept values of fields.
    pub kept_values: u64,
    /// Bytes of frames, columns and gaps that were left out, because this version does not know them or no snapshot
    /// needs them.
    pub left_out_bytes: u64,
    /// Damage or changes of the source. The new file has its own checksums, and a fact that counts these problems.
    pub problems: Vec<Problem>,
}

/// Rewrites `recording` to `destination` with other texts, names and numbers. The destination is replaced when the new
/// file is complete. Facts of the new recording list the replacements.
///
/// Time is linear in the length of the recording and of its texts. Memory: 4 bytes per string, and a few megabytes per
/// thread.
///
/// # Errors
/// [`SameFile`](RewriteError::SameFile), [`Io`](RewriteError::Io), [`NoKey`](RewriteError::NoKey),
/// [`NothingComplete`](RewriteError::NothingComplete), [`Cancelled`](RewriteError::Cancelled), or a part of the
/// recording that cannot be read: it is not left out.
pub fn redact(
    recording: &Recording,
    destination: &Path,
    options: &RedactOptions,
    progress: &dyn Progress,
) -> Result<Redacted> {
    refuse_same_file(recording, destination)?;
    if let Some(problem) = Frames::of(recording).table_problem() {
        return Err(problem.into());
    }
    let has_logs = recording.has_processes() || recording.has_measurements();
    if recording.damage().is_some() && recording.snapshot_count() == 0 && !has_logs {
        return Err(RewriteError::NothingComplete);
    }
    let problems = problems(recording, progress)?;
    let key = options.key.map_or_else(Key::random, Ok).map_err(RewriteError::NoKey)?;
    let fields = Fields::of(recording)?;
    let words = Words::of(recording)?;
    let known = Vocabulary { tables: recording.tables()?, words: &words };
    let uses = Uses::of(recording, &words, &fields, progress)?;
    let strings = NewStrings::new(known.tables, &uses);
    let kept: Vec<TextPattern> = options.keep_matching.iter().map(|(_, pattern)| pattern.clone()).collect();
    let names = (!options.keep_names).then_some(Names { key: &key, kept: &kept, words: &words });
    let replacing = StringReplacements { texts: Texts { key: &key }, names };
    let numbers = (!options.keep_numbers).then_some(Numbers { key: &key });
    let flips = flips(recording, &fields, &key)?;
    let compressor = Compressor::new(Compression::Zstd(LEVEL)).map_err(encoding("STRINGS"))?;
    let all: u64 =
        uses.values.iter().map(|values| values.count).sum::<u64>() - uses.values[Encoding::Text as usize].count;
    let mut redacting = Redactor {
        recording,
        known,
        key: &key,
        fields: &fields,
        strings,
        replacing,
        numbers,
        flips,
        compressor,
        damaged: damaged(&problems).or_else(|| recording.damage().map(|_| "its end was not whole".to_owned())),
        counts: StringCounts::default(),
        progress,
    };
    let left_out_bytes = file_parts(recording)?.iter().filter(|part| !part.is_known).map(|part| part.bytes).sum();
    let bytes = write_anew(recording, key.uuid(recording.uuid()), destination, |copy| redacting.write(copy, options))?;
    let strings = redacting.counts;
    let (values, kept_values) = if options.keep_numbers { (0, all) } else { (all, 0) };
    Ok(Redacted { bytes, strings, values, kept_values, left_out_bytes, problems })
}

/// Damage of a recording, or changes after it was written. The unfinished end of a killed recorder is not damage.
fn problems(recording: &Recording, progress: &dyn Progress) -> Result<Vec<Problem>> {
    let mut problems = verify(recording, progress)?.problems;
    if let Some(damage) = recording.damage()
        && damage.lost.is_empty()
        && damage.suspect_offset.is_none()
    {
        problems.retain(|problem| problem.message != damage.to_string());
    }
    Ok(problems)
}

/// How many problems there are, and where the first one is, for a fact. What is wrong may hold a word of the program.
fn damaged(problems: &[Problem]) -> Option<String> {
    let first = problems.first()?;
    let count = problems.len();
    Some(format!("{count} problem{}; the first at byte {}", if count == 1 { "" } else { "s" }, first.offset))
}

/// For each field, whether the key exchanges true and false in it.
fn flips(recording: &Recording, fields: &Fields, key: &Key) -> Result<Vec<bool>> {
    let tables = recording.tables()?;
    let flips = fields.all().iter().map(|field| {
        field.is_some_and(|field| {
            let names = [tables.type_name(field.type_id), tables.string(field.name)];
            key.number(format!("boolean {} {}", names[0], names[1]).as_bytes()) % 2 == 1
        })
    });
    Ok(flips.collect())
}

fn encoding(section: &'static str) -> impl Fn(FormatError) -> RewriteError {
    move |source| RewriteError::Encode { section, source }
}

/// A recording being redacted.
struct Redactor<'r> {
    recording: &'r Recording,
    known: Vocabulary<'r>,
    key: &'r Key,
    fields: &'r Fields,
    strings: NewStrings<'r>,
    replacing: StringReplacements<'r>,
    numbers: Option<Numbers<'r>>,
    /// By field.
    flips: Vec<bool>,
    compressor: Compressor,
    /// The text of the fact about damage.
    damaged: Option<String>,
    counts: StringCounts,
    progress: &'r dyn Progress,
}

impl Redactor<'_> {
    fn write(&mut self, copy: &mut Copy<'_>, options: &RedactOptions) -> Result<()> {
        let facts = self.facts(options)?;
        self.write_strings(copy)?;
        let mut fact_rows = 0;
        for &(section, offset) in Frames::of(self.recording).tables() {
            let old = [offset];
            match section {
                SectionType::META => {
                    fact_rows += rows_of::<KeyValue>(self.recording, offset)?.1.len() as u64;
                    self.rewrite::<KeyValue>(copy, NO_SNAPSHOT, &old)?;
                }
                SectionType::KINDS => drop(self.rewrite::<Kind>(copy, NO_SNAPSHOT, &old)?),
                SectionType::STRENGTHS => drop(self.rewrite::<Strength>(copy, NO_SNAPSHOT, &old)?),
                SectionType::TYPES => drop(self.rewrite::<Type>(copy, NO_SNAPSHOT, &old)?),
                SectionType::SHAPES => drop(self.rewrite::<Shape>(copy, NO_SNAPSHOT, &old)?),
                SectionType::FIELDS => drop(self.rewrite::<Option<Field>>(copy, NO_SNAPSHOT, &old)?),
                SectionType::SITES => drop(self.rewrite::<Site>(copy, NO_SNAPSHOT, &old)?),
                SectionType::PROCESSES => {
                    let key = self.key;
                    // The recording of a process's heap gets another identifier if it is redacted with the same key.
                    self.rewrite_with(copy, NO_SNAPSHOT, &old, |row| {
                        if let ProcessRow::Heap { uuid, .. } = row {
                            *uuid = key.uuid(*uuid);
                        }
                    })?;
                }
                SectionType::MEASUREMENTS => drop(self.rewrite::<MeasurementRow>(copy, NO_SNAPSHOT, &old)?),
                SectionType::WORDS => drop(self.rewrite::<Option<WordRow>>(copy, NO_SNAPSHOT, &old)?),
                // Strings are written already.
                _ => {}
            }
        }
        self.write_rows(copy, NO_SNAPSHOT, fact_rows, &facts)?;
        self.recording.snapshot_ids().try_for_each(|id| self.snapshot(copy, id))
    }

    /// The facts of the new recording about its redaction. Replacements by an earlier redaction are kept.
    fn facts(&mut self, options: &RedactOptions) -> Result<Vec<KeyValue>> {
        let before = self.recording.facts()?;
        let has_replaced_names = before.iter().any(|(known, _)| known == NAMES_FACT);
        let patterns: Vec<&str> = options.keep_matching.iter().map(|(typed, _)| typed.as_str()).collect();
        let names = match patterns[..] {
            _ if options.keep_names => None,
            [] => Some("replaced".to_owned()),
            _ if has_replaced_names => None,
            _ => Some(format!("replaced, except {}", patterns.join(", "))),
        };
        let key = if options.key.is_some() { "of a file" } else { "random" };
        let facts = [
            (REDACTED_BY_FACT, Some(concat!("barrow ", env!("CARGO_PKG_VERSION")).to_owned())),
            (KEY_FACT, Some(key.to_owned())),
            (DAMAGED_FACT, self.damaged.clone()),
            (TEXTS_FACT, Some("replaced".to_owned())),
            (NAMES_FACT, names),
            (NUMBERS_FACT, (!options.keep_numbers).then(|| "replaced".to_owned())),
        ];
        let told = facts.iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
        // Facts of an earlier redaction need not be repeated.
        let told = told.filter(|&(key, value)| {
            let before = before.iter().rfind(|(known, _)| known == key).map(|(_, value)| value);
            before != Some(value)
        });
        Ok(told.map(|(key, value)| KeyValue { key: self.strings.own(key), value: self.strings.own(value) }).collect())
    }

    fn write_strings(&mut self, copy: &mut Copy<'_>) -> Result<()> {
        let chunks: Vec<u64> = Frames::of(self.recording)
            .tables()
            .iter()
            .filter(|(section, _)| *section == SectionType::STRINGS)
            .map(|&(_, offset)| offset)
            .collect();
        self.progress.begin("replacing strings", chunks.len() as u64, "chunks");
        for batch in chunks.chunks(BATCH * rayon::current_num_threads()) {
            check(self.progress)?;
            let replaced: Vec<(u64, Vec<Text>, StringCounts)> = batch
                .par_iter()
                .map(|&offset| {
                    let mut counts = StringCounts::default();
                    let (first, mut rows) = rows_of::<Text>(self.recording, offset)?;
                    // Strings are numbered by 32 bits: a reader of chunks refuses more.
                    for (id, Text(text)) in (first as u32..).map(StringId).zip(&mut rows) {
                        *text = self.strings.old(id, text, self.replacing, &mut counts);
                    }
                    Ok((first, rows, counts))
                })
                .collect::<Result<_>>()?;
            for (first, rows, counts) in replaced {
                self.counts += counts;
                self.write_rows(copy, NO_SNAPSHOT, first, &rows)?;
                self.progress.advance(1);
            }
        }
        let new = self.strings.new_ones(self.replacing, &mut self.counts);
        let new: Vec<Text> = new.into_iter().map(Text).collect();
        self.write_rows(copy, NO_SNAPSHOT, u64::from(self.strings.count()) - new.len() as u64, &new)?;
        Ok(())
    }

    /// Writes rows, numbered from `first`. Returns the offsets of their chunks.
    fn write_rows<R: Row>(&mut self, copy: &mut Copy<'_>, snapshot: u32, first: u64, rows: &[R]) -> Result<Vec<u64>> {
        let mut out = Rows::new(copy, &mut self.compressor, snapshot, first);
        rows.iter().try_for_each(|row| out.push(row))?;
        out.finish::<R>()
    }

    /// Rewrites chunks of a table with the numbers of the new strings. Returns the offsets of the new chunks.
    fn rewrite<R: StringRow>(&mut self, copy: &mut Copy<'_>, snapshot: u32, old: &[u64]) -> Result<Vec<u64>> {
        self.rewrite_with::<R>(copy, snapshot, old, |_| {})
    }

    /// The same, with a change of each row besides its strings.
    fn rewrite_with<R: StringRow>(
        &mut self,
        copy: &mut Copy<'_>,
        snapshot: u32,
        old: &[u64],
        change: impl Fn(&mut R),
    ) -> Result<Vec<u64>> {
        let mut offsets = Vec::new();
        for &offset in old {
            let (first, mut rows) = rows_of::<R>(self.recording, offset)?;
            for row in &mut rows {
                row.strings(self.known, &mut |text, class| self.strings.change(text, class))?;
                change(row);
            }
            offsets.extend(self.write_rows(copy, snapshot, first, &rows)?);
        }
        Ok(offsets)
    }

    fn snapshot(&mut self, copy: &mut Copy<'_>, id: SnapshotId) -> Result<()> {
        let mut commit = Frames::of(self.recording).commit(id)?.clone();
        self.blocks(copy, &mut commit)?;
        commit.stats = self.rewrite::<TypeTotals>(copy, id.0, &commit.stats)?;
        commit.roots = self.rewrite::<Root>(copy, id.0, &commit.roots)?;
        commit.threads = self.rewrite::<Thread>(copy, id.0, &commit.threads)?;
        commit_strings(&mut commit, self.known, &mut |text, class| self.strings.change(text, class))?;
        commit.tables.strings = self.strings.count();
        copy.commit(commit)
    }

    fn blocks(&self, copy: &mut Copy<'_>, commit: &mut Commit) -> Result<()> {
        let own: Vec<(SectionType, u64)> =
            commit.own_blocks().map(|(section, block)| (section, block.offset)).collect();
        self.progress.begin("replacing values", own.len() as u64, "blocks");
        let mut moved = Vec::with_capacity(own.len());
        for batch in own.chunks(BATCH * rayon::current_num_threads()) {
            check(self.progress)?;
            let recoder = || (Contents::default(), Encoder::new(Compression::Zstd(LEVEL)).expect("the level exists"));
            let frames: Vec<Vec<u8>> = batch
                .par_iter()
                .map_init(recoder, |(contents, encoder), &(section, offset)| {
                    let block = contents.read(self.recording, commit, section, offset)?;
                    self.replace(contents)?;
                    let at = section.name().unwrap_or("block");
                    let (directory, body) = encoder.recode(&block, &contents.columns).map_err(encoding(at))?;
                    Ok(encode_frame(section, commit.snapshot, 0, &directory, body))
                })
                .collect::<Result<_>>()?;
            for frame in frames {
                let length = frame.len() as u64;
                moved.push((copy.append(frame)?, length));
                self.progress.advance(1);
            }
        }
        // Groups that are as in the base have no frame.
        let entries = commit.blocks.iter_mut().filter(|block| block.length > 0);
        for (entry, (offset, length)) in entries.zip(moved) {
            (entry.offset, entry.length) = (offset, length);
        }
        Ok(())
    }

    /// Replaces the contents of a block.
    fn replace(&self, contents: &mut Contents) -> Result<()> {
        let encoding_of = |field: FieldId| self.fields.encoding(field);
        columns_strings(&mut contents.columns, self.known, encoding_of, &mut |text, class| {
            self.strings.change(text, class)
        })?;
        let Some(numbers) = self.numbers else { return Ok(()) };
        // Fields often have the same value in many objects.
        let mut known = std::collections::HashMap::new();
        contents.columns.values.map(|field, code| match encoding_of(field) {
            Some(Encoding::Text) => code,
            encoding => {
                let flips = self.flips.get(field.index()).copied().unwrap_or(false);
                let number = encoding.map_or(u64::MAX, Encoding::number);
                *known.entry((number, flips, code)).or_insert_with(|| numbers.replace(encoding, code, flips))
            }
        });
        Ok(())
    }
}

/// Rows of a table being written.
struct Rows<'w, 'r> {
    copy: &'w mut Copy<'r>,
    compressor: &'w mut Compressor,
    snapshot: u32,
    /// The number of the next row to write.
    first: u64,
    /// Waiting rows, encoded.
    raw: Vec<u8>,
    waiting: u64,
    /// The offsets of the chunks.
    offsets: Vec<u64>,
}

impl<'w, 'r> Rows<'w, 'r> {
    fn new(copy: &'w mut Copy<'r>, compressor: &'w mut Compressor, snapshot: u32, first: u64) -> Self {
        Rows { copy, compressor, snapshot, first, raw: Vec::new(), waiting: 0, offsets: Vec::new() }
    }

    fn push<R: Row>(&mut self, row: &R) -> Result<()> {
        let before = self.raw.len();
        row.append(&mut self.raw);
        if self.raw.len() > MAX_CHUNK_BYTES && before > 0 {
            let last = self.raw.split_off(before);
            self.flush::<R>()?;
            self.raw = last;
        }
        self.waiting += 1;
        if self.raw.len() >= CHUNK_BYTES { self.flush::<R>() } else { Ok(()) }
    }

    fn flush<R: Row>(&mut self) -> Result<()> {
        if self.waiting == 0 {
            return Ok(());
        }
        let encoded = encode_raw_chunk::<R>(self.first, self.waiting, &self.raw, self.compressor);
        let (directory, body) = encoded.map_err(encoding(R::NAME))?;
        let frame = encode_frame(R::SECTION, self.snapshot, 0, &directory, &body);
        self.offsets.push(self.copy.rows(R::SECTION, self.snapshot, self.waiting, frame)?);
        self.first += self.waiting;
        (self.waiting, self.raw) = (0, Vec::new());
        Ok(())
    }

    /// The offsets of all chunks.
    fn finish<R: Row>(mut self) -> Result<Vec<u64>> {
        self.flush::<R>()?;
        Ok(self.offsets)
    }
}
