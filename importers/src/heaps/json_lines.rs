//! Dumps of one JSON object per line, in two passes over the lines:
//!
//! ```text
//!   dump   {"address":"0x10", …}\n{"address":"0x38", …}\n …      divided into chunks of lines
//!   survey  every chunk, in parallel: the lines that are objects, and their addresses
//!             ▼ rows in file order, Addresses: from an address to a row
//!   announce  every chunk, in parallel, with a shard for each thread
//! ```
//!
//! Used by it: [`Scanner`] (the JSON of one line), [`Addresses`], [`DeclaredTypes`], [`Strings`], [`Tallies`].

mod addresses;
mod declared;
mod first_field;
mod scanner;
mod screen;
mod several;
mod strings;
mod tallies;

pub(crate) use addresses::Addresses;
pub(crate) use declared::DeclaredTypes;
pub(crate) use first_field::first_field;
pub(crate) use scanner::{Scanner, Text};
pub(crate) use screen::LineStarts;
pub(crate) use several::import_each;
pub(crate) use strings::{MAX_NAME_BYTES, Strings};
pub(crate) use tallies::Tallies;

use crate::context::Context;
use crate::error::{Damage, Stop};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

/// A map for millions of keys.
pub(crate) type FastMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// Approximate number of bytes that a thread reads at a time. Every chunk begins a block of the recording; at a few
/// hundred bytes per object, a chunk fills a block well.
const CHUNK_BYTES: usize = 8 << 20;

/// The lines of a dump, divided for threads: a chunk has the lines that begin in its bytes. Its first line is located
/// when the chunk is read, since touching a place of the dump can map megabytes of it.
pub(crate) struct Lines<'d> {
    dump: &'d [u8],
    chunk_bytes: usize,
    /// The offset of the first line.
    start: usize,
    /// The end of the last whole line.
    end: usize,
    /// The damage at the end, if the dump is cut.
    cut: Option<Damage>,
    left_out: LeftOutLines,
}

/// Lines that are not JSON objects.
#[derive(Default)]
struct LeftOutLines {
    /// Their offsets, ascending.
    offsets: Vec<u64>,
    bytes: u64,
    /// The defect of the first one.
    reason: String,
}

impl LeftOutLines {
    fn add(&mut self, text: &[u8], offset: u64, damage: &Damage) {
        if self.offsets.is_empty() {
            self.reason = damage.to_string();
        }
        self.offsets.push(offset);
        self.bytes += text.len() as u64;
    }

    /// Adds the lines of a later chunk.
    fn extend(&mut self, later: LeftOutLines) {
        if self.offsets.is_empty() {
            self.reason = later.reason;
        }
        self.offsets.extend(later.offsets);
        self.bytes += later.bytes;
    }
}

/// Maximum number of bad lines, 8 bytes each. A file with more is not a dump: real ones have had two.
const MOST_LEFT_OUT: usize = 1 << 20;

impl<'d> Lines<'d> {
    /// Divides `dump`. Its last line counts only if it is whole.
    pub(crate) fn new(dump: &'d [u8]) -> Self {
        Self::with_chunks(dump, CHUNK_BYTES)
    }

    fn with_chunks(dump: &'d [u8], chunk_bytes: usize) -> Self {
        let mut end = memchr::memrchr(b'\n', dump).map_or(0, |newline| newline + 1);
        let tail = dump.get(end..).unwrap_or_default();
        let mut cut = None;
        if !tail.trim_ascii().is_empty() {
            // The beginning of a JSON object is none: a last line that is one misses only its newline.
            if Scanner::new(tail, end as u64).skip_line().is_ok() {
                end = dump.len();
            } else {
                cut = Some(Damage::Ends { length: dump.len() as u64, inside: "a line" });
            }
        }
        Lines { dump, chunk_bytes, start: 0, end, cut, left_out: LeftOutLines::default() }
    }

    /// The lines between two places at which a line begins. The damage at the end belongs to the last part.
    pub(crate) fn part(&self, start: usize, end: Option<usize>) -> Self {
        let cut = if end.is_none() { self.cut.clone() } else { None };
        Lines { start, end: end.unwrap_or(self.end), cut, left_out: LeftOutLines::default(), ..*self }
    }

    /// Number of chunks.
    fn chunks(&self) -> usize {
        (self.end - self.start).div_ceil(self.chunk_bytes)
    }

    /// The range of a chunk, which may begin and end inside a line.
    fn bytes_of(&self, chunk: usize) -> Range<usize> {
        let start = self.start.saturating_add(chunk.saturating_mul(self.chunk_bytes)).min(self.end);
        start..start.saturating_add(self.chunk_bytes).min(self.end)
    }

    /// The offset of the first line of a chunk; at or after the end of the chunk if it has none.
    fn first_line(&self, bytes: &Range<usize>) -> usize {
        if bytes.start == self.start {
            return self.start;
        }
        let before = bytes.start - 1;
        let text = self.dump.get(before..bytes.end).unwrap_or_default();
        memchr::memchr(b'\n', text).map_or(bytes.end, |newline| bytes.start + newline)
    }

