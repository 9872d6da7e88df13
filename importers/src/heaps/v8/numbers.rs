//! An array of numbers in the text of a dump, read from any place by several threads.
//!
//! ```text
//!   [9,1,1,0,5,0,0\n,9,2,3,0,28,0,0\n,…,9,29,59,0,0]
//!    │ piece of 256 KiB │ piece            │ …
//!    └ commas before it: 0      └ 71,204
//! ```
//!
//! Counting the commas of each piece costs little, since it reads nothing else; with the counts, the
//! place of any number is found by looking through one piece.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::parallel::for_each_unit;
use crate::context::Context;
use crate::error::{Damage, Stop};

/// Commas are counted in pieces of this many bytes.
const PIECE_BYTES: usize = 256 << 10;
/// After this many pieces the importer checks for cancellation and for the end of the array.
const PIECES_PER_UNIT: usize = 16;
/// Maximum number of digits that always fit a `u64`.
const MAX_DIGITS: usize = 19;

/// An array whose numbers were counted, but not read.
pub(crate) struct Numbers<'a> {
    dump: &'a [u8],
    /// Its name in errors.
    what: &'static str,
    /// The first byte after `[`.
    start: usize,
    /// The byte that ends it: `]` if the array is whole.
    end: usize,
    is_whole: bool,
    /// For each piece, the commas before it.
    commas: Vec<u64>,
    count: u64,
}

impl<'a> Numbers<'a> {
    /// Finds the end of the array whose first byte after `[` is at `start`, and counts its numbers.
    ///
    /// # Errors
    /// If the user cancels.
    pub(crate) fn count(
        dump: &'a [u8],
        what: &'static str,
        start: usize,
        context: &Context<'_>,
    ) -> Result<Numbers<'a>, Stop> {
        let rest = dump.get(start..).unwrap_or_default();
        // Only the bytes of a short array are read, by this thread.
        let is_short = commas_before_end(&rest[..rest.len().min(PIECE_BYTES)]).1.is_some();
        let pieces = if is_short { 1 } else { rest.len().div_ceil(PIECE_BYTES) };
        // The piece in which the array ends, as far as known.
        let last = AtomicUsize::new(pieces);
        let counted = Mutex::new(Vec::new());
        for_each_unit(
            context,
            pieces.div_ceil(PIECES_PER_UNIT),
            || Ok(()),
            |(), unit| {
                let first = unit * PIECES_PER_UNIT;
                // Relaxed: a thread that learns of the end late counts some pieces in vain.
                let ours = first..(first + PIECES_PER_UNIT).min(pieces);
                let bounds = [ours.start, ours.end].map(|piece| start + rest.len().min(piece * PIECE_BYTES));
                let bytes = bounds[0]..bounds[1];
                for piece in ours.take_while(|&piece| piece <= last.load(Ordering::Relaxed)) {
                    let offset = piece * PIECE_BYTES;
                    let bytes = &rest[offset..rest.len().min(offset + PIECE_BYTES)];
                    let (commas, end) = commas_before_end(bytes);
                    context.progress.advance(end.unwrap_or(bytes.len()) as u64);
                    if end.is_some() {
                        last.fetch_min(piece, Ordering::Relaxed);
                    }
                    let end = end.map(|end| start + offset + end);
                    counted.lock().push((piece, commas, end));
                }
                if first <= last.load(Ordering::Relaxed) {
                    context.release(bytes);
                }
                Ok(())
            },
            |()| Ok(()),
        )?;
        let mut counted = counted.into_inner();
        counted.sort_unstable();
        let mut numbers = Numbers { dump, what, start, end: dump.len(), is_whole: false, commas: Vec::new(), count: 0 };
        let mut commas = 0;
        for (_, more, end) in counted {
            numbers.commas.push(commas);
            commas += more;
            if let Some(end) = end {
                (numbers.end, numbers.is_whole) = (end, true);
                break;
            }
        }
        let is_blank = rest[..numbers.end - start].iter().take(PIECE_BYTES).all(u8::is_ascii_whitespace);
        numbers.count = if commas == 0 && is_blank { 0 } else { commas + 1 };
        Ok(numbers)
    }

    /// Number of numbers in the array.
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    /// The byte that ends the array, or the end of the dump.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// The offset of its start in the dump.
    pub(crate) fn offset(&self) -> u64 {
        self.start as u64
    }

    /// Its length in bytes.
    pub(crate) fn byte_count(&self) -> u64 {
        (self.end - self.start) as u64
    }

    /// Fails if the dump ends inside the array.
    pub(crate) fn check_whole(&self) -> Result<(), Damage> {
        let length = self.dump.len() as u64;
        if self.is_whole { Ok(()) } else { Err(Damage::Ends { length, inside: self.what }) }
    }

    /// A reader whose next number has this index.
    pub(crate) fn from(&self, index: u64) -> Reader<'a> {
        let mut at = self.start;
        if index > 0 {
            // The piece with the comma before the number.
            let piece = self.commas.partition_point(|&before| before < index).saturating_sub(1);
            let (offset, before) = (self.start + piece * PIECE_BYTES, self.commas.get(piece).copied().unwrap_or(0));
            let bytes = self.dump.get(offset..self.end).unwrap_or_default();
            let nth = usize::try_from(index - before - 1).unwrap_or(usize::MAX);
            at = memchr::memchr_iter(b',', bytes).nth(nth).map_or(self.end, |comma| offset + comma + 1);
        }
        Reader { dump: self.dump, what: self.what, at }
    }
}

