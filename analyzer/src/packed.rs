//! Numbers packed into as few bytes as they need, so that reading one takes no branch.
//!
//! ```text
//!   low two bits of the first byte   bytes   the number
//!   00                               1        6 bits
//!   01                               2       14 bits
//!   10                               3       22 bits
//!   11                               5       38 bits
//! ```
//!
//! In memory only: files hold LEB128, which is denser, but whose lengths a processor cannot foresee.
//! Eight bytes are read for every number, so as many must follow the last one.

/// Bytes that must follow the last number.
pub(crate) const PADDING: usize = 8;
/// The longest number, in bytes.
pub(crate) const MAX_BYTES: usize = 5;

/// Writes numbers behind each other into bytes that are long enough.
#[derive(Debug)]
pub(crate) struct Packer<'b> {
    bytes: &'b mut [u8],
    at: usize,
}

impl<'b> Packer<'b> {
    /// Writes from the beginning of `bytes`: [`MAX_BYTES`] for each number, and [`PADDING`].
    pub(crate) fn new(bytes: &'b mut [u8]) -> Self {
        Packer { bytes, at: 0 }
    }

    /// Where the next number will stand.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Writes a number below 2^38.
    #[inline(always)]
    pub(crate) fn put(&mut self, number: u64) {
        self.put_if(number, true);
    }

    /// Writes a number, or writes it without moving on, so that the next one takes its place: without
    /// a branch, for those who cannot foresee which it will be.
    #[inline(always)]
    pub(crate) fn put_if(&mut self, number: u64, wanted: bool) {
        let tag = u64::from(number >= 1 << 6) + u64::from(number >= 1 << 14) + u64::from(number >= 1 << 22);
        let length = length_of(tag);
        self.bytes[self.at..self.at + PADDING].copy_from_slice(&(number << 2 | tag).to_le_bytes());
        self.at += if wanted { length } else { 0 };
    }
}

/// Bytes of a number with this tag.
#[inline(always)]
fn length_of(tag: u64) -> usize {
    (1 + tag + ((tag + 1) >> 2)) as usize
}

/// Reads the number at `at` and moves behind it.
///
/// # Panics
/// If fewer than [`PADDING`] bytes follow `at`.
#[inline(always)]
pub(crate) fn get(bytes: &[u8], at: &mut usize) -> u64 {
    let word: [u8; 8] = bytes[*at..*at + 8].try_into().expect("eight bytes are eight bytes");
    let word = u64::from_le_bytes(word);
    let tag = word & 3;
    let length = length_of(tag) as u64;
    *at += length as usize;
    word << (64 - 8 * length) >> (66 - 8 * length)
}

/// Small for numbers near 0, on either side.
pub(crate) fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63).cast_unsigned()
}

/// What [`zigzag`] was given.
#[inline(always)]
pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back() {
        let powers = (0..38).flat_map(|bits| [(1u64 << bits) - 1, 1 << bits]);
        let mut bytes = vec![0xff; 76 * MAX_BYTES + PADDING];
        let mut packer = Packer::new(&mut bytes);
        for number in powers.clone() {
            packer.put(number);
            packer.put_if(number / 3, false);
        }
        let end = packer.position();
        let mut at = 0;
        for number in powers {
            assert_eq!(get(&bytes, &mut at), number);
        }
        assert_eq!(at, end);
    }

    #[test]
    fn differences_are_read_back() {
        for difference in [0, 1, -1, i64::from(u32::MAX), -i64::from(u32::MAX)] {
            assert_eq!(unzigzag(zigzag(difference)), difference);
            assert!(zigzag(difference) < 1 << 38);
        }
    }
}