    /// Visits the lines of one chunk that are not blank, with their offsets.
    pub(crate) fn for_each_line<E>(
        &self,
        chunk: usize,
        mut visit: impl FnMut(&'d [u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = self.bytes_of(chunk);
        let text = self.dump.get(..self.end).unwrap_or_default();
        let mut start = self.first_line(&bytes);
        while start < bytes.end {
            let rest = &text[start..];
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = &rest[..length];
            if !line.trim_ascii().is_empty() && !self.is_left_out(start as u64) {
                visit(line, start as u64)?;
            }
            start += length + 1;
        }
        Ok(())
    }

    fn is_left_out(&self, offset: u64) -> bool {
        !self.left_out.offsets.is_empty() && self.left_out.offsets.binary_search(&offset).is_ok()
    }

    /// Reads the dump. If a line ends that, those that `check` refuses are left out and the dump is read again: a
    /// sound dump is read once, without the cost of checks. Each thread has its own worker for `check`.
    pub(crate) fn read<T, W: Default>(
        &mut self,
        context: &Context<'_>,
        check: impl Fn(&mut W, &[u8], u64) -> Result<(), Stop> + Sync,
        mut read: impl FnMut(&Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let damage = match read(self) {
            Err(Stop::Damage(damage @ (Damage::Json { .. } | Damage::Unexpected { .. }), _)) => damage,
            end => return end,
        };
        let refused = self.in_parallel(
            "finding lines that are no objects",
            context,
            || Ok(W::default()),
            |worker, chunk| {
                let mut of_chunk = LeftOutLines::default();
                self.for_each_line(chunk, |text, offset| match check(worker, text, offset) {
                    Err(Stop::Damage(damage, _)) if of_chunk.offsets.len() < MOST_LEFT_OUT => {
                        of_chunk.add(text, offset, &damage);
                        Ok(())
                    }
                    end => end,
                })?;
                Ok(of_chunk)
            },
            |_| Ok(()),
        )?;
        let mut all = LeftOutLines::default();
        for of_chunk in refused {
            all.extend(of_chunk);
        }
        if all.offsets.is_empty() || all.offsets.len() > MOST_LEFT_OUT {
            return Err(damage.into());
        }
        self.left_out = all;
        read(self)
    }

    /// The damage: lines left out, and a cut at the end.
    pub(crate) fn lost(&self) -> Option<Damage> {
        let LeftOutLines { offsets, bytes, reason } = &self.left_out;
        let Some(&offset) = offsets.first() else { return self.cut.clone() };
        let (count, reason) = (offsets.len() as u64, reason.clone());
        let left_out = Damage::LeftOut { what: "line", count, bytes: *bytes, offset, reason };
        Some(match &self.cut {
            Some(cut) => left_out.and_ends(cut.clone()),
            None => left_out,
        })
    }

    /// The first line that is not blank, with its offset.
    pub(crate) fn first(&self) -> Option<(&'d [u8], u64)> {
        let mut first = None;
        let _ = self.for_each_line(0, |text, offset| {
            first = Some((text, offset));
            Err(())
        });
        first
    }

    /// The line that begins at `offset`.
    pub(crate) fn line_at(&self, offset: u64) -> &'d [u8] {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.dump.get(offset..)).unwrap_or_default();
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        &rest[..length]
    }

    /// Length of the dump in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.dump.len() as u64
    }