/// The number of commas before the first `]`, and its position.
fn commas_before_end(bytes: &[u8]) -> (u64, Option<usize>) {
    let mut commas = 0;
    let mut blocks = bytes.chunks(128);
    let mut before = 0;
    for block in &mut blocks {
        // Simple enough for the compiler to vectorise.
        let (mut block_commas, mut is_end) = (0_u8, 0_u8);
        for &byte in block {
            block_commas += u8::from(byte == b',');
            is_end |= u8::from(byte == b']');
        }
        if is_end != 0 {
            let end = block.iter().position(|&byte| byte == b']').unwrap_or(block.len());
            commas += block[..end].iter().filter(|&&byte| byte == b',').count() as u64;
            return (commas, Some(before + end));
        }
        commas += u64::from(block_commas);
        before += block.len();
    }
    (commas, None)
}

/// Reads numbers one after the other.
pub(crate) struct Reader<'a> {
    dump: &'a [u8],
    what: &'static str,
    at: usize,
}

impl Reader<'_> {
    /// The offset of the next number in the dump.
    pub(crate) fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Skips the next numbers without reading them; the array must have more.
    pub(crate) fn skip(&mut self, numbers: usize) {
        let rest = self.dump.get(self.at..).unwrap_or_default();
        if let Some(before) = numbers.checked_sub(1) {
            self.at += memchr::memchr_iter(b',', rest).nth(before).map_or(rest.len(), |comma| comma + 1);
        }
    }

    /// The next numbers.
    ///
    /// # Errors
    /// [`Damage::Unexpected`], [`Damage::Ends`], and [`Damage::OutOfRange`] for a number beyond 19 digits.
    #[inline]
    pub(crate) fn record(&mut self, record: &mut [u64]) -> Result<(), Damage> {
        for field in record {
            *field = self.next()?;
        }
        Ok(())
    }

    /// The next `N` numbers, if all have V8's form; otherwise the position is unchanged.
    #[inline(always)]
    pub(crate) fn quick_array<const N: usize>(&mut self) -> Option<[u64; N]> {
        let mut record = [0; N];
        let mut at = self.at;
        for field in &mut record {
            (*field, at) = quick_number(self.dump, at)?;
        }
        self.at = at;
        Some(record)
    }

    /// The next number, with the comma after it.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<u64, Damage> {
        let Some((value, next)) = quick_number(self.dump, self.at) else { return self.next_slowly() };
        self.at = next;
        Ok(value)
    }

    /// Reads the next number with everything that may surround it: spaces, the end of the array.
    #[cold]
    fn next_slowly(&mut self) -> Result<u64, Damage> {
        self.skip_space();
        let start = self.at;
        let rest = self.dump.get(start..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err(self.unexpected("a number"));
        }
        let value = rest[..digits]
            .iter()
            .try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
        let Some(value) = value.filter(|_| digits <= MAX_DIGITS) else {
            let (offset, limit) = (start as u64, 10_u64.pow(MAX_DIGITS as u32) - 1);
            return Err(Damage::OutOfRange { what: "a number", offset, value: u64::MAX, limit });
        };
        self.at += digits;
        self.skip_space();
        match self.dump.get(self.at) {
            Some(b',') => self.at += 1,
            Some(b']') => {}
            _ => return Err(self.unexpected("a comma or the end of the array")),
        }
        Ok(value)
    }

    fn skip_space(&mut self) {
        let rest = self.dump.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    fn unexpected(&self, expected: &'static str) -> Damage {
        match self.dump.get(self.at) {
            None => Damage::Ends { length: self.dump.len() as u64, inside: self.what },
            Some(byte) => {
                Damage::Unexpected { found: format!("{:?}", char::from(*byte)), offset: self.offset(), expected }
            }
        }
    }
}

