//! Numbers packed into as few bytes as possible, so that reading one takes no branch.
//!
//! ```text
//!   low two bits of the first byte   bytes   the number
//!   00                               1        6 bits
//!   01                               2       14 bits
//!   10                               3       22 bits
//!   11                               4       30 bits, if all numbers are that small
//!   11                               5       38 bits, if not
//! ```
//!
//! This encoding is used in memory only. Files hold LEB128, which is denser, but the processor cannot predict its
//! lengths. Reading a number always loads eight bytes, so as many must follow the last one.

/// Bytes that must follow the last number.
pub(crate) const PADDING: usize = 8;
/// The maximum length of a number, in bytes.
pub(crate) const MAX_BYTES: usize = 5;

/// The length of the longest numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MaxLength {
    /// Their length beyond four bytes: 0 or 1.
    more: u64,
}

impl MaxLength {
    /// For numbers up to `number`, which is below 2^38.
    pub(crate) fn of(number: u64) -> Self {
        MaxLength { more: u64::from(number >= 1 << 30) }
    }

    /// Length in bytes of a number with this tag.
    #[inline(always)]
    fn length(self, tag: u64) -> u64 {
        1 + tag + ((tag + 1) >> 2) * self.more
    }

    /// Length in bytes of a number below 2^38.
    #[inline(always)]
    pub(crate) fn length_of(self, number: u64) -> usize {
        self.length(tag(number)) as usize
    }

    /// Writes a number at `at` and advances `at`. The bytes that it takes must be zero. The bytes after it do not change, so
    /// that several lists can be filled at once.
    ///
    /// # Panics
    /// If fewer than [`PADDING`] bytes follow `at`.
    #[inline(always)]
    pub(crate) fn put_between(self, bytes: &mut [u8], at: &mut usize, number: u64) {
        let place: &mut [u8; 8] = (&mut bytes[*at..*at + 8]).try_into().expect("eight bytes are eight bytes");
        *place = (u64::from_le_bytes(*place) | number << 2 | tag(number)).to_le_bytes();
        *at += self.length_of(number);
    }

    /// Reads the number at `at` and advances `at` to the next one.
    ///
    /// # Panics
    /// If fewer than [`PADDING`] bytes follow `at`.
    #[inline(always)]
    pub(crate) fn get(self, bytes: &[u8], at: &mut usize) -> u64 {
        let word: [u8; 8] = bytes[*at..*at + 8].try_into().expect("eight bytes are eight bytes");
        let word = u64::from_le_bytes(word);
        let length = self.length(word & 3);
        *at += length as usize;
        word << (64 - 8 * length) >> (66 - 8 * length)
    }
}

/// The two bits that say how long a number is.
#[inline(always)]
fn tag(number: u64) -> u64 {
    u64::from(number >= 1 << 6) + u64::from(number >= 1 << 14) + u64::from(number >= 1 << 22)
}

/// Writes consecutive numbers into a buffer.
#[derive(Debug)]
pub(crate) struct Packer<'b> {
    longest: MaxLength,
    bytes: &'b mut [u8],
    at: usize,
}

impl<'b> Packer<'b> {
    /// Writes from the start of `bytes`, which must have [`MAX_BYTES`] for each number and [`PADDING`].
    pub(crate) fn new(bytes: &'b mut [u8], longest: MaxLength) -> Self {
        Packer { longest, bytes, at: 0 }
    }

    /// The whole buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Skips `bytes` bytes.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Position of the next number.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Writes a number below 2^38.
    #[inline(always)]
    pub(crate) fn put(&mut self, number: u64) {
        self.put_if(number, true);
    }

    /// Writes a number and advances only if it is `wanted`; otherwise the next number overwrites it. This is
    /// branch-free, because the condition is unpredictable.
    #[inline(always)]
    pub(crate) fn put_if(&mut self, number: u64, wanted: bool) {
        let tag = tag(number);
        let length = self.longest.length(tag) as usize;
        self.bytes[self.at..self.at + PADDING].copy_from_slice(&(number << 2 | tag).to_le_bytes());
        self.at += if wanted { length } else { 0 };
    }
}

/// Maps integers to natural numbers, so that integers near 0 become small numbers.
pub(crate) fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63).cast_unsigned()
}

/// The inverse of [`zigzag`].
#[inline(always)]
pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back() {
        for bits in [30, 38] {
            let longest = MaxLength::of((1 << bits) - 1);
            let powers = (0..bits).flat_map(|bits| [(1u64 << bits) - 1, 1 << bits]);
            let mut bytes = vec![0xff; 80 * MAX_BYTES + PADDING];
            let mut packer = Packer::new(&mut bytes, longest);
            for number in powers.clone() {
                packer.put(number);
                packer.put_if(number / 3, false);
            }
            let end = packer.position();
            let mut at = 0;
            for number in powers {
                assert_eq!(longest.get(&bytes, &mut at), number);
            }
            assert_eq!(at, end);
        }
    }

    #[test]
    fn numbers_are_written_between_others() {
        let longest = MaxLength::of(1 << 32);
        let numbers = [5, 1 << 33, 70, 1 << 21, (1 << 14) - 1, 0];
        let mut starts = vec![0];
        numbers.iter().for_each(|&number| starts.push(starts[starts.len() - 1] + longest.length_of(number)));
        let mut bytes = vec![0; starts[numbers.len()] + PADDING];
        for place in [4, 1, 5, 0, 3, 2] {
            let mut at = starts[place];
            longest.put_between(&mut bytes, &mut at, numbers[place]);
            assert_eq!(at, starts[place + 1]);
        }
        let mut at = 0;
        assert_eq!(numbers.map(|_| longest.get(&bytes, &mut at)), numbers);
    }

    #[test]
    fn differences_are_read_back() {
        for difference in [0, 1, -1, i64::from(u32::MAX), -i64::from(u32::MAX)] {
            assert_eq!(unzigzag(zigzag(difference)), difference);
            assert!(zigzag(difference) < 1 << 38);
        }
    }
}