    /// Visits every chunk on the number of threads set by the user, each with a worker of its own. Returns the
    /// results of the chunks, in their order. The error is that of the first bad chunk.
    pub(crate) fn in_parallel<W, T: Send>(
        &self,
        phase: &str,
        context: &Context<'_>,
        worker: impl Fn() -> Result<W, Stop> + Sync,
        visit: impl Fn(&mut W, usize) -> Result<T, Stop> + Sync,
        finish: impl Fn(W) -> Result<(), Stop> + Sync,
    ) -> Result<Vec<T>, Stop> {
        context.progress.begin(phase, self.dump.len() as u64, "bytes");
        context.check_cancelled()?;
        let crew = Crew { next: AtomicUsize::new(0), has_failed: AtomicBool::new(false), done: Mutex::default() };
        let work = || {
            let end = worker().and_then(|mut worker| {
                while let Some(chunk) = crew.next_of(self.chunks()) {
                    let answer = match context.check_cancelled() {
                        Ok(()) => visit(&mut worker, chunk),
                        Err(error) => Err(error.into()),
                    };
                    crew.report(chunk, answer);
                    let bytes = self.bytes_of(chunk);
                    context.progress.advance(bytes.len() as u64);
                    context.release(bytes);
                }
                finish(worker)
            });
            if let Err(stop) = end {
                // After all chunks: an error of one of them takes precedence.
                crew.report(usize::MAX, Err(stop));
            }
        };
        let threads = context.options.threads.get().min(self.chunks()).max(1);
        std::thread::scope(|scope| {
            (1..threads).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        context.progress.advance((self.dump.len() - self.end) as u64);
        let mut done = crew.done.into_inner();
        done.sort_unstable_by_key(|&(chunk, _)| chunk);
        done.into_iter().map(|(_, answer)| answer).collect()
    }
}

/// Threads that divide the chunks among themselves.
struct Crew<T> {
    next: AtomicUsize,
    has_failed: AtomicBool,
    done: Mutex<Vec<(usize, Result<T, Stop>)>>,
}

impl<T> Crew<T> {
    /// The next chunk; `None` after a failure. Chunks are taken in order, so those before the failure are taken
    /// already.
    fn next_of(&self, chunks: usize) -> Option<usize> {
        if self.has_failed.load(Ordering::Relaxed) {
            return None;
        }
        // Relaxed: each number is returned once, and nothing else depends on it.
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        (next < chunks).then_some(next)
    }

    fn report(&self, chunk: usize, answer: Result<T, Stop>) {
        if answer.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        self.done.lock().push((chunk, answer));
    }
}

/// Adds sizes; the sum must fit an `i64`, like all sizes in one address space.
pub(crate) fn add_bytes(sum: u64, size: u64, offset: u64) -> Result<u64, Damage> {
    let limit = i64::MAX as u64;
    let out_of_range = Damage::OutOfRange { what: "the size of an object", offset, value: size, limit };
    sum.checked_add(size).filter(|&sum| sum <= limit).ok_or(out_of_range)
}

/// The number of the first object of each chunk, followed by the number of all objects.
pub(crate) fn first_rows<T>(objects: &[Vec<T>]) -> Vec<u64> {
    let mut next = 0;
    let mut rows = vec![0];
    rows.extend(objects.iter().map(|chunk| {
        next += chunk.len() as u64;
        next
    }));
    rows
}

/// Address and kind of an object's line, if its first fields have the usual form.
pub(crate) fn beginning(text: &[u8]) -> Option<(u64, &[u8])> {
    const ADDRESS: &[u8] = b"{\"address\":";
    const KIND: &[u8] = b", \"type\":\"";
    let (address, end) = scanner::quoted_address(text.starts_with(ADDRESS).then_some(text)?, ADDRESS.len())?;
    let rest = text.get(end..)?.strip_prefix(KIND)?;
    let length = rest.iter().take(20).position(|&byte| byte == b'"' || byte == b'\\')?;
    (rest[length] == b'"').then_some((address, &rest[..length]))
}

/// The error for a line that is neither an object nor roots.
pub(crate) fn unexpected(line: &[u8], offset: u64) -> Stop {
    let beginning: Vec<u8> = line.iter().take(40).copied().collect();
    let found = format!("\"{}\"", beginning.escape_ascii());
    Damage::Unexpected { found, offset, expected: "an object with its address, or roots" }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(dump: &str, chunk_bytes: usize) -> Vec<(usize, String, u64)> {
        let lines = Lines::with_chunks(dump.as_bytes(), chunk_bytes);
        let mut found = Vec::new();
        for chunk in 0..lines.chunks() {
            let visited: Result<(), ()> = lines.for_each_line(chunk, |line, offset| {
                found.push((chunk, String::from_utf8_lossy(line).into_owned(), offset));
                Ok(())
            });
            visited.expect("no visit fails");
        }
        found
    }

    #[test]
    fn every_line_is_in_one_chunk() {
        let dump = "{\"a\":1}\n\n{\"b\":22}\n{\"c\":333}\n";
        let whole: Vec<_> = lines_of(dump, 1 << 20).into_iter().map(|(_, line, offset)| (line, offset)).collect();
        assert_eq!(whole, [("{\"a\":1}".into(), 0), ("{\"b\":22}".into(), 9), ("{\"c\":333}".into(), 18)]);
        for chunk_bytes in 1..dump.len() {
            let divided = lines_of(dump, chunk_bytes);
            assert!(divided.iter().map(|(_, line, offset)| (line.clone(), *offset)).eq(whole.iter().cloned()));
        }
        assert_eq!(lines_of(dump, 10).iter().map(|&(chunk, ..)| chunk).collect::<Vec<_>>(), [0, 0, 1]);
    }

    #[test]
    fn a_last_line_counts_if_it_is_whole() {
        assert_eq!(lines_of("{}\n{}", 100).len(), 2);
        assert_eq!(Lines::new(b"{}\n{}").cut, None);
        assert_eq!(lines_of("{}\n{\"a\":[1", 100).len(), 1);
        assert_eq!(Lines::new(b"{}\n{\"a\":[1").cut, Some(Damage::Ends { length: 10, inside: "a line" }));
        assert_eq!(Lines::new(b"").cut, None);
    }
}