/// The number at `at`, if it has V8's form, and the offset of the next.
#[inline(always)]
fn quick_number(dump: &[u8], at: usize) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*dump.get(at..)?.first_chunk()?);
    // Types and many indexes have one digit.
    let value = (word as u8).wrapping_sub(b'0');
    if value < 10 && (word >> 8) as u8 == b',' {
        return Some((value.into(), at + 2));
    }
    let (mut value, digits) = leading_digits(word);
    let mut end = at + digits as usize;
    if digits == 8 {
        // Two more digits fit anyway; a longer number is read with care.
        for _ in 0..2 {
            let Some(digit @ b'0'..=b'9') = dump.get(end) else { break };
            value = value * 10 + u64::from(digit - b'0');
            end += 1;
        }
    }
    // V8 begins a line before the comma of each record. These branches are predictable, so the processor starts on
    // the next number before this one is known.
    match dump.get(end) {
        Some(b',') if digits > 0 => Some((value, end + 1)),
        Some(b'\n') if digits > 0 && dump.get(end + 1) == Some(&b',') => Some((value, end + 2)),
        _ => None,
    }
}

/// The number spelled by the first bytes of `word`, in memory's order, and its number of digits: at most eight. All
/// eight bytes are processed together: their lengths follow no pattern that a branch predictor could learn.
#[inline]
fn leading_digits(word: u64) -> (u64, u32) {
    // Digits become 0 to 9; adding 0x76 to anything larger sets the high bit. A carry goes to later
    // bytes only.
    let values = word ^ 0x3030_3030_3030_3030;
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let digits = others.trailing_zeros() / 8;
    // Digits move to the end, zeros come before them. Then neighbours are joined: 8 ones, 4 pairs, 2 fours.
    let values = values.checked_shl(64 - 8 * digits).unwrap_or(0);
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    (low.wrapping_add(high) >> 32, digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::with_context;

    fn numbers(text: &str) -> Result<Vec<u64>, Damage> {
        with_context(|context| {
            let counted = Numbers::count(text.as_bytes(), "the nodes", 1, context).expect("not cancelled");
            let mut reader = counted.from(0);
            (0..counted.len()).map(|_| reader.next()).collect()
        })
    }

    #[test]
    fn numbers_of_any_length_are_read() {
        let mut text = String::from("[");
        let mut expected = Vec::new();
        for digits in 0..19 {
            for value in [10_u64.pow(digits), 10_u64.pow(digits) - 1, 10_u64.pow(digits) + 7 * digits as u64] {
                expected.push(value);
                text += &format!("{value},");
            }
        }
        text += "9223372036854775807]";
        expected.push(9_223_372_036_854_775_807);
        assert_eq!(numbers(&text), Ok(expected));
    }

    #[test]
    fn spaces_may_stand_around_numbers() {
        assert_eq!(numbers("[ 1 ,\n2\n,3\t, 45678901 , 123456789\r\n]"), Ok(vec![1, 2, 3, 45_678_901, 123_456_789]));
        assert_eq!(numbers("[ \n ]"), Ok(vec![]));
        assert_eq!(numbers("[]"), Ok(vec![]));
        assert_eq!(numbers("[0]"), Ok(vec![0]));
    }

    #[test]
    fn anything_else_is_damage_with_its_place() {
        let message = |text| numbers(text).expect_err("damaged").to_string();
        assert_eq!(message("[1,-2]"), "'-' at byte 3, expected a number");
        assert_eq!(message("[1,2.5]"), "'.' at byte 4, expected a comma or the end of the array");
        assert_eq!(message("[1,,2]"), "',' at byte 3, expected a number");
        assert_eq!(message("[1,2,]"), "']' at byte 5, expected a number");
        assert_eq!(message("[1,23"), "the dump ends at byte 5 inside the nodes");
        assert_eq!(message("[123456789012x]"), "'x' at byte 13, expected a comma or the end of the array");
        assert!(message("[123456789012345678901]").contains("the limit is"));
    }

    #[test]
    fn any_number_is_found() {
        let text = (0..200_000).map(|value: u64| value.pow(2).to_string()).collect::<Vec<_>>().join(",");
        let text = format!("[{text}]  ],");
        with_context(|context| {
            let counted = Numbers::count(text.as_bytes(), "the edges", 1, context).expect("not cancelled");
            assert!(counted.commas.len() > 3, "several pieces");
            assert_eq!((counted.len(), counted.end()), (200_000, text.len() - 5));
            for index in (0..200_000).step_by(777).chain([199_999]) {
                assert_eq!(counted.from(index).next(), Ok(index * index));
                let mut reader = counted.from(0);
                reader.skip(index as usize);
                assert_eq!(reader.next(), Ok(index * index));
            }
        });
    }
}
